"""Background work: a JobRun row is the truth, the queue only carries its id.

A worker claims a row by a conditional update, beats while it works, and writes its result in
the transaction that holds its changes. A worker that dies leaves a row whose heartbeat stops;
``job_recovery`` gives the row to another. So a task may run twice, but is never applied twice.

A task that commits for itself, step by step, must see to that by itself: what it has committed stands
when it is cancelled or its worker dies, and it goes on from there when it is run again.
"""

import logging
from collections.abc import Callable
from typing import Any, overload

from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone

from alignmenter_site.logs import describe_error
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.core.progress import OperationCanceled, ProgressCallback, ignore_progress
from datasets_app.jobs import queue
from datasets_app.jobs.permissions import refuse_unauthorized_job
from datasets_app.jobs.running import ClaimLost, RunningJob, run_heartbeat, worker_name
from datasets_app.models import Dataset, JobRun

log = logging.getLogger(__name__)

Task = Callable[[RunningJob], dict[str, Any]]
_tasks: dict[str, Task] = {}
_self_committing: set[str] = set()


@overload
def task(function: Task, /) -> Task: ...
@overload
def task(*, commits_itself: bool) -> Callable[[Task], Task]: ...
def task(function: Task | None = None, /, *, commits_itself: bool = False) -> Any:
    """Register the function that carries out the operation of its name, in one transaction.

    One that ``commits_itself`` runs in none.
    """

    def register(function: Task) -> Task:
        _tasks[function.__name__] = function
        if commits_itself:
            _self_committing.add(function.__name__)
        return function

    return register(function) if function else register


def describe_saved_work(operation: str) -> str:
    """For the sentence on a job that was cut short."""
    return "what was finished is kept" if operation in _self_committing else "nothing was saved"


# --- asked for by pages and commands -----------------------------------------------------------


def create_job(
    operation: str,
    *,
    actor: Any,
    dataset: Dataset | None = None,
    dataset_name: str = "",
    parameters: dict[str, Any] | None = None,
) -> JobRun:
    """A new row, not yet queued: attach files to it, then call :func:`enqueue`."""
    return JobRun.objects.create(
        operation=operation,
        actor=actor,
        dataset=dataset,
        dataset_name=dataset.name if dataset else dataset_name,
        parameters=parameters or {},
    )


def enqueue_job(job_run: JobRun) -> None:
    """Put a prepared job on the queue once the transaction is committed. Twice is harmless."""
    job_run.state, job_run.queued_at = "queued", timezone.now()
    if JobRun.objects.filter(pk=job_run.pk, state="prepared").update(
        state="queued", queued_at=job_run.queued_at
    ):
        transaction.on_commit(lambda: send_to_queue(job_run))


def start_job(operation: str, **details: Any) -> JobRun:
    """Create a job and queue it."""
    job_run = create_job(operation, **details)
    enqueue_job(job_run)
    return job_run


def request_cancellation(job_run: JobRun, *, actor: Any) -> None:
    """A waiting job ends at once, a running one at its next step."""
    with transaction.atomic():
        unfinished = JobRun.objects.filter(pk=job_run.pk, state__in=["queued", "running"])
        if unfinished.update(cancel_requested=True):
            audit.record("cancel_job", actor=actor, dataset_name=job_run.dataset_name, job_run=job_run.pk)
        unfinished.filter(state="queued").update(state="cancelled", finished_at=timezone.now())


def reset_for_retry(job_run: JobRun, *, actor: Any) -> bool:
    """Back to where it was before it was queued: it can be changed, and enqueued again.

    False unless it has failed or was cancelled. What a command ran can't be run by others.
    """
    with transaction.atomic():
        # ``attempt`` only ever grows: a worker of an earlier try must never be taken for a later one.
        again = JobRun.objects.filter(
            pk=job_run.pk, state__in=["failed", "cancelled"], foreground=False
        ).update(
            state="prepared",
            attempts_before=F("attempt"),
            cancel_requested=False,
            error="",
            result=None,
            done=0,
            total=None,
            finished_at=None,
            heartbeat_at=None,
            # Of an account that is gone nobody can be asked what it may.
            actor=job_run.actor or actor,
        )
        if again:
            audit.record("retry_job", actor=actor, dataset_name=job_run.dataset_name, job_run=job_run.pk)
    return bool(again)


