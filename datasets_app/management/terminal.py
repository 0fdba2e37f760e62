"""What commands share: errors as sentences, exit codes, and the streams of ``command_line``."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import CommandError
from django.db import DatabaseError, InterfaceError, OperationalError

from datasets_app.command_line.streams import (
    COULD_NOT_RUN,
    FINDINGS,
    INTERRUPTED,
    READER_GONE,
    CouldNotRun,
    Progress,
    ending_quietly,
    local_file,
    standard_output,
)
from datasets_app.core.errors import Refused

__all__ = [
    "COULD_NOT_RUN",
    "FINDINGS",
    "INTERRUPTED",
    "READER_GONE",
    "Progress",
    "could_not_run",
    "counted",
    "ending_quietly",
    "local_file",
    "problem_text",
    "sentences_for_errors",
    "standard_output",
    "tell_problems",
    "terminated_like_interrupted",
]

# SQLSTATE of a table or column that is not there.
MISSING_TABLE_OR_COLUMN = ("42P01", "42703")


def could_not_run(message: str) -> CommandError:
    """An error of the call, not of the data: exit code 2."""
    return CommandError(message, returncode=COULD_NOT_RUN)


def counted(count: int, unit: str) -> str:
    return f"{count:,} {unit}{'' if count == 1 else 's'}"


@contextmanager
def sentences_for_errors(stderr: Any) -> Iterator[None]:
    """What goes wrong becomes a sentence: exit code 1 if lines were wrong (listed first), else 2.

    A database's own message may repeat text of a conversation, and is not shown.
    """
    try:
        with ending_quietly():
            yield
    except CouldNotRun as error:
        raise could_not_run(str(error)) from None
    except Refused as refusal:
        listed = tell_problems(stderr, refusal.details or {})
        raise CommandError(refusal.message, returncode=FINDINGS if listed else COULD_NOT_RUN) from None
    except (OperationalError, InterfaceError) as error:
        raise could_not_run(
            f"The database can't be used ({_kind(error)}); nothing was saved. "
            "Is it running, has it room, and is DATABASE_URL right?"
        ) from None
    except DatabaseError as error:
        if getattr(error.__cause__, "sqlstate", None) in MISSING_TABLE_OR_COLUMN:
            raise could_not_run("The database is not set up yet; run: python manage.py migrate") from None
        raise could_not_run(f"The database refused this ({_kind(error)}); nothing was saved.") from None
    except OSError as error:
        place = error.filename or "a temporary file"
        raise could_not_run(f"{place}: {error.strerror or error}.") from None


def tell_problems(stderr: Any, details: dict[str, Any]) -> int:
    """Write the problems of a refusal or result; returns how many were listed."""
    problems = details.get("problems") or []
    for problem in problems:
        stderr.write(problem_text(**problem))
    more = details.get("problem_total", 0) - len(problems)
    if more > 0:
        stderr.write(f"… and {more:,} more.")
    return len(problems)


def problem_text(
    *, message: str, file: str = "", line: int = 0, code: str = "", field: str | None = None, **_: Any
) -> str:
    """As linters write it: ``file.jsonl:12: E103 role must be …``; a line number, or else the field."""
    place = ":".join(str(part) for part in (file, line or field) if part)
    return f"{place}: {code} {message}" if code else f"{place}: {message}"


def _kind(error: Exception) -> str:
    state = getattr(error.__cause__, "sqlstate", None)
    return f"SQLSTATE {state}" if state else type(error).__name__


@contextmanager
def terminated_like_interrupted() -> Iterator[None]:
    """SIGTERM lets a command clear up behind it as Ctrl-C does. Only where signals can be caught."""

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
