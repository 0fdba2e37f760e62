"""Whether a dataset is being scrubbed just now, and who has to wait for whom."""

from datetime import timedelta
from typing import Any

from django.db import connection
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from datasets_app.catalog.require_active import refuse_expired
from datasets_app.core.errors import Refused
from datasets_app.models import Dataset, JobRun, ScrubRun
from datasets_app.models.job_run import LOST_AFTER

# Jobs that are part of scrubbing, or that do nothing with a dataset's contents.
_HARMLESS = ("scrub_dataset", "scrub_part")


def alive() -> Q:
    """Jobs that run or will: a command that fell silent is gone, for nobody takes it up again."""
    silent = Q(foreground=True, heartbeat_at__lt=Now() - LOST_AFTER)
    return Q(state__in=["queued", "running"]) & ~silent


def active_scrubs(dataset: Dataset) -> QuerySet[ScrubRun]:
    """Scrubs and previews of a dataset that are under way."""
    jobs = JobRun.objects.filter(alive(), operation="scrub_dataset")
    return ScrubRun.objects.filter(dataset=dataset, finished_at=None, job_run__in=jobs)


def refuse_while_scrubbed(dataset: Dataset) -> None:
    """For whoever reads texts to keep a copy of them, or adds some: half a scrub is neither, and of what
    has expired nothing is left."""
    refuse_expired(dataset)
    scrub = active_scrubs(dataset).filter(dry_run=False, verified_at=None).first()
    if scrub is not None:
        raise Refused(
            f"{dataset.name} is being scrubbed (job {scrub.job_run_id}); try again when that has ended."
        )


def refuse_while_busy(dataset: Dataset) -> None:
    """For a scrub: what runs on the dataset now may hold or bring raw text."""
    job = JobRun.objects.filter(alive(), state="running", dataset_name=dataset.name)
    running = job.exclude(operation__in=_HARMLESS).first()
    if running is not None:
        raise Refused(
            f"{running.get_operation_label()} is running on {dataset.name} (job {running.pk}); "
            "scrub it when that has ended."
        )


def wait_for_locks(limit: timedelta) -> None:
    """For the rest of the transaction a lock that is not had within ``limit`` is an error."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, true)", [f"{limit.total_seconds() * 1000:.0f}"])


def is_lock_timeout(error: BaseException) -> bool:
    cause: Any = error.__cause__
    return getattr(cause, "sqlstate", None) == "55P03"
