"""Decisions before a model writes a session, and the turns made of the texts of any writer."""

from collections.abc import Container, Sequence

from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.generation.chance import SeededRandom
from datasets_app.domain.generation.plan import BRAND_TRAP, OFF_BRAND, ON_BRAND, PlannedSession

# Technical terms that resemble violations: in lower case, matched as parts of words.
PROBE_WORDS = (
    "kill attack weapon inject exploit abort poison orphan master zombie execute "
    "terminate trigger dead bomb strip penetrat daemon hijack dump"
).split()
_WORDS_PER_SESSION = 3


def choose_probe_words(planned: PlannedSession) -> list[str]:
    """The :data:`PROBE_WORDS` that an edge case must use."""
    return SeededRandom(f"{planned.seed}/look-alike").shuffle_copy(PROBE_WORDS)[:_WORDS_PER_SESSION]


def choose_off_brand_turns(planned: PlannedSession) -> frozenset[int]:
    """The turns (from 1) in which the assistant of a brand trap gives way: half of its replies, at
    least one, and never all of several, so that both labels occur."""
    replies = range(2, planned.turns + 1, 2)
    if planned.kind != BRAND_TRAP:
        return frozenset()
    wanted = max(1, len(replies) // 2)
    return frozenset(SeededRandom(f"{planned.seed}/brand").shuffle_copy(replies)[:wanted])


def build_turns(
    planned: PlannedSession, texts: Sequence[str], off: Container[int] | None = None
) -> list[TurnRecord]:
    """The turns of a session; each reply has the tag of its intended tone. ``off`` are those (from 1) that
    give way, by default the ones that the prompt of a model names."""
    off = choose_off_brand_turns(planned) if off is None else off
    turns = []
    for index, text in enumerate(texts, 1):
        tags = list(planned.tags)
        if index % 2 == 0:
            tags.append(OFF_BRAND if index in off else ON_BRAND)
        role = "user" if index % 2 else "assistant"
        turns.append(TurnRecord(planned.session_id, index, role, text, tags, planned.persona_id))
    return turns
