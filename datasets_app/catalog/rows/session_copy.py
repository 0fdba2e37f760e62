"""Copies sessions from one dataset to another within the database."""

from datasets_app.catalog.rows.partitions import loading_partition, table_names
from datasets_app.core.queries import execute

_COPY_SESSIONS = """
INSERT INTO {sessions} (dataset_id, session_id, persona_id, turn_count, id_hashed, split)
SELECT %s, session_id, persona_id, turn_count, id_hashed, split FROM datasets_app_session
WHERE dataset_id = %s AND session_id = ANY(%s) ORDER BY id
"""
_COPY_TURNS = """
INSERT INTO {turns} (dataset_id, session_id, turn_index, role, text, tags, timestamp, metadata, extra)
SELECT made.dataset_id, made.id, t.turn_index, t.role, t.text, t.tags, t.timestamp, t.metadata, t.extra
FROM {sessions} made
JOIN datasets_app_session given ON given.dataset_id = %s AND given.session_id = made.session_id
JOIN datasets_app_turn t ON t.dataset_id = given.dataset_id AND t.session_id = given.id
WHERE made.dataset_id = %s ORDER BY made.id, t.turn_index
"""


def copy_sessions_between(source_id: int, target_id: int, session_ids: list[str]) -> tuple[int, int]:
    """Copy sessions into the empty dataset ``target_id``, in the caller's transaction; returns the number of
    sessions and turns."""
    names = dict(zip(("sessions", "turns"), table_names(target_id), strict=True))
    with loading_partition(target_id):
        sessions = execute(_COPY_SESSIONS.format(**names), [target_id, source_id, session_ids])
        return sessions, execute(_COPY_TURNS.format(**names), [source_id, target_id])
