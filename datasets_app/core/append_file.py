"""Files that only grow, such as logs kept outside the database."""

import fcntl
import os
from errno import ENOSPC
from pathlib import Path


def append_text(path: Path, text: str) -> None:
    """Append durably: all of the text, or nothing and an OSError. A full disk takes a part of it without an
    error, and the next line would continue that part."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    content = text.encode()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        size = os.fstat(descriptor).st_size
        try:
            if os.write(descriptor, content) < len(content):
                raise OSError(ENOSPC, os.strerror(ENOSPC), str(path))
            os.fsync(descriptor)
        except OSError:
            os.ftruncate(descriptor, size)
            raise
    finally:
        os.close(descriptor)
