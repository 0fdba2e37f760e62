"""Terms that a preview proposes to keep: values found as names that are often brands or products.

The scrub's row has keys of findings and counts. A value is read from the text when it is shown, and so is
gone with the preview, which the next scrub or preview deletes.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from alignmenter_site.keys.hash_key import hash_key
from datasets_app.core.queries import fetch_all
from datasets_app.domain.pii.detection import find_values
from datasets_app.domain.pii.detector import NAME
from datasets_app.domain.pii.marks import make_missed_mark
from datasets_app.domain.pii.names.product_cues import build_cue_patterns
from datasets_app.domain.pii.proposals import (
    MAX_PROPOSALS,
    TermCount,
    get_fewest_sessions,
    is_addressed,
    is_proposed,
    may_be_name,
    normalize_proposal,
    speaks_of_person,
)
from datasets_app.domain.quality.text_tally import KINDS_BY_CODE
from datasets_app.models import Dataset, ScrubMark, ScrubRun, Turn

# Findings with the text around them, and the values of a preview, for people who may read raw text.
#
# Values are read from the stored text when a page is shown, and are kept nowhere else.
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


def load_snippets(dataset_id: int, findings: Iterable[int]) -> dict[int, Snippet]:
    """The snippets of a dataset's findings in texts, by primary key; findings elsewhere have none."""
    rows = _query(_SNIPPETS, dataset=dataset_id, findings=list(findings), context=CONTEXT_CHARACTERS)
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


MAX_CANDIDATES = 2_000
CUE_CHARACTERS = 30
# Occurrences of a term that are read to tell how often it is said of people.
MAX_READ = 10

_CANDIDATES = r"""
SELECT min(value), (array_agg(id ORDER BY id))[:%(read)s],
    count(DISTINCT session_id), count(*), count(*) FILTER (WHERE role = 'assistant'),
    count(*) FILTER (WHERE before ~* %(cue_before)s OR behind ~* %(cue_behind)s)
FROM (
    SELECT f.id, f.session_id, t.role,
        substring(t.text FROM f.start + 1 FOR f.length) AS value,
        substring(t.text FROM greatest(f.start - %(cue)s, 0) + 1 FOR least(f.start, %(cue)s)) AS before,
        substring(t.text FROM f.start + f.length + 1 FOR %(cue)s) AS behind
    FROM datasets_app_scrubfinding f
    JOIN datasets_app_turn t
      ON t.dataset_id = %(dataset)s AND t.session_id = f.session_id AND t.turn_index = f.turn_index
    WHERE f.scrub_id = %(scrub)s AND f.kind = %(kind)s AND f.field = 'text'
) found
GROUP BY regexp_replace(lower(value), '[''’]s?$', '')
HAVING count(DISTINCT session_id) >= %(sessions)s
ORDER BY count(DISTINCT session_id) DESC, count(*) DESC, min(id)
LIMIT %(limit)s
"""


class Proposal(NamedTuple):
    """``finding`` is the key of the first finding of the term, and ``snippet`` shows it in its text.
    ``may_be_name``: lists of names have every word of it."""

    finding: int
    counts: TermCount
    snippet: Snippet
    may_be_name: bool


def find_proposals(scrub: ScrubRun) -> list[list[int]]:
    """[finding, sessions, occurrences, by the assistant, beside words for products] of each proposed term."""
    cue_before, cue_behind = build_cue_patterns()
    values: dict[str, str | int] = {
        "dataset": scrub.dataset_id,
        "scrub": scrub.pk,
        "kind": NAME,
        "sessions": get_fewest_sessions(scrub.session_count),
        "limit": MAX_CANDIDATES,
        "cue": CUE_CHARACTERS,
        "read": MAX_READ,
        "cue_before": cue_before,
        "cue_behind": cue_behind,
    }
    rows: list[tuple[Any, ...]] = fetch_all(_CANDIDATES, values)
    read = [finding for _, findings, *_ in rows for finding in findings]
    snippets = load_snippets(scrub.dataset_id, read)
    wanted = []
    for value, findings, *counts in rows:
        said = [_read_words(snippets[finding]) for finding in findings if finding in snippets]
        people, greeted = (
            math.ceil(sum(each) * counts[1] / len(findings)) for each in zip(*said, strict=True)
        )
        count = TermCount(*counts)._replace(as_person=people, greeted=greeted)
        if is_proposed(value, count, scrub.session_count):
            wanted.append([findings[0], *counts])
    return wanted[:MAX_PROPOSALS]


def _read_words(snippet: Snippet) -> tuple[bool, bool]:
    """Whether the words around a value are said of people, and whether it is greeted."""
    start = len(snippet.before)
    end = start + len(snippet.value)
    text = f"{snippet.before}{snippet.value}{snippet.after}"
    return speaks_of_person(text, start, end), is_addressed(text, start, end)


def count_open_proposals(dataset: Dataset) -> int:
    """Terms of the last preview that nobody has decided."""
    preview = find_preview(dataset)
    return len(list_proposals(preview)) if preview else 0


def find_preview(dataset: Dataset) -> ScrubRun | None:
    """The last preview that has ended and that no scrub has made obsolete."""
    return dataset.scrubs.filter(dry_run=True).exclude(finished_at=None).first()


def list_proposals(scrub: ScrubRun) -> list[Proposal]:
    """The proposed terms that nobody has decided, with raw text: only for people who may read it."""
    rows = {finding: TermCount(*count) for finding, *count in scrub.proposals or ()}
    snippets = load_snippets(scrub.dataset_id, rows)
    decided = _Decisions(scrub)
    return [
        Proposal(finding, count, snippet, may_be_name(snippet.value))
        for finding, count in rows.items()
        if (snippet := snippets.get(finding)) and not decided.include(snippet.value)
    ]


def read_missed_values(scrub: ScrubRun) -> dict[str, str]:
    """Digest → value of the proposed terms that people have decided to scrub, as the text still has them: raw
    text, only for people who may read it."""
    marks = ScrubMark.objects.applied_to(scrub.dataset).exclude(digest="")
    missed = set(marks.values_list("digest", flat=True))
    snippets = load_snippets(scrub.dataset_id, (finding for finding, *_ in scrub.proposals or ()))
    values = {snippet.value for snippet in snippets.values()} if missed else set()
    named = {mark.digest: value for value in values if (mark := make_missed_mark(NAME, value, hash_key()))}
    return {digest: value for digest, value in named.items() if digest in missed}


class _Decisions:
    """What people have marked in a dataset already."""

    def __init__(self, scrub: ScrubRun) -> None:
        marks: Iterable[Any] = list(ScrubMark.objects.applied_to(scrub.dataset))
        kept = [mark.term for mark in marks if mark.term]
        self._kept = set(map(normalize_proposal, kept))
        self._missed = {mark.digest for mark in marks if mark.digest}

    def include(self, value: str) -> bool:
        if normalize_proposal(value) in self._kept:
            return True
        mark = make_missed_mark(NAME, value, hash_key()) if self._missed else None
        return mark is not None and mark.digest in self._missed
