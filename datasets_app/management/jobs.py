"""Commands that are recorded like jobs."""

from collections.abc import Callable
from typing import Any, TypeVar

from datasets_app.command_line.streams import Progress
from datasets_app.jobs.parameters import NoParameters, P
from datasets_app.jobs.perform import run_in_foreground
from datasets_app.jobs.running import RunningJob

T = TypeVar("T")


def run_job(
    operation: str,
    function: Callable[[RunningJob[P]], T],
    *,
    progress: Progress,
    dataset_name: str = "",
    parameters: P | None = None,
    **details: Any,
) -> T:
    """Perform an operation in this process, recorded like any other job (``run_in_foreground``).

    ``function`` gets the running job: its ``report_progress``, and its ``row`` for what commits itself.
    """
    with progress:
        result: T = run_in_foreground(
            operation,
            function,
            dataset_name=dataset_name,
            parameters=parameters or NoParameters(),
            report_progress=progress,
            **details,
        )
    return result
