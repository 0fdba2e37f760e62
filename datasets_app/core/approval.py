"""Four eyes: who has approved what runs now. See docs/security.md."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.conf import settings

from datasets_app.core.errors import UserError

_approver: ContextVar[str] = ContextVar("approver", default="")


@contextmanager
def approved_by(name: str) -> Iterator[None]:
    """Events that are recorded meanwhile name the person who approved them."""
    token = _approver.set(name)
    try:
        yield
    finally:
        _approver.reset(token)


def current_approver() -> str:
    return _approver.get()


def require_second_person() -> None:
    """Call it in whatever needs four eyes. Raises UserError unless a second person has approved it, or the
    installation doesn't ask for that."""
    if settings.FOUR_EYES and not _approver.get():
        raise UserError(
            "A second person has to approve this (ALIGNMENTER_FOUR_EYES is on). Request it in the admin, "
            "where it waits on the page Requests."
        )
