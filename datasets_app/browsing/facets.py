"""What the sessions that match a filter have in common: how many have each tag, persona, split and so on.

Each facet is one query about up to ``MAX_COUNTED`` sessions. If more match, these are spread over the
dataset, and the counts are estimates.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from django.db import DatabaseError, connection, transaction

from datasets_app import hooks
from datasets_app.browsing.distributions import (
    LENGTHS,
    REPLY_LENGTHS,
    Facet,
    make_date_facet,
    make_facet,
    make_length_facet,
    make_metadata_facet,
    make_reply_facet,
    make_tag_facets,
)
from datasets_app.browsing.filters import ANY, NO, NONE, SPLIT_CHOICES, YES, SessionFilter, build_conditions
from datasets_app.catalog.rows.session_pages import NO_SPLIT, Sample, sample_sessions
from datasets_app.models import CheckReport, Dataset, ScrubRun

MAX_COUNTED = 5_000
# A key of metadata with more values than this is counted without them.
MAX_METADATA_VALUES = 20
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
# A value comes twice on average: what differs each time is an ID or a text.
_ALL_METADATA = f"""
WITH counted AS (
    SELECT key, value, count(*) AS sessions FROM (
        SELECT DISTINCT t.session_id, key, value FROM datasets_app_turn t {_FIELDS}
            jsonb_each(CASE jsonb_typeof(fields) WHEN 'object' THEN fields END) e (key, json)
            CROSS JOIN LATERAL (SELECT json #>> '{{}}') text (value)
        WHERE {_SESSIONS}
            AND jsonb_typeof(json) IN ('string', 'number', 'boolean')
            AND value <> '' AND length(value) <= 100 AND key NOT LIKE '%%=%%'
    ) pairs GROUP BY key, value
), keys AS (
    SELECT key, sum(sessions) AS total FROM counted GROUP BY key
    HAVING count(*) = 1 OR count(*) <= %(many)s AND sum(sessions) >= 2 * count(*)
)
SELECT key, value, sessions FROM counted JOIN keys USING (key) ORDER BY total DESC, key, sessions DESC, value
"""  # constants # nosec B608
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
_LABELED = """
SELECT s.persona_id, count(*) FROM ({hits}) h
JOIN datasets_app_session s ON s.dataset_id = %(dataset)s AND s.id = h.session_id
WHERE h.session_id = ANY(%(keys)s) GROUP BY 1
"""


class Facets(NamedTuple):
    """``days`` of the sample have numbers of sessions, of which the facet of dates makes longer periods."""

    facets: list[Facet]
    sample: Sample
    days: dict[str, int]


def count_facets(
    dataset: Dataset, chosen: SessionFilter, *, may_read: bool, user: Any, in_detail: bool = False
) -> Facets | None:
    """None if counting takes too long. ``in_detail`` with the labels of each persona, and the values of all
    metadata that has few."""
    try:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(_TIMEOUT)
            conditions = build_conditions(dataset.pk, chosen)
            sample = sample_sessions(dataset.pk, dataset.session_count, conditions, MAX_COUNTED)
            count = _Counter(dataset, sample)
            facets = [*_count_structure(count, chosen, may_read, user, in_detail)]
            days = dict(count.fetch(_DAYS)) if may_read else {}
            if may_read:
                facets += _count_text(count, chosen, in_detail)
                facets.append(make_date_facet(days, chosen.since, chosen.until))
    except DatabaseError:
        return None
    shown = [facet.scale(sample.weight) for facet in facets if any(value.count for value in facet.values)]
    return Facets(sorted(shown, key=lambda facet: ORDER.index(facet.name)), sample, days)


class _Counter:
    """Queries about the sessions of a sample."""

    def __init__(self, dataset: Dataset, sample: Sample) -> None:
        self.dataset, self.sample = dataset, sample

    def fetch(self, query: str, **values: Any) -> list[Any]:
        with connection.cursor() as cursor:
            cursor.execute(query, {"dataset": self.dataset.pk, "keys": self.sample.keys, **values})
            return cursor.fetchall()


def _count_structure(
    count: _Counter, chosen: SessionFilter, may_read: bool, user: Any, in_detail: bool
) -> Iterable[Facet]:
    """What can be told without the text."""
    splits, personas, excluded, lengths = (Counter[Any]() for _ in range(4))
    for split, persona, is_excluded, length, number in count.fetch(_STRUCTURE, lengths=list(LENGTHS)):
        splits[split or NO_SPLIT] += number
        personas[persona] += number
        excluded[YES if is_excluded else NO] += number
        lengths[length] += number
    known = [(persona, number) for persona, number in personas.most_common() if persona and may_read]
    yield make_facet("persona", "Personas", known)
    if count.dataset.split_settings:
        names = dict(SPLIT_CHOICES)
        yield make_facet("split", "Splits", [(name, splits[name]) for name in names], label=names.get)  # type: ignore[arg-type]
    yield from _count_labels(count, user, personas, [persona for persona, _ in known] if in_detail else [])
    report = CheckReport.objects.filter(dataset=count.dataset).values_list("pk", flat=True).first()
    if report:
        yield make_facet("code", "Findings", count.fetch(_CODES, report=report))
    if user is None or user.has_perm("datasets_app.view_scrubfinding"):
        scrub = ScrubRun.objects.filter(dataset=count.dataset).first()
        if scrub:
            title = "Personal data, in a preview" if scrub.dry_run else "Placeholders"
            yield make_facet("kind", title, count.fetch(_KINDS, scrub=scrub.pk))
    if excluded[YES] or chosen.excluded:
        yield make_facet(
            "excluded", "Excluded", [(value, excluded[value]) for value in (YES, NO)], label=str.capitalize
        )
    yield make_length_facet(lengths)
    yield make_reply_facet(dict(count.fetch(_REPLIES, lengths=list(REPLY_LENGTHS))))


def _count_labels(
    count: _Counter, user: Any, personas: Mapping[str | None, int], shown: Iterable[str]
) -> Iterable[Facet]:
    """Of all sessions, and of those of each persona that is shown."""
    known = hooks.labels.SESSION_LABELS
    if not (user is None or user.has_perm(known.permission)):
        return
    numbers = {
        value: Counter[str | None](dict(count.fetch(_LABELED.format(hits=hits))))
        for value, (_, _, hits) in known.filters.items()
        if hits
    }
    labeled = numbers.get(ANY)
    if not labeled:
        return
    numbers[NONE] = Counter(personas) - labeled
    for persona in (None, *shown):
        own = {"persona": persona} if persona else {}
        yield make_facet(
            "labels",
            persona or "Labels",
            [(value, by[persona] if persona else by.total()) for value, by in numbers.items()],
            label=lambda value: known.filters[value][0],
            parameters=lambda value, own=own: {"labels": value, **own},  # type: ignore[misc]
        )


def _count_text(count: _Counter, chosen: SessionFilter, in_detail: bool) -> Iterable[Facet]:
    """For people who may read the text."""
    yield from make_tag_facets(count.fetch(_TAGS))
    yield make_facet("commented", "Comments", count.fetch(_COMMENTED, yes=YES), label=lambda _: "Any")
    if key := chosen.meta.partition("=")[0]:
        yield make_metadata_facet(key, count.fetch(_METADATA_VALUES, key=key))
    if in_detail:
        yield from _count_metadata(count)
    else:
        yield make_facet("meta", "Metadata", count.fetch(_METADATA))


def _count_metadata(count: _Counter) -> Iterable[Facet]:
    """The values of each key, most frequent first, unless they are many."""
    values: dict[str, list[tuple[str, int]]] = {}
    for key, value, number in count.fetch(_ALL_METADATA, many=MAX_METADATA_VALUES):
        values.setdefault(key, []).append((value, number))
    return [make_metadata_facet(key, counts) for key, counts in values.items()]
