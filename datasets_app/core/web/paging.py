"""Pages that begin at a row, not at a count of rows: see querysets.py for the reason."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.db.models import Q, QuerySet
from django.http import QueryDict

PAGE_SIZE = 50
_EPOCH, _MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)


class Asked(NamedTuple):
    """Which page is wanted: the rows after a place, before it, or the last ones."""

    after: str
    before: str
    last: bool


class Page(NamedTuple):
    """``previous`` and ``next`` are what to put into before= and after=; None where there is nothing."""

    rows: list[Any]
    previous: str | None
    next: str | None


def asked(query: QueryDict) -> Asked:
    after, before = (query.get(name, "").replace("\0", "") for name in ("after", "before"))
    return Asked(after, before, "last" in query)


def cut_page(rows: Sequence[Any], wanted: Asked, place: Callable[[Any], str], size: int = PAGE_SIZE) -> Page:
    """Up to ``size`` + 1 rows in their order → the page; the one too many says that there is more."""
    rows = list(rows)
    more = len(rows) > size
    if wanted.before or wanted.last:
        rows = rows[-size:]
        has_previous, has_next = more, bool(wanted.before) and bool(rows)
    else:
        rows = rows[:size]
        has_previous, has_next = bool(wanted.after) and bool(rows), more
    return Page(
        rows,
        place(rows[0]) if has_previous else None,
        place(rows[-1]) if has_next else None,
    )


def page_by(queryset: QuerySet[Any], field: str, wanted: Asked, size: int = PAGE_SIZE) -> Page:
    """A page of a queryset in the order of one unique field. A place that is none is passed over."""
    after, before = (_place(queryset, field, text) for text in (wanted.after, wanted.before))
    wanted = Asked(
        wanted.after if after is not None else "", wanted.before if before is not None else "", wanted.last
    )
    if wanted.before or wanted.last:
        if wanted.before:
            queryset = queryset.filter(Q((f"{field}__lt", before)))
        rows = list(queryset.order_by(f"-{field}")[: size + 1])[::-1]
    else:
        if wanted.after:
            queryset = queryset.filter(Q((f"{field}__gt", after)))
        rows = list(queryset.order_by(field)[: size + 1])
    return cut_page(rows, wanted, lambda row: str(getattr(row, field)), size)


def newest_first(queryset: QuerySet[Any], query: QueryDict, size: int = PAGE_SIZE) -> Page:
    """A page with the newest rows first: what is after a row has a smaller id."""
    wanted = asked(query)
    turned = Asked(wanted.before, wanted.after, not (wanted.before or wanted.after or wanted.last))
    if wanted.last:
        turned = Asked("", "", False)
    page = page_by(queryset, "id", turned, size)
    return Page(page.rows[::-1], page.next, page.previous)


def latest_first(queryset: QuerySet[Any], query: QueryDict, size: int = PAGE_SIZE) -> Page:
    """A page in falling order of ``at`` and id, as of an index that ends with both. A place reads
    "microseconds.id"; one that is none is passed over."""
    wanted = asked(query)
    place = _moment_and_id(wanted.before or wanted.after)
    if place is None:
        wanted = Asked("", "", wanted.last)
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
    return cut_page(rows, wanted, lambda row: f"{(row.at - _EPOCH) // _MICROSECOND}.{row.pk}", size)


def _moment_and_id(text: str) -> tuple[datetime, int] | None:
    numbers = whole_numbers(text, 2)
    try:
        return (_EPOCH + numbers[0] * _MICROSECOND, numbers[1]) if numbers else None
    except OverflowError:
        return None


def page_by_two(queryset: QuerySet[Any], field: str, wanted: Asked, size: int = PAGE_SIZE) -> Page:
    """A page in the order of a field of words and the id, as of an index over both: all of a kind stand
    together. A place reads "E301.17"; one that is none is passed over."""
    place = _word_and_id(wanted.before or wanted.after)
    if place is None:
        wanted = Asked("", "", wanted.last)
    else:
        word, pk = place
        side = "lt" if wanted.before else "gt"
        queryset = queryset.filter(Q((f"{field}__{side}", word)) | Q((field, word), (f"id__{side}", pk)))
    if wanted.before or wanted.last:
        rows = list(queryset.order_by(f"-{field}", "-id")[: size + 1])[::-1]
    else:
        rows = list(queryset.order_by(field, "id")[: size + 1])
    return cut_page(rows, wanted, lambda row: f"{getattr(row, field)}.{row.pk}", size)


def _word_and_id(text: str) -> tuple[str, int] | None:
    word, _, pk = text.partition(".")
    return (word, int(pk)) if pk.isascii() and pk.isdigit() and len(pk) < 19 else None


def _place(queryset: QuerySet[Any], field: str, text: str) -> Any:
    try:
        return queryset.model._meta.get_field(field).to_python(text or None)
    except ValidationError:
        return None


def whole_numbers(text: str, count: int) -> tuple[int, ...] | None:
    """ "12.3" → (12, 3); None for whatever is no such place."""
    parts = text.split(".")
    if len(parts) != count or not all(part.isascii() and part.isdigit() and len(part) < 19 for part in parts):
        return None
    return tuple(map(int, parts))
