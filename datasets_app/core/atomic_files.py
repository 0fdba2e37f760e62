"""Writes files that are either complete or absent."""

import io
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

PRIVATE_MODE = 0o600


@contextmanager
def write_atomically(target: Path) -> Iterator[IO[bytes]]:
    """Open a temporary file in the folder of ``target`` and rename it to ``target`` if the block succeeds.

    Meanwhile it can be read under its own ``name``. Only its owner may read it, unless it replaces
    a file that others may read. Callers resolve symbolic links first. Raises OSError.
    """
    part = target.with_name(f".{_truncate_name(target.name)}.{secrets.token_hex(4)}.part")
    try:
        with _open_part(part, target) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, part)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def create_private(path: Path) -> IO[bytes]:
    """Open a new file that only its owner may read."""
    return open(path, "xb", opener=_open_private)


def _open_private(name: str, flags: int) -> int:
    return os.open(name, flags, PRIVATE_MODE)


class _Part(io.FileIO):
    """Says whose write the disk refused, which callers know by the name of the target."""

    target = ""

    def write(self, data: Any, /) -> Any:
        try:
            return super().write(data)
        except OSError as error:
            error.filename = self.target
            raise


def _open_part(part: Path, target: Path) -> IO[bytes]:
    try:
        file = _Part(part, "xb", opener=_open_private)
    except OSError as error:
        error.filename = str(target)
        raise
    file.target = str(target)
    return io.BufferedWriter(file)


def _truncate_name(name: str) -> str:
    """File names have 255 bytes at most."""
    return os.fsencode(name)[:200].decode(errors="ignore")