def retry_job(job_run: JobRun, *, actor: Any) -> bool:
    """Queue a failed or cancelled job again. False if it is in no such state."""
    with transaction.atomic():
        again = reset_for_retry(job_run, actor=actor)
        if again:
            enqueue_job(job_run)
    return again


def is_queue_reachable() -> bool:
    """Whether a job that is enqueued now would reach a worker."""
    return queue.is_reachable()


def send_to_queue(job_run: JobRun) -> None:
    """Hand the number to the queue. If that fails the row waits, and ``job_recovery`` sends it later."""
    try:
        queue.send_message(job_run.pk, message_id(job_run))
    except queue.QueueUnreachable as error:
        log.warning("job %s waits: the queue can't be reached (%s)", job_run.pk, error)


def message_id(job_run: JobRun) -> str:
    return f"job-run-{job_run.pk}-{job_run.queued_at:%Y%m%dT%H%M%S%f}"


def _result_facts(result: Any) -> dict[str, Any]:
    return result if isinstance(result, dict) else dict(result._asdict())


def _create_foreground_row(operation: str, dataset_name: str, parameters: dict[str, Any]) -> JobRun:
    return JobRun.objects.create(
        operation=operation,
        dataset_name=dataset_name[:100],
        parameters=parameters,
        state="running",
        foreground=True,
        attempt=1,
        worker=worker_name(),
        queued_at=Now(),
        started_at=Now(),
        heartbeat_at=Now(),
    )


def run_in_foreground(
    operation: str,
    function: Callable[[ProgressCallback], Any],
    *,
    dataset_name: str,
    parameters: dict[str, Any],
    make_facts: Callable[[Any], dict[str, Any]] = _result_facts,
    report_progress: ProgressCallback = ignore_progress,
) -> Any:
    """Carry out an operation in this process, as a command does, with a row like any other job.

    ``function`` is given the progress callback; what it returns is returned. What it raises
    is raised, once the row says how it ended. ``facts`` makes of it what the row keeps.
    """

    def at_once(job: RunningJob, progress: ProgressCallback) -> Any:
        with transaction.atomic():
            result = function(progress)
            _check_deferred_constraints()
            _finish_foreground(job, make_facts(result), dataset_name)
        return result

    job = RunningJob(_create_foreground_row(operation, dataset_name, parameters))
    return _run_foreground(job, at_once, report_progress)


def run_in_foreground_steps(
    operation: str,
    function: Callable[[JobRun, ProgressCallback], Any],
    *,
    dataset_name: str,
    parameters: dict[str, Any],
    make_facts: Callable[[Any], dict[str, Any]] = _result_facts,
    report_progress: ProgressCallback = ignore_progress,
) -> Any:
    """As :func:`run_here`, for an operation that commits for itself; it is given the row as well."""

    def in_steps(job: RunningJob, progress: ProgressCallback) -> Any:
        result = function(job.row, progress)
        _finish_foreground(job, make_facts(result), dataset_name)
        return result

    job = RunningJob(_create_foreground_row(operation, dataset_name, parameters))
    return _run_foreground(job, in_steps, report_progress)


def _finish_foreground(job: RunningJob, result: dict[str, Any], dataset_name: str) -> None:
    dataset = Dataset.objects.filter(name=dataset_name).first()
    job.finish("done", result=result, total=job.total or job.done, dataset=dataset)


