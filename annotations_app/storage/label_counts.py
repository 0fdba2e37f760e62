"""PostgreSQL → labels as arrays. The server packs them into a few long strings; no label is a row here.

A label is packed into 16 bytes: its turn, then a hash of its annotator with what was said in the lowest
bits. The names of the hashes are looked up afterwards, one label each.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from django.db import connection
from psycopg import sql

from annotations_app.domain.label_table import (
    NO_GOLD,
    UNNAMED,
    Bytes,
    Ints,
    LabelTable,
    Part,
    Repeats,
    in_session_order,
    label_table,
    says_twice,
)
from datasets_app.storage.copying import copying

# Turns whose numbers differ in the lower bits only are packed into one string.
TURN_BITS = 16
# Fewer turns than this are asked for by number; for more all turns in their range are read.
FEW_TURNS = 20_000
NONE = "none"
# A table of places may have so many more rows than there are values.
SPARSE = 16

_PACKED = sql.SQL("""
SELECT string_agg({packed}, ''::bytea {order})
FROM annotations_app_annotation a
WHERE a.dataset_id = {dataset} AND a.persona_id = {persona} AND {scope}
GROUP BY a.turn_id >> {bits}
""")
# Kind and label take the lowest three bits of the hash; 0 is for those without a name.
_SAID = """
int8send(a.turn_id) || int8send(
    CASE WHEN a.annotator IS NULL OR a.annotator = '' THEN 0 ELSE hashtextextended(a.annotator, 0) & -8 END
    | CASE a.kind WHEN 'label' THEN 0 WHEN 'repeat' THEN 2 ELSE 4 END | a.label)
"""
# A timestamp is kept as it was written: 2025-11-03T… or 20251103…; without one the row's own time counts.
_MONTH = r"""
int8send(CASE
    WHEN a.timestamp ~ '^\d{4}-(0[1-9]|1[0-2])' THEN (left(a.timestamp, 4) || substr(a.timestamp, 6, 2))::int
    WHEN a.timestamp ~ '^\d{4}(0[1-9]|1[0-2])\d\d' THEN left(a.timestamp, 6)::int
    ELSE to_char(a.created_at AT TIME ZONE 'UTC', 'YYYYMM')::int END)
