"""Loads labels from PostgreSQL into arrays. The server packs them into a few long strings, not rows.

There is one string for each annotator; a label takes 8 bytes: its turn, with the label in the lowest bits.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from psycopg import sql

from annotations_app.domain.arrays import ByteArray, IntArray
from annotations_app.domain.label_table import (
    LABEL_BITS,
    LABEL_MASK,
    NO_ANNOTATOR,
    NO_GOLD,
    AmbiguousOrder,
    LabelPart,
    LabelTable,
    Repeats,
    build_label_table,
    match_items,
    number_keys,
    order_by_session,
)
from datasets_app.core.queries import fetch_all, fetch_column, open_copy

# Turns whose numbers differ only in the lower bits share one string.
TURN_BITS = 16
# Up to this many turns are queried by number; beyond it, all turns in their range are read.
MAX_LISTED_TURNS = 20_000
NO_VALUE = "none"

_PACKED_SQL = sql.SQL("""
SELECT NULLIF(a.annotator, ''), string_agg({packed}, ''::bytea {order})
FROM annotations_app_annotation a
WHERE a.dataset_id = {dataset} AND a.persona_id = {persona} AND {kinds}
GROUP BY 1
""")
_LABEL_BYTES_SQL = f"int8send(a.turn_id << {LABEL_BITS} | a.label)"
# Timestamps are stored as written: 2025-11-03T… or 20251103…; without one the row's own time counts.
_MONTH_BYTES_SQL = r"""
int8send(CASE
    WHEN a.timestamp ~ '^\d{4}-(0[1-9]|1[0-2])' THEN (left(a.timestamp, 4) || substr(a.timestamp, 6, 2))::int
    WHEN a.timestamp ~ '^\d{4}(0[1-9]|1[0-2])\d\d' THEN left(a.timestamp, 6)::int
    ELSE to_char(a.created_at AT TIME ZONE 'UTC', 'YYYYMM')::int END)
"""
# A repeat with its earlier label, in the same campaign and for the same text of the persona.
_REPEATS_SQL = sql.SQL("""
SELECT NULLIF(a.annotator, ''), string_agg({packed} || int8send(l.label::bigint), ''::bytea)
FROM annotations_app_annotation a JOIN annotations_app_annotation l
  ON l.turn_id = a.turn_id AND l.annotator = a.annotator AND l.campaign_id = a.campaign_id
 AND l.persona_digest = a.persona_digest AND l.kind = 'label'
WHERE a.dataset_id = {dataset} AND a.persona_id = {persona} AND {kinds}
GROUP BY 1
""")
_SESSIONS_SQL = sql.SQL("""
SELECT string_agg(int8send(t.id) || int8send(t.session_id), ''::bytea)
FROM datasets_app_turn t WHERE {turns} GROUP BY t.id >> {bits}
""")
_GOLD_ITEMS_SQL = "SELECT turn_id FROM annotations_app_campaignitem WHERE campaign_id = %s AND gold"
_CAMPAIGN_TURNS_SQL = """
SELECT turn_id FROM annotations_app_campaignitem WHERE campaign_id = %s AND turn_id = ANY(%s::bigint[])
"""
_TAGS_SQL = sql.SQL("""
SELECT tag, string_agg(int8send(t.id), ''::bytea)
FROM datasets_app_turn t CROSS JOIN LATERAL unnest(CASE WHEN t.tags = '{{}}' THEN {none} ELSE t.tags END) AS
tag WHERE {turns} GROUP BY tag
""")
_SPLITS_SQL = sql.SQL("""
SELECT COALESCE(s.split, 'none'), string_agg(int8send(t.id), ''::bytea)
FROM datasets_app_turn t JOIN datasets_app_session s ON s.dataset_id = t.dataset_id AND s.id = t.session_id
WHERE {turns} GROUP BY 1
""")


# Skip from persona to persona in the index: few personas, many labels of each.
_PERSONAS_SQL = """
WITH RECURSIVE persona AS (
    (SELECT persona_id FROM annotations_app_annotation WHERE dataset_id = %(dataset)s
     ORDER BY persona_id LIMIT 1)
    UNION ALL
    SELECT (SELECT a.persona_id FROM annotations_app_annotation a
            WHERE a.dataset_id = %(dataset)s AND a.persona_id > persona.persona_id
            ORDER BY a.persona_id LIMIT 1)
    FROM persona WHERE persona.persona_id IS NOT NULL
)
SELECT persona_id FROM persona WHERE persona_id IS NOT NULL
"""


class LabelScope(NamedTuple):
    """Labels of a dataset for a persona; with a campaign, only its own, or ``only`` those of these keys."""

    dataset: int
    persona_id: str
    campaign: int | None = None
    only: list[int] | None = None


class _PackedLabels(NamedTuple):
    """Labels of one kind, unsorted; ``annotator`` is an index into ``names``, or NO_ANNOTATOR.

    ``key`` is the item: the turn's number times the number of scopes, plus that of the scope. ``more`` is
    the month, if requested; for a repeat, the label it is compared with.
    """

    key: IntArray
    names: list[str]
    annotator: IntArray
    label: ByteArray
    more: IntArray | None


def read_labels(scopes: Sequence[LabelScope], by: Sequence[str] = ()) -> LabelTable:
    """The labels of these scopes, in one dataset: a reply judged for two personas is two items.

    ``by`` may hold "month", "tag", "split" and "persona", for breakdowns.
    """
    try:
        return _read_table(scopes, by, in_order=False)
    except AmbiguousOrder:
        # The server sorts only where it matters, which is rare.
        return _read_table(scopes, by, in_order=True)


def _read_table(scopes: Sequence[LabelScope], by: Sequence[str], *, in_order: bool) -> LabelTable:
    packed = _read_packed(scopes, "label", monthly="month" in by, in_order=in_order)
    items, item = number_keys(packed.key)
    order, place, session = order_by_session(
        _session_of_turns(_dataset_of(scopes), items // max(1, len(scopes)))
    )
    items, item = items[order], place[item]
    months, month = _number_months(packed.more)
    table = build_label_table(
        packed.names,
        item,
        packed.annotator,
        packed.label,
        session,
        month=month,
        months=months,
        in_order=in_order,
        turn=items // max(1, len(scopes)),
    )
    return table._replace(
        gold=_gold_labels(scopes, items),
        repeats=_read_repeats(scopes, items, packed.names),
        parts=tuple(_read_part(kind, scopes, items) for kind in by if kind in ("persona", "tag", "split")),
    )


def list_personas(dataset: int) -> list[str]:
    """The personas that a dataset's replies were judged for, in order."""
    return fetch_column(_PERSONAS_SQL, {"dataset": dataset})


