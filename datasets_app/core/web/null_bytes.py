"""Strip NUL characters from what pages receive: PostgreSQL refuses queries that contain one."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict

View = Callable[..., HttpResponse]


def strip_null_bytes(query: QueryDict) -> QueryDict:
    """Return the parameters without NUL characters in their names and values."""
    if not any("\0" in text for name, values in query.lists() for text in (name, *values)):
        return query
    stripped = QueryDict(mutable=True, encoding=query.encoding)
    for name, values in query.lists():
        stripped.setlist(name.replace("\0", ""), [value.replace("\0", "") for value in values])
    stripped._mutable = False
    return stripped


def strip_null_bytes_from_urls(admin_view: Callable[..., View]) -> Callable[..., View]:
    """Wrap ``AdminSite.admin_view``, which every page of the admin goes through."""

    @wraps(admin_view)
    def wrapped(view: View, *args: Any, **kwargs: Any) -> View:
        inner = admin_view(view, *args, **kwargs)

        @wraps(inner)
        def page(request: HttpRequest, *url_args: Any, **url_kwargs: Any) -> HttpResponse:
            request.GET = strip_null_bytes(request.GET)  # type: ignore[assignment]
            stripped = {name: _strip_value(value) for name, value in url_kwargs.items()}
            return inner(request, *map(_strip_value, url_args), **stripped)

        return page

    return wrapped


def _strip_value(value: Any) -> Any:
    return value.replace("\0", "") if isinstance(value, str) else value
