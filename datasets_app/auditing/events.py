"""Filter the events of the audit log, for its page, its export and its command."""

from datetime import date, datetime, time, timedelta
from typing import NamedTuple

from django.db.models import QuerySet
from django.utils import timezone

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


class AuditFilter(NamedTuple):
    """Exact values, empty for any. The days are in the installation's time zone, both included."""

    action: str = ""
    dataset: str = ""
    actor: str = ""
    since: date | None = None
    until: date | None = None

    def as_json(self) -> dict[str, str]:
        """The fields that are set."""
        return {name: str(value) for name, value in self._asdict().items() if value}


def filter_events(event_filter: AuditFilter) -> QuerySet[AuditEvent]:
    """The matching events, unordered. For every filter an index has them by time."""
    events = AuditEvent.objects.order_by()
    columns = {
        "action": event_filter.action,
        "dataset_name": event_filter.dataset,
        "actor": event_filter.actor,
    }
    events = events.filter(**{column: value for column, value in columns.items() if value})
    if event_filter.since:
        events = events.filter(at__gte=_day_start(event_filter.since))
    if event_filter.until and event_filter.until < date.max:
        events = events.filter(at__lt=_day_start(event_filter.until + timedelta(days=1)))
    return events


def list_field_values(field: str) -> list[str]:
    """The first MAX_CHOICES distinct values of an indexed field, in order.

    Skips through the index from value to value: reading millions of events would take too long for a page.
    """
    return fetch_column(_DISTINCT_VALUES.format(field=_INDEXED_FIELDS[field]), [MAX_CHOICES])


def _day_start(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))
