"""What the sessions that match a filter have in common: how many have each tag, persona, split and so on.

Each facet is one query about up to ``MAX_COUNTED`` sessions. If more match, these are spread over the
dataset, and the counts are estimates.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple

from django.db import DatabaseError, connection, transaction

from datasets_app import hooks
from datasets_app.browsing.filters import NO, SPLIT_CHOICES, YES, SessionFilter, build_conditions
from datasets_app.catalog.rows.session_pages import NO_SPLIT, Sample, sample_sessions
from datasets_app.models import CheckReport, Dataset, ScrubRun

MAX_COUNTED = 5_000
MAX_VALUES = 50
ORDER = (
    "tag",
    "persona",
    "split",
    "labels",
    "code",
    "kind",
    "excluded",
    "commented",
    "length",
    "reply",
    "date",
    "meta",
)
# The first of each range: of turns, and of a reply's characters.
LENGTHS = (1, 2, 3, 5, 9, 17, 33, 65)
REPLY_LENGTHS = (0, 51, 101, 201, 401, 801, 1601, 3201)
# More days than this are counted by week, month, quarter or year. Longer times have no row for each of them.
MAX_DATES = 14
_MAX_DAYS = 100 * 366
_TIMEOUT = "SET LOCAL statement_timeout = '3s'"

_SESSIONS = "t.dataset_id = %(dataset)s AND t.session_id = ANY(%(keys)s)"
_STRUCTURE = """
SELECT split, persona_id, excluded, width_bucket(turn_count, %(lengths)s), count(*)
FROM datasets_app_session WHERE dataset_id = %(dataset)s AND id = ANY(%(keys)s) GROUP BY 1, 2, 3, 4
"""
# Hashing the pairs is faster than count(DISTINCT), which sorts them.
_COUNT_PAIRS = f"""
SELECT value, count(*) FROM (SELECT DISTINCT t.session_id, value FROM datasets_app_turn t {{values}}
WHERE {_SESSIONS} {{which}}) pairs GROUP BY value ORDER BY 2 DESC, 1 LIMIT 500
"""  # constants # nosec B608
_TAGS = _COUNT_PAIRS.format(values="CROSS JOIN unnest(t.tags) value", which="")
_FIELDS = "CROSS JOIN LATERAL (VALUES (t.metadata), (t.extra)) v (fields) CROSS JOIN LATERAL"
_REPLIES = _COUNT_PAIRS.format(
    values="CROSS JOIN LATERAL (SELECT width_bucket(length(t.text), %(lengths)s)) v (value)",
    which="AND t.role = 'assistant'",
)
_METADATA = _COUNT_PAIRS.format(
    values=f"{_FIELDS} jsonb_object_keys(CASE jsonb_typeof(fields) WHEN 'object' THEN fields END) value",
    which="",
)
_METADATA_VALUES = _COUNT_PAIRS.format(
    values=f"{_FIELDS} (SELECT fields ->> %(key)s) value (value)",
    which="AND value <> '' AND length(value) <= 100",
)
_DAYS = f"""
SELECT left(t.timestamp, 10), count(*) FROM datasets_app_turn t
WHERE {_SESSIONS} AND t.turn_index = 1 AND t.timestamp ~ '^\\d{{4}}-\\d\\d-\\d\\d' GROUP BY 1 ORDER BY 1
"""  # a constant # nosec B608
_CODES = """
SELECT code, count(DISTINCT session_id) FROM datasets_app_checkfinding
WHERE report_id = %(report)s AND session_id = ANY(%(keys)s) GROUP BY code ORDER BY code
"""
_KINDS = """
SELECT kind, count(DISTINCT session_id) FROM datasets_app_scrubfinding
WHERE scrub_id = %(scrub)s AND session_id = ANY(%(keys)s) GROUP BY kind ORDER BY 2 DESC, 1
"""
_COMMENTED = """
SELECT %(yes)s, count(DISTINCT session_id) FROM datasets_app_sessioncomment
WHERE dataset_id = %(dataset)s AND session_id = ANY(%(keys)s)
"""
_LABELED = "SELECT %(value)s, count(*) FROM ({hits}) h WHERE session_id = ANY(%(keys)s)"

Counts = Iterable[tuple[Any, int]]


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


class Facets(NamedTuple):
    facets: list[Facet]
    sample: Sample


def count_facets(dataset: Dataset, chosen: SessionFilter, *, may_read: bool, user: Any) -> Facets | None:
    """None if counting takes too long."""
    try:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(_TIMEOUT)
            conditions = build_conditions(dataset.pk, chosen)
            sample = sample_sessions(dataset.pk, dataset.session_count, conditions, MAX_COUNTED)
            count = _Counter(dataset, sample)
            facets = [*_count_structure(count, chosen, may_read, user)]
            if may_read:
                facets += _count_text(count, chosen)
    except DatabaseError:
        return None
    shown = [facet for facet in facets if any(value.count for value in facet.values)]
    return Facets(sorted(shown, key=lambda facet: ORDER.index(facet.name)), sample)


class _Counter:
    """Queries about the sessions of a sample; counts are those of all that it stands for."""

    def __init__(self, dataset: Dataset, sample: Sample) -> None:
        self.dataset, self.sample = dataset, sample

    def fetch(self, query: str, **values: Any) -> list[Any]:
        with connection.cursor() as cursor:
            cursor.execute(query, {"dataset": self.dataset.pk, "keys": self.sample.keys, **values})
            return cursor.fetchall()

    def make_facet(
        self,
        name: str,
        title: str,
        counts: Counts,
        *,
        label: Callable[[Any], str] = str,
        parameters: Callable[[Any], dict[str, str]] | None = None,
    ) -> Facet:
        rows = list(counts)
        values = [
            Value(
                label(value),
                round(count * self.sample.weight),
                parameters(value) if parameters else {name: str(value)},
            )
            for value, count in rows[:MAX_VALUES]
        ]
        return Facet(name, title, values, max(0, len(rows) - MAX_VALUES))


def _count_structure(count: _Counter, chosen: SessionFilter, may_read: bool, user: Any) -> Iterable[Facet]:
    """What can be told without the text."""
    splits, personas, excluded, lengths = (Counter[Any]() for _ in range(4))
    for split, persona, is_excluded, length, number in count.fetch(_STRUCTURE, lengths=list(LENGTHS)):
        splits[split or NO_SPLIT] += number
        personas[persona] += number
        excluded[YES if is_excluded else NO] += number
        lengths[length - 1] += number
    if may_read:
        del personas[None]
        yield count.make_facet("persona", "Personas", personas.most_common())
    if count.dataset.split_settings:
        names = dict(SPLIT_CHOICES)
        yield count.make_facet("split", "Splits", [(name, splits[name]) for name in names], label=names.get)  # type: ignore[arg-type]
    yield _count_labels(count, user)
    report = CheckReport.objects.filter(dataset=count.dataset).values_list("pk", flat=True).first()
    if report:
        yield count.make_facet("code", "Findings", count.fetch(_CODES, report=report))
    if user is None or user.has_perm("datasets_app.view_scrubfinding"):
        scrub = ScrubRun.objects.filter(dataset=count.dataset).first()
        if scrub:
            title = "Personal data, in a preview" if scrub.dry_run else "Placeholders"
            yield count.make_facet("kind", title, count.fetch(_KINDS, scrub=scrub.pk))
    if excluded[YES] or chosen.excluded:
        yield count.make_facet(
            "excluded", "Excluded", [(value, excluded[value]) for value in (YES, NO)], label=str.capitalize
        )
    yield _make_histogram(count, "length", "Turns", lengths, LENGTHS, ("min", "max"))
    replies = Counter(
        {place - 1: number for place, number in count.fetch(_REPLIES, lengths=list(REPLY_LENGTHS))}
    )
    names = "reply_min", "reply_max"
    yield _make_histogram(count, "reply", "Characters of a reply", replies, REPLY_LENGTHS, names)


def _make_histogram(
    count: _Counter,
    name: str,
    title: str,
    numbers: Counter[Any],
    starts: Sequence[int],
    parameters: tuple[str, str],
) -> Facet:
    """From the first range that any session is in to the last; ``starts`` are the first of each."""

    def find_range(place: int) -> tuple[str, str]:
        return str(starts[place]), str(starts[place + 1] - 1) if place + 1 < len(starts) else ""

    def describe(place: int) -> str:
        first, last = find_range(place)
        return first if first == last else f"{first}–{last}" if last else f"{first} or more"

    places = range(min(numbers, default=0), max(numbers, default=-1) + 1)
    return count.make_facet(
        name,
        title,
        [(place, numbers[place]) for place in places],
        label=describe,
        parameters=lambda place: dict(zip(parameters, find_range(place), strict=True)),
    )


def _count_labels(count: _Counter, user: Any) -> Facet:
    counts, names = [], {}
    known = hooks.labels.SESSION_LABELS
    if user is None or user.has_perm(known.permission):
        for value, (label, _, hits) in known.filters.items():
            if hits:
                names[value] = label
                counts += count.fetch(_LABELED.format(hits=hits), value=value)
    return count.make_facet("labels", "Labels", counts, label=lambda value: names[value])


def _count_text(count: _Counter, chosen: SessionFilter) -> Iterable[Facet]:
    """For people who may read the text."""
    groups = defaultdict(list)
    for tag, number in count.fetch(_TAGS):
        group, colon, _ = tag.partition(":")
        groups[group if colon else ""].append((tag, number))
    for group, tags in sorted(groups.items(), key=lambda item: -sum(number for _, number in item[1])):
        title = f"Tags: {group}" if group else "Tags"
        yield count.make_facet("tag", title, tags, label=lambda tag: tag.partition(":")[2] or tag)
    yield count.make_facet("commented", "Comments", count.fetch(_COMMENTED, yes=YES), label=lambda _: "Any")
    if key := chosen.meta.partition("=")[0]:
        yield count.make_facet(
            "meta",
            f"Metadata: {key}",
            count.fetch(_METADATA_VALUES, key=key),
            parameters=lambda value: {"meta": f"{key}={value}"},
        )
    yield count.make_facet("meta", "Metadata", count.fetch(_METADATA))
    yield _count_dates(count, chosen)


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


def _count_dates(count: _Counter, chosen: SessionFilter) -> Facet:
    """By the shortest period that makes few enough, within the chosen dates."""
    days = count.fetch(_DAYS)
    counts = dict.fromkeys(_list_days(*[day for day, _ in days]), 0) | dict(days)
    for find_period in _PERIODS:
        numbers = Counter[Period]()
        for day, number in counts.items():
            numbers[find_period(day)] += number
        if len(numbers) <= MAX_DATES:
            break
    return count.make_facet(
        "date",
        "Dates",
        sorted(numbers.items()),
        label=_describe_period,
        # A date stands for the time until its end; a later character than "-" begins it.
        parameters=lambda period: {
            "since": max(period[0], chosen.since),
            "until": min(period[1], chosen.until or "U", key=lambda date: f"{date}U"),
        },
    )


def _list_days(*days: str) -> Iterable[str]:
    """All from the first to the last, unless the time is very long or one isn't a date."""
    try:
        first, last = (date.fromisoformat(day).toordinal() for day in (min(days), max(days)))
    except ValueError:
        return ()
    length = last - first + 1
    return (date.fromordinal(first + day).isoformat() for day in range(length if length < _MAX_DAYS else 0))


def _describe_period(period: Period) -> str:
    first, last = period
    return first if first == last else f"{first} to {last[5:]}"
