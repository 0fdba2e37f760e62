"""Reads sessions to scrub from PostgreSQL and writes changes back, in the caller's transaction."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from psycopg import sql

from datasets_app.catalog.rows.turn_reader import TURN_COLUMNS, TURN_TYPES, decode_turn
from datasets_app.catalog.rows.turn_writer import encode_contents
from datasets_app.core.queries import execute, open_copy
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.pii.rebuilding import FoundValue

_READ_SESSIONS = sql.SQL("""
COPY (
    SELECT s.id, s.id_hashed, t.id, {columns}
    FROM datasets_app_session s
    JOIN datasets_app_turn t ON t.dataset_id = s.dataset_id AND t.session_id = s.id
    WHERE s.dataset_id = {dataset} AND s.id = ANY({keys}) ORDER BY s.id, t.turn_index
) TO STDOUT (FORMAT BINARY)
""")
_TYPES = ["int8", "bool", "int8", *TURN_TYPES]

# Created once per connection and emptied by each commit. It never contains original values.
_CREATE_SCRUBBED_TURNS = """
CREATE TEMPORARY TABLE IF NOT EXISTS scrubbed_turn
    (id bigint, text text, tags text[], timestamp text, metadata jsonb, extra jsonb) ON COMMIT DELETE ROWS
"""
_UPDATE_TURNS = """
UPDATE datasets_app_turn t
SET text = n.text, tags = n.tags, timestamp = n.timestamp, metadata = n.metadata, extra = n.extra
FROM scrubbed_turn n WHERE t.dataset_id = %s AND t.id = n.id
"""
_UPDATE_SESSIONS = """
UPDATE datasets_app_session s
SET session_id = n.session_id, persona_id = n.persona_id, id_hashed = n.id_hashed
FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::boolean[]) AS n (id, session_id, persona_id, id_hashed)
WHERE s.dataset_id = %s AND s.id = n.id
"""
_COPY_FINDINGS = """
COPY datasets_app_scrubfinding
    (scrub_id, session_id, turn_index, field, kind, start, length, original_length, score)
FROM STDIN
"""
# Positions of an earlier scrub are outdated where this one has changed the same string.
_DELETE_OUTDATED_FINDINGS = """
DELETE FROM datasets_app_scrubfinding old USING datasets_app_scrubfinding new
WHERE new.session_id = ANY(%(sessions)s) AND new.scrub_id = %(scrub)s
  AND old.session_id = new.session_id AND old.scrub_id <> new.scrub_id
  AND old.turn_index IS NOT DISTINCT FROM new.turn_index AND old.field = new.field
"""


class StoredSession(NamedTuple):
    """A session with the primary keys of its row and its turns' rows."""

    key: int
    id_hashed: bool
    turn_keys: list[int]
    turns: list[TurnRecord]


# New values for the row of a session: its primary key, session_id, persona_id and id_hashed.
SessionChange = tuple[int, str, str | None, bool]


def read_sessions(dataset_id: int, keys: Sequence[int]) -> list[StoredSession]:
    """The sessions of a dataset with these primary keys that still exist, in key order."""
    return [
        StoredSession(key, rows[0][1], [row[2] for row in rows], [decode_turn(row[3:]) for row in rows])
        for key, rows in (
            (key, list(group)) for key, group in groupby(_read_rows(dataset_id, keys), lambda row: row[0])
        )
    ]


def _read_rows(dataset_id: int, keys: Sequence[int]) -> Iterator[Any]:
    query = _READ_SESSIONS.format(
        columns=TURN_COLUMNS, dataset=sql.Literal(dataset_id), keys=sql.Literal(list(keys))
    )
    with open_copy(query) as copy:
        copy.set_types(_TYPES)
        yield from copy.rows()


def write_turns(dataset_id: int, changes: Iterable[tuple[int, TurnRecord]]) -> int:
    """Update turns, given by primary key, with the contents of the records; returns how many."""
    execute(_CREATE_SCRUBBED_TURNS)
    with open_copy("COPY scrubbed_turn FROM STDIN") as copy:
        for key, turn in changes:
            copy.write_row((key, *encode_contents(turn)))
    return execute(_UPDATE_TURNS, [dataset_id])


def write_sessions(dataset_id: int, changes: Sequence[SessionChange]) -> None:
    execute(_UPDATE_SESSIONS, [*map(list, zip(*changes, strict=True)), dataset_id])


def copy_findings(scrub: int, findings: Iterable[tuple[int, FoundValue]], *, raw_positions: bool) -> int:
    """Add findings, each with the primary key of its session; returns how many.

    Stores positions in the raw text or, without ``raw_positions``, in the new text.
    """
    count = 0
    with open_copy(_COPY_FINDINGS) as copy:
        for session, found in findings:
            place = (found.start, found.length) if raw_positions else (found.new_start, found.new_length)
            row = (scrub, session, found.turn_index, found.field, found.kind, *place)
            copy.write_row((*row, found.length, found.score))
            count += 1
    return count


def delete_outdated_findings(scrub: int, sessions: Sequence[int]) -> None:
    """Delete findings of earlier scrubs in strings that this scrub has changed."""
    execute(_DELETE_OUTDATED_FINDINGS, {"scrub": scrub, "sessions": list(sessions)})
