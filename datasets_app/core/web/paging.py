"""Pages that begin at a row, not at a count of rows: see querysets.py for the reason."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.db.models import Q, QuerySet
from django.http import QueryDict

PAGE_SIZE = 50
_EPOCH, _MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)


class PageRequest(NamedTuple):
    """Which page is wanted: the rows after a place, before it, or the last ones."""

    after: str
    before: str
    last: bool


class Page(NamedTuple):
    """``previous`` and ``next`` are what to put into before= and after=; None where there is nothing."""

    rows: list[Any]
    previous: str | None
    next: str | None


def parse_page_request(query: QueryDict) -> PageRequest:
    after, before = (query.get(name, "").replace("\0", "") for name in ("after", "before"))
    return PageRequest(after, before, "last" in query)


def make_page(
    rows: Sequence[Any], page_request: PageRequest, make_cursor: Callable[[Any], str], size: int = PAGE_SIZE
) -> Page:
    """Up to ``size`` + 1 rows in their order → the page; the one too many says that there is more."""
    rows = list(rows)
    more = len(rows) > size
    if page_request.before or page_request.last:
        rows = rows[-size:]
        has_previous, has_next = more, bool(page_request.before) and bool(rows)
    else:
        rows = rows[:size]
        has_previous, has_next = bool(page_request.after) and bool(rows), more
    return Page(
        rows,
        make_cursor(rows[0]) if has_previous else None,
        make_cursor(rows[-1]) if has_next else None,
    )


def paginate_by(
    queryset: QuerySet[Any], field: str, page_request: PageRequest, size: int = PAGE_SIZE
) -> Page:
    """A page of a queryset in the order of one unique field. A place that is none is passed over."""
    after, before = (
        _parse_field_value(queryset, field, text) for text in (page_request.after, page_request.before)
    )
    page_request = PageRequest(
        page_request.after if after is not None else "",
        page_request.before if before is not None else "",
        page_request.last,
    )
    if page_request.before or page_request.last:
        if page_request.before:
            queryset = queryset.filter(Q((f"{field}__lt", before)))
        rows = list(queryset.order_by(f"-{field}")[: size + 1])[::-1]
    else:
        if page_request.after:
            queryset = queryset.filter(Q((f"{field}__gt", after)))
        rows = list(queryset.order_by(field)[: size + 1])
    return make_page(rows, page_request, lambda row: str(getattr(row, field)), size)


def paginate_newest_first(queryset: QuerySet[Any], query: QueryDict, size: int = PAGE_SIZE) -> Page:
    """A page with the newest rows first: what is after a row has a smaller id."""
    wanted = parse_page_request(query)
    turned = PageRequest(wanted.before, wanted.after, not (wanted.before or wanted.after or wanted.last))
    if wanted.last:
        turned = PageRequest("", "", False)
    page = paginate_by(queryset, "id", turned, size)
    return Page(page.rows[::-1], page.next, page.previous)


def paginate_latest_first(queryset: QuerySet[Any], query: QueryDict, size: int = PAGE_SIZE) -> Page:
    """A page in falling order of ``at`` and id, as of an index that ends with both. A place reads
    "microseconds.id"; one that is none is passed over."""
    wanted = parse_page_request(query)
    place = _parse_time_and_id(wanted.before or wanted.after)
    if place is None:
        wanted = PageRequest("", "", wanted.last)
    else:
        at, pk = place
        side = "gt" if wanted.before else "lt"
        # The first of the two bounds is what the index begins at.
        queryset = queryset.filter((f"at__{side}e", at)).filter(
            Q((f"at__{side}", at)) | Q((f"id__{side}", pk))
        )
    if wanted.before or wanted.last:
        rows = list(queryset.order_by("at", "id")[: size + 1])[::-1]
    else:
        rows = list(queryset.order_by("-at", "-id")[: size + 1])
    return make_page(rows, wanted, lambda row: f"{(row.at - _EPOCH) // _MICROSECOND}.{row.pk}", size)


def _parse_time_and_id(text: str) -> tuple[datetime, int] | None:
    numbers = parse_numbers(text, 2)
    try:
        return (_EPOCH + numbers[0] * _MICROSECOND, numbers[1]) if numbers else None
    except OverflowError:
        return None


def paginate_by_field_and_id(
    queryset: QuerySet[Any], field: str, page_request: PageRequest, size: int = PAGE_SIZE
) -> Page:
    """A page in the order of a field of words and the id, as of an index over both: all of a kind stand
    together. A place reads "E301.17"; one that is none is passed over."""
    place = _parse_word_and_id(page_request.before or page_request.after)
    if place is None:
        page_request = PageRequest("", "", page_request.last)
    else:
        word, pk = place
        side = "lt" if page_request.before else "gt"
        queryset = queryset.filter(Q((f"{field}__{side}", word)) | Q((field, word), (f"id__{side}", pk)))
    if page_request.before or page_request.last:
        rows = list(queryset.order_by(f"-{field}", "-id")[: size + 1])[::-1]
    else:
        rows = list(queryset.order_by(field, "id")[: size + 1])
    return make_page(rows, page_request, lambda row: f"{getattr(row, field)}.{row.pk}", size)


def _parse_word_and_id(text: str) -> tuple[str, int] | None:
    word, _, pk = text.partition(".")
    return (word, int(pk)) if pk.isascii() and pk.isdigit() and len(pk) < 19 else None


def _parse_field_value(queryset: QuerySet[Any], field: str, text: str) -> Any:
    try:
        return queryset.model._meta.get_field(field).to_python(text or None)
    except ValidationError:
        return None


def parse_numbers(text: str, count: int) -> tuple[int, ...] | None:
    """ "12.3" → (12, 3); None for whatever is no such place."""
    parts = text.split(".")
    if len(parts) != count or not all(part.isascii() and part.isdigit() and len(part) < 19 for part in parts):
        return None
    return tuple(map(int, parts))
