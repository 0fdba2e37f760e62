"""The base class of every command that does its work and ends."""

from argparse import RawDescriptionHelpFormatter
from collections.abc import Callable
from typing import Any, TypeVar

from django.core.management import base

from datasets_app.command_line.streams import Progress
from datasets_app.core.progress import ProgressCallback
from datasets_app.jobs import runs
from datasets_app.management.terminal import interrupt_on_sigterm, report_errors
from datasets_app.models import JobRun

T = TypeVar("T")


class HelpFormatter(base.DjangoHelpFormatter, RawDescriptionHelpFormatter):
    """Keeps the line breaks of the help text, and lists the options of Django itself last."""


class BaseCommand(base.BaseCommand):
    """Errors become one sentence and an exit code; Ctrl-C and SIGTERM let the command clean up."""

    # `run`, `migrate` and `make check` run the system checks; commands on files need no database.
    requires_system_checks = ()

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> base.CommandParser:
        kwargs.setdefault("formatter_class", HelpFormatter)
        return super().create_parser(prog_name, subcommand, **kwargs)

    def execute(self, *args: Any, **options: Any) -> str | None:
        with report_errors(self), interrupt_on_sigterm():
            return super().execute(*args, **options)


def run_job(
    operation: str,
    function: Callable[[ProgressCallback], T],
    *,
    progress: Progress,
    dataset_name: str = "",
    parameters: Any = None,
    **details: Any,
) -> T:
    """Run an operation in this process, in one transaction, recorded like any other job."""
    with progress:
        result: T = runs.run_in_foreground(
            operation,
            function,
            dataset_name=dataset_name,
            parameters={} if parameters is None else parameters,
            report_progress=progress,
            **details,
        )
    return result


def run_job_in_steps(
    operation: str,
    function: Callable[[JobRun, ProgressCallback], T],
    *,
    progress: Progress,
    dataset_name: str = "",
    parameters: Any = None,
) -> T:
    """As :func:`run_job`, for an operation that commits its own transactions."""
    with progress:
        result: T = runs.run_in_foreground_steps(
            operation,
            function,
            dataset_name=dataset_name,
            parameters={} if parameters is None else parameters,
            report_progress=progress,
        )
    return result
