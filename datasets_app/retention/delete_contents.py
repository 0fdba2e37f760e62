"""What a dataset consists of is counted, and deleted for good: rows, files, what jobs have kept.

Retention deletes all of a dataset, erasure some sessions of it. Files of releases are the business of
``release_files``.
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
from datasets_app.catalog import activity
from datasets_app.core.errors import UserError
from datasets_app.jobs import files as job_files
from datasets_app.models import (
    CheckFinding,
    CheckReport,
    Dataset,
    JobFile,
    JobRun,
    Release,
    ReleaseFile,
    ScrubChunk,
    ScrubFinding,
    ScrubMark,
    ScrubRun,
    Session,
    SharingReview,
    SourceFile,
)
from datasets_app.splitting.split_dataset import clear_split_report
from datasets_app.tables.uploads import delete_uploads

log = logging.getLogger(__name__)

# So much is deleted in one transaction: locks are short, and what a kill undoes is little.
TURN_BATCH_SIZE = 20_000
SESSION_BATCH_SIZE = 5_000
MAX_TRIES = 5
# Two that wait for each other, and a label that came to a turn while it was deleted: once more.
_RETRYABLE_STATES = ("40P01", "23503", "55P03")

_DELETE_SESSION_ROWS = (
    ("scrub_findings", "DELETE FROM datasets_app_scrubfinding WHERE session_id = ANY(%s)"),
    ("check_findings", "DELETE FROM datasets_app_checkfinding WHERE session_id = ANY(%s)"),
    ("turns", "DELETE FROM datasets_app_turn WHERE session_id = ANY(%s)"),
    ("sessions", "DELETE FROM datasets_app_session WHERE id = ANY(%s)"),
)
_NEXT_SESSIONS = """
SELECT id FROM (
    SELECT id, sum(turn_count) OVER (ORDER BY id) - turn_count AS before FROM (
        SELECT id, turn_count FROM datasets_app_session
        WHERE dataset_id = %s AND id > %s ORDER BY id LIMIT %s
    ) first
) counted WHERE before < %s ORDER BY id
"""


def list_jobs(dataset: Dataset) -> QuerySet[JobRun]:
    return JobRun.objects.filter(Q(dataset=dataset) | Q(dataset_name=dataset.name))


def list_other_jobs(dataset: Dataset, job_run: JobRun | None) -> QuerySet[JobRun]:
    """The dataset's jobs but the one that does the deleting, if one does."""
    return list_jobs(dataset).exclude(pk=job_run.pk if job_run else 0)


def refuse_busy(dataset: Dataset, job_run: JobRun | None, advice: str) -> None:
    """Refuse to delete while another job is at work on the dataset; ``advice`` ends the sentence."""
    running = list_other_jobs(dataset, job_run).filter(activity.live_job_filter(), state="running").first()
    if running is not None:
        raise UserError(
            f"{running.get_operation_label()} is running on {dataset.name} (job {running.pk}); {advice}"
        )


def count_contents(dataset: Dataset) -> dict[str, int]:
    """How much of each kind deleting the dataset would delete; kinds of which there is nothing are left
    out. The same names stand in the certificate of the deletion."""
    files = JobFile.objects.filter(job_run__in=list_jobs(dataset)).exclude(file="")
    released = ReleaseFile.objects.filter(release__dataset=dataset).exclude(file="")
    counts: Counter[str] = Counter(
        sessions=Session.objects.filter(dataset=dataset).count(),
        turns=_count_turns(dataset),
        scrub_findings=ScrubFinding.objects.filter(scrub__dataset=dataset).count(),
        check_findings=CheckFinding.objects.filter(report__dataset=dataset).count(),
        check_reports=CheckReport.objects.filter(dataset=dataset).count(),
        scrubs=ScrubRun.objects.filter(dataset=dataset).count(),
        marks=ScrubMark.objects.filter(dataset=dataset).count(),
        source_files=SourceFile.objects.filter(dataset=dataset).count(),
        reviews=SharingReview.objects.filter(dataset=dataset).count(),
        files=files.count(),
        file_bytes=files.aggregate(sum=Sum("size"))["sum"] or 0,
        releases=Release.objects.filter(dataset=dataset, destroyed_at=None).count(),
        release_bytes=released.aggregate(sum=Sum("size"))["sum"] or 0,
    )
    for beside in hooks.deletion_hooks:
        counts.update(beside.count(dataset, None))
    return {kind: count for kind, count in counts.items() if count}


def _count_turns(dataset: Dataset) -> int:
    """By the sessions' own counts, which no index of turns has to be read for."""
    return int(Session.objects.filter(dataset=dataset).aggregate(sum=Sum("turn_count"))["sum"] or 0)


# --- rows ----------------------------------------------------------------------------------------


