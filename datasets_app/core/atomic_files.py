"""Files that stand under their name complete, or not at all: written beside it, put in place at the end."""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

# What a plain open() asks for; the umask takes its share.
SHARED_MODE, PRIVATE_MODE = 0o666, 0o600


@contextmanager
def write_atomically(
    target: Path, *, mode: int = PRIVATE_MODE, keep_mode: bool = True
) -> Iterator[IO[bytes]]:
    """A new file beside ``target``, which takes its place when the block ends without an exception.

    Until then it can be read again under its own ``name``. It gets ``mode``, or, with ``keeps_mode``, that
    of a file it replaces. Links are to be resolved before. Raises OSError.
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
        error.filename = str(target)  # the name that whoever asked for it knows
        raise


def _truncate_name(name: str) -> str:
    """File names have 255 bytes at most."""
    return os.fsencode(name)[:200].decode(errors="ignore")
