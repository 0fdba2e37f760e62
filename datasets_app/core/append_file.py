"""Files that only grow, such as logs kept outside the database."""

import os
from pathlib import Path


def append_text(path: Path, text: str) -> None:
    """Append durably with a single write, so that concurrent processes don't mix their lines."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(descriptor, text.encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
