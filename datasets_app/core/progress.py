"""How an operation says how far it is. The callback may raise to stop the operation."""

from collections.abc import Callable

ProgressCallback = Callable[[int, int | None], None]


class OperationCanceled(Exception):
    """Raised by a progress callback: the person who started the work no longer wants it."""


class Tally:
    """Adds up what is done, in parts, and reports the sum."""

    def __init__(self, report: ProgressCallback, total: int | None = None) -> None:
        self.done, self._total, self._report = 0, total, report

    def add(self, count: int) -> None:
        self.done += count
        self.report()

    def report(self, *_: object) -> None:
        total = None if self._total is None else max(self._total, self.done)
        self._report(self.done, total)


def ignore_progress(done: int, total: int | None = None) -> None:
    """For callers that want no progress."""
