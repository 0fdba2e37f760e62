"""A secret key that is made once and kept where only its owner reads it."""

import os
import secrets
from pathlib import Path

from alignmenter_site import env


def load_or_create(path: Path) -> str:
    """The key in the file; made first if there is none, by one process however many start at once.

    Raises :class:`env.ImproperEnvironment` if it can neither be read nor made.
    """
    try:
        return _read_key(path) or _make(path)
    except OSError as error:
        raise env.unusable(path, error) from None


def _make(path: Path) -> str:
    from alignmenter_site.embedded import locks

    env.writable_directory(path.parent)
    with locks.hold(path.with_name(f"{path.name}.lock")):
        if key := _read_key(path):
            return key
        # The file has its name only when it is whole; an empty one, left by a crash, is replaced.
        new = path.with_name(f"{path.name}.new")
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(secrets.token_urlsafe(64))
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
    return _read_key(path)


def _read_key(path: Path) -> str:
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        return ""
