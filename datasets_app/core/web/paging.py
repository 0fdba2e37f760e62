"""Keyset pagination: a page starts at a row, not at a row number (see querysets.py for the reason)."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Q, QuerySet
from django.http import QueryDict

PAGE_SIZE = 50
_EPOCH, _MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)


class PageRequest(NamedTuple):
    """Which page to show: the rows after a cursor, the rows before one, or the last rows."""

    after: str
    before: str
    last: bool

    @property
    def backwards(self) -> bool:
        return bool(self.before) or self.last


class Page(NamedTuple):
    """``previous`` and ``next`` are the values of before= and after=; None if there is no such page."""

    rows: list[Any]
    previous: str | None
    next: str | None


def parse_page_request(query: QueryDict) -> PageRequest:
    return PageRequest(query.get("after", ""), query.get("before", ""), "last" in query)


def make_page(rows: Sequence[Any], page_request: PageRequest, make_cursor: Callable[[Any], str]) -> Page:
    """Make a page of up to ``PAGE_SIZE`` + 1 rows in their order; the extra row shows that there are more."""
    rows = list(rows)
    has_more = len(rows) > PAGE_SIZE
    if page_request.backwards:
        rows = rows[-PAGE_SIZE:]
        has_previous, has_next = has_more, bool(page_request.before) and bool(rows)
    else:
        rows = rows[:PAGE_SIZE]
        has_previous, has_next = bool(page_request.after) and bool(rows), has_more
    return Page(
        rows, make_cursor(rows[0]) if has_previous else None, make_cursor(rows[-1]) if has_next else None
    )


def paginate_newest_first(queryset: QuerySet[Any], query: QueryDict) -> Page:
    """A page in falling order of the id."""
    return _paginate(
        queryset,
        ("-id",),
        parse_page_request(query),
        lambda text: parse_numbers(text, 1),
        lambda row: str(row.pk),
    )


def paginate_latest_first(queryset: QuerySet[Any], query: QueryDict) -> Page:
    """A page in falling order of ``at`` and id, from an index over both. A cursor is "microseconds.id"."""
    return _paginate(
        queryset,
        ("-at", "-id"),
        parse_page_request(query),
        _parse_time_and_id,
        lambda row: f"{(row.at - _EPOCH) // _MICROSECOND}.{row.pk}",
    )


def paginate_by_field_and_id(queryset: QuerySet[Any], field: str, page_request: PageRequest) -> Page:
    """A page in the order of a text field and the id, from an index over both. A cursor is "E301.17"; an
    invalid one is ignored."""
    return _paginate(
        queryset,
        (field, "id"),
        page_request,
        _parse_word_and_id,
        lambda row: f"{getattr(row, field)}.{row.pk}",
    )


def _paginate(
    queryset: QuerySet[Any],
    fields: tuple[str, ...],
    page_request: PageRequest,
    parse_cursor: Callable[[str], tuple[Any, ...] | None],
    make_cursor: Callable[[Any], str],
) -> Page:
    """A page in the order of one or two ``fields`` of the same direction ("-" for falling)."""
    values = parse_cursor(page_request.before or page_request.after)
    if values is None:
        page_request = PageRequest("", "", page_request.last)
    else:
        falling = fields[0].startswith("-")
        operator = "lt" if falling != bool(page_request.before) else "gt"
        queryset = queryset.filter(_beyond([name.lstrip("-") for name in fields], values, operator))
    ordered = queryset.order_by(*fields)
    rows = list((ordered.reverse() if page_request.backwards else ordered)[: PAGE_SIZE + 1])
    return make_page(rows[::-1] if page_request.backwards else rows, page_request, make_cursor)


def _beyond(names: list[str], values: tuple[Any, ...], operator: str) -> Q:
    """Rows past these values, compared as a tuple."""
    if len(names) == 1:
        return Q((f"{names[0]}__{operator}", values[0]))
    (first, second), (value, pk) = names, values
    # PostgreSQL starts reading the index at the first of these bounds.
    past = Q((f"{first}__{operator}", value)) | Q((f"{second}__{operator}", pk))
    return Q((f"{first}__{operator}e", value)) & past


def _parse_time_and_id(text: str) -> tuple[datetime, int] | None:
    numbers = parse_numbers(text, 2)
    try:
        return (_EPOCH + numbers[0] * _MICROSECOND, numbers[1]) if numbers else None
    except OverflowError:
        return None


def _parse_word_and_id(text: str) -> tuple[str, int] | None:
    word, _, pk = text.rpartition(".")
    numbers = parse_numbers(pk, 1)
    return (word, numbers[0]) if numbers else None


def parse_numbers(text: str, count: int) -> tuple[int, ...] | None:
    """ "12.3" → (12, 3); None unless ``text`` is ``count`` numbers that fit into a column."""
    parts = text.split(".")
    if len(parts) != count or not all(part.isascii() and part.isdigit() and len(part) < 19 for part in parts):
        return None
    return tuple(map(int, parts))
