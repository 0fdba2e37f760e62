"""The operations that run as jobs, by name: the struct of their parameters, and their task."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from django.apps import AppConfig
from django.conf import settings

from datasets_app.jobs.parameters import JobParameters, NoParameters, P, read_parameters
from datasets_app.jobs.running import RunningJob
from datasets_app.models import JobRun

R = TypeVar("R")


class Operation(NamedTuple):
    """``task`` is None if only commands run it. One that ``commits_itself`` runs in no transaction.
    ``permission`` is to start its jobs and to cancel them; empty if it is named like the operation. Pages
    count its progress in the ``unit``."""

    parameters: type[JobParameters]
    task: Callable[[RunningJob[Any]], Any] | None = None
    commits_itself: bool = False
    permission: str = ""
    unit: str = ""


operations: dict[str, Operation] = {}


def task(
    parameters: type[P] | type[NoParameters] = NoParameters, **details: Any
) -> Callable[[Callable[[RunningJob[P]], R]], Callable[[RunningJob[P]], R]]:
    """Register the function that performs the operation of its name. ``details`` are fields of
    :class:`Operation`."""

    def register(function: Callable[[RunningJob[P]], R]) -> Callable[[RunningJob[P]], R]:
        operations[function.__name__] = Operation(parameters, function, **details)
        return function

    return register


def load_tasks(app: AppConfig) -> None:
    """Import the ``tasks.py`` of each package of an app, which registers what it has."""
    for path in sorted(Path(app.path).glob("*/tasks.py")):
        import_module(f"{app.name}.{path.parent.name}.tasks")


def get_operation(name: str) -> Operation:
    return operations.get(name, Operation(NoParameters))


def approval_permission(job: JobRun) -> str:
    """With four eyes: the permission of the second person whom a job needs; empty if it needs none."""
    return "" if job.foreground or not settings.FOUR_EYES else sensitive_permission(job)


def sensitive_permission(job: JobRun) -> str:
    """See :attr:`JobParameters.approval_permission`. Raises UserError if the parameters can't be read."""
    return read_parameters(job, get_operation(job.operation).parameters).approval_permission


def describe_saved_work(operation: str) -> str:
    """Completes a sentence about a job that ended early."""
    return "what was finished is kept" if get_operation(operation).commits_itself else "nothing was saved"
