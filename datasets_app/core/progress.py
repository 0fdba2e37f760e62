"""How an operation says how far it is. The callback may raise to stop the operation."""

from collections.abc import Callable

ProgressCallback = Callable[[int, int | None], None]


class Cancelled(Exception):
    """Raised by a progress callback: the person who started the work no longer wants it."""


def ignore(done: int, total: int | None = None) -> None:
    """For callers that want no progress."""
