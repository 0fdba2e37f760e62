"""Commands on files: a small one is read whole, one that is written is never half there."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from django.core.management.base import CommandError

from datasets_app.core.atomic_files import EVERYONE, replacing
from datasets_app.management.terminal import COULD_NOT_RUN


def read_text(given: str) -> str:
    """The whole of a small UTF-8 file, or of standard input for ``-``; a byte-order mark stays."""
    try:
        raw = sys.stdin.buffer.read() if given == "-" else Path(given).read_bytes()
    except OSError as error:
        raise CommandError(f"{given} can't be read: {error.strerror}.", returncode=COULD_NOT_RUN) from None
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CommandError(
            f"{given} is not UTF-8 (byte {error.start + 1}); convert it.", returncode=COULD_NOT_RUN
        ) from None


@contextmanager
def output_file(given: str, stdout: Any) -> Iterator[IO[bytes]]:
    """Where to write. A file appears under its name only when it is whole; ``-`` is standard output."""
    target = Path(given)
    if given == "-":
        yield _binary(stdout)
        _binary(stdout).flush()
    elif target.exists() and not target.is_file():
        # A device or a pipe is written to, not replaced.
        with _told_if_not(given), target.open("wb") as file:
            yield file
    else:
        with _told_if_not(given), replacing(target.resolve(), mode=EVERYONE, keeps_mode=False) as file:
            yield file


@contextmanager
def _told_if_not(given: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CommandError(
            f"{given} can't be written: {error.strerror or error}.", returncode=COULD_NOT_RUN
        ) from None


def _binary(stdout: Any) -> IO[bytes]:
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
