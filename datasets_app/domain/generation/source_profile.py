"""Profiles an existing file (counts and lengths, no text) so that new sessions can resemble it."""

from collections import Counter
from collections.abc import Callable
from itertools import groupby
from typing import TypeVar

from datasets_app.domain.conversations.reading import ConversationFile, hash_file
from datasets_app.domain.conversations.records import LineError
from datasets_app.domain.generation.plan import MAX_TURNS, SESSION_KINDS, Profile
from datasets_app.domain.generation.style import split_words

# Decided by the plan, so not copied as tags.
_PLANNED_TAG_PREFIXES = ("scenario:", "trap:", "brand:")
_SCENARIO_PREFIX = "scenario:"
_MAX_KINDS, _MAX_REPLY_WORDS = 500, 400
# A tag of fewer sessions describes single sessions, not the file; small files keep all tags.
_MIN_SESSIONS, _SMALL_FILE_SESSIONS = 2, 20


T = TypeVar("T")
S = TypeVar("S", str, int, tuple[str, ...])


class SourceError(ValueError):
    """The file can't be a source; the message is a sentence for the user."""


def build_profile(file: ConversationFile, on_bytes: Callable[[int], None] | None = None) -> Profile:
    """Profile ``file`` in one pass and constant memory. Skips lines that are not turns.

    Raises :class:`SourceError` if there is no turn at all.
    """
    scenarios, tag_sets = Counter[str](), Counter[tuple[str, ...]]()
    turn_counts, reply_words = Counter[int](), Counter[int]()
    turns = (turn for turn in file.turns(on_bytes) if not isinstance(turn, LineError))
    for _, session in groupby(turns, key=lambda turn: turn.session_id):
        tags: dict[str, None] = {}
        count = 0
        for turn in session:
            count += 1
            tags.update(dict.fromkeys(turn.tags))
            if turn.role == "assistant":
                reply_words[min(len(split_words(turn.text)), _MAX_REPLY_WORDS)] += 1
        turn_counts[min(count, MAX_TURNS)] += 1
        named = [tag.removeprefix(_SCENARIO_PREFIX) for tag in tags if tag.startswith(_SCENARIO_PREFIX)]
        # A trap's subject is its other scenario; skip sessions that have none.
        about = next((name for name in named if name and name not in SESSION_KINDS), None)
        if about:
            _count_item(scenarios, about)
        own = (tag for tag in tags if not tag.startswith(_PLANNED_TAG_PREFIXES))
        _count_item(tag_sets, tuple(sorted(own)))
    if not turn_counts:
        raise SourceError(f"{file.name} holds no turns to go by.")
    tag_sets = _drop_rare_tags(tag_sets, turn_counts.total())
    return Profile(
        scenarios=_sort_counts(scenarios),
        tag_sets=_sort_counts(tag_sets) if any(tag_sets) else (),
        turn_counts=_sort_counts(turn_counts),
        reply_words=_compute_percentiles(reply_words),
        sha256=hash_file(file.path),
    )


def _drop_rare_tags(tag_sets: Counter[tuple[str, ...]], sessions: int) -> Counter[tuple[str, ...]]:
    fewest = 1 if sessions < _SMALL_FILE_SESSIONS else _MIN_SESSIONS
    counts, kept = Counter[str](), Counter[tuple[str, ...]]()
    for tags, count in tag_sets.items():
        counts.update(dict.fromkeys(tags, count))
    for tags, count in tag_sets.items():
        kept[tuple(tag for tag in tags if counts[tag] >= fewest)] += count
    return kept


def _count_item(counter: Counter[T], item: T) -> None:
    if item in counter or len(counter) < _MAX_KINDS:
        counter[item] += 1


def _sort_counts(counter: Counter[S]) -> tuple[tuple[S, int], ...]:
    return tuple(sorted(counter.items()))


def _compute_percentiles(lengths: Counter[int]) -> tuple[int, int, int] | None:
    total = lengths.total()
    if not total:
        return None
    found, seen, wanted = [], 0, [0.1, 0.5, 0.9]
    for length, count in sorted(lengths.items()):
        seen += count
        while wanted and seen >= wanted[0] * total:
            found.append(length)
            wanted.pop(0)
    return found[0], found[1], found[2]