"""
_KINDS = sql.SQL("a.kind IN ('label', 'repeat', 'adjudicated')")
_OF_CAMPAIGN = sql.SQL(
    "(a.kind = 'adjudicated' OR a.kind IN ('label', 'repeat') AND a.campaign_id = {campaign})"
)
_SESSIONS = sql.SQL("""
SELECT string_agg(int8send(t.id) || int8send(t.session_id), ''::bytea)
FROM datasets_app_turn t WHERE {turns} GROUP BY t.id >> {bits}
""")
_NAME = """
SELECT x.hash, a.annotator FROM unnest(%s::bigint[], %s::bigint[]) AS x (hash, turn)
CROSS JOIN LATERAL (
    SELECT annotator FROM annotations_app_annotation
    WHERE turn_id = x.turn AND hashtextextended(annotator, 0) & -8 = x.hash AND annotator <> '' LIMIT 1
) a
"""
_GOLD_ITEMS = "SELECT turn_id FROM annotations_app_campaignitem WHERE campaign_id = %s AND gold"
_TAGS = sql.SQL("""
SELECT tag, string_agg(int8send(t.id), ''::bytea)
FROM datasets_app_turn t CROSS JOIN LATERAL unnest(CASE WHEN t.tags = '{{}}' THEN {none} ELSE t.tags END) AS
tag WHERE {turns} GROUP BY tag
""")
_SPLITS = sql.SQL("""
SELECT COALESCE(s.split, 'none'), string_agg(int8send(t.id), ''::bytea)
FROM datasets_app_turn t JOIN datasets_app_session s ON s.id = t.session_id
WHERE {turns} GROUP BY 1
""")


class Scope(NamedTuple):
    """Labels of a dataset for a persona; with a campaign only those given in it."""

    dataset: int
    persona_id: str
    campaign: int | None = None


class _Packed(NamedTuple):
    """Labels as they come, of all kinds; ``who`` 0 has no name, ``said`` is label + 2 × kind.

    ``key`` is the item: the turn's number times the number of scopes, plus that of the scope.
    """

    key: Ints
    who: Ints
    said: Ints
    month: Ints | None


_LABEL, _REPEAT, _ADJUDICATED = range(3)


def read_labels(scopes: Sequence[Scope], by: Sequence[str] = ()) -> LabelTable:
    """The labels of these scopes, of one dataset: a reply judged for two personas is two items.

    ``by`` may have "month", "tag", "split", "persona": what the labels are to be divided by.
    """
    packed = _packed(scopes, monthly="month" in by, in_order=False)
    names, annotator = _annotators(packed, len(scopes))
    items, item = _items(packed)
    first = packed.said >> 1 == _LABEL
    if says_twice(item[first], annotator[first], len(names)):
        # Which of them is the last the server knows; sorting is left undone where it makes no difference.
        packed = _packed(scopes, monthly="month" in by, in_order=True)
        names, annotator = _annotators(packed, len(scopes))
        items, item = _items(packed)
    session = sessions_of(items // len(scopes))
    order, place, session = in_session_order(session)
    items, item = items[order], np.where(item >= 0, place[item], -1) if len(place) else item
    return _table(scopes, by, packed, names, annotator, items, item, session)


def _table(
    scopes: Sequence[Scope],
    by: Sequence[str],
    packed: _Packed,
    names: list[str],
    annotator: Ints,
    items: Ints,
    item: Ints,
    session: Ints,
) -> LabelTable:
    kind, label = packed.said >> 1, (packed.said & 1).astype(np.int8)
    first, again, settled = (np.flatnonzero((kind == one) & (item >= 0)) for one in range(3))
    months, month = (
        np.unique(packed.month[first], return_inverse=True) if packed.month is not None else ((), None)
    )
    gold = np.full(len(items), NO_GOLD, np.int8)
    gold[item[settled]] = label[settled]
    _only_gold_items(scopes, items, gold)
    return label_table(
        names,
        item[first],
        annotator[first],
        label[first],
        session,
        gold=gold,
        repeats=Repeats(item[again], annotator[again], label[again]),
        parts=tuple(_part(kind, scopes, items) for kind in by if kind in ("persona", "tag", "split")),
        month=month,
        months=tuple(f"{int(month) // 100:04}-{int(month) % 100:02}" for month in months),
    )


# --- labels --------------------------------------------------------------------------------------


def _packed(scopes: Sequence[Scope], *, monthly: bool, in_order: bool) -> _Packed:
    keys, who, said, months = [], [], [], []
    for number, scope in enumerate(scopes):
        for row in _rows(scope, monthly, in_order):
            keys.append(row[:, 0] * len(scopes) + number)
            who.append(row[:, 1] & -8)
            said.append(row[:, 1] & 7)
            if monthly:
                months.append(row[:, 2].copy())
    return _Packed(_all(keys), _all(who), _all(said), _all(months) if monthly else None)


def _rows(scope: Scope, monthly: bool, in_order: bool) -> Iterator[Ints]:
    columns = 3 if monthly else 2
    query = _PACKED.format(
        packed=sql.SQL(f"{_SAID} || {_MONTH}" if monthly else _SAID),
        order=sql.SQL("ORDER BY a.id" if in_order else ""),
        dataset=sql.Literal(scope.dataset),
        persona=sql.Literal(scope.persona_id),
        scope=_KINDS if scope.campaign is None else _OF_CAMPAIGN.format(campaign=sql.Literal(scope.campaign)),
        bits=sql.Literal(TURN_BITS),
    )
    for (packed,) in _copied(query, ["bytea"]):
        yield _numbers(packed).reshape(-1, columns)


def _annotators(packed: _Packed, scopes: int) -> tuple[list[str], Ints]:
    """Names in order, and for each label the place of its annotator's name among them."""
    hashes, example = np.unique(packed.who, return_index=True)
    turns = packed.key[example] // scopes
    with connection.cursor() as cursor:
        cursor.execute(_NAME, [hashes.tolist(), turns.tolist()])
        known = dict(cursor.fetchall())
    names = sorted(known.values())
    numbers = {name: number for number, name in enumerate(names)}
    place = np.array([numbers.get(known.get(int(one), ""), UNNAMED) for one in hashes], np.int64)
    return names, place[np.searchsorted(hashes, packed.who)]


