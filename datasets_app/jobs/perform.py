"""A job in a worker: it claims the row, sends heartbeats while it works, and stores how the job ended.

The result is stored in the transaction that holds the task's changes. A worker that dies leaves a row whose
heartbeat stops; ``recovery`` queues it again. So a task may run twice, but is never applied twice.

A task that commits its own steps must handle this itself: committed steps remain when it is canceled or its
worker dies, and it resumes from there when it runs again.
"""

import logging
from collections.abc import Callable
from typing import Any, TypeVar

from django.db import InterfaceError, OperationalError, connection
from django.db.models import F
from django.db.models.functions import Now

from alignmenter_site.embedded import EmbeddedServiceError
from alignmenter_site.logs import describe_error, log_context
from datasets_app.command_line.streams import Progress
from datasets_app.core import audit
from datasets_app.core.audit import approved_by
from datasets_app.core.disk_space import is_disk_full
from datasets_app.core.errors import UserError
from datasets_app.core.progress import OperationCanceled
from datasets_app.jobs.approvals import require_approval
from datasets_app.jobs.ending import record_end, run_operation
from datasets_app.jobs.parameters import NoParameters, P
from datasets_app.jobs.permissions import refuse_unauthorized_job
from datasets_app.jobs.registry import describe_saved_work, get_operation
from datasets_app.jobs.running import ClaimLost, RunningJob, worker_name
from datasets_app.models import Dataset, JobRun

log = logging.getLogger(__name__)


def perform(job_run_id: int) -> None:
    """Perform one job. Never raises: an exception's text could hold private data."""
    with log_context(job=job_run_id):
        if job := claim_job(job_run_id):
            _perform_claimed(job)


def _perform_claimed(job: RunningJob[Any]) -> None:
    job_run_id = job.row.pk
    try:
        _run_task(job)
    except ClaimLost:
        log.warning("job %s was taken over by another worker", job_run_id)
    except OperationCanceled:
        record_end(job, "cancelled")
    except UserError as refusal:
        record_end(job, "failed", error=refusal.message, result=refusal.details)
    except (OperationalError, InterfaceError, EmbeddedServiceError) as error:
        _handle_database_error(job, error)
    except Exception as error:
        log.error("job %s failed: %s", job_run_id, describe_error(error))
        record_end(job, "failed", error=format_unexpected_error(job, error))


def claim_job(job_run_id: int) -> RunningJob[Any] | None:
    # The database's clock: those of two machines may differ by more than the heartbeat's timeout.
    claimed = JobRun.objects.filter(pk=job_run_id, state="queued").update(
        state="running", attempt=F("attempt") + 1, worker=worker_name(), started_at=Now(), heartbeat_at=Now()
    )
    if not claimed:
        return None
    row = JobRun.objects.select_related("actor", "dataset").get(pk=job_run_id)
    return RunningJob(row, get_operation(row.operation).parameters)


def _run_task(job: RunningJob[Any]) -> None:
    operation = get_operation(job.row.operation)
    if operation.task is None:
        raise UserError(
            f"This version does not support the operation {job.row.operation}. Upgrade the worker and retry."
        )
    refuse_unauthorized_job(job.row)
    require_approval(job.row)
    approver = job.row.decided_by
    # Events that the job records come from where it was requested.
    origin = audit.RequestOrigin(job.row.source_address if job.actor else "", lambda: job.actor)
    origin.token = job.row.api_token
    with approved_by(approver.get_username() if approver else ""), audit.attribute_to(origin):
        run_operation(job, operation.task, commits_itself=operation.commits_itself)


def _handle_database_error(job: RunningJob[Any], error: Exception) -> None:
    """The connection was lost, or the database refused: what was not committed is not saved."""
    saved = describe_saved_work(job.row.operation)
    log.error("job %s was interrupted: %s", job.row.pk, describe_error(error))
    connection.close()
    sqlstate = getattr(error.__cause__, "sqlstate", None) or ""
    if sqlstate.startswith("53"):
        record_end(
            job, "failed", error=f"The database is out of disk space or memory; {saved}. Free some and retry."
        )
    elif sqlstate.startswith("57014"):
        record_end(job, "failed", error=f"The database canceled a statement; {saved}. Retry.")
    # Otherwise the row stays as it is: its heartbeat has stopped, so recovery queues it again.


def format_unexpected_error(job: RunningJob[Any], error: BaseException) -> str:
    saved = describe_saved_work(job.row.operation)
    if is_disk_full(error):
        return f"The server's disk is full; {saved}. Ask an administrator to free disk space, then retry."
    return (
        f"Unexpected error ({type(error).__name__}); {saved}. "
        "The worker's log shows where it happened; retrying may help."
    )


R = TypeVar("R")


def run_job(
    operation: str,
    function: Callable[[RunningJob[P]], R],
    *,
    progress: Progress,
    dataset_name: str = "",
    parameters: P | None = None,
) -> R:
    """Perform an operation in this process: in one transaction unless it commits itself. ``function`` is its
    task, or does what only a command does, such as writing a file that it names.

    Returns what ``function`` returns, and raises what it raises, once the row says how it ended.
    """
    stated: Any = parameters or NoParameters()
    row = JobRun.objects.create(
        operation=operation,
        dataset=Dataset.objects.filter(name=dataset_name).first(),
        dataset_name=dataset_name[:100],
        parameters=stated.as_json(),
        state="running",
        foreground=True,
        attempt=1,
        worker=worker_name(),
        queued_at=Now(),
        started_at=Now(),
        heartbeat_at=Now(),
    )
    job: RunningJob[P] = RunningJob(row, type(stated), progress)
    saved = describe_saved_work(operation)
    try:
        commits_itself = get_operation(operation).commits_itself
        with progress:
            return run_operation(job, function, commits_itself=commits_itself)
    except UserError as refusal:
        record_end(job, "failed", error=refusal.message, result=refusal.details)
        raise
    except (OperationCanceled, KeyboardInterrupt):
        record_end(job, "cancelled")
        raise
    except ClaimLost:
        raise UserError(
            f"The command sent no heartbeat for too long, so it was stopped; {saved}. Run it again."
        ) from None
    except BaseException as error:
        connection.close()
        gone = isinstance(error, OperationalError | InterfaceError | EmbeddedServiceError)
        reason = f"The database connection was lost; {saved}. Run the command again."
        record_end(job, "failed", error=reason if gone else format_unexpected_error(job, error))
        raise
