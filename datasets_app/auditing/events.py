"""Filter the events of the audit log, for its page, its export and its command."""

from datetime import date, datetime, time, timedelta

from django.db.models import QuerySet
from django.utils import timezone

from datasets_app.auditing.parameters import AuditExportParameters
from datasets_app.core.queries import fetch_column
from datasets_app.models import AuditEvent

MAX_CHOICES = 200
_INDEXED_FIELDS = {"action": "action", "actor": "actor", "dataset": "dataset_name"}
_DISTINCT_VALUES = """
    WITH RECURSIVE found(value) AS (
        (SELECT {field} FROM datasets_app_auditevent WHERE {field} > '' ORDER BY {field} LIMIT 1)
        UNION ALL
        SELECT (SELECT {field} FROM datasets_app_auditevent
                WHERE {field} > found.value ORDER BY {field} LIMIT 1)
        FROM found WHERE found.value IS NOT NULL
    )
    SELECT value FROM found WHERE value IS NOT NULL LIMIT %s
"""


def filter_events(options: AuditExportParameters) -> QuerySet[AuditEvent]:
    """The matching events, unordered. For every filter an index has them by time."""
    values = {column: getattr(options, name) for name, column in _INDEXED_FIELDS.items()}
    events = AuditEvent.objects.order_by().filter(**{name: value for name, value in values.items() if value})
    if options.since:
        events = events.filter(at__gte=_day_start(options.since))
    if options.until and options.until < date.max:
        events = events.filter(at__lt=_day_start(options.until + timedelta(days=1)))
    return events


def list_field_values(field: str) -> list[str]:
    """The first MAX_CHOICES distinct values of an indexed field, in order.

    Skips through the index from value to value: reading millions of events would take too long for a page.
    """
    return fetch_column(_DISTINCT_VALUES.format(field=_INDEXED_FIELDS[field]), [MAX_CHOICES])


def _day_start(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))
