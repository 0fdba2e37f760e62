"""Writes files that are either complete or absent."""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

# Before the umask is applied; the first is the mode that open() requests.
SHARED_MODE, PRIVATE_MODE = 0o666, 0o600


@contextmanager
def write_atomically(
    target: Path, *, mode: int = PRIVATE_MODE, keep_mode: bool = True
) -> Iterator[IO[bytes]]:
    """Open a temporary file in the folder of ``target`` and rename it to ``target`` if the block succeeds.

    Meanwhile it can be read under its own ``name``. It gets ``mode`` or, with ``keep_mode``, the mode of the
    file it replaces. Callers resolve symbolic links first. Raises OSError.
    """
    part = target.with_name(f".{_truncate_name(target.name)}.{secrets.token_hex(4)}.part")
    try:
        with _open_part(part, target, mode) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if keep_mode and target.exists():
            shutil.copymode(target, part)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _open_part(part: Path, target: Path, mode: int) -> IO[bytes]:
    try:
        return open(part, "xb", opener=lambda path, flags: os.open(path, flags, mode))
    except OSError as error:
        error.filename = str(target)  # callers don't know the temporary name
        raise


def _truncate_name(name: str) -> str:
    """File names have 255 bytes at most."""
    return os.fsencode(name)[:200].decode(errors="ignore")
