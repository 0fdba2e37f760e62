"""The time zone in which pages show times: the browser's, which it tells in a cookie.

Only what people read depends on it. Days that rules count in stay those of the installation.
"""

import zoneinfo
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import tzinfo
from functools import cache

from django.utils import timezone

COOKIE = "time_zone"
_zone: ContextVar[tzinfo | None] = ContextVar("zone", default=None)


@contextmanager
def showing_times_in(name: str) -> Iterator[None]:
    """Show times in this zone meanwhile; in that of the installation if there is no such zone."""
    token = _zone.set(_find_zone(name) if name else None)
    try:
        yield
    finally:
        _zone.reset(token)


def shown_zone() -> tzinfo:
    return _zone.get() or timezone.get_default_timezone()


@cache
def _known_names() -> frozenset[str]:
    return frozenset(zoneinfo.available_timezones())


def _find_zone(name: str) -> tzinfo | None:
    return zoneinfo.ZoneInfo(name) if name in _known_names() else None
