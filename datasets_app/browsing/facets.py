"""What the sessions that match a filter have in common: how many have each tag, persona, split and so on.

Each facet is one query about up to ``MAX_COUNTED`` sessions. If more match, these are spread over the
dataset, and the counts are estimates.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
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
    "date",
    "meta",
)
# Of the numbers of turns: the first of each range.
LENGTHS = (1, 2, 3, 5, 9, 17, 33, 65)
# More days or months than this are counted by month or year.
MAX_DATES = 31
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
    """``left_out`` is the number of values that are too many to show. The order tells something if it isn't
    that of the counts, as in a distribution."""

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
    shown = [facet for facet in facets if facet.values]
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
        rows = [(value, count) for value, count in counts if count]
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
    yield count.make_facet(
        "length",
        "Turns",
        [(place, lengths[place]) for place in range(len(LENGTHS))],
        label=_describe_length,
        parameters=lambda place: dict(zip(("min", "max"), _find_range(place), strict=True)),
    )


def _find_range(place: int) -> tuple[str, str]:
    """The first and last number of turns; no last one of the longest sessions."""
    last = str(LENGTHS[place + 1] - 1) if place + 1 < len(LENGTHS) else ""
    return str(LENGTHS[place]), last


def _describe_length(place: int) -> str:
    first, last = _find_range(place)
    return first if first == last else f"{first}–{last}" if last else f"{first} or more"


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
    yield _count_dates(count)


def _count_dates(count: _Counter) -> Facet:
    """By day, or by month or year if there are many."""
    counts: Sequence[tuple[str, int]] = count.fetch(_DAYS)
    for length in (7, 4):
        if len(counts) > MAX_DATES:
            longer = Counter[str]()
            for date, number in counts:
                longer[date[:length]] += number
            counts = sorted(longer.items())
    return count.make_facet("date", "Dates", counts, parameters=lambda date: {"since": date, "until": date})
