"""Lists the keys that the lines of a dataset have."""

from typing import Any

from datasets_app.core.queries import fetch_all

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
