"""Where pages show that an operation was refused.

Each goes around the operation and what is said of its success: a block that is refused ends there, and the
view goes on after it.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from datasets_app.core.errors import UserError


class _Refusals(AbstractContextManager[None, bool]):
    def __init__(self, show: Callable[[str], object]) -> None:
        self.show = show

    def __exit__(self, _: Any, error: BaseException | None, __: Any) -> bool:
        if isinstance(error, UserError):
            self.show(error.message)
        return isinstance(error, UserError)


def show_refusal(request: HttpRequest) -> _Refusals:
    """On the next page. Errors hold no personal text, and must not: messages may be kept in a cookie."""
    return _Refusals(partial(messages.error, request))


def show_refusal_in(form: Any, field: str | None = None) -> _Refusals:
    """In the form, at the field that is to blame if one is."""
    return _Refusals(partial(form.add_error, field))


@contextmanager
def make_invalid() -> Iterator[None]:
    """At the field or the form whose ``clean`` method this is."""
    try:
        yield
    except UserError as refusal:
        raise ValidationError(refusal.message) from None
