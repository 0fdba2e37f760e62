"""Commands on files small and large: no half files, and what is wrong with one as a linter says it."""

import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from django.core.management.base import CommandError
from django.db import DatabaseError, InterfaceError, OperationalError

from datasets_app.management.terminal import COULD_NOT_RUN, FINDINGS, ending_quietly
from datasets_app.operations.refused import Refused


@contextmanager
def sentences_for_errors(stderr: Any) -> Iterator[None]:
    """A refusal becomes its sentence: exit code 1 if lines were wrong (listed first), else 2."""
    try:
        with ending_quietly():
            yield
    except Refused as refusal:
        details = refusal.details or {}
        problems = details.get("problems", [])
        for problem in problems:
            stderr.write(problem_text(**problem))
        total = details.get("problem_total", 0)
        if total > len(problems):
            stderr.write(f"… and {total - len(problems):,} more.")
        raise CommandError(refusal.message, returncode=FINDINGS if problems else COULD_NOT_RUN) from None
    except (OperationalError, InterfaceError) as error:
        raise CommandError(
            f"The database can't be used ({type(error).__name__}): is it running, and DATABASE_URL right?",
            returncode=COULD_NOT_RUN,
        ) from None
    except DatabaseError as error:
        # Its message may repeat text of a conversation.
        raise CommandError(
            f"The database refused this ({type(error).__name__}); nothing was saved.",
            returncode=COULD_NOT_RUN,
        ) from None
    except OSError as error:
        place = error.filename or "a temporary file"
        raise CommandError(f"{place}: {error.strerror or error}.", returncode=COULD_NOT_RUN) from None


def problem_text(
    *, message: str, file: str = "", line: int = 0, code: str = "", field: str | None = None, **_: Any
) -> str:
    """As linters write it: ``file.jsonl:12: E103 role must be …``; a line number, or else the field."""
    place = ":".join(str(part) for part in (file, line or field) if part)
    return f"{place}: {code} {message}" if code else f"{place}: {message}"


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
