"""What commands share that needs no Django: input from a file or a pipe, progress on a terminal, ends."""

import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Self

STDIN_NAME = "standard input"
EXIT_FINDINGS, EXIT_COULD_NOT_RUN, EXIT_INTERRUPTED, EXIT_OUTPUT_CLOSED = 1, 2, 130, 141


# Control characters but line feeds and tabs, and those that change the direction of text: a terminal would
# obey them. Written like this they are also the same character in JSON.
_TERMINAL_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]"
)


def escape_terminal(text: str) -> str:
    """What a terminal shows and doesn't obey, whatever the files and names say that are quoted in it."""
    return _TERMINAL_UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


class CommandFailure(Exception):
    """An error of the call, not of the data, as a sentence: exit code 2."""


def show_name(file_name: str) -> str:
    return STDIN_NAME if file_name == "-" else file_name


@contextmanager
def provide_local_file(name: str) -> Iterator[Path]:
    """The path given, or a temporary copy of what can be read only once: ``-``, a pipe, a device."""
    path = Path(name)
    if name != "-" and (not path.exists() or path.is_file() or path.is_dir()):
        yield path
        return
    if name == "-" and sys.stdin is None:
        raise CommandFailure("Standard input is closed; name a file.")
    with tempfile.NamedTemporaryFile(prefix="alignmenter-stdin-") as copy, ExitStack() as stack:
        source = sys.stdin.buffer if name == "-" else stack.enter_context(path.open("rb"))
        shutil.copyfileobj(source, copy, 1 << 20)
        copy.flush()
        yield Path(copy.name)


class Progress:
    """A line on the terminal that shows how far the work is, cleared at the end; nothing in a pipe."""

    def __init__(self, verb: str, unit: str = "") -> None:
        self.stream = sys.stderr
        self.verb, self.unit = verb, unit
        self.visible = bool(getattr(self.stream, "isatty", lambda: False)())
        self.last_shown_at = 0.0

    def __call__(self, done: int, total: int | None = None) -> None:
        if not self.visible or time.monotonic() - self.last_shown_at < 0.2:
            return
        self.last_shown_at = time.monotonic()
        share = f" {min(100, 100 * done // total)} %" if total else ""
        count = f" {done:,} {self.unit}" if self.unit else ""
        self.stream.write(f"\r\x1b[K{self.verb}{share}{count}")
        self.stream.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def clear(self) -> None:
        if self.visible and self.last_shown_at:
            self.stream.write("\r\x1b[K")
            self.stream.flush()


@contextmanager
def exit_quietly() -> Iterator[None]:
    """Ctrl-C and a reader that went away (`| head`) end a command without a traceback."""
    try:
        yield
    except KeyboardInterrupt:
        sys.stderr.write("\nInterrupted.\n")
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:
        # Python would complain once more when it closes standard output on its way out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        # What was not written or looked at to its end is never called done.
        sys.exit(EXIT_OUTPUT_CLOSED)


def get_standard_output() -> IO[bytes]:
    if sys.stdout is None:
        raise CommandFailure("Standard output is closed; name a file with --out.")
    return sys.stdout.buffer
