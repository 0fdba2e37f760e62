"""The base class of every command that does its work and ends."""

from argparse import RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from django.core.management import base

from datasets_app.command_line.options import OneOf, Option, add_options
from datasets_app.command_line.streams import Progress, escape_terminal
from datasets_app.jobs.parameters import NoParameters, P
from datasets_app.jobs.perform import run_in_foreground
from datasets_app.jobs.running import RunningJob
from datasets_app.management.terminal import interrupt_on_sigterm, report_errors

T = TypeVar("T")


class HelpFormatter(base.DjangoHelpFormatter, RawDescriptionHelpFormatter):
    """Keeps the line breaks of the help text, and lists the options of Django itself last."""


class TerminalOutput(base.OutputWrapper):
    """Escapes what a terminal would obey. Data goes to standard output as it is: ``get_standard_output``."""

    def write(self, msg: str = "", style_func: Any = None, ending: str | None = None) -> None:
        super().write(escape_terminal(msg), style_func, ending)


class BaseCommand(base.BaseCommand):
    """Errors become one sentence and an exit code; Ctrl-C and SIGTERM let the command clean up."""

    # `run`, `migrate` and `make check` run the system checks; commands on files need no database.
    requires_system_checks = ()
    arguments: Sequence[Option | OneOf] = ()

    def __setattr__(self, name: str, value: Any) -> None:
        # Django replaces both streams in several places.
        if type(value) is base.OutputWrapper:
            value = TerminalOutput(value._out)
        super().__setattr__(name, value)

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> base.CommandParser:
        kwargs.setdefault("formatter_class", HelpFormatter)
        # An option of ours, such as --version, takes the place of one of Django's.
        kwargs.setdefault("conflict_handler", "resolve")
        return super().create_parser(prog_name, subcommand, **kwargs)

    def add_arguments(self, parser: base.CommandParser) -> None:
        add_options(parser, self.arguments)

    def execute(self, *args: Any, **options: Any) -> str | None:
        with report_errors(self), interrupt_on_sigterm():
            return super().execute(*args, **options)


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
