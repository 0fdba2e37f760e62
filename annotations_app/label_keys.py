"""Labels that come inside a conversation file become annotations of their turns as well."""

from typing import Any

from django.db import connection

_INSERT = """
INSERT INTO annotations_app_annotation
    (dataset_id, turn_id, label, persona_id, annotator, notes, confidence, timestamp)
SELECT s.dataset_id, t.id, (t.extra->>'label')::int, s.persona_id,
       COALESCE(t.extra->>'annotator', t.extra->>'labeler'), t.extra->>'notes',
       CASE WHEN jsonb_typeof(t.extra->'confidence') = 'number'
            THEN (t.extra->>'confidence')::float END,
       t.timestamp
FROM datasets_app_turn t JOIN datasets_app_session s ON s.id = t.session_id
WHERE t.id BETWEEN %s AND %s AND t.extra->'label' IN ('0', '1') AND s.persona_id IS NOT NULL
ORDER BY t.id
"""


def annotate_imported_turns(dataset: Any, first_turn: int, last_turn: int) -> dict[str, int]:
    """One annotation for each imported turn whose line has ``label`` 0 or 1.

    Another ``label`` (an intent, say) is a key like any other and stays with the turn only.
    """
    with connection.cursor() as cursor:
        cursor.execute(_INSERT, [first_turn, last_turn])
        return {"annotations": cursor.rowcount} if cursor.rowcount else {}
