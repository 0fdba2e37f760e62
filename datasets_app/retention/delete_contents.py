"""Counts and deletes what a dataset consists of: rows, files and what jobs have kept.

Retention deletes whole datasets, erasure single sessions. ``releasing.files`` destroys the files of releases.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.core.files.storage import default_storage
from django.db import DatabaseError, IntegrityError, OperationalError, connection, transaction
from django.db.models import Q, QuerySet, Sum

from datasets_app import hooks
from datasets_app.catalog.rows.partitions import empty_partition, has_partition, record_keys
from datasets_app.core.errors import UserError
from datasets_app.core.storage_listing import list_storage
from datasets_app.jobs import files as job_files
from datasets_app.models import (
    Attestation,
    AuditedTurn,
    CheckFinding,
    CheckReport,
    Dataset,
    JobFile,
    JobRun,
    ReceivedRequest,
    ReceivedSpan,
    Release,
    ReleaseFile,
    SavedView,
    ScrubAudit,
    ScrubChunk,
    ScrubFinding,
    ScrubMark,
    ScrubRun,
    Session,
    SessionSelection,
    SharingReview,
    SourceFile,
    TextScan,
    Turn,
)
from datasets_app.splitting.split_dataset import clear_split_report
from datasets_app.tables.uploads import delete_uploads

log = logging.getLogger(__name__)

# Rows for one transaction: few enough for short locks, and for a kill to undo little.
LINKED_BATCH_SIZE = 20_000
MAX_TRIES = 5
# Deadlock, a label added to a turn while it was being deleted, and lock timeout.
_RETRYABLE_STATES = ("40P01", "23503", "55P03")

_DELETE_SESSION_ROWS = (
    ("scrub_findings", "DELETE FROM datasets_app_scrubfinding WHERE session_id = ANY(%(keys)s)"),
    ("check_findings", "DELETE FROM datasets_app_checkfinding WHERE session_id = ANY(%(keys)s)"),
    ("audited_turns", "DELETE FROM datasets_app_auditedturn WHERE session_id = ANY(%(keys)s)"),
    (
        "turns",
        "DELETE FROM datasets_app_turn WHERE dataset_id = %(dataset)s AND session_id = ANY(%(keys)s)",
    ),
    ("sessions", "DELETE FROM datasets_app_session WHERE dataset_id = %(dataset)s AND id = ANY(%(keys)s)"),
)


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
        **{kind: rows.count() for kind, rows in _dataset_rows(dataset).items()},
    )
    for hook in hooks.deletion_hooks:
        counts.update(hook.count(dataset, None))
    return {kind: count for kind, count in counts.items() if count}


def _dataset_rows(dataset: Dataset) -> dict[str, QuerySet[Any]]:
    """The rows of the dataset as a whole, in the order in which they can be deleted."""
    return {
        "scrub_findings": ScrubFinding.objects.filter(scrub__dataset=dataset),
        "check_findings": CheckFinding.objects.filter(report__dataset=dataset),
        "check_reports": CheckReport.objects.filter(dataset=dataset),
        "scrub_audits": ScrubAudit.objects.filter(dataset=dataset),
        "scrubs": ScrubRun.objects.filter(dataset=dataset),
        "marks": ScrubMark.objects.filter(dataset=dataset),
        "received_requests": ReceivedRequest.objects.filter(source__dataset_name=dataset.name),
        "received_spans": ReceivedSpan.objects.filter(source__dataset_name=dataset.name),
        "source_files": SourceFile.objects.filter(dataset=dataset),
        "reviews": SharingReview.objects.filter(dataset=dataset),
        "attestations": Attestation.objects.filter(dataset=dataset),
        "saved_views": SavedView.objects.filter(dataset=dataset),
        "selections": SessionSelection.objects.filter(dataset=dataset),
    }


# --- rows ----------------------------------------------------------------------------------------


def delete_linked_batch(dataset: Dataset) -> Counter[str]:
    """Delete some of the rows of other apps that belong to the dataset, in the caller's transaction; returns
    counts by kind, which are empty if there are none."""
    deleted: Counter[str] = Counter()
    for hook in hooks.deletion_hooks:
        deleted.update(hook.delete_batch(dataset.pk, LINKED_BATCH_SIZE))
    return deleted


def delete_linked_rows(dataset: Dataset, keys: Sequence[int]) -> Counter[str]:
    """Delete the rows of other apps that belong to these sessions, in the caller's transaction; returns
    counts by kind."""
    deleted: Counter[str] = Counter()
    for hook in hooks.deletion_hooks:
        deleted.update(hook.delete(dataset.pk, keys))
    return deleted


def delete_sessions(dataset: Dataset, keys: Sequence[int]) -> Counter[str]:
    """Delete these sessions of a dataset and everything that refers to them, in the caller's transaction;
    returns counts by kind."""
    deleted = delete_linked_rows(dataset, keys)
    with connection.cursor() as cursor:
        for kind, statement in _DELETE_SESSION_ROWS:
            cursor.execute(statement, {"dataset": dataset.pk, "keys": list(keys)})
            deleted[kind] = cursor.rowcount
        if has_partition(dataset.pk):
            record_keys(dataset.pk)
        # Check foreign keys here and not in COMMIT, so that the caller can retry.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
    return deleted


def delete_dataset_rows(dataset: Dataset) -> Counter[str]:
    """Delete all sessions of the dataset and the rows of the dataset as a whole, in the caller's transaction,
    with what has been added meanwhile to the rows of other apps."""
    deleted: Counter[str] = Counter()
    while batch := delete_linked_batch(dataset):
        deleted.update(batch)
    deleted.update(
        audited_turns=AuditedTurn.objects.filter(audit__dataset=dataset).delete()[0],
        sessions=Session.objects.filter(dataset=dataset).count(),
        turns=Turn.objects.filter(dataset=dataset).count(),
    )
    for hook in hooks.deletion_hooks:
        deleted.update(hook.finish(dataset))
    ScrubChunk.objects.filter(scrub__dataset=dataset).delete()
    TextScan.objects.filter(dataset=dataset).delete()
    for kind, queryset in _dataset_rows(dataset).items():
        deleted[kind] += queryset._raw_delete(queryset.db)
    empty_partition(dataset.pk)
    return deleted


def delete_reports(dataset: Dataset) -> Counter[str]:
    """Delete all check and split reports: they mention several sessions at once and can be made again."""
    clear_split_report(dataset)
    rows = _dataset_rows(dataset)
    kinds = ("check_findings", "check_reports")
    return Counter({kind: rows[kind]._raw_delete(rows[kind].db) for kind in kinds})


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
    jobs.exclude(state="running").update(parameters={}, result=None, error="")


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
