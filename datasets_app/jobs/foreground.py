"""A job in the process of a command, with a row like any other."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.db import InterfaceError, OperationalError, connection
from django.db.models.functions import Now

from alignmenter_site.embedded import EmbeddedServiceError
from datasets_app.core.errors import UserError
from datasets_app.core.progress import OperationCanceled, ProgressCallback, ignore_progress
from datasets_app.jobs.parameters import P
from datasets_app.jobs.perform import format_unexpected_error
from datasets_app.jobs.registry import describe_saved_work, get_operation
from datasets_app.jobs.running import ClaimLost, RunningJob, run_operation, worker_name
from datasets_app.models import JobRun

R = TypeVar("R")


def _result_facts(result: Any) -> dict[str, Any]:
    return result if isinstance(result, dict) else dict(result._asdict())


def run_in_foreground(
    operation: str,
    function: Callable[[RunningJob[P]], R],
    *,
    dataset_name: str,
    parameters: P,
    make_facts: Callable[[R], dict[str, Any]] = _result_facts,
    report_progress: ProgressCallback = ignore_progress,
) -> R:
    """Perform an operation in this process, like a task: in one transaction unless it commits itself.

    Returns what ``function`` returns, and raises what it raises, once the row says how it ended.
    ``make_facts`` makes the result that the row keeps; ``report_progress`` shows what the job reports.
    """
    row = JobRun.objects.create(
        operation=operation,
        dataset_name=dataset_name[:100],
        parameters=parameters.as_json(),
        state="running",
        foreground=True,
        attempt=1,
        worker=worker_name(),
        queued_at=Now(),
        started_at=Now(),
        heartbeat_at=Now(),
    )
    job = RunningJob(row, type(parameters), report_progress)
    saved = describe_saved_work(operation)
    try:
        commits_itself = get_operation(operation).commits_itself
        return run_operation(job, function, make_facts, commits_itself=commits_itself)
    except UserError as refusal:
        job.record_end("failed", error=refusal.message, result=refusal.details)
        raise
    except (OperationCanceled, KeyboardInterrupt):
        job.record_end("cancelled")
        raise
    except ClaimLost:
        raise UserError(
            f"The command sent no heartbeat for too long, so it was stopped; {saved}. Run it again."
        ) from None
    except BaseException as error:
        connection.close()
        gone = isinstance(error, OperationalError | InterfaceError | EmbeddedServiceError)
        reason = f"The database connection was lost; {saved}. Run the command again."
        job.record_end("failed", error=reason if gone else format_unexpected_error(job, error))
        raise
