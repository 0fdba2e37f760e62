"""Which jobs are live, which scrubs are in progress, and how long a lock may take."""

from datetime import timedelta
from typing import Any

from django.db import connection
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from datasets_app.models import JobRun, ScrubRun
from datasets_app.models.job_run import HEARTBEAT_TIMEOUT


def live_job_filter() -> Q:
    """Jobs that run or will run. A command without a heartbeat is dead: no worker resumes it."""
    silent = Q(foreground=True, heartbeat_at__lt=Now() - HEARTBEAT_TIMEOUT)
    return Q(state__in=["queued", "running"]) & ~silent


def active_scrubs(dataset: Any) -> QuerySet[ScrubRun]:
    """Scrubs and previews in progress of a dataset, or of each row of a query (``OuterRef``)."""
    jobs = JobRun.objects.filter(live_job_filter(), operation="scrub_dataset")
    return ScrubRun.objects.filter(dataset=dataset, finished_at=None, job_run__in=jobs)


def set_lock_timeout(limit: timedelta) -> None:
    """For the rest of the transaction, fail if a lock takes longer than ``limit``."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, true)", [f"{limit.total_seconds() * 1000:.0f}"])


def is_lock_timeout(error: BaseException) -> bool:
    cause: Any = error.__cause__
    return getattr(cause, "sqlstate", None) == "55P03"
