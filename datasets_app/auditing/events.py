"""Which events of the audit trail are wanted: the same for its page, its export and its command."""

from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone

from datasets_app.models import AuditEvent

# Of a field with more values than that, a form offers the first.
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
    """Whole values, empty for any. The days are the installation's, both included."""

    action: str = ""
    dataset: str = ""
    actor: str = ""
    since: date | None = None
    until: date | None = None

    def as_json(self) -> dict[str, str]:
        """What is asked for and nothing else."""
        return {name: str(value) for name, value in self._asdict().items() if value}

    @classmethod
    def from_json(cls, asked: Mapping[str, Any]) -> "AuditFilter":
        action, dataset, actor = (str(asked.get(name) or "") for name in ("action", "dataset", "actor"))
        since, until = (
            date.fromisoformat(asked[name]) if asked.get(name) else None for name in ("since", "until")
        )
        return cls(action, dataset, actor, since, until)


def filter_events(wanted: AuditFilter) -> QuerySet[AuditEvent]:
    """The events, in no order; whatever is asked for, an index has them by time."""
    events = AuditEvent.objects.order_by()
    named = {"action": wanted.action, "dataset_name": wanted.dataset, "actor": wanted.actor}
    events = events.filter(**{field: value for field, value in named.items() if value})
    if wanted.since:
        events = events.filter(at__gte=_day_start(wanted.since))
    if wanted.until and wanted.until < date.max:
        events = events.filter(at__lt=_day_start(wanted.until + timedelta(days=1)))
    return events


def list_field_values(field: str) -> list[str]:
    """The values that an indexed field has, the first of them in order: from one to the next by the index, as
    reading millions of events for a few words would take longer than the page."""
    with connection.cursor() as cursor:
        cursor.execute(_DISTINCT_VALUES.format(field=_INDEXED_FIELDS[field]), [MAX_CHOICES])
        return [value for (value,) in cursor.fetchall()]


def _day_start(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))
