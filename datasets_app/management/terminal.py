"""What commands share: input from a file or a pipe, progress on a terminal, exit codes."""

import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

from django.core.management.base import CommandError
from django.db import DatabaseError, InterfaceError, OperationalError

from datasets_app.operations.refused import Refused

# SQLSTATE of a table or column that is not there.
MISSING_TABLE_OR_COLUMN = ("42P01", "42703")
FINDINGS, COULD_NOT_RUN, INTERRUPTED, READER_GONE = 1, 2, 130, 141


def could_not_run(message: str) -> CommandError:
    """An error of the call, not of the data: exit code 2."""
    return CommandError(message, returncode=COULD_NOT_RUN)


def counted(count: int, unit: str) -> str:
    return f"{count:,} {unit}{'' if count == 1 else 's'}"


@contextmanager
def local_file(given: str) -> Iterator[Path]:
    """The path given, or a temporary copy of what can be read only once: ``-``, a pipe, a device."""
    path = Path(given)
    if given != "-" and (not path.exists() or path.is_file() or path.is_dir()):
        yield path
        return
    if given == "-" and sys.stdin is None:
        raise could_not_run("Standard input is closed; name a file.")
    with tempfile.NamedTemporaryFile(prefix="alignmenter-stdin-") as copy, ExitStack() as stack:
        source = sys.stdin.buffer if given == "-" else stack.enter_context(path.open("rb"))
        shutil.copyfileobj(source, copy, 1 << 20)
        copy.flush()
        yield Path(copy.name)


class Progress:
    """A line on the terminal that tells how far the work is; nothing at all in a pipe."""

    def __init__(self, verb: str, unit: str = "", stream: Any = None) -> None:
        self.stream = stream or sys.stderr
        self.verb, self.unit = verb, unit
        self.visible = bool(getattr(self.stream, "isatty", lambda: False)())
        self.shown_at = 0.0

    def __call__(self, done: int, total: int | None = None) -> None:
        if not self.visible or time.monotonic() - self.shown_at < 0.2:
            return
        self.shown_at = time.monotonic()
        share = f" {min(100, 100 * done // total)} %" if total else ""
        count = f" {done:,} {self.unit}" if self.unit else ""
        self.stream.write(f"\r\x1b[K{self.verb}{share}{count}")
        self.stream.flush()

    def clear(self) -> None:
        if self.visible and self.shown_at:
            self.stream.write("\r\x1b[K")
            self.stream.flush()


@contextmanager
def ending_quietly() -> Iterator[None]:
    """Ctrl-C and a reader that went away (`| head`) end a command without a traceback."""
    try:
        yield
    except KeyboardInterrupt:
        sys.stderr.write("\nInterrupted.\n")
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # Python would complain once more when it closes standard output on its way out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        # What was not written or looked at to its end is never called done.
        sys.exit(READER_GONE)


def standard_output() -> IO[bytes]:
    if sys.stdout is None:
        raise could_not_run("Standard output is closed; name a file with --out.")
    return sys.stdout.buffer


@contextmanager
def sentences_for_errors(stderr: Any) -> Iterator[None]:
    """What goes wrong becomes a sentence: exit code 1 if lines were wrong (listed first), else 2.

    A database's own message may repeat text of a conversation, and is not shown.
    """
    try:
        with ending_quietly():
            yield
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
