"""Pages of the sessions of a dataset, filtered and sorted, read by keyset.

The planner knows nothing about texts and tags, so each page is read in two steps. The next sessions in
order are tested one by one, which is enough for a filter that matches often, however many sessions there are.
If too few of them match, the filter is rare, and the indexes list all its matches quickly.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from datasets_app.catalog.rows.session_conditions import Condition, rename_values
from datasets_app.core.queries import fetch_all, fetch_column, fetch_one

# How many sessions the first step tests: about as fast as listing the matches of a filter that is rarer.
WALKED_SESSIONS = 2_000
SAMPLE_PARTS = 100
DEFAULT_ORDER = "imported"


class Part(NamedTuple):
    """Sessions that are sorted by the same ``columns``, which are unique together. An index gives them in
    this order, or there are few."""

    columns: tuple[str, ...]
    source: str = "datasets_app_session s"
    condition: str = "TRUE"


class Order(NamedTuple):
    """A list of sessions goes through one part after the other. The last one stays last in falling order,
    too, if it has the sessions that lack what is sorted by."""

    parts: tuple[Part, ...]
    lacking_last: bool = False


# An index has the first turns of a dataset by time and session.
_FIRST_TURN = """datasets_app_turn t JOIN datasets_app_session s
    ON s.dataset_id = %(dataset)s AND s.id = t.session_id"""
_IS_FIRST = "t.dataset_id = %(dataset)s AND t.turn_index = 1 AND t.timestamp IS"
# A report has a few thousand findings, however large the dataset is.
_FINDINGS = """
    FROM datasets_app_checkfinding f
    WHERE f.report_id = (SELECT max(id) FROM datasets_app_checkreport WHERE dataset_id = %(dataset)s)
      AND f.session_id"""
_COUNTED_FINDINGS = f"""
    (SELECT f.session_id, count(*) AS found {_FINDINGS} IS NOT NULL GROUP BY f.session_id) f
    JOIN datasets_app_session s ON s.dataset_id = %(dataset)s AND s.id = f.session_id"""  # nosec B608  # constants
ORDERS = {
    "imported": Order((Part(("s.id",)),)),
    "session": Order((Part(("s.session_id",)),)),
    "turns": Order((Part(("s.turn_count", "s.id")),)),
    "date": Order(
        (
            Part(("t.timestamp", "t.session_id"), _FIRST_TURN, f"{_IS_FIRST} NOT NULL"),
            Part(("t.session_id",), _FIRST_TURN, f"{_IS_FIRST} NULL"),
        ),
        lacking_last=True,
    ),
    "findings": Order(
        (
            # OFFSET 0 keeps the planner from joining all sessions.
            Part(("s.id",), condition=f"NOT EXISTS (SELECT {_FINDINGS} = s.id OFFSET 0)"),  # nosec B608
            Part(("f.found", "s.id"), _COUNTED_FINDINGS),
        )
    ),
}


class SessionQuery(NamedTuple):
    """``place`` is the session before the page, or after it if ``backwards``: its primary key."""

    conditions: Sequence[Condition] = ()
    order: str = DEFAULT_ORDER
    falling: bool = False
    place: int | None = None
    backwards: bool = False
    limit: int = 51


_NEXT = """
SELECT id FROM (
    SELECT s.*, {named} FROM {source}
    WHERE s.dataset_id = %(dataset)s AND {part} {past} ORDER BY {order} LIMIT {walked}
) s
WHERE {conditions} ORDER BY {outer} LIMIT %(limit)s
"""
_COUNT_WALKED = """
SELECT count(*) FROM (
    SELECT FROM {source} WHERE s.dataset_id = %(dataset)s AND {part} {past} ORDER BY {order} LIMIT {walked}
) s
"""
_ALL = """
{hits}
SELECT s.id FROM {source}
WHERE s.dataset_id = %(dataset)s AND {part} {past} AND {conditions} ORDER BY {order} LIMIT %(limit)s
"""
_PLACE = """
SELECT {columns} FROM {source} WHERE s.dataset_id = %(dataset)s AND {part} AND s.id = %(session)s
"""
_KEYS = """
{hits}
SELECT s.id FROM datasets_app_session s WHERE s.dataset_id = %(dataset)s AND {conditions} ORDER BY s.id
LIMIT %(limit)s
"""


# Parts of the dataset of the same length by primary key, of each the first sessions.
_SPREAD = """
SELECT s.id, {conditions} FROM (
    SELECT min(id) AS first, (max(id) - min(id)) / %(parts)s + 1 AS step
    FROM datasets_app_session WHERE dataset_id = %(dataset)s
) range CROSS JOIN generate_series(0, %(parts)s - 1) part CROSS JOIN LATERAL (
    SELECT * FROM datasets_app_session s
    WHERE s.dataset_id = %(dataset)s AND s.id >= first + part * step AND s.id < first + (part + 1) * step
    ORDER BY s.id LIMIT %(each)s
) s
"""


def page_sessions(dataset_id: int, query: SessionQuery) -> list[int]:
    """The primary keys of a page's sessions, in their order. Starts anew if the session at the place is
    gone."""
    parts = list_parts(query.order, query.falling != query.backwards, query.backwards)
    place = None
    if query.place is not None:
        for number, part in enumerate(parts):
            if place := _find_place(dataset_id, part, query.place):
                parts = parts[number:]
                break
    keys: list[int] = []
    for part in parts:
        if len(keys) < query.limit:
            keys += _page_part(dataset_id, query._replace(limit=query.limit - len(keys)), part, place)
        place = None
    return keys[::-1] if query.backwards else keys


def list_parts(order: str, falls: bool, backwards: bool) -> tuple[Part, ...]:
    parts, lacking_last = ORDERS[order]
    return parts[::-1] if (backwards if lacking_last else falls) else parts


def _find_place(dataset_id: int, part: Part, session: int) -> tuple[Any, ...] | None:
    """The values of the part's columns of a session; None if it isn't in this part."""
    sql = _PLACE.format(columns=", ".join(part.columns), source=part.source, part=part.condition)
    return cast(tuple[Any, ...] | None, fetch_one(sql, {"dataset": dataset_id, "session": session}))


def _page_part(dataset_id: int, query: SessionQuery, part: Part, place: tuple[Any, ...] | None) -> list[int]:
    """The first sessions of a part, or those past the place, in the direction of reading."""
    falls = query.falling != query.backwards
    order, outer = (
        ", ".join(f"{column} {'DESC' if falls else 'ASC'}" for column in columns)
        for columns in (part.columns, [f"sorted_{number}" for number in range(len(part.columns))])
    )
    past, values = _build_past(part, falls, place)
    values |= {"dataset": dataset_id, "limit": query.limit}
    (_, tests), test_values = _build_conditions(query.conditions, by_index=False)
    values |= test_values
    parts = {"source": part.source, "part": part.condition, "past": past, "order": order}
    walk = {**parts, "walked": WALKED_SESSIONS}
    named = ", ".join(f"{column} AS sorted_{number}" for number, column in enumerate(part.columns))
    keys = fetch_column(_NEXT.format(conditions=tests, named=named, outer=outer, **walk), values)
    if len(keys) < query.limit and fetch_column(_COUNT_WALKED.format(**walk), values) == [WALKED_SESSIONS]:
        (hits, conditions), hit_values = _build_conditions(query.conditions, by_index=True)
        keys = fetch_column(_ALL.format(hits=hits, conditions=conditions, **parts), values | hit_values)
    return keys


def list_session_keys(dataset_id: int, conditions: Sequence[Condition], limit: int) -> list[int]:
    """The primary keys of all matching sessions, up to ``limit``, in the order of import."""
    (hits, tests), values = _build_conditions(conditions, by_index=True)
    values |= {"dataset": dataset_id, "limit": limit}
    return fetch_column(_KEYS.format(hits=hits, conditions=tests), values)


class Sample(NamedTuple):
    """Primary keys of matching sessions; each stands for ``weight`` of them, 1 if these are all."""

    keys: list[int]
    weight: float

    @property
    def estimate(self) -> int:
        return round(len(self.keys) * self.weight)


def sample_sessions(dataset_id: int, count: int, conditions: Sequence[Condition], limit: int) -> Sample:
    """All matching sessions of a dataset with ``count`` sessions, or if there are more than ``limit``, those
    among so many that lie spread over it."""
    sample = None
    if count > limit:
        (_, tests), values = _build_conditions(conditions, by_index=False)
        values |= {"dataset": dataset_id, "parts": SAMPLE_PARTS, "each": limit // SAMPLE_PARTS}
        rows = fetch_all(_SPREAD.format(conditions=tests), values)
        sample = Sample([key for key, matches in rows if matches], count / max(1, len(rows)))
        if sample.estimate > limit:
            return sample
    keys = list_session_keys(dataset_id, conditions, limit + 1)
    return Sample(keys, 1) if sample is None or len(keys) <= limit else sample


def _build_conditions(
    conditions: Sequence[Condition], *, by_index: bool
) -> tuple[tuple[str, str], dict[str, Any]]:
    """((WITH clause, conditions), values)."""
    hits, tests = [], ["TRUE"]
    values: dict[str, Any] = {}
    for number, condition in enumerate(
        rename_values(one, f"_{place}") for place, one in enumerate(conditions)
    ):
        values |= condition.values
        if by_index and condition.hits:
            hits.append(f"hits_{number} AS MATERIALIZED ({condition.hits})")
            tests.append(f"s.id IN (SELECT session_id FROM hits_{number})")  # a number  # nosec B608
        else:
            tests.append(condition.test)
    return (f"WITH {', '.join(hits)}" if hits else "", " AND ".join(tests)), values


def _build_past(part: Part, falls: bool, place: tuple[Any, ...] | None) -> tuple[str, dict[str, Any]]:
    """The condition of what comes after the place, and its values."""
    if place is None:
        return "", {}
    names = [f"place{number}" for number in range(len(part.columns))]
    row = ", ".join(f"%({name})s" for name in names)
    past = f"AND ({', '.join(part.columns)}) {'<' if falls else '>'} ({row})"
    return past, dict(zip(names, place, strict=True))
