"""Which jobs are live, which scrubs are in progress, and how long a lock may take."""

from datetime import timedelta
from typing import Any

from django.db.models import QuerySet

from datasets_app.core.queries import execute
from datasets_app.models import JobRun, ScrubRun


def active_scrubs(dataset: Any) -> QuerySet[ScrubRun]:
    """Scrubs and previews in progress of a dataset, or of each row of a query (``OuterRef``)."""
    jobs = JobRun.objects.active().filter(operation="scrub_dataset")
    return ScrubRun.objects.filter(dataset=dataset, finished_at=None, job_run__in=jobs)


def set_lock_timeout(limit: timedelta) -> None:
    """For the rest of the transaction, fail if a lock takes longer than ``limit``."""
    execute("SELECT set_config('lock_timeout', %s, true)", [f"{limit.total_seconds() * 1000:.0f}"])


def is_lock_timeout(error: BaseException) -> bool:
    cause: Any = error.__cause__
    return getattr(cause, "sqlstate", None) == "55P03"
