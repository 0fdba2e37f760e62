"""Whether a dataset is being scrubbed just now, and who has to wait for whom."""

from datetime import timedelta
from typing import Any

from django.db import connection
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from datasets_app.catalog.require_active import require_active
from datasets_app.core.errors import UserError
from datasets_app.models import Dataset, JobRun, ScrubRun
from datasets_app.models.job_run import HEARTBEAT_TIMEOUT

# Jobs that are part of scrubbing, or that do nothing with a dataset's contents.
_ALLOWED_OPERATIONS = ("scrub_dataset", "scrub_part")


def live_job_filter() -> Q:
    """Jobs that run or will: a command that fell silent is gone, for nobody takes it up again."""
    silent = Q(foreground=True, heartbeat_at__lt=Now() - HEARTBEAT_TIMEOUT)
    return Q(state__in=["queued", "running"]) & ~silent


def active_scrubs(dataset: Dataset) -> QuerySet[ScrubRun]:
    """Scrubs and previews of a dataset that are under way."""
    jobs = JobRun.objects.filter(live_job_filter(), operation="scrub_dataset")
    return ScrubRun.objects.filter(dataset=dataset, finished_at=None, job_run__in=jobs)


def refuse_during_scrub(dataset: Dataset) -> None:
    """For whoever reads texts to keep a copy of them, or adds some: half a scrub is neither, and of what
    has expired nothing is left."""
    require_active(dataset)
    scrub = active_scrubs(dataset).filter(dry_run=False, verified_at=None).first()
    if scrub is not None:
        raise UserError(
            f"{dataset.name} is being scrubbed (job {scrub.job_run_id}); try again when that has ended."
        )


def refuse_during_jobs(dataset: Dataset) -> None:
    """For a scrub: what runs on the dataset now may hold or bring raw text."""
    job = JobRun.objects.filter(live_job_filter(), state="running", dataset_name=dataset.name)
    running = job.exclude(operation__in=_ALLOWED_OPERATIONS).first()
    if running is not None:
        raise UserError(
            f"{running.get_operation_label()} is running on {dataset.name} (job {running.pk}); "
            "scrub it when that has ended."
        )


def set_lock_timeout(limit: timedelta) -> None:
    """For the rest of the transaction a lock that is not had within ``limit`` is an error."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, true)", [f"{limit.total_seconds() * 1000:.0f}"])


def is_lock_timeout(error: BaseException) -> bool:
    cause: Any = error.__cause__
    return getattr(cause, "sqlstate", None) == "55P03"
