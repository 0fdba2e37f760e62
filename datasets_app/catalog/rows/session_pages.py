"""Pages of the sessions of a dataset, filtered and sorted, read by keyset.

The planner knows nothing about texts and tags, so each page is read in two steps. The next sessions in
order are tested one by one, which is enough for a filter that matches often, however many sessions there are.
If too few of them match, the filter is rare, and the indexes list all its matches quickly.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db import connection

from datasets_app.catalog.search import list_prefixes, match_words

# How many sessions the first step tests: about as fast as listing the matches of a filter that is rarer.
WALKED_SESSIONS = 2_000
# Sort order → columns that are unique together, from an index over them.
ORDERS: dict[str, tuple[str, ...]] = {
    "imported": ("s.id",),
    "session": ("s.session_id",),
    "turns": ("s.turn_count", "s.id"),
}
DEFAULT_ORDER = "imported"
NO_SPLIT = "none"
_PARAMETER = re.compile(r"%\((\w+)\)s")


class Condition(NamedTuple):
    """A condition on a session ``s`` of the dataset ``%(dataset)s``.

    ``test`` is for one session after the other. ``hits`` is a query of the keys of all matching sessions, if
    an index answers it.
    """

    test: str
    values: dict[str, Any]
    hits: str = ""


class SessionQuery(NamedTuple):
    """``place`` has the values of the order's columns at the row before the page, or after it if
    ``backwards``."""

    conditions: Sequence[Condition] = ()
    order: str = DEFAULT_ORDER
    falling: bool = False
    place: tuple[Any, ...] | None = None
    backwards: bool = False
    limit: int = 51


# --- conditions -----------------------------------------------------------------------------------------

# OFFSET 0 keeps the planner from joining all turns.
_HAS_TURN = """EXISTS (
    SELECT FROM datasets_app_turn t
    WHERE t.dataset_id = %(dataset)s AND t.session_id = s.id AND {condition} OFFSET 0)"""
_TURN_HITS = """
    SELECT DISTINCT t.session_id FROM datasets_app_turn t WHERE t.dataset_id = %(dataset)s AND {condition}"""


def with_words(words: str) -> Condition:
    """A turn has all these words; see :func:`match_words`."""
    matches, text = match_words(words)
    # Cheaper than parsing a text that has none of the words.
    contained = list_prefixes(words)
    tests = [f"strpos(lower(t.text), %(word{number})s) > 0" for number in range(len(contained))]
    return Condition(
        _HAS_TURN.format(condition=" AND ".join([*tests, matches])),
        {"words": text, **{f"word{number}": word for number, word in enumerate(contained)}},
        _TURN_HITS.format(condition=matches),
    )


def with_tag(tag: str) -> Condition:
    """A turn has this tag."""
    condition = "t.tags @> ARRAY[%(tag)s]::text[]"
    return Condition(
        _HAS_TURN.format(condition=condition), {"tag": tag}, _TURN_HITS.format(condition=condition)
    )


def with_date(since: str, until: str) -> Condition:
    """The first turn is of a day from ``since`` to ``until`` (ISO dates, or empty)."""
    condition = "t.turn_index = 1"
    values = {}
    if since:
        condition, values["since"] = f"{condition} AND t.timestamp >= %(since)s", since
    if until:
        # A day's times begin with "T" or a space, both of which come before "U".
        condition, values["until"] = f"{condition} AND t.timestamp < %(until)s", f"{until}U"
    return Condition(_HAS_TURN.format(condition=condition), values, _TURN_HITS.format(condition=condition))


def with_id_prefix(prefix: str) -> Condition:
    return Condition("starts_with(s.session_id, %(prefix)s)", {"prefix": prefix}, _ID_HITS)


# LIKE uses the index, starts_with does not.
_ID_HITS = """
    SELECT id AS session_id FROM datasets_app_session
    WHERE dataset_id = %(dataset)s AND session_id LIKE replace(replace(replace(%(prefix)s,
        '\\', '\\\\'), '%%', '\\%%'), '_', '\\_') || '%%'"""


def of_persona(persona: str) -> Condition:
    return Condition("s.persona_id = %(persona)s", {"persona": persona})


def in_split(split: str) -> Condition:
    if split == NO_SPLIT:
        return Condition("s.split IS NULL", {})
    return Condition("s.split = %(split)s", {"split": split})


def with_length(at_least: int | None, at_most: int | None) -> Condition:
    """By the number of turns."""
    condition = "s.turn_count BETWEEN %(at_least)s AND %(at_most)s"
    return Condition(condition, {"at_least": at_least or 0, "at_most": at_most or 2**31 - 1})


def with_finding(report: int, code: str) -> Condition:
    """The report has a finding of this code, or of any, in the session."""
    of_code = " AND f.code = %(code)s" if code else ""
    hits = f"""
    SELECT DISTINCT f.session_id FROM datasets_app_checkfinding f
    WHERE f.report_id = %(report)s AND f.session_id IS NOT NULL{of_code}"""  # nosec B608  # constants
    test = f"""EXISTS (
    SELECT FROM datasets_app_checkfinding f
    WHERE f.report_id = %(report)s AND f.session_id = s.id{of_code} OFFSET 0)"""  # nosec B608  # constants
    return Condition(test, {"report": report, "code": code}, hits)


# --- pages ----------------------------------------------------------------------------------------------

_NEXT = """
SELECT s.id FROM (
    SELECT * FROM datasets_app_session s WHERE s.dataset_id = %(dataset)s {past}
    ORDER BY {order} LIMIT {walked}
) s
WHERE {conditions} ORDER BY {order} LIMIT %(limit)s
"""
_COUNT_WALKED = """
SELECT count(*) FROM (
    SELECT FROM datasets_app_session s WHERE s.dataset_id = %(dataset)s {past} ORDER BY {order} LIMIT {walked}
) s
"""
_ALL = """
{hits}
SELECT s.id FROM datasets_app_session s
WHERE s.dataset_id = %(dataset)s {past} AND {conditions} ORDER BY {order} LIMIT %(limit)s
"""
_COUNT = """
{hits}
SELECT count(*) FROM (
    SELECT FROM datasets_app_session s WHERE s.dataset_id = %(dataset)s AND {conditions} LIMIT %(limit)s
) s
"""
_KEYS = """
{hits}
SELECT s.id FROM datasets_app_session s WHERE s.dataset_id = %(dataset)s AND {conditions} ORDER BY s.id
LIMIT %(limit)s
"""


def page_sessions(dataset_id: int, query: SessionQuery) -> list[int]:
    """The primary keys of a page's sessions, in their order."""
    past, order, values = _build_order(query)
    values |= {"dataset": dataset_id, "limit": query.limit}
    tests, test_values = _build_conditions(query.conditions, by_index=False)
    values |= test_values
    parts = {"past": past, "order": order, "walked": WALKED_SESSIONS}
    keys = _fetch(_NEXT.format(conditions=tests[1], **parts), values)
    if len(keys) < query.limit and _fetch(_COUNT_WALKED.format(**parts), values) == [WALKED_SESSIONS]:
        (hits, conditions), values = _rebuild(query, values)
        keys = _fetch(_ALL.format(hits=hits, conditions=conditions, past=past, order=order), values)
    return keys[::-1] if query.backwards else keys