def adjudicated_turns(scope: LabelScope) -> IntArray:
    """The turns with an adjudicated label for the persona, ascending; of a campaign only its own."""
    turns = np.unique(_read_packed([scope], "adjudicated").key)
    if scope.campaign is None:
        return turns
    return np.array(
        sorted(turn for (turn,) in fetch_all(_CAMPAIGN_TURNS_SQL, [scope.campaign, turns.tolist()])), np.int64
    )


def order_turns_by_session(dataset: int, turns: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Of ascending turns of a dataset; see :func:`order_by_session`."""
    return order_by_session(_session_of_turns(dataset, turns))


def find_tags(dataset: int, persona_id: str, turns: IntArray) -> dict[str, IntArray]:
    """Which of these turns have a tag, as indexes; those without one under "none"."""
    return _read_part("tag", [LabelScope(dataset, persona_id)], turns).members


# --- labels --------------------------------------------------------------------------------------


def _read_packed(
    scopes: Sequence[LabelScope], kind: str, *, monthly: bool = False, in_order: bool = False
) -> _PackedLabels:
    columns = 2 if monthly or kind == "repeat" else 1
    keys, whose, sizes, label, more = [], [], [], [], []
    for number, scope in enumerate(scopes):
        for name, packed in copy_rows(_labels_query(scope, kind, monthly, in_order), ["text", "bytea"]):
            rows = unpack_numbers(packed).reshape(-1, columns)
            keys.append((rows[:, 0] >> LABEL_BITS) * np.int64(len(scopes)) + number)
            label.append((rows[:, 0] & LABEL_MASK).astype(np.int8))
            more.append(rows[:, -1])
            whose.append(name)
            sizes.append(len(rows))
    names = sorted({name for name in whose if name})
    places = {name: place for place, name in enumerate(names)}
    place = np.array([places.get(name, NO_ANNOTATOR) for name in whose], np.int64)
    return _PackedLabels(
        concatenate(keys),
        names,
        np.repeat(place, sizes),
        concatenate(label, np.int8),
        concatenate(more) if columns == 2 else None,
    )


def _labels_query(scope: LabelScope, kind: str, monthly: bool, in_order: bool) -> sql.Composed:
    kinds = sql.SQL("a.kind = {}").format(sql.Literal(kind))
    if scope.only is not None and kind == "label":
        kinds = sql.SQL("a.id = ANY({}::bigint[])").format(sql.Literal(scope.only))
    # Adjudicated labels are gold in every campaign.
    if scope.campaign is not None and kind != "adjudicated":
        kinds += sql.SQL(" AND a.campaign_id = {}").format(sql.Literal(scope.campaign))
    return (_REPEATS_SQL if kind == "repeat" else _PACKED_SQL).format(
        packed=sql.SQL(f"{_LABEL_BYTES_SQL} || {_MONTH_BYTES_SQL}" if monthly else _LABEL_BYTES_SQL),
        order=sql.SQL("ORDER BY a.id" if in_order else ""),
        dataset=sql.Literal(scope.dataset),
        persona=sql.Literal(scope.persona_id),
        kinds=kinds,
    )


def _number_months(month: IntArray | None) -> tuple[tuple[str, ...], IntArray | None]:
    if month is None:
        return (), None
    months, number = np.unique(month, return_inverse=True)
    return tuple(f"{one // 100:04}-{one % 100:02}" for one in months.tolist()), number


# --- properties of items -------------------------------------------------------------------------


def _gold_labels(scopes: Sequence[LabelScope], items: IntArray) -> ByteArray:
    """The adjudicated label of each item, or NO_GOLD."""
    settled = _read_packed(scopes, "adjudicated")
    gold = np.full(len(items), NO_GOLD, np.int8)
    place, found = match_items(items, settled.key)
    gold[place] = settled.label[found]
    _clear_non_gold(scopes, items, gold)
    return gold


def _read_repeats(scopes: Sequence[LabelScope], items: IntArray, names: list[str]) -> Repeats:
    again = _read_packed(scopes, "repeat")
    place, found = match_items(items, again.key)
    number = {name: place for place, name in enumerate(names)}
    # Annotators with only repeats have no labels to compare.
    whose = np.array([*(number.get(name, NO_ANNOTATOR) for name in again.names), NO_ANNOTATOR], np.int64)
    first = np.zeros(0, np.int64) if again.more is None else again.more
    return Repeats(place, whose[again.annotator[found]], first[found].astype(np.int8), again.label[found])


def _clear_non_gold(scopes: Sequence[LabelScope], items: IntArray, gold: ByteArray) -> None:
    """In a campaign with gold items, drop the gold labels of all other items."""
    campaign = scopes[0].campaign if scopes else None
    if campaign is None:
        return
    turns = np.array(fetch_column(_GOLD_ITEMS_SQL, [campaign]), np.int64)
    if len(turns):
        gold[~np.isin(items // len(scopes), turns)] = NO_GOLD


# --- turns ---------------------------------------------------------------------------------------


def _session_of_turns(dataset: int, turns: IntArray) -> IntArray:
    """The session of each turn; turns are ascending and may repeat."""
    session = np.zeros(len(turns), np.int64)
    for (packed,) in copy_rows(
        _SESSIONS_SQL.format(turns=_turns_condition(dataset, turns), bits=sql.Literal(TURN_BITS)), ["bytea"]
    ):
        rows = unpack_numbers(packed).reshape(-1, 2)
        _assign_values(turns, rows[:, 0], session, rows[:, 1])
    return session


def _assign_values(turns: IntArray, found: IntArray, into: IntArray, values: IntArray) -> None:
    first, last = np.searchsorted(turns, found), np.searchsorted(turns, found, side="right")
    for shift in range(int((last - first).max(initial=0))):
        there = first + shift < last
        into[first[there] + shift] = values[there]


def _read_part(kind: str, scopes: Sequence[LabelScope], items: IntArray) -> LabelPart:
    if kind == "persona":
        of = items % len(scopes)
        return LabelPart(kind, {scope.persona_id: np.flatnonzero(of == n) for n, scope in enumerate(scopes)})
    turns = items // max(1, len(scopes))
    query = (_TAGS_SQL if kind == "tag" else _SPLITS_SQL).format(
        turns=_turns_condition(_dataset_of(scopes), np.sort(turns)), none=sql.Literal([NO_VALUE])
    )
    members = {}
    for value, packed in copy_rows(query, ["text", "bytea"]):
        inside = np.flatnonzero(np.isin(turns, unpack_numbers(packed)))
        if len(inside):
            members[value] = inside
    return LabelPart(kind, members)


def _turns_condition(dataset: int, turns: IntArray) -> sql.Composable:
    """A condition on ``t``: these turns of a dataset, or, if they are too many, all in their range."""
    in_dataset = sql.SQL("t.dataset_id = {} AND ").format(sql.Literal(dataset))
    if len(turns) > MAX_LISTED_TURNS:
        return in_dataset + sql.SQL("t.id BETWEEN {} AND {}").format(
            sql.Literal(int(turns[0])), sql.Literal(int(turns[-1]))
        )
    return in_dataset + sql.SQL("t.id = ANY({}::bigint[])").format(sql.Literal(np.unique(turns).tolist()))


def _dataset_of(scopes: Sequence[LabelScope]) -> int:
    return scopes[0].dataset if scopes else 0


# --- wire format ---------------------------------------------------------------------------------


def copy_rows(query: sql.Composable, types: list[str]) -> Iterator[Any]:
    with open_copy(sql.SQL("COPY ({}) TO STDOUT (FORMAT BINARY)").format(query)) as copy:
        copy.set_types(types)
        yield from copy.rows()


def unpack_numbers(packed: bytes) -> IntArray:
    """Eight bytes each, big-endian."""
    return np.frombuffer(packed, ">i8").astype(np.int64)


def concatenate(parts: list[Any], kind: Any = np.int64) -> Any:
    return np.concatenate(parts) if parts else np.zeros(0, kind)
