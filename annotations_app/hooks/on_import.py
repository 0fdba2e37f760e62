"""Labels that come inside a conversation file become annotations of their turns as well."""

from typing import Any

from django.db import connection

# What is no label, no name, no number of the right kind stays with the turn only: it is a key
# like any other there (``label`` may be an intent), and must not make an import fail.
_INSERT_ANNOTATIONS_SQL = """
INSERT INTO annotations_app_annotation
    (dataset_id, turn_id, label, persona_id, annotator, notes, confidence, timestamp)
SELECT s.dataset_id, t.id, CASE WHEN t.extra->'label' = '1' THEN 1 ELSE 0 END, s.persona_id,
       CASE WHEN length(annotator.name) <= 200 THEN annotator.name END,
       CASE WHEN jsonb_typeof(t.extra->'notes') = 'string' THEN t.extra->>'notes' END,
       CASE WHEN jsonb_typeof(t.extra->'confidence') = 'number'
             AND abs((t.extra->'confidence')::numeric) < 1e300
            THEN (t.extra->'confidence')::float END,
       t.timestamp
FROM datasets_app_turn t JOIN datasets_app_session s ON s.dataset_id = t.dataset_id AND s.id = t.session_id
CROSS JOIN LATERAL (
    SELECT NULLIF(CASE
        WHEN jsonb_typeof(t.extra->'annotator') = 'string' THEN t.extra->>'annotator'
        WHEN jsonb_typeof(t.extra->'labeler') = 'string' THEN t.extra->>'labeler'
    END, '') AS name
) annotator
WHERE s.dataset_id = %s AND s.id BETWEEN %s AND %s AND s.persona_id IS NOT NULL
  AND t.extra->'label' IN ('0', '1')
ORDER BY t.session_id, t.turn_index
"""


def annotate_imported_turns(dataset: Any, first_session: int, last_session: int) -> dict[str, int]:
    """One annotation for each turn of these sessions whose line has ``label`` 0 or 1."""
    with connection.cursor() as cursor:
        cursor.execute(_INSERT_ANNOTATIONS_SQL, [dataset.pk, first_session, last_session])
        return {"annotations": cursor.rowcount} if cursor.rowcount else {}
