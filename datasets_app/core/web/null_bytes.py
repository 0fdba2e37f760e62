"""PostgreSQL holds no NUL, and ends a query that asks for one: pages never see any in an address."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict

View = Callable[..., HttpResponse]


def strip_null_bytes(query: QueryDict) -> QueryDict:
    """The same parameters, with every NUL taken out of their names and values."""
    if not any("\0" in text for name, values in query.lists() for text in (name, *values)):
        return query
    plain = QueryDict(mutable=True, encoding=query.encoding)
    for name, values in query.lists():
        plain.setlist(name.replace("\0", ""), [value.replace("\0", "") for value in values])
    plain._mutable = False
    return plain


def strip_null_bytes_from_urls(admin_view: Callable[..., View]) -> Callable[..., View]:
    """Around ``AdminSite.admin_view``, which every page of the admin goes through."""

    @wraps(admin_view)
    def wrapped(view: View, *options: Any, **named: Any) -> View:
        inner = admin_view(view, *options, **named)

        @wraps(inner)
        def page(request: HttpRequest, *places: Any, **keys: Any) -> HttpResponse:
            request.GET = strip_null_bytes(request.GET)  # type: ignore[assignment]
            plain = {name: _strip_value(value) for name, value in keys.items()}
            return inner(request, *map(_strip_value, places), **plain)

        return page

    return wrapped


def _strip_value(value: Any) -> Any:
    return value.replace("\0", "") if isinstance(value, str) else value
