"""What commands share: input from a file or a pipe, progress on a terminal, exit codes."""

import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from django.core.management.base import CommandError

DONE, FINDINGS, COULD_NOT_RUN, INTERRUPTED = 0, 1, 2, 130


def could_not_run(message: str) -> CommandError:
    """An error of the call, not of the data: exit code 2."""
    return CommandError(message, returncode=COULD_NOT_RUN)


def counted(count: int, unit: str) -> str:
    return f"{count:,} {unit}{'' if count == 1 else 's'}"


@contextmanager
def local_file(given: str) -> Iterator[Path]:
    """The path given, or for ``-`` a temporary copy of standard input, which can be read twice."""
    if given != "-":
        yield Path(given)
        return
    with tempfile.NamedTemporaryFile(prefix="alignmenter-stdin-") as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy, 1 << 20)
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
        sys.stderr.write("\nInterrupted; nothing was saved.\n")
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # Python would complain once more when it closes standard output on its way out.
        sys.stdout = None
        sys.exit(DONE)


def standard_output() -> IO[bytes]:
    return sys.stdout.buffer


def run(function: Callable[[], int | None]) -> None:
    """Run a command's body: refusals and lost connections become one sentence and an exit code."""
    from django.db import InterfaceError, OperationalError

    from datasets_app.operations.refused import Refused

    with ending_quietly():
        try:
            code = function()
        except Refused as refusal:
            raise could_not_run(refusal.message) from None
        except (OperationalError, InterfaceError) as error:
            raise could_not_run(
                f"The database can't be reached or gave up ({_first_line(error)}); nothing was saved."
            ) from None
        except OSError as error:
            raise could_not_run(
                f"{error.strerror or error}: {error.filename or 'a temporary file'}"
            ) from None
    if code:
        sys.exit(code)


def _first_line(error: Exception) -> str:
    # Of the server's own messages only the first line: the others may repeat a row.
    state = getattr(error.__cause__, "sqlstate", None)
    return f"SQLSTATE {state}" if state else str(error).strip().split("\n")[0][:200]
