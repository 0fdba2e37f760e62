"""Counts and deletes what a dataset consists of: rows, files and what jobs have kept.

Retention deletes whole datasets, erasure single sessions. ``releasing.files`` destroys the files of releases.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.core.files.storage import default_storage
from django.db import DatabaseError, IntegrityError, OperationalError, transaction
from django.db.models import Q, QuerySet, Sum

from datasets_app.catalog.rows.partitions import empty_partition, has_partition, record_keys
from datasets_app.core.errors import UserError
from datasets_app.core.queries import execute
from datasets_app.core.storage_listing import list_storage
from datasets_app.jobs import files as job_files
from datasets_app.models import (
    CheckReport,
    Dataset,
    JobFile,
    JobRun,
    Release,
    ReleaseFile,
    Session,
    Turn,
    session_data,
)
from datasets_app.splitting.split_dataset import clear_split_report
from datasets_app.tables.uploads import delete_uploads

log = logging.getLogger(__name__)

# Rows for one transaction: few enough for short locks, and for a kill to undo little.
BATCH_SIZE = 20_000
MAX_TRIES = 5
# Deadlock, a label added to a turn while it was being deleted, and lock timeout.
_RETRYABLE_STATES = ("40P01", "23503", "55P03")


def list_jobs(dataset: Dataset) -> QuerySet[JobRun]:
    return JobRun.objects.filter(Q(dataset=dataset) | Q(dataset_name=dataset.name))


def list_other_jobs(dataset: Dataset, job_run: JobRun | None) -> QuerySet[JobRun]:
    """The dataset's jobs without ``job_run``, the one that is deleting."""
    return list_jobs(dataset).exclude(pk=job_run.pk if job_run else 0)


def count_contents(dataset: Dataset) -> dict[str, int]:
    """How much of each kind deleting the dataset would delete, without kinds that don't occur. Deletion
    certificates use the same kinds."""
    sessions = Session.objects.filter(dataset=dataset)
    files = JobFile.objects.filter(job_run__in=list_jobs(dataset)).exclude(file="")
    released = ReleaseFile.objects.filter(release__dataset=dataset).exclude(file="")
    counts: Counter[str] = Counter(
        sessions=sessions.count(),
        turns=sessions.aggregate(sum=Sum("turn_count"))["sum"] or 0,  # faster than counting the turns
        files=files.count(),
        file_bytes=files.aggregate(sum=Sum("size"))["sum"] or 0,
        releases=Release.objects.filter(dataset=dataset, destroyed_at=None).count(),
        release_bytes=released.aggregate(sum=Sum("size"))["sum"] or 0,
        **{data.kind: data.rows(dataset).count() for data in session_data.list_deleted() if data.kind},
    )
    return {kind: count for kind, count in counts.items() if count}


# --- rows ----------------------------------------------------------------------------------------


def delete_batch(dataset: Dataset) -> Counter[str]:
    """Delete some of the rows that belong to the dataset, besides its sessions and turns, in the caller's
    transaction; returns counts by kind, which are empty if there are none."""
    deleted: Counter[str] = Counter()
    linked = session_data.list_deleted()
    for data in linked:
        data.prepare_deletion(dataset, None)
    for data in linked:
        if (left := BATCH_SIZE - deleted.total()) > 0:
            deleted[data.kind] += data.delete(data.rows(dataset), left)
    return +deleted


def delete_sessions(dataset: Dataset, keys: Sequence[int]) -> Counter[str]:
    """Delete these sessions of a dataset and everything that refers to them, in the caller's transaction;
    returns counts by kind."""
    deleted: Counter[str] = Counter()
    for data in session_data.list_deleted():
        data.prepare_deletion(dataset, keys)
    for data in session_data.list_deleted(of_sessions=True):
        deleted[data.kind] += data.delete(data.rows(dataset, keys))
    if has_partition(dataset.pk):
        record_keys(dataset.pk)
    # Check foreign keys here and not in COMMIT, so that the caller can retry.
    execute("SET CONSTRAINTS ALL IMMEDIATE")
    execute("SET CONSTRAINTS ALL DEFERRED")
    return deleted


def delete_dataset_rows(dataset: Dataset) -> Counter[str]:
    """Delete all sessions of the dataset, in the caller's transaction, with what has been added meanwhile."""
    deleted: Counter[str] = Counter()
    while batch := delete_batch(dataset):
        deleted.update(batch)
    deleted.update(
        sessions=Session.objects.filter(dataset=dataset).count(),
        turns=Turn.objects.filter(dataset=dataset).count(),
    )
    empty_partition(dataset.pk)
    return deleted


def delete_reports(dataset: Dataset) -> Counter[str]:
    """Delete all check and split reports: they mention several sessions at once and can be made again."""
    clear_split_report(dataset)
    reports = session_data.find(CheckReport)
    return Counter(check_reports=reports.delete(reports.rows(dataset)))


# --- files and jobs ------------------------------------------------------------------------------


def delete_files(jobs: QuerySet[JobRun], on_deleted: Callable[[Counter[str]], None]) -> None:
    """Delete the files of ``jobs``, stored files of theirs without a row, and then the rows.

    Calls ``on_deleted`` with the counts in the transaction that deletes the rows. Also deletes uploaded
    tables that await confirmation and folders of jobs that aren't running, since nobody can tell which
    dataset they belong to.
    """
    with _translate_storage_errors():
        for pk in jobs.values_list("pk", flat=True):
            _delete_folder(f"jobs/{pk}")
    with transaction.atomic():
        rows = list(JobFile.objects.filter(job_run__in=jobs).select_for_update())
        stored = [row for row in rows if row.file]
        with _translate_storage_errors():
            for row in stored:
                row.file.storage.delete(row.file.name)
        JobFile.objects.filter(pk__in=[row.pk for row in rows]).delete()
        on_deleted(Counter(files=len(stored), file_bytes=sum(row.size for row in stored)))
    delete_uploads()
    job_files.delete_stale_folders()


@contextmanager
def _translate_storage_errors() -> Iterator[None]:
    """Storages raise many kinds of errors, and their messages may contain addresses."""
    try:
        yield
    except DatabaseError:
        raise
    except Exception as error:
        log.error("files can't be deleted: %s", type(error).__name__)
        raise UserError(
            f"Files can't be deleted ({type(error).__name__}). Check that the file storage is reachable."
        ) from None


def _delete_folder(path: str) -> None:
    folders, names = list_storage(path)
    for name in names:
        default_storage.delete(f"{path}/{name}")
    for folder in folders:
        _delete_folder(f"{path}/{folder}")


def clear_jobs(jobs: QuerySet[JobRun]) -> None:
    """Cancel waiting jobs and reduce all others to times and states."""
    jobs.filter(state__in=["prepared", "approval", "queued"]).update(state="cancelled")
    jobs.exclude(state="running").update(**session_data.find(JobRun).make_empty())


def retry_transaction(work: Callable[[], Any]) -> Any:
    """Run ``work`` in a transaction; retry if it conflicts with another one."""
    for left in reversed(range(MAX_TRIES)):
        try:
            with transaction.atomic():
                return work()
        except (OperationalError, IntegrityError) as error:
            if not left or getattr(error.__cause__, "sqlstate", None) not in _RETRYABLE_STATES:
                raise
    raise AssertionError
