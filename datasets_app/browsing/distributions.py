"""Facets from counts of sessions: their values in order, and the filter that finds the sessions of each."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple

from datasets_app.browsing.filters import find_group

MAX_VALUES = 50
# The first of each range: of turns, and of a reply's characters.
LENGTHS = (1, 2, 3, 5, 9, 17, 33, 65)
REPLY_LENGTHS = (0, 51, 101, 201, 401, 801, 1601, 3201)
# More days than this are counted by week, month, quarter or year. Longer times have no row for each of them.
MAX_DATES = 14
_MAX_DAYS = 100 * 366


class Value(NamedTuple):
    """``parameters`` are those of the filter that finds these sessions."""

    label: str
    count: int
    parameters: dict[str, str]


class Facet(NamedTuple):
    """``left_out`` is the number of values that are too many to show. A distribution is in order, and has
    those between its ends that no session has."""

    name: str
    title: str
    values: list[Value]
    left_out: int = 0
    is_estimate: bool = False
    is_distribution: bool = False

    def scale(self, weight: float) -> "Facet":
        """The counts of a sample as those of all that it stands for."""
        values = [value._replace(count=round(value.count * weight)) for value in self.values]
        return self._replace(values=values, is_estimate=weight > 1)


def make_facet(
    name: str,
    title: str,
    counts: Iterable[tuple[Any, int]],
    *,
    label: Callable[[Any], str] = str,
    parameters: Callable[[Any], dict[str, str]] | None = None,
) -> Facet:
    rows = list(counts)
    values = [
        Value(label(value), count, parameters(value) if parameters else {name: str(value)})
        for value, count in rows[:MAX_VALUES]
    ]
    return Facet(name, title, values, max(0, len(rows) - MAX_VALUES))


def make_tag_facets(counts: Iterable[tuple[str, int]]) -> Iterable[Facet]:
    """By the part before the colon; ``counts`` are in order."""
    groups = defaultdict(list)
    for tag, number in counts:
        groups[find_group("tag", tag)].append((tag, number))
    for group, tags in sorted(groups.items(), key=lambda item: -sum(number for _, number in item[1])):
        title = f"Tags: {group}" if group else "Tags"
        yield make_facet("tag", title, tags, label=lambda tag: tag.partition(":")[2] or tag)


def make_metadata_facet(key: str, counts: Iterable[tuple[str, int]]) -> Facet:
    return make_facet("meta", f"Metadata: {key}", counts, parameters=lambda value: {"meta": f"{key}={value}"})


def make_length_facet(numbers: Mapping[int, int]) -> Facet:
    """``numbers`` of sessions by range, from 1."""
    return _make_histogram("length", "Turns", numbers, LENGTHS, ("min", "max"))


def make_reply_facet(numbers: Mapping[int, int]) -> Facet:
    """The same by the length of replies: a session is in each range that a reply of it is in."""
    title = "Characters of a reply"
    return _make_histogram("reply", title, numbers, REPLY_LENGTHS, ("reply_min", "reply_max"))


def _make_histogram(
    name: str, title: str, numbers: Mapping[int, int], starts: Sequence[int], parameters: tuple[str, str]
) -> Facet:
    def find_range(place: int) -> tuple[str, str]:
        return str(starts[place - 1]), str(starts[place] - 1) if place < len(starts) else ""

    def describe(place: int) -> str:
        first, last = (f"{int(end):,}" if end else "" for end in find_range(place))
        return first if first == last else f"{first}–{last}" if last else f"{first} or more"

    return make_facet(
        name,
        title,
        [(n, numbers.get(n, 0)) for n in range(min(numbers, default=1), max(numbers, default=0) + 1)],
        label=describe,
        parameters=lambda place: dict(zip(parameters, find_range(place), strict=True)),
    )._replace(is_distribution=True)


# --- dates ----------------------------------------------------------------------------------------------

Period = tuple[str, str]


def _find_week(day: str) -> Period:
    try:
        monday = date.fromisoformat(day)
        monday -= timedelta(days=monday.weekday())
        return monday.isoformat(), (monday + timedelta(days=6)).isoformat()
    except (ValueError, OverflowError):
        return day, day


def _find_quarter(day: str) -> Period:
    first = (int(day[5:7]) - 1) // 3 * 3 + 1
    return f"{day[:5]}{first:02}", f"{day[:5]}{first + 2:02}"


_PERIODS: Sequence[Callable[[str], Period]] = (
    lambda day: (day, day),
    _find_week,
    lambda day: (day[:7], day[:7]),
    _find_quarter,
    lambda day: (day[:4], day[:4]),
)


def make_date_facet(days: Mapping[str, int], since: str = "", until: str = "") -> Facet:
    """By the shortest period that makes few enough, within the chosen dates."""
    counts = dict.fromkeys(_list_days(days), 0) | dict(days)
    for find_period in _PERIODS:
        numbers = Counter[Period]()
        for day, number in counts.items():
            numbers[find_period(day)] += number
        if len(numbers) <= MAX_DATES:
            break
    return make_facet(
        "date",
        "Dates",
        sorted(numbers.items()),
        label=_describe_period,
        # "U" is after all digits: a month ends after its days.
        parameters=lambda period: {
            "since": max(period[0], since),
            "until": min(period[1], until or "U", key=lambda end: f"{end}U"),
        },
    )._replace(is_distribution=True)


def _list_days(days: Iterable[str]) -> Iterable[str]:
    """All from the first to the last, unless the time is very long or one isn't a date."""
    known = list(days)
    try:
        first, last = (date.fromisoformat(day).toordinal() for day in (min(known), max(known)))
    except ValueError:
        return ()
    length = last - first + 1
    return (date.fromordinal(first + day).isoformat() for day in range(length if length < _MAX_DAYS else 0))


def _describe_period(period: Period) -> str:
    first, last = period
    return first if first == last else f"{first}–{last[5:]}"
