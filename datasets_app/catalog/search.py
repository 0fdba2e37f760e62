"""Full-text search over turns that stays fast for large datasets and common words."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db.models import Sum

from datasets_app.catalog.rows.turn_pages import TurnKey
from datasets_app.core.queries import fetch_all
from datasets_app.models import Dataset
from datasets_app.models.conversation import MAX_SEARCHED_CHARACTERS

# Finding this many hits is fast even for a word in every turn; ranking would have to visit all of them.
MAX_HITS = 1_000
# Each has an index of its own. A search in all datasets covers those that were recently updated.
MAX_DATASETS_SEARCHED = 50
EXCERPT_CHARACTERS = 280

# MATERIALIZED, since the planner would otherwise walk the primary key for the LIMIT and test every text.
# The search expression must equal that of the index turn_search, or the index is not used.
_MATCHES = f"""
WITH hits AS MATERIALIZED (
    SELECT t.dataset_id, t.id, t.session_id, t.turn_index
    FROM datasets_app_turn t
    WHERE {{conditions}}
    LIMIT {MAX_HITS + 1}
)
SELECT dataset_id, id FROM hits ORDER BY session_id, turn_index
"""  # constants of this module # nosec B608
# The index reads all hits of a word before it gives the first, so a common word is looked for in the first
# turns of many: after a space a word begins to the index too, unless it is in an HTML tag.
_MATCHES_AMONG_FIRST = f"""
WITH hits AS MATERIALIZED (
    SELECT t.dataset_id, t.id, t.session_id, t.turn_index
    FROM (
        SELECT dataset_id, id, session_id, turn_index, role, text, tags
        FROM datasets_app_turn
        WHERE dataset_id = ANY(%(datasets)s)
        ORDER BY dataset_id, id
        LIMIT {{rows}}
    ) t
    WHERE {{conditions}}
    LIMIT {MAX_HITS + 1}
)
SELECT dataset_id, id FROM hits ORDER BY session_id, turn_index
"""  # constants of this module # nosec B608
MIN_TURNS_FOR_FIRST, FIRST_TURNS = 200_000, 10_000
_HAS_PLAIN_WORD = f"""
    octet_length(t.text) <= {MAX_SEARCHED_CHARACTERS}
    AND strpos(t.text, %(after_space)s) > 0 AND strpos(t.text, '<') = 0"""
_PLAIN_WORD = re.compile(r"(?!or\Z)[a-z]{2,40}")
# Shorter words match as a whole: half of all words begin with "a".
MIN_PREFIX_CHARACTERS = 3
_WORDS_ONLY = re.compile(r"\w+(?:\s+\w+)*")

_IN_DATASETS = "t.dataset_id = ANY(%(datasets)s)"
_DOCUMENT = f"to_tsvector('simple'::regconfig, COALESCE(LEFT(t.text, {MAX_SEARCHED_CHARACTERS}), ''))"
_HAS_TAG = "t.tags @> ARRAY[%(tag)s]::text[]"
_HAS_ROLE = "t.role = %(role)s"


class SearchResult(NamedTuple):
    """``turns`` in session and turn order; ``more`` tells whether further turns match."""

    turns: list[TurnKey]
    more: bool


def search_turns(dataset_ids: Sequence[int], words: str, *, tag: str = "", role: str = "") -> SearchResult:
    """Turns of these datasets with the words (see :func:`match_words`), the tag and the role."""
    words = words.replace("\0", " ").strip()
    has_words, others, values = _build_conditions(words, tag, role)
    if not dataset_ids or not (words or values["tag"]):
        return SearchResult([], False)
    values["datasets"] = list(dataset_ids)
    turns: list[TurnKey] = []
    if _PLAIN_WORD.fullmatch(words.lower()) and _count_turns(dataset_ids) >= MIN_TURNS_FOR_FIRST:
        is_prefix = len(words) >= MIN_PREFIX_CHARACTERS
        values["after_space"] = f" {words.lower()}" if is_prefix else f" {words.lower()} "
        query = _MATCHES_AMONG_FIRST.format(
            rows=FIRST_TURNS, conditions=" AND ".join([_HAS_PLAIN_WORD, *others])
        )
        turns = _fetch_keys(query, values)
    if len(turns) <= MAX_HITS:
        conditions = [_IN_DATASETS, *has_words, *others]
        turns = _fetch_keys(_MATCHES.format(conditions=" AND ".join(conditions)), values)
    return SearchResult(turns[:MAX_HITS], len(turns) > MAX_HITS)


def list_turn_keys(
    dataset_id: int, words: str, *, tag: str = "", role: str = "", limit: int
) -> list[tuple[int, int]]:
    """(session, turn) of up to ``limit`` turns of a dataset with the words, the tag and the role; without
    any, of all."""
    has_words, others, values = _build_conditions(words.replace("\0", " ").strip(), tag, role)
    conditions = " AND ".join([_IN_DATASETS, *has_words, *others])
    values |= {"datasets": [dataset_id], "limit": limit}
    query = f"SELECT t.session_id, t.id FROM datasets_app_turn t WHERE {conditions} LIMIT %(limit)s"  # nosec B608
    return fetch_all(query, values)


def _build_conditions(words: str, tag: str, role: str) -> tuple[list[str], list[str], dict[str, Any]]:
    """(the condition on words if there are any, those on tag and role, their values)."""
    tag = tag.replace("\0", "")
    has_words, query_text = match_words(words)
    others = [condition for condition, value in ((_HAS_TAG, tag), (_HAS_ROLE, role)) if value]
    return [has_words] if words else [], others, {"words": query_text, "tag": tag, "role": role}


def match_words(words: str) -> tuple[str, str]:
    """A condition on a turn ``t``, and the value of its ``%(words)s``.

    Words match the beginning of words ("refun" finds "refund"), and all of them have to. With a phrase in
    quotes, "or" or a minus, web syntax applies, and words match as a whole.
    """
    if prefixes := list_prefixes(words):
        terms = (f"'{word}'{':*' * (len(word) >= MIN_PREFIX_CHARACTERS)}" for word in prefixes)
        return f"{_DOCUMENT} @@ to_tsquery('simple'::regconfig, %(words)s)", " & ".join(terms)
    return f"{_DOCUMENT} @@ websearch_to_tsquery('simple'::regconfig, %(words)s)", words


def list_prefixes(words: str) -> list[str]:
    """The words, in lower case, if they match by their beginning; otherwise an empty list."""
    found = words.lower().split() if _WORDS_ONLY.fullmatch(words.strip()) else []
    return [] if "or" in found else found


def _count_turns(dataset_ids: Sequence[int]) -> int:
    total = Dataset.objects.filter(pk__in=dataset_ids).aggregate(total=Sum("turn_count"))["total"]
    return total or 0


def _fetch_keys(query: str, values: dict[str, Any]) -> list[TurnKey]:
    return [TurnKey(*row) for row in fetch_all(query, values)]


class Excerpt(NamedTuple):
    """Part of a text, as pieces with whether they are searched words."""

    pieces: list[tuple[str, bool]]
    cut_before: bool
    cut_after: bool


def make_excerpt(text: str, words: str, length: int = EXCERPT_CHARACTERS) -> Excerpt:
    """The part of a text around the first searched word."""
    pattern = _build_word_pattern(words)
    first = pattern.search(text) if pattern else None
    start = max(0, first.start() - length // 3) if first and first.end() > length else 0
    end = min(len(text), start + length)
    pieces: list[tuple[str, bool]] = []
    at = start
    for match in pattern.finditer(text, start, end) if pattern else ():
        pieces += [(text[at : match.start()], False), (match[0], True)]
        at = match.end()
    pieces.append((text[at:end], False))
    return Excerpt([piece for piece in pieces if piece[0]], start > 0, end < len(text))


def _build_word_pattern(words: str) -> re.Pattern[str] | None:
    terms = [word for sign, word in re.findall(r"(-?)(\w+)", words) if sign != "-" and word.lower() != "or"]
    if not terms:
        return None
    longest_first = sorted(set(terms), key=len, reverse=True)
    is_prefix = bool(list_prefixes(words))
    patterns = (
        re.escape(term) + (r"\w*" if is_prefix and len(term) >= MIN_PREFIX_CHARACTERS else "")
        for term in longest_first
    )
    return re.compile(rf"(?<!\w)(?:{'|'.join(patterns)})(?!\w)", re.IGNORECASE)
