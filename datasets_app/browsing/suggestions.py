"""Tags that somebody may mean, while they type one."""

from django.db import connection

MAX_SUGGESTIONS = 20
# No index lists the tags of a dataset; those of many turns stand in the first.
TURNS_SEARCHED = 10_000

_TAGS = """
SELECT tag FROM (
    SELECT tags FROM datasets_app_turn WHERE dataset_id = %(dataset)s ORDER BY id LIMIT %(turns)s
) t CROSS JOIN unnest(t.tags) tag
WHERE strpos(lower(tag), lower(%(part)s)) > 0
GROUP BY tag ORDER BY count(*) DESC, tag LIMIT %(limit)s
"""


def list_tag_suggestions(dataset_id: int, part: str) -> list[str]:
    """The most frequent tags that contain ``part``, of the first turns."""
    values = {
        "dataset": dataset_id,
        "turns": TURNS_SEARCHED,
        "part": part.replace("\0", "").strip(),
        "limit": MAX_SUGGESTIONS,
    }
    with connection.cursor() as cursor:
        cursor.execute(_TAGS, values)
        return [tag for (tag,) in cursor.fetchall()]
