"""Test cases and their variants: sessions that Alignmenter evaluates, compares and splits as one family.

Each session ends with the reply that is the case. Its keys are those that Alignmenter reads: ``case_id``,
``metadata.rubrics`` and ``metadata.split_group``, which its splits and comparisons keep together. All turns
name the family (``group:…``); the reply names itself a case (``case:…``), the variant (``variant:typos``) and
what is expected of the answer (``answer:same``, ``answer:change``), so that a gate or a table of Alignmenter
can be about them.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.generation.chance import SeededRandom
from datasets_app.domain.generation.style import expand_contractions, split_sentences

GROUP_TAG, CASE_TAG = "group:", "case:"
VARIANT_TAG, ANSWER_TAG, FAILURE_TAG = "variant:", "answer:", "failure:"
# Of a reply whose variant a model wrote, until a person has seen it.
DRAFT_TAG = "draft:model"
# The key of a reply's metadata that says where the case came from.
ORIGIN = "case_origin"
DIGEST_CHARACTERS = 32
# Letters only: a scrub takes digits after "case" for the number of a customer's case.
_LETTERS = str.maketrans("0123456789", "ghijklmnop")
SAME, CHANGE = "same", "change"
ANSWERS = {SAME: "Stays the same", CHANGE: "Changes"}
# Of the session that the variants are of.
ORIGINAL = "original"
MAX_VARIANTS, MAX_CASE_TURNS = 50, 200
_TYPO_EVERY_WORDS = 8
_DISTRACTIONS = (
    "By the way, thanks for being so quick last time.",
    "Sorry, I'm writing this on the train, so the connection may drop.",
    "My colleague says hello, she uses this as well.",
)
# Longer ones are mostly those of orders or accounts, which a scrub makes alike.
_NUMBER = re.compile(r"(?<![\w.])\d{1,4}(?!\w|\.\d)")
# In lower case, and no part of an address: no scrub would know a name with a typo again.
_LONG_WORD = re.compile(r"(?<![\w@.])[a-z]{5,}(?![\w@])(?!\.\w)")


class VariantKind(NamedTuple):
    label: str
    answer: str


KINDS = {
    "typos": VariantKind("Typos", SAME),
    "tone": VariantKind("Another tone", SAME),
    "distraction": VariantKind("Added distraction", SAME),
    "rephrase": VariantKind("Rephrased", SAME),
    "language": VariantKind("Another language", SAME),
    "changed_fact": VariantKind("Changed fact", CHANGE),
}


class Variant(NamedTuple):
    """``text`` replaces the last message of the user."""

    kind: str
    answer: str
    text: str


class InvalidFamily(ValueError):
    """Says what is wrong, as a sentence."""


class CaseFacts(NamedTuple):
    """``origin`` says where the conversation came from, without quoting it."""

    family: str
    rubric: str = ""
    failure_mode: str = ""
    origin: Mapping[str, Any] = {}


def make_family(
    turns: Sequence[TurnRecord], facts: CaseFacts, variants: Sequence[Variant]
) -> list[list[TurnRecord]]:
    """The conversation that ends with the reply, and the same with each variant of what the user asked.
    Raises InvalidFamily."""
    _check(turns, variants)
    kinds: dict[str, int] = {}
    sessions = [_make_session(turns, facts, Variant(ORIGINAL, "", ""), facts.family)]
    for variant in variants:
        number = kinds[variant.kind] = kinds.get(variant.kind, 0) + 1
        name = f"{facts.family}-{variant.kind}" + "-again" * (number - 1)
        sessions.append(_make_session(turns, facts, variant, name))
    return sessions


def _check(turns: Sequence[TurnRecord], variants: Sequence[Variant]) -> None:
    if not turns or turns[-1].role != "assistant" or all(turn.role != "user" for turn in turns):
        raise InvalidFamily("A case ends with a reply, and has the message before it that asks for it.")
    if len(turns) > MAX_CASE_TURNS or len(variants) > MAX_VARIANTS:
        raise InvalidFamily(f"A case has at most {MAX_CASE_TURNS} turns and {MAX_VARIANTS} variants.")
    texts = [_last_question(turns).text, *(variant.text for variant in variants)]
    for variant in variants:
        if variant.kind not in KINDS or variant.answer not in ANSWERS or not variant.text.strip():
            raise InvalidFamily("A variant has a text, a kind and what is expected of the answer.")
    if len({text.strip() for text in texts}) < len(texts):
        raise InvalidFamily("A variant is the same as the message itself or another variant; change it.")


def _last_question(turns: Sequence[TurnRecord]) -> TurnRecord:
    return [turn for turn in turns if turn.role == "user"][-1]


def _make_session(
    turns: Sequence[TurnRecord], facts: CaseFacts, variant: Variant, name: str
) -> list[TurnRecord]:
    asked = _last_question(turns)
    group = f"{GROUP_TAG}{facts.family}"
    tags = [group, f"{CASE_TAG}{facts.family}", f"{VARIANT_TAG}{variant.kind}"]
    tags += [f"{ANSWER_TAG}{variant.answer}"] if variant.answer else []
    tags += [f"{FAILURE_TAG}{facts.failure_mode}"] if facts.failure_mode else []
    made = []
    for index, turn in enumerate(turns, 1):
        is_case = index == len(turns)
        metadata = {**(turn.metadata or {}), "split_group": facts.family}
        metadata.pop("rubrics", None)
        if turn is asked and facts.rubric:
            metadata["rubrics"] = [{"criterion": facts.rubric, "points": 1}]
        if is_case:
            metadata[ORIGIN] = dict(facts.origin)
        extra = {key: value for key, value in (turn.extra or {}).items() if key != "case_id"}
        made.append(
            turn._replace(
                session_id=_name_session(name),
                turn_index=index,
                text=variant.text.strip() if variant.text and turn is asked else turn.text,
                tags=list(dict.fromkeys([*turn.tags, *(tags if is_case else [group])])),
                metadata=metadata,
                extra={**extra, "case_id": name} if is_case else extra or None,
                line=0,
            )
        )
    return made


def derive_variant(
    original: Sequence[TurnRecord], variant: Variant, name: str, written_by: str
) -> list[TurnRecord]:
    """A draft for a family that is there already, from the session of its case."""
    asked, reply = _last_question(original), original[-1]
    tags = [tag for tag in reply.tags if not tag.startswith(VARIANT_TAG)]
    tags += [f"{VARIANT_TAG}{variant.kind}", f"{ANSWER_TAG}{variant.answer}", DRAFT_TAG]
    origin = {**(reply.metadata or {}).get(ORIGIN, {}), "written_by": written_by}
    turns = [turn._replace(session_id=_name_session(name)) for turn in original]
    turns[original.index(asked)] = turns[original.index(asked)]._replace(text=variant.text.strip())
    turns[-1] = turns[-1]._replace(
        tags=tags,
        metadata={**(reply.metadata or {}), ORIGIN: origin},
        extra={**(reply.extra or {}), "case_id": name},
    )
    return turns


def decide_tags(tags: Sequence[str], answer: str | None) -> list[str]:
    """The tags of a draft once a person has said what is expected of the answer, or (None) refused it."""
    kept = [tag for tag in tags if tag != DRAFT_TAG and (answer is None or not tag.startswith(ANSWER_TAG))]
    return kept if answer is None else [*kept, f"{ANSWER_TAG}{answer}"]


def read_tag(tags: Sequence[str], prefix: str) -> str:
    """What the first tag with this prefix says; "" without one."""
    return next((tag.removeprefix(prefix) for tag in tags if tag.startswith(prefix)), "")


def _name_session(name: str) -> str:
    """Other than the case: a scrub that hashes ids hashes them wherever they stand."""
    return f"{name}-session"


def draft_variant(kind: str, text: str) -> str:
    """A variant of the text by rules, the same each time; "" for a kind or a text that takes a person or a
    model. What a draft expects of the answer is for a person to confirm."""
    drafted = _WRITERS[kind](text) if kind in _WRITERS else ""
    return "" if drafted.strip() == text.strip() else drafted


def _add_typos(text: str) -> str:
    """Swaps two letters within every eighth long word, and at least one."""
    words = list(_LONG_WORD.finditer(text))
    rng = SeededRandom(f"typos {len(text)}")
    for word in reversed(words[:: max(1, min(_TYPO_EVERY_WORDS, len(words)))]):
        inner = range(word.start() + 1, word.end() - 1)
        if places := [place for place in inner if text[place] != text[place + 1]]:
            place = rng.choice(places)
            text = text[:place] + text[place + 1] + text[place] + text[place + 2 :]
    return text


def _change_tone(text: str) -> str:
    return f"This is the third time I write, and I lose patience. {expand_contractions(text)} Answer me now."


def _distract(text: str) -> str:
    sentences = split_sentences(text)
    added = _DISTRACTIONS[len(text) % len(_DISTRACTIONS)]
    return " ".join([*sentences[:1], added, *sentences[1:]])


def _change_fact(text: str) -> str:
    """Another number in place of the shortest."""
    numbers = sorted(_NUMBER.finditer(text), key=lambda found: len(found[0]))
    if not numbers:
        return ""
    start, end = numbers[0].span()
    return f"{text[:start]}{int(text[start:end]) + 7}{text[end:]}"


_WRITERS = {"typos": _add_typos, "tone": _change_tone, "distraction": _distract, "changed_fact": _change_fact}


def spell_digest(digest: str) -> str:
    """The beginning of a hexadecimal digest as a case states it: in letters, which no scrub replaces."""
    return digest[:DIGEST_CHARACTERS].translate(_LETTERS)
