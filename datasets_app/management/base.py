"""The base class of every command that does its work and ends."""

from argparse import RawDescriptionHelpFormatter
from collections.abc import Sequence
from typing import Any

from django.core.management import base

from datasets_app.command_line.options import OneOf, Option, add_options
from datasets_app.command_line.streams import escape_terminal
from datasets_app.management.terminal import interrupt_on_sigterm, report_errors


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
