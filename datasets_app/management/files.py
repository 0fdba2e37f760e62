"""Commands on files: a small one is read whole, one that is written is never half there."""

import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from django.core.management.base import CommandError

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
        try:
            with target.open("wb") as file:
                yield file
        except OSError as error:
            raise _cannot_write(given, error) from None
    else:
        yield from _whole_file(target.resolve(), given)


def _whole_file(target: Path, given: str) -> Iterator[IO[bytes]]:
    part = target.with_name(f".{target.name[:200]}.{secrets.token_hex(4)}.part")
    try:
        with part.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    except OSError as error:
        raise _cannot_write(given, error) from None
    finally:
        part.unlink(missing_ok=True)


def _cannot_write(given: str, error: OSError) -> CommandError:
    return CommandError(f"{given} can't be written: {error.strerror or error}.", returncode=COULD_NOT_RUN)


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
