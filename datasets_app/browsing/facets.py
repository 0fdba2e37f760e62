"""What the sessions that match a filter have in common: how many have each tag, persona, split and so on.

Each facet is one query about up to ``MAX_COUNTED`` sessions. If more match, these are spread over the
dataset, and the counts are estimates.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

from django.db import DatabaseError, transaction

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
from datasets_app.browsing.filters import (
    ANY,
    NO,
    NONE,
    SPLIT_CHOICES,
    YES,
    SessionFilter,
    build_conditions,
    find_group,
)
from datasets_app.catalog.rows.session_conditions import NO_SPLIT
from datasets_app.catalog.rows.session_pages import Sample, sample_sessions
from datasets_app.core.queries import execute, fetch_all
from datasets_app.models import CheckReport, Dataset, ScrubRun

MAX_COUNTED = 5_000
# A key of metadata with more values than this is counted without them.
MAX_METADATA_VALUES = 20
# The planner doesn't know that the keys are few, and would read a dataset of 100,000 sessions whole.
_SETTINGS = (
    "SET LOCAL statement_timeout = '3s'; SET LOCAL enable_seqscan = off; "
    "SET LOCAL max_parallel_workers_per_gather = 0"
)

_SESSIONS = "t.dataset_id = %(dataset)s AND t.session_id = ANY(%(keys)s)"
_TALLY = """
SELECT {column}, count(*) FROM datasets_app_session
WHERE dataset_id = %(dataset)s AND id = ANY(%(keys)s) GROUP BY 1
"""
# Hashing the pairs is faster than count(DISTINCT), which sorts them. Turns of a session have much in common.
_COUNT_PAIRS = f"""
SELECT value, count(*) FROM (SELECT DISTINCT t.session_id, value FROM (
    SELECT DISTINCT t.session_id, {{columns}} FROM datasets_app_turn t WHERE {_SESSIONS}
) t {{values}}) pairs GROUP BY value ORDER BY 2 DESC, 1 LIMIT 500
"""  # constants # nosec B608
_TAGS = _COUNT_PAIRS.format(columns="t.tags", values="CROSS JOIN unnest(t.tags) value")
_FIELDS = "CROSS JOIN LATERAL (VALUES (t.metadata), (t.extra)) v (fields) CROSS JOIN LATERAL"
_REPLIES = _COUNT_PAIRS.format(
    columns="CASE t.role WHEN 'assistant' THEN width_bucket(length(t.text), %(lengths)s) END AS value",
    values="WHERE value IS NOT NULL",
)
_METADATA = _COUNT_PAIRS.format(
    columns="t.metadata, t.extra",
    values=f"{_FIELDS} jsonb_object_keys(CASE jsonb_typeof(fields) WHEN 'object' THEN fields END) value",
)
_METADATA_VALUES = _COUNT_PAIRS.format(
    columns="t.metadata, t.extra",
    values=f"{_FIELDS} (SELECT fields ->> %(key)s) value (value) WHERE value <> '' AND length(value) <= 100",
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
            execute(_SETTINGS)
            count = _Counter(dataset, chosen)
            days = dict(count.fetch(_DAYS)) if may_read else {}
            facets = [*_count_all(count, days, may_read, user, in_detail)]
    except DatabaseError:
        return None
    shown = [facet for facet in facets if any(value.count for value in facet.values)]
    return Facets(shown, count.sample, days)


def list_tags(dataset: Dataset) -> list[str]:
    """The tags of a sample of the sessions, most frequent first."""
    return [tag for tag, _ in _Counter(dataset, SessionFilter()).fetch(_TAGS)]


class _Counter:
    """Queries about a sample of the sessions that match."""

    def __init__(self, dataset: Dataset, chosen: SessionFilter) -> None:
        self.dataset, self.chosen = dataset, chosen
        conditions = build_conditions(dataset.pk, chosen)
        self.sample = sample_sessions(dataset.pk, dataset.session_count, conditions, MAX_COUNTED)
        # As text: the driver would take a quarter of the time for the numbers of each query.
        self.keys = f"{{{','.join(map(str, self.sample.keys))}}}"

    def ignore_choice(self, name: str, group: str = "") -> "_Counter":
        """Of the sessions that match whatever is chosen of one facet: what could be chosen in addition."""
        values = getattr(self.chosen, name)
        others = tuple(value for value in values if find_group(name, value) != group)
        return self if others == values else _Counter(self.dataset, self.chosen._replace(**{name: others}))

    def make_facet(self, name: str, title: str, counts: Iterable[tuple[Any, int]], **names: Any) -> Facet:
        return make_facet(name, title, counts, **names).scale(self.sample.weight)

    def fetch(self, query: str, **values: Any) -> list[Any]:
        return fetch_all(query, {"dataset": self.dataset.pk, "keys": self.keys, **values})

    def tally(self, column: str) -> Counter[Any]:
        """Of a column of sessions."""
        return Counter(dict(self.fetch(_TALLY.format(column=column), lengths=list(LENGTHS))))


def _count_all(
    count: _Counter, days: dict[str, int], may_read: bool, user: Any, in_detail: bool
) -> Iterable[Facet]:
    """In the order in which they are shown. Those of the text are for people who may read it."""
    weight, chosen = count.sample.weight, count.chosen
    if may_read:
        yield from _count_tags(count)
    wider = count.ignore_choice("persona")
    personas = wider.tally("persona_id").most_common() if may_read else []
    known = [(persona, number) for persona, number in personas if persona]
    yield wider.make_facet("persona", "Personas", known)
    if count.dataset.split_settings:
        wider, names = count.ignore_choice("split"), dict(SPLIT_CHOICES)
        splits = wider.tally(f"coalesce(split, '{NO_SPLIT}')")
        yield wider.make_facet("split", "Splits", [(name, splits[name]) for name in names], label=names.get)
    shown = [persona for persona, _ in known] if in_detail else []
    yield from _count_labels(count.ignore_choice("labels"), user, shown)
    yield from _count_findings(count, user)
    excluded = count.tally(f"CASE WHEN excluded THEN '{YES}' ELSE '{NO}' END")
    if excluded[YES] or chosen.excluded:
        yield count.make_facet(
            "excluded", "Excluded", [(value, excluded[value]) for value in (YES, NO)], label=str.capitalize
        )
    if may_read:
        yield count.make_facet(
            "commented", "Comments", count.fetch(_COMMENTED, yes=YES), label=lambda _: "Any"
        )
    yield make_length_facet(count.tally("width_bucket(turn_count, %(lengths)s)")).scale(weight)
    yield make_reply_facet(dict(count.fetch(_REPLIES, lengths=list(REPLY_LENGTHS)))).scale(weight)
    if may_read:
        yield make_date_facet(days, chosen.since, chosen.until).scale(weight)
        yield from _count_metadata(count, in_detail)


def _count_labels(count: _Counter, user: Any, personas: Iterable[str]) -> Iterable[Facet]:
    """Of all sessions, and of those of each of these personas."""
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
    numbers[NONE] = count.tally("persona_id") - labeled
    for persona in (None, *personas):
        own = {"persona": persona} if persona else {}
        yield count.make_facet(
            "labels",
            persona or "Labels",
            [(value, by[persona] if persona else by.total()) for value, by in numbers.items()],
            label=lambda value: known.filters[value][0],
            parameters=lambda value, own=own: {"labels": value, **own},
        )


def _count_findings(count: _Counter, user: Any) -> Iterable[Facet]:
    report = CheckReport.objects.filter(dataset=count.dataset).values_list("pk", flat=True).first()
    if report:
        wider = count.ignore_choice("code")
        yield wider.make_facet("code", "Findings", wider.fetch(_CODES, report=report))
    if user is None or user.has_perm("datasets_app.view_scrubfinding"):
        scrub = ScrubRun.objects.filter(dataset=count.dataset).first()
        if scrub:
            wider = count.ignore_choice("kind")
            title = "Personal data, in a preview" if scrub.dry_run else "Placeholders"
            yield wider.make_facet("kind", title, wider.fetch(_KINDS, scrub=scrub.pk))


def _count_tags(count: _Counter) -> Iterable[Facet]:
    groups = dict.fromkeys(find_group("tag", tag) for tag in count.chosen.tag)
    counts = [(tag, number) for tag, number in count.fetch(_TAGS) if find_group("tag", tag) not in groups]
    yield from (facet.scale(count.sample.weight) for facet in make_tag_facets(counts))
    for group in groups:
        wider = count.ignore_choice("tag", group)
        own = [(tag, number) for tag, number in wider.fetch(_TAGS) if find_group("tag", tag) == group]
        yield from (facet.scale(wider.sample.weight) for facet in make_tag_facets(own))


def _count_metadata(count: _Counter, in_detail: bool) -> Iterable[Facet]:
    """The keys; of those that are chosen, and ``in_detail`` of all that have few, the values."""
    for key in dict.fromkeys(find_group("meta", value) for value in count.chosen.meta):
        wider = count.ignore_choice("meta", key)
        values = wider.fetch(_METADATA_VALUES, key=key)
        yield make_metadata_facet(key, values).scale(wider.sample.weight)
    if not in_detail:
        yield count.make_facet("meta", "Metadata", count.fetch(_METADATA))
        return
    by_key: dict[str, list[tuple[str, int]]] = {}
    for key, value, number in count.fetch(_ALL_METADATA, many=MAX_METADATA_VALUES):
        by_key.setdefault(key, []).append((value, number))
    yield from (make_metadata_facet(key, counts).scale(count.sample.weight) for key, counts in by_key.items())
