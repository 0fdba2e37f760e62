"""Finds sessions of a file that the dataset already has, and whether they are identical."""

import hashlib
import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from datasets_app.catalog.rows.turn_reader import Selection, read_turns
from datasets_app.core.queries import execute, fetch_all, open_copy
from datasets_app.domain.conversations.jsonl import build_turn_object
from datasets_app.domain.conversations.records import LineError, SessionRecord, TurnRecord

_CREATE_TABLE = "CREATE TEMP TABLE incoming_session (session_id text, line integer) ON COMMIT DROP"
_FIND_EXISTING = """
SELECT i.session_id, i.line FROM incoming_session i
JOIN datasets_app_session s ON s.dataset_id = %s AND s.session_id = i.session_id
"""


def find_existing(dataset: Any, sessions: Iterable[SessionRecord]) -> dict[str, int]:
    """Session id → line in the file, for sessions that the dataset already has."""
    execute(_CREATE_TABLE)
    with open_copy("COPY incoming_session FROM STDIN") as copy:
        for session in sessions:
            copy.write_row((session.session_id, session.line))
    execute("ANALYZE incoming_session")
    existing = dict(fetch_all(_FIND_EXISTING, [dataset.pk]))
    execute("DROP TABLE incoming_session")
    return existing


def find_identical(
    dataset: Any, records: Iterable[TurnRecord | LineError], existing: set[str], persona: str | None
) -> set[str]:
    """Ids in ``existing`` whose turns in ``records`` equal the stored turns."""
    stored = dict(_digest_sessions(read_turns(dataset, Selection(sessions=sorted(existing))), existing, None))
    return {
        session_id
        for session_id, digest in _digest_sessions(records, existing, persona)
        if stored.get(session_id) == digest
    }


def _digest_sessions(
    records: Iterable[TurnRecord | LineError], ids: set[str], persona: str | None
) -> Iterator[tuple[str, bytes]]:
    turns = (record for record in records if type(record) is TurnRecord)
    for session_id, session in groupby(turns, key=lambda turn: turn.session_id):
        if session_id in ids:
            yield session_id, _digest_session(session, persona)


def _digest_session(session: Iterable[TurnRecord], persona: str | None) -> bytes:
    digest = hashlib.sha256()
    personas: set[str] = set()
    for turn in session:
        if turn.persona_id is not None:
            personas.add(turn.persona_id)
        value = build_turn_object(turn._replace(persona_id=None))
        digest.update(json.dumps(value, sort_keys=True).encode() + b"\n")
    # A turn without a persona has its session's.
    named: list[str | None] = [*sorted(personas)] or [persona]
    digest.update(json.dumps(named).encode())
    return digest.digest()
