"""Commands on files: a small one is read whole, one that is written is never half there."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from django.core.management.base import CommandError

from datasets_app.core.atomic_files import SHARED_MODE, write_atomically
from datasets_app.management.terminal import EXIT_COULD_NOT_RUN


def read_text(file_name: str) -> str:
    """The whole of a small UTF-8 file, or of standard input for ``-``; a byte-order mark stays."""
    try:
        raw = sys.stdin.buffer.read() if file_name == "-" else Path(file_name).read_bytes()
    except OSError as error:
        raise CommandError(
            f"{file_name} can't be read: {error.strerror}.", returncode=EXIT_COULD_NOT_RUN
        ) from None
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CommandError(
            f"{file_name} is not UTF-8 (byte {error.start + 1}); convert it.", returncode=EXIT_COULD_NOT_RUN
        ) from None


@contextmanager
def open_output(file_name: str, stdout: Any) -> Iterator[IO[bytes]]:
    """Where to write. A file appears under its name only when it is whole; ``-`` is standard output."""
    target = Path(file_name)
    if file_name == "-":
        yield _binary_stream(stdout)
        _binary_stream(stdout).flush()
    elif target.exists() and not target.is_file():
        # A device or a pipe is written to, not replaced.
        with _report_write_errors(file_name), target.open("wb") as file:
            yield file
    else:
        with (
            _report_write_errors(file_name),
            write_atomically(target.resolve(), mode=SHARED_MODE, keep_mode=False) as file,
        ):
            yield file


@contextmanager
def _report_write_errors(file_name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CommandError(
            f"{file_name} can't be written: {error.strerror or error}.", returncode=EXIT_COULD_NOT_RUN
        ) from None


def _binary_stream(stdout: Any) -> IO[bytes]:
    inner = getattr(stdout, "_out", stdout)
    return getattr(inner, "buffer", None) or _TextSink(inner)  # type: ignore[return-value]


class _TextSink:
    """For a caller that collects the output as text."""

    def __init__(self, out: Any) -> None:
        self.out = out

    def write(self, block: bytes) -> None:
        self.out.write(block.decode())

    def flush(self) -> None:
        self.out.flush()