def next_session_batch(dataset: Dataset, after: int = 0) -> list[int]:
    """The primary keys of some sessions that stand still, as many as one transaction is to delete; those
    after the last that was deleted, so that what is dead in the index is not gone through again."""
    with connection.cursor() as cursor:
        cursor.execute(_NEXT_SESSIONS, [dataset.pk, after, SESSION_BATCH_SIZE, TURN_BATCH_SIZE])
        return [key for (key,) in cursor.fetchall()]


def delete_sessions(keys: Sequence[int]) -> Counter[str]:
    """Delete these sessions with all that hangs on them, in the caller's transaction; what was deleted."""
    deleted: Counter[str] = Counter()
    for beside in hooks.deletion_hooks:
        deleted.update(beside.delete(keys))
    with connection.cursor() as cursor:
        for kind, statement in _DELETE_SESSION_ROWS:
            cursor.execute(statement, [list(keys)])
            deleted[kind] = cursor.rowcount
        # Foreign keys are looked at here, and not in COMMIT, so that it can be tried again.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
    return deleted


def delete_dataset_rows(dataset: Dataset) -> Counter[str]:
    """Delete what hangs on the dataset as a whole, its sessions being gone; in the caller's transaction."""
    deleted: Counter[str] = Counter()
    for beside in hooks.deletion_hooks:
        deleted.update(beside.finish(dataset))
    ScrubChunk.objects.filter(scrub__dataset=dataset).delete()
    rows: dict[str, QuerySet[Any]] = {
        "scrub_findings": ScrubFinding.objects.filter(scrub__dataset=dataset),
        "check_findings": CheckFinding.objects.filter(report__dataset=dataset),
        "check_reports": CheckReport.objects.filter(dataset=dataset),
        "scrubs": ScrubRun.objects.filter(dataset=dataset),
        "marks": ScrubMark.objects.filter(dataset=dataset),
        "source_files": SourceFile.objects.filter(dataset=dataset),
        "reviews": SharingReview.objects.filter(dataset=dataset),
    }
    for kind, queryset in rows.items():
        deleted[kind] += queryset._raw_delete(queryset.db)
    return deleted


def delete_reports(dataset: Dataset) -> Counter[str]:
    """Reports of checks and splits tell of one session beside another: all go; they are soon made again."""
    clear_split_report(dataset)
    findings = CheckFinding.objects.filter(report__dataset=dataset)
    reports = CheckReport.objects.filter(dataset=dataset)
    return Counter(
        check_findings=findings._raw_delete(findings.db), check_reports=reports._raw_delete(reports.db)
    )


# --- files and what jobs know --------------------------------------------------------------------


def delete_files(jobs: QuerySet[JobRun], on_deleted: Callable[[Counter[str]], None]) -> None:
    """Delete the files of ``jobs``, and what of them lies in the storage without a row; then the rows.

    ``account`` is called with what is deleted, in the transaction that deletes the rows. Also tables that
    wait for their confirmation, and folders of jobs that do not run any more: whose they are is not told.
    """
    with _translate_storage_errors():
        for pk in jobs.values_list("pk", flat=True):
            _delete_folder(f"jobs/{pk}")
    with transaction.atomic():
        rows = list(JobFile.objects.filter(job_run__in=jobs).select_for_update())
        there = [row for row in rows if row.file]
        with _translate_storage_errors():
            for row in there:
                row.file.storage.delete(row.file.name)
        JobFile.objects.filter(pk__in=[row.pk for row in rows]).delete()
        on_deleted(Counter(files=len(there), file_bytes=sum(row.size for row in there)))
    delete_uploads()
    job_files.delete_stale_folders()


@contextmanager
def _translate_storage_errors() -> Iterator[None]:
    """What a storage raises is of many kinds, and may name addresses."""
    try:
        yield
    except DatabaseError:
        raise
    except Exception as error:
        log.error("files can't be deleted: %s", type(error).__name__)
        raise UserError(
            f"Files can't be deleted ({type(error).__name__}): is the storage in reach?"
        ) from None


def _delete_folder(place: str) -> None:
    try:
        folders, names = default_storage.listdir(place)
    except FileNotFoundError:
        return
    for name in names:
        default_storage.delete(f"{place}/{name}")
    for folder in folders:
        if folder:
            _delete_folder(f"{place}/{folder}")


def clear_jobs(jobs: QuerySet[JobRun]) -> None:
    """Jobs stay as numbers with times and states; what waits is not begun any more."""
    jobs.filter(state__in=["prepared", "queued"]).update(state="cancelled")
    jobs.exclude(state="running").update(parameters={}, result=None, error="")


def retry_transaction(work: Callable[[], Any]) -> Any:
    """``work`` in a transaction of its own; once more if another came in its way."""
    for left in reversed(range(MAX_TRIES)):
        try:
            with transaction.atomic():
                return work()
        except (OperationalError, IntegrityError) as error:
            if not left or getattr(error.__cause__, "sqlstate", None) not in _RETRYABLE_STATES:
                raise
    raise AssertionError