def _run_foreground(
    job: RunningJob, work: Callable[[RunningJob, ProgressCallback], Any], report_progress: ProgressCallback
) -> Any:
    saved = describe_saved_work(job.row.operation)

    def progress(done: int, total: int | None = None) -> None:
        job.report_progress(done, total)
        report_progress(done, total)

    try:
        with run_heartbeat(job):
            return work(job, progress)
    except UserError as refusal:
        _record_end(job, "failed", error=refusal.message, result=refusal.details)
        raise
    except (OperationCanceled, KeyboardInterrupt):
        _record_end(job, "cancelled")
        raise
    except ClaimLost:
        raise UserError(f"The command stood still for too long and was given up; {saved}.") from None
    except BaseException as error:
        connection.close()
        gone = isinstance(error, OperationalError | InterfaceError)
        _record_end(
            job,
            "failed",
            error=f"The database went away; {saved}. Run it again."
            if gone
            else _format_unexpected_error(job, error),
        )
        raise


# --- in the worker -----------------------------------------------------------------------------


def perform(job_run_id: int) -> None:
    """Carry out one job. Never raises: an exception's text could hold what is private."""
    job = _claim_job(job_run_id)
    if job is None:
        return
    try:
        with run_heartbeat(job):
            _run_task(job)
    except ClaimLost:
        log.warning("job %s was taken over by another worker", job_run_id)
    except OperationCanceled:
        _record_end(job, "cancelled")
    except UserError as refusal:
        _record_end(job, "failed", error=refusal.message, result=refusal.details)
    except (OperationalError, InterfaceError) as error:
        _handle_database_error(job, error)
    except Exception as error:
        log.error("job %s failed: %s", job_run_id, describe_error(error))
        _record_end(job, "failed", error=_format_unexpected_error(job, error))


def _run_task(job: RunningJob) -> None:
    operation = job.row.operation
    refuse_unauthorized_job(job.row)
    if operation in _self_committing:
        result = _tasks[operation](job)
        job.finish("done", result=result, total=job.total or job.done)
        return
    with transaction.atomic():
        result = _tasks[operation](job)
        _check_deferred_constraints()
        job.finish("done", result=result, total=job.total or job.done)


def _claim_job(job_run_id: int) -> RunningJob | None:
    # The database's clock: those of two machines may differ by more than a silence.
    claimed = JobRun.objects.filter(pk=job_run_id, state="queued").update(
        state="running",
        attempt=F("attempt") + 1,
        worker=worker_name(),
        started_at=Now(),
        heartbeat_at=Now(),
    )
    if not claimed:
        return None
    return RunningJob(JobRun.objects.select_related("actor", "dataset").get(pk=job_run_id))


def _check_deferred_constraints() -> None:
    """Foreign keys are checked here, while the heart beats on, and not in COMMIT.

    Only they: events of the audit trail are sealed in COMMIT, where no lock is waited for any more.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT string_agg(DISTINCT quote_ident(conname), ', ') FROM pg_constraint "
            "WHERE condeferrable AND contype <> 't' AND connamespace = current_schema()::regnamespace"
        )
        cursor.execute(f"SET CONSTRAINTS {cursor.fetchone()[0]} IMMEDIATE")


def _record_end(job: RunningJob, state: str, **fields: Any) -> None:
    try:
        job.finish(state, **fields)
    except ClaimLost:
        log.warning("job %s was taken over by another worker", job.row.pk)
    except Exception as error:
        log.error("job %s: its end can't be written (%s)", job.row.pk, type(error).__name__)


def _handle_database_error(job: RunningJob, error: Exception) -> None:
    """The database went away, or refused for a reason of its own: what was not committed is not saved."""
    saved = describe_saved_work(job.row.operation)
    log.error("job %s was interrupted: %s", job.row.pk, describe_error(error))
    connection.close()
    sqlstate = getattr(error.__cause__, "sqlstate", None) or ""
    if sqlstate.startswith("53"):
        _record_end(
            job,
            "failed",
            error=f"The database is out of disk space or memory; {saved}. Make room and retry.",
        )
    elif sqlstate.startswith("57014"):
        _record_end(job, "failed", error=f"The database cancelled a statement; {saved}. Retry.")
    # Otherwise the row is left as it is: its heartbeat has stopped, so it will be taken up again.


def _format_unexpected_error(job: RunningJob, error: BaseException) -> str:
    return (
        f"Unexpected error ({type(error).__name__}); {describe_saved_work(job.row.operation)}. "
        "The worker's log tells where it happened; retrying may help."
    )