def _items(packed: _Packed) -> tuple[Ints, Ints]:
    """The items that have a label, ascending, and for each row the place of its item, or -1."""
    items = np.unique(packed.key[packed.said >> 1 == _LABEL])
    return items, _places(items, packed.key)


def _places(values: Ints, wanted: Ints) -> Ints:
    """Where ``wanted`` stand among the ascending ``values``; -1 for those that don't."""
    if not len(values):
        return np.full(len(wanted), -1)
    lowest, span = int(values[0]), int(values[-1] - values[0]) + 1
    if span > SPARSE * len(values):
        place = np.minimum(np.searchsorted(values, wanted), len(values) - 1)
        return np.where(values[place] == wanted, place, -1)
    table = np.full(span, -1)
    table[values - lowest] = np.arange(len(values))
    inside = (wanted >= lowest) & (wanted <= values[-1])
    return (
        table[wanted - lowest]
        if inside.all()
        else np.where(inside, table[np.where(inside, wanted - lowest, 0)], -1)
    )


def _only_gold_items(scopes: Sequence[Scope], items: Ints, gold: Bytes) -> None:
    """In a campaign that has gold items no other label is taken for known."""
    campaign = scopes[0].campaign if scopes else None
    if campaign is None:
        return
    with connection.cursor() as cursor:
        cursor.execute(_GOLD_ITEMS, [campaign])
        turns = np.array([turn for (turn,) in cursor.fetchall()], np.int64)
    if len(turns):
        gold[~np.isin(items // len(scopes), turns)] = NO_GOLD


# --- turns ---------------------------------------------------------------------------------------


def sessions_of(turns: Ints) -> Ints:
    """The session of each turn; turns ascend, and may repeat."""
    session = np.zeros(len(turns), np.int64)
    for (packed,) in _copied(_SESSIONS.format(turns=_these(turns), bits=sql.Literal(TURN_BITS)), ["bytea"]):
        rows = _numbers(packed).reshape(-1, 2)
        _set_where(turns, rows[:, 0], session, rows[:, 1])
    return session


def _set_where(turns: Ints, found: Ints, into: Ints, values: Ints) -> None:
    first, last = np.searchsorted(turns, found), np.searchsorted(turns, found, side="right")
    for shift in range(int((last - first).max(initial=0))):
        there = first + shift < last
        into[first[there] + shift] = values[there]


def _part(kind: str, scopes: Sequence[Scope], items: Ints) -> Part:
    turns = items // len(scopes)
    if kind == "persona":
        of = items % len(scopes)
        return Part(kind, {scope.persona_id: np.flatnonzero(of == n) for n, scope in enumerate(scopes)})
    in_order = np.argsort(turns, kind="stable")
    sorted_turns = turns[in_order]
    query = _TAGS if kind == "tag" else _SPLITS
    members = {}
    for value, packed in _copied(
        query.format(turns=_these(sorted_turns), none=sql.Literal([NONE])), ["text", "bytea"]
    ):
        wanted = np.sort(_numbers(packed))
        inside = np.isin(sorted_turns, wanted, assume_unique=False)
        if inside.any():
            members[value] = np.sort(in_order[inside])
    return Part(kind, members)


def _these(turns: Ints) -> sql.Composable:
    """A condition on ``t``: these turns, or, where that would be too long, all in their range."""
    if len(turns) > FEW_TURNS:
        return sql.SQL("t.id BETWEEN {} AND {}").format(
            sql.Literal(int(turns[0])), sql.Literal(int(turns[-1]))
        )
    return sql.SQL("t.id = ANY({}::bigint[])").format(sql.Literal(np.unique(turns).tolist()))


# --- the wire ------------------------------------------------------------------------------------


def _copied(query: sql.Composable, types: list[str]) -> Iterator[Any]:
    with copying(sql.SQL("COPY ({}) TO STDOUT (FORMAT BINARY)").format(query)) as copy:
        copy.set_types(types)
        yield from copy.rows()


def _numbers(packed: bytes) -> Ints:
    """Eight bytes each, the highest first."""
    return np.frombuffer(packed, ">i8").astype(np.int64)


def _all(parts: list[Ints]) -> Ints:
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)
