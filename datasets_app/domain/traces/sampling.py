"""Which conversations of production are kept: the same ones each time, decided by what they are."""

import re
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from hashlib import blake2b
from typing import Any, NamedTuple

from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.splits.near_duplicates import NearDuplicateFinder

# What tools and applications call what people say about an answer.
_FEEDBACK_NAME = re.compile(r"feedback|thumb|rating|satisf|helpful|user|vote|like", re.IGNORECASE)
_NEGATIVE_WORDS = frozenset(
    "down thumbs_down thumbs-down thumbsdown thumb_down negative bad dislike disliked unhelpful 👎".split()
)


class Rule(NamedTuple):
    """``rate`` is in percent; ``models`` and ``tags`` are empty for all, ``maximum`` is None for no limit."""

    rate: float = 100.0
    models: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    maximum: int | None = None
    skip_near_duplicates: bool = False


def is_sampled(key: str, rate: float) -> bool:
    """Whether the conversation with this id is among ``rate`` percent; one that is stays so at a higher
    rate."""
    number = int.from_bytes(blake2b(key.encode(errors="surrogatepass"), digest_size=8).digest(), "big")
    return number < rate / 100 * 2**64


def list_tags(turns: Iterable[TurnRecord]) -> set[str]:
    """Tags of the turns, and those that a tracing tool keeps with the conversation."""
    found: set[str] = set()
    for turn in turns:
        found.update(turn.tags or ())
        tags = (turn.metadata or {}).get("tags")
        found.update(tag for tag in (tags if isinstance(tags, list) else [tags]) if isinstance(tag, str))
    return found


def matches_rule(turns: Sequence[TurnRecord], rule: Rule) -> bool:
    """Whether the models and tags are among those of the rule. One of several models suffices."""
    if rule.tags and not list_tags(turns) & set(rule.tags):
        return False
    models = {str((turn.metadata or {}).get("model") or "") for turn in turns if turn.role == "assistant"}
    return not rule.models or any(fnmatchcase(name, pattern) for name in models for pattern in rule.models)


def has_negative_feedback(turns: Iterable[TurnRecord]) -> bool:
    """Whether somebody disliked an answer: a score of feedback is 0 or less, or a word for that."""
    return any(
        _is_negative(value) if key == "feedback" and not isinstance(value, dict) else _has_negative(value)
        for turn in turns
        for key, value in (turn.metadata or {}).items()
        if key in ("scores", "feedback")
    )


def _has_negative(scores: Any) -> bool:
    return isinstance(scores, dict) and any(
        _is_negative(score.get("avg", score.get("value")) if isinstance(score, dict) else score)
        for name, score in scores.items()
        if _FEEDBACK_NAME.search(str(name))
    )


def _is_negative(value: Any) -> bool:
    if isinstance(value, bool | int | float):
        return value <= 0
    return isinstance(value, str) and value.strip().lower() in _NEGATIVE_WORDS


def choose(
    candidates: Sequence[bool],
    rule: Rule,
    read_texts: Callable[[int], Sequence[str]],
    earlier: Iterable[Sequence[str]] = (),
) -> tuple[list[int], int]:
    """(numbers of the candidates to keep, how many were near-duplicates).

    Of each candidate this is given whether it has negative feedback: those come first, of near-duplicates
    and below the maximum. ``earlier`` are the texts of conversations that were kept before.
    """
    order = sorted(range(len(candidates)), key=lambda number: not candidates[number])
    left_out: set[int] = set()
    if rule.skip_near_duplicates:
        left_out = _find_repeated(order, read_texts, earlier)
    kept = [number for number in order if number not in left_out]
    return sorted(kept[: rule.maximum]), len(left_out)


def _find_repeated(
    order: Sequence[int], read_texts: Callable[[int], Sequence[str]], earlier: Iterable[Sequence[str]]
) -> set[int]:
    known = 0

    def count_earlier() -> Iterable[Sequence[str]]:
        nonlocal known
        for texts in earlier:
            known += 1
            yield texts

    repeated: set[int] = set()
    with NearDuplicateFinder() as finder:
        finder.add(count_earlier())
        finder.add(map(read_texts, order))
        for pair in sorted(finder.find_pairs(), key=lambda pair: (pair.second, pair.first)):
            if pair.second >= known and pair.first not in repeated:
                repeated.add(pair.second)
    return {order[number - known] for number in repeated}
