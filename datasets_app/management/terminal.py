"""Errors of commands as sentences and exit codes; lists of problems."""

import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, InterfaceError, OperationalError

from datasets_app.command_line.remedies import SESSIONS_REMEDY, append_remedy
from datasets_app.command_line.streams import EXIT_COULD_NOT_RUN, EXIT_FINDINGS, CommandFailure, exit_quietly
from datasets_app.core.errors import UserError

# SQLSTATE of a table or column that is not there.
MISSING_SCHEMA_SQLSTATES = ("42P01", "42703")

# What a command line can do about a refusal; pages word their own remedies.
OPTION_BY_REMEDY = {"override": " Pass it with --override.", "sessions": SESSIONS_REMEDY}


def command_error(message: str) -> CommandError:
    """The command was called wrongly or can't run: exit code 2."""
    return CommandError(message, returncode=EXIT_COULD_NOT_RUN)


@contextmanager
def report_errors(command: BaseCommand) -> Iterator[None]:
    """Turn an error into a sentence: exit code 1 if lines were wrong (they are listed first), else 2.

    Never shows the database's own message: it may quote a conversation.
    """
    try:
        with exit_quietly():
            yield
    except CommandFailure as error:
        raise command_error(str(error)) from None
    except UserError as refusal:
        listed = print_problems(command.stderr, refusal.details or {})
        raise CommandError(
            refusal.message + OPTION_BY_REMEDY.get(refusal.remedy, ""),
            returncode=EXIT_FINDINGS if listed else EXIT_COULD_NOT_RUN,
        ) from None
    except (OperationalError, InterfaceError) as error:
        raise command_error(
            f"The database can't be used ({_error_kind(error)}); nothing was saved. Check that it is "
            "running, that its disk has room, and that DATABASE_URL is right."
        ) from None
    except DatabaseError as error:
        if getattr(error.__cause__, "sqlstate", None) in MISSING_SCHEMA_SQLSTATES:
            raise command_error("The database is not set up yet. Run: python manage.py migrate") from None
        raise command_error(f"The database refused this ({_error_kind(error)}); nothing was saved.") from None
    except OSError as error:
        place = error.filename or f"a temporary file in {tempfile.tempdir or 'the temporary folder'}"
        raise command_error(f"{place}: {error.strerror or error}.") from None


def print_limited(lines: list[str], total: int, write: Callable[[str], Any]) -> None:
    """Write the first lines of ``total``, and how many more there are."""
    for line in lines:
        write(line)
    if total > len(lines):
        write(f"… and {total - len(lines):,} more.")


def print_problems(stderr: Any, details: dict[str, Any]) -> int:
    """Write the problems of an error or a result; returns how many were listed."""
    problems = details.get("problems") or []
    lines = [format_problem(**problem) for problem in problems]
    print_limited(lines, details.get("problem_total", 0), stderr.write)
    return len(lines)


def format_problem(
    *, message: str, file: str = "", line: int = 0, code: str = "", field: str | None = None, **_: Any
) -> str:
    """In the format of linters: ``file.jsonl:12: E103 role must be …``; without a line, the field."""
    place = ":".join(str(part) for part in (file, line or field) if part)
    return f"{place}: {code} {append_remedy(code, message)}" if code else f"{place}: {message}"


def _error_kind(error: Exception) -> str:
    state = getattr(error.__cause__, "sqlstate", None)
    return f"SQLSTATE {state}" if state else type(error).__name__


@contextmanager
def interrupt_on_sigterm() -> Iterator[None]:
    """Let a command clean up on SIGTERM as it does on Ctrl-C; no effect outside the main thread."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