def count_sessions(dataset_id: int, conditions: Sequence[Condition], limit: int) -> int:
    """How many sessions match, counting up to ``limit``."""
    (hits, tests), values = _build_conditions(conditions, by_index=True)
    values |= {"dataset": dataset_id, "limit": limit}
    return _fetch(_COUNT.format(hits=hits, conditions=tests), values)[0]


def list_session_keys(dataset_id: int, conditions: Sequence[Condition], limit: int) -> list[int]:
    """The primary keys of all matching sessions, up to ``limit``, in the order of import."""
    (hits, tests), values = _build_conditions(conditions, by_index=True)
    values |= {"dataset": dataset_id, "limit": limit}
    return _fetch(_KEYS.format(hits=hits, conditions=tests), values)


def _rebuild(query: SessionQuery, values: dict[str, Any]) -> tuple[tuple[str, str], dict[str, Any]]:
    parts, by_index = _build_conditions(query.conditions, by_index=True)
    return parts, values | by_index


def _build_conditions(
    conditions: Sequence[Condition], *, by_index: bool
) -> tuple[tuple[str, str], dict[str, Any]]:
    """((WITH clause, conditions), values); each condition's values get names of their own."""
    hits, tests = [], ["TRUE"]
    values: dict[str, Any] = {}
    for number, condition in enumerate(conditions):
        names = {name: f"{name}_{number}" for name in condition.values}
        values |= {names[name]: value for name, value in condition.values.items()}

        def rename(sql: str, names: dict[str, str] = names) -> str:
            return _PARAMETER.sub(lambda match: f"%({names.get(match[1], match[1])})s", sql)

        if by_index and condition.hits:
            hits.append(f"hits_{number} AS MATERIALIZED ({rename(condition.hits)})")
            tests.append(f"s.id IN (SELECT session_id FROM hits_{number})")  # a number  # nosec B608
        else:
            tests.append(rename(condition.test))
    return (f"WITH {', '.join(hits)}" if hits else "", " AND ".join(tests)), values


def _build_order(query: SessionQuery) -> tuple[str, str, dict[str, Any]]:
    """The condition of what comes after the place, ORDER BY and values."""
    columns = ORDERS[query.order]
    falls = query.falling != query.backwards
    order = ", ".join(f"{column} {'DESC' if falls else 'ASC'}" for column in columns)
    if query.place is None:
        return "", order, {}
    names = [f"place{number}" for number in range(len(columns))]
    row = ", ".join(f"%({name})s" for name in names)
    past = f"AND ({', '.join(columns)}) {'<' if falls else '>'} ({row})"
    return past, order, dict(zip(names, query.place, strict=True))


def _fetch(sql: str, values: dict[str, Any]) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return [value for (value,) in cursor.fetchall()]
