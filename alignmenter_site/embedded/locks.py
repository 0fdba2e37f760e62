"""Locks that the kernel releases when their holder dies, however it dies.

A lock belongs to the open file, so processes that inherit the descriptor share it: it is held until
the last of them has ended. Descriptors are closed on exec unless passed on deliberately.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def _open_lock_file(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)


def try_acquire(path: Path) -> int | None:
    """Take the exclusive lock if it is free; close the descriptor to release it."""
    descriptor = _open_lock_file(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor


def acquire_within(path: Path, seconds: float) -> int | None:
    deadline = time.monotonic() + seconds
    while (descriptor := try_acquire(path)) is None and time.monotonic() < deadline:
        time.sleep(0.05)
    return descriptor


def acquire_shared(path: Path) -> int:
    """Wait for a shared lock; close the descriptor to release it."""
    descriptor = _open_lock_file(path)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    return descriptor


@contextmanager
def hold(path: Path) -> Iterator[None]:
    """Wait for the exclusive lock and hold it for the block."""
    descriptor = _open_lock_file(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
