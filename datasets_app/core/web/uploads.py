"""Names the few pages that accept more than forms; ``alignmenter_site/middleware/body_limits.py`` asks."""

from collections.abc import Callable
from typing import Any, TypeVar

V = TypeVar("V", bound=Callable[..., Any])


def accepts_files(find_limit: Callable[[Any], int]) -> Callable[[V], V]:
    """Mark a page: ``find_limit(user)`` is the size in bytes of the largest file that it takes from somebody.

    Whatever wraps the page must copy its attributes, as ``functools.wraps`` does.
    """

    def mark(view: V) -> V:
        view.find_file_limit = find_limit  # type: ignore[attr-defined]
        return view

    return mark


def reads_own_body(view: V) -> V:
    """Mark a view that knows who sends something before it reads it, and limits what it reads."""
    view.reads_own_body = True  # type: ignore[attr-defined]
    return view


def find_file_limit(view: Any, user: Any) -> int:
    """The size of the largest file that ``user`` may send to this page; 0 for most."""
    find_limit = getattr(view, "find_file_limit", None)
    return find_limit(user) if find_limit else 0
