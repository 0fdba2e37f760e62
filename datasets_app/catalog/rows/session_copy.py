"""Copies sessions from one dataset to another within the database."""

from django.db import connection

_COPY_SESSIONS = """
INSERT INTO datasets_app_session (dataset_id, session_id, persona_id, turn_count, id_hashed, split)
SELECT %s, session_id, persona_id, turn_count, id_hashed, split FROM datasets_app_session
WHERE dataset_id = %s AND session_id = ANY(%s) ORDER BY id
"""
_COPY_TURNS = """
INSERT INTO datasets_app_turn (session_id, turn_index, role, text, tags, timestamp, metadata, extra)
SELECT made.id, t.turn_index, t.role, t.text, t.tags, t.timestamp, t.metadata, t.extra
FROM datasets_app_session made
JOIN datasets_app_session given ON given.dataset_id = %s AND given.session_id = made.session_id
JOIN datasets_app_turn t ON t.session_id = given.id
WHERE made.dataset_id = %s ORDER BY made.id, t.turn_index
"""


def copy_sessions_between(source_id: int, target_id: int, session_ids: list[str]) -> tuple[int, int]:
    """Copy sessions into the empty dataset ``target_id``, in the caller's transaction; returns the number of
    sessions and turns."""
    with connection.cursor() as cursor:
        cursor.execute(_COPY_SESSIONS, [target_id, source_id, session_ids])
        sessions = cursor.rowcount
        cursor.execute(_COPY_TURNS, [source_id, target_id])
        return sessions, cursor.rowcount
