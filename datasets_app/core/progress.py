"""How an operation says how far it is. The callback may raise to stop the operation."""

from collections.abc import Callable

ProgressCallback = Callable[[int, int | None], None]


class OperationCanceled(Exception):
    """Raised by a progress callback: the person who started the work no longer wants it."""


def ignore_progress(done: int, total: int | None = None) -> None:
    """For callers that want no progress."""
