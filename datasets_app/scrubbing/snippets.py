"""Findings with the text around them, and the values of a preview, for people who may read raw text.

Values are read from the stored text when a page is shown, and are kept nowhere else.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from datasets_app.core.queries import fetch_all
from datasets_app.domain.pii.detection import find_values
from datasets_app.domain.quality.text_tally import KINDS_BY_CODE
from datasets_app.models import ScrubFinding, ScrubRun, Turn

CONTEXT_CHARACTERS = 40
MAX_VALUES = 200
MAX_VALUE_CHARACTERS = 200
# Of the text of a turn with a finding of the checks: what is shown, and searched.
EXCERPT_CHARACTERS, MAX_SEARCHED_CHARACTERS = 120, 20_000

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
    return fetch_all(statement, {"value": MAX_VALUE_CHARACTERS, **values})


def load_check_excerpts(dataset_id: int, findings: Sequence[Any]) -> None:
    """Set ``excerpt`` of each finding in a turn's text: what it found there, or how the text begins. Checks
    keep no positions, so the text is searched again; names take a model, and are not marked."""
    places = {(row.session_id, row.turn_index) for row in findings if row.field in ("", "text")}
    turns = Turn.objects.filter(
        dataset=dataset_id,
        session__in={key for key, _ in places},
        turn_index__in={index for _, index in places},
    )
    texts = {
        (turn.session_id, turn.turn_index): turn.start
        for turn in turns.with_text_start(MAX_SEARCHED_CHARACTERS)
    }
    for finding in findings:
        text = texts.get((finding.session_id, finding.turn_index)) if finding.field in ("", "text") else None
        finding.excerpt = _cut_excerpt(text, KINDS_BY_CODE.get(finding.code, "")) if text else None


def _cut_excerpt(text: str, kind: str) -> Snippet:
    found = next((match for match in find_values(text) if match.kind == kind), None) if kind else None
    if found is None:
        return Snippet("", "", text[:EXCERPT_CHARACTERS] + "…" * (len(text) > EXCERPT_CHARACTERS))
    start, end = max(0, found.start - CONTEXT_CHARACTERS), found.end + CONTEXT_CHARACTERS
    before, after = text[start : found.start], text[found.end : end]
    return Snippet(
        "…" * (start > 0) + before,
        text[found.start : found.end][:MAX_VALUE_CHARACTERS],
        after + "…" * (end < len(text)),
    )
