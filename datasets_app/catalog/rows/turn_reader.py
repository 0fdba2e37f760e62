"""Streams turns from PostgreSQL."""

from collections.abc import Generator, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec
from psycopg import sql

from datasets_app.core.queries import fetch_all, open_copy
from datasets_app.domain.batches import batched
from datasets_app.domain.conversations.jsonl import escape_line_ends
from datasets_app.domain.conversations.records import TurnRecord

REQUIRED_FIELDS = ("persona_id", "role", "session_id", "tags", "text", "turn_index")
_QUERY = """
WITH t AS (
    SELECT t.timestamp IS NOT NULL AS dated, t.metadata IS NOT NULL AS described, t.extra
    FROM datasets_app_turn t
    JOIN datasets_app_session s ON s.dataset_id = t.dataset_id AND s.id = t.session_id
    WHERE s.dataset_id = %(dataset)s
)
SELECT DISTINCT jsonb_object_keys(extra) FROM t WHERE extra IS NOT NULL
UNION SELECT 'timestamp' WHERE EXISTS (SELECT FROM t WHERE dated)
UNION SELECT 'metadata' WHERE EXISTS (SELECT FROM t WHERE described)
"""


def read_field_names(dataset: Any) -> list[str]:
    """All keys in alphabetical order, including the required ones."""
    return sorted({*REQUIRED_FIELDS, *(name for (name,) in fetch_all(_QUERY, {"dataset": dataset.pk}))})


_decode = msgspec.json.Decoder().decode

_SELECT = sql.SQL("""
SELECT {columns}
FROM {sessions} s JOIN datasets_app_turn t ON t.session_id = s.id
WHERE s.dataset_id = {dataset} AND t.dataset_id = {dataset} {filters}
ORDER BY t.session_id, t.turn_index
""")
_SOME_SESSIONS = sql.SQL("datasets_app_session")
# All are read in their order beside their turns. PostgreSQL, which keeps no statistics of partitioned
# tables, would rather look up the session of each turn, for half as long again; OFFSET forbids that.
_ALL_SESSIONS = sql.SQL(
    "(SELECT * FROM datasets_app_session WHERE dataset_id = {dataset} ORDER BY id OFFSET 0)"
)
# In the order of decode_turn.
TURN_COLUMNS = sql.SQL("""
s.session_id, t.turn_index, t.role, t.text,
CASE WHEN t.tags <> '{}' THEN array_to_json(t.tags)::text END,
s.persona_id, t.timestamp, t.metadata::text, t.extra::text
""")
TURN_TYPES = ["text", "int4", "text", "text", "text", "text", "text", "text", "text"]


class Selection(NamedTuple):
    """Selects sessions of a dataset by persona, by a tag of one of their turns, by ids, by split or by their
    primary keys (``chosen``).

    ``keys`` is a range of primary keys: after the first, up to the second. With ``excluded``, sessions that
    people excluded are among them: exports and releases leave them out.
    """

    persona: str | None = None
    tag: str | None = None
    sessions: list[str] | None = None
    split: str | None = None
    keys: tuple[int, int] | None = None
    chosen: tuple[int, ...] | None = None
    excluded: bool = True

    def describe(self) -> list[str]:
        """The filters, for the modifications in a file's metadata."""
        words = {"persona": self.persona, "tag": self.tag, "split": self.split}
        notes = [f"filtered: only sessions of {name} {value}" for name, value in words.items() if value]
        if self.chosen is not None:
            notes.append(f"filtered: only {len(self.chosen):,} chosen sessions")
        return notes


ALL_SESSIONS = Selection()
NOT_EXCLUDED = Selection(excluded=False)


def read_turns(dataset: Any, selection: Selection = ALL_SESSIONS) -> Generator[TurnRecord]:
    """The dataset's turns, session by session in import order. Close it before anything else is asked."""
    query = sql.SQL("COPY ({}) TO STDOUT (FORMAT BINARY)").format(
        build_turns_query(TURN_COLUMNS, dataset, selection)
    )
    with open_copy(query) as copy:
        copy.set_types(TURN_TYPES)
        for row in copy.rows():
            yield decode_turn(row)


def decode_turn(columns: Sequence[Any]) -> TurnRecord:
    """The record of a row of ``TURN_COLUMNS``."""
    session_id, turn_index, role, text, tags, persona_id, timestamp, metadata, extra = columns
    return TurnRecord(
        session_id,
        turn_index,
        role,
        text,
        _decode_tags(tags) if tags else [],
        persona_id,
        timestamp,
        _decode(metadata) if metadata is not None else None,
        _decode(extra) if extra is not None else None,
    )


def build_turns_query(columns: sql.SQL, dataset: Any, selection: Selection) -> sql.Composed:
    """A SELECT of ``columns`` of ``s`` (session) and ``t`` (turn), in export order."""
    filters: sql.SQL | sql.Composed = sql.SQL("")
    if selection.persona is not None:
        filters += sql.SQL(" AND s.persona_id = {}").format(sql.Literal(selection.persona))
    if selection.tag is not None:
        filters += sql.SQL(
            " AND EXISTS (SELECT FROM datasets_app_turn x WHERE x.dataset_id = {} AND x.session_id = s.id"
            " AND x.tags @> {})"
        ).format(sql.Literal(dataset.pk), sql.Literal([selection.tag]))
    if selection.sessions is not None:
        filters += sql.SQL(" AND s.session_id = ANY({})").format(sql.Literal(selection.sessions))
    if selection.split is not None:
        filters += sql.SQL(" AND s.split = {}").format(sql.Literal(selection.split))
    if selection.keys is not None:
        after, last = map(sql.Literal, selection.keys)
        filters += sql.SQL(" AND s.id > {} AND s.id <= {}").format(after, last)
    if selection.chosen is not None:
        filters += sql.SQL(" AND s.id = ANY({})").format(sql.Literal(list(selection.chosen)))
    if not selection.excluded:
        filters += sql.SQL(" AND NOT s.excluded")
    key = sql.Literal(dataset.pk)
    are_few = any(part is not None for part in (selection.sessions, selection.keys, selection.chosen))
    sessions = _SOME_SESSIONS if are_few else _ALL_SESSIONS.format(dataset=key)
    return _SELECT.format(columns=columns, sessions=sessions, dataset=key, filters=filters)


@lru_cache(maxsize=4096)
def _decode_tags(encoded: str) -> list[str]:
    """Cached, since tag lists repeat; callers share the list and must not change it."""
    tags: list[str] = _decode(encoded)
    return tags


# Exports conversation JSONL from PostgreSQL, which writes the lines itself.
#
# That takes it no longer than any other form, and this process nothing but to pass them on. A test compares
# the result with `jsonl.encode_turn`, which differs only in the spaces of metadata.
ROW_BATCH_SIZE = 2000

# What is NULL leaves its key out, but for the persona.
_LINE = sql.SQL("""
concat(
    '{"session_id":', to_json(s.session_id), ',"turn_index":', t.turn_index, ',"role":"', t.role, '","text":',
    to_json(t.text), ',"tags":', array_to_json(t.tags),
    ',"persona_id":', coalesce(to_json(s.persona_id), 'null'),
    ',"timestamp":' || to_json(t.timestamp)::text, ',"metadata":' || t.metadata::text,
    coalesce(',' || substr(t.extra::text, 2), '}')
)
""")
# No line has these signs, so that COPY escapes and quotes nothing.
_COPY = sql.SQL(r"COPY ({}) TO STDOUT (FORMAT csv, QUOTE E'\x01', DELIMITER E'\x02')")
# Quotes within strings are escaped, and jsonb puts a space behind its colons.
_FIRST_TURN = b',"turn_index":1,'


def read_lines(dataset: Any, selection: Selection = ALL_SESSIONS) -> Iterator[tuple[int, int, bytes]]:
    """Yield ``(turns, sessions started, JSONL lines)`` in batches of some thousand turns."""
    query = _COPY.format(build_turns_query(_LINE, dataset, selection))
    with open_copy(query) as copy:
        for rows in batched(copy, ROW_BATCH_SIZE):
            block = b"".join(rows)
            yield (
                len(rows),
                # Every session has one turn of index 1.
                block.count(_FIRST_TURN),
                block if block.isascii() else escape_line_ends(block),
            )
