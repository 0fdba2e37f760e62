"""Findings with the text around them, and the values of a preview, for people who may read raw text.

Values are read from the stored text when a page is shown, and are kept nowhere else.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from django.db import connection

from datasets_app.models import ScrubFinding, ScrubRun

CONTEXT_CHARACTERS = 40
MAX_VALUES = 200
MAX_VALUE_CHARACTERS = 200

_SNIPPETS = """
SELECT f.id,
    CASE WHEN f.start > %(context)s THEN '…' ELSE '' END
        || substring(t.text FROM greatest(f.start - %(context)s, 0) + 1 FOR least(f.start, %(context)s)),
    substring(t.text FROM f.start + 1 FOR least(f.length, %(value)s)),
    substring(t.text FROM f.start + f.length + 1 FOR %(context)s)
        || CASE WHEN length(t.text) > f.start + f.length + %(context)s THEN '…' ELSE '' END
FROM datasets_app_scrubfinding f
JOIN datasets_app_turn t
  ON t.dataset_id = %(dataset)s AND t.session_id = f.session_id AND t.turn_index = f.turn_index
WHERE f.id = ANY(%(findings)s) AND f.field = 'text'
"""
_VALUES = """
SELECT kind, min(value), count(*), count(DISTINCT session_id), min(id)
FROM (
    SELECT f.id, f.kind, f.session_id,
        substring(t.text FROM f.start + 1 FOR least(f.length, %(value)s)) AS value
    FROM datasets_app_scrubfinding f
    JOIN datasets_app_turn t
  ON t.dataset_id = %(dataset)s AND t.session_id = f.session_id AND t.turn_index = f.turn_index
    WHERE f.scrub_id = %(scrub)s AND f.field = 'text' AND (%(kind)s = '' OR f.kind = %(kind)s)
) found
GROUP BY kind, lower(value)
ORDER BY count(*) DESC, kind, lower(value)
LIMIT %(limit)s
"""


class Snippet(NamedTuple):
    """A value (or its placeholder) in its text, with some of what stands around it."""

    before: str
    value: str
    after: str


class FoundValues(NamedTuple):
    """The same value, in any letter case, in a preview. ``finding`` is the key of one of its findings."""

    kind: str
    value: str
    occurrences: int
    sessions: int
    finding: int


def load_snippets(dataset_id: int, findings: Iterable[ScrubFinding]) -> dict[int, Snippet]:
    """The snippets of a dataset's findings in texts, by primary key; findings elsewhere have none."""
    keys = [finding.pk for finding in findings]
    rows = _query(_SNIPPETS, dataset=dataset_id, findings=keys, context=CONTEXT_CHARACTERS)
    return {key: Snippet(*parts) for key, *parts in rows}


def list_values(scrub: ScrubRun, kind: str) -> list[FoundValues]:
    """The most frequent values that a preview found in texts, of one class or all."""
    rows = _query(_VALUES, dataset=scrub.dataset_id, scrub=scrub.pk, kind=kind, limit=MAX_VALUES)
    return [FoundValues(*row) for row in rows]


def _query(statement: str, **values: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, {"value": MAX_VALUE_CHARACTERS, **values})
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows
