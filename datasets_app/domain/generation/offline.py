"""The offline writer: builds conversations from phrases, byte-identical for the same plan."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.generation import phrases
from datasets_app.domain.generation.chance import SeededRandom
from datasets_app.domain.generation.filling import Filler
from datasets_app.domain.generation.model_turns import build_turns
from datasets_app.domain.generation.moves import (
    ENDING,
    QUESTION_BACK,
    ConversationScript,
    Move,
    add_greeting,
    format_message,
)
from datasets_app.domain.generation.phrases import PhraseLists
from datasets_app.domain.generation.plan import (
    BRAND_TRAP,
    EDGE_CASE,
    SAFETY_TRAP,
    PlannedSession,
)
from datasets_app.domain.generation.voice import SentenceOptions, Voice, accept_all
from datasets_app.domain.generation.writer import WrittenSession
from datasets_app.domain.personas.persona import PersonaDocument

# Four megabytes: with a million texts, about one false positive in a thousand.
_BIT_COUNT = 1 << 25
_HASH_COUNT = 3


class BloomFilter:
    """A Bloom filter (Bloom, 1970): no false negatives, few false positives, the same on every machine."""

    def __init__(self) -> None:
        self._bits = bytearray(_BIT_COUNT // 8)

    def may_contain(self, text: str) -> bool:
        return all(self._bits[place >> 3] >> (place & 7) & 1 for place in _compute_positions(text))

    def add(self, text: str) -> None:
        for place in _compute_positions(text):
            self._bits[place >> 3] |= 1 << (place & 7)


def _compute_positions(text: str) -> list[int]:
    digest = hashlib.sha256(text.encode()).digest()
    return [int.from_bytes(digest[8 * at : 8 * at + 8], "big") % _BIT_COUNT for at in range(_HASH_COUNT)]


GENERATOR = "alignmenter offline writer"
# Raise when the same plan gives other texts; changes of phrases are covered by their digest.
VERSION = "4"

# An answer to an over-refusal probe must not look like a refusal.
_REFUSAL_WORDING = re.compile(
    r"\b(can't|cannot|can not|won't|will not|unable|not able|sorry|decline|refuse)\b", re.IGNORECASE
)

# Attempts at a session that would repeat another. After one that repeats all the same, its kind has said most
# of what it can, so the next of that kind gets half as many.
_MAX_TRIES = 24


def _end_sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


class _Exchange(NamedTuple):
    user: str
    assistant: str
    on_brand: bool = True


class OfflineWriter:
    """Writes for one persona. Raises ``VoiceError`` for an unsupported one."""

    def __init__(self, persona: PersonaDocument) -> None:
        self.voice = Voice(persona)

    def write(self, planned: PlannedSession) -> list[TurnRecord]:
        """Write one planned session, as a function of it, the persona and the phrases."""
        texts: list[str] = []
        off: set[int] = set()
        for user, assistant, on_brand in _SessionWriter(planned, self.voice).write_exchanges():
            texts += [user, assistant]
            if not on_brand:
                off.add(len(texts))
        return build_turns(planned, texts[: planned.turns], off)

    def write_all(self, planned: Iterable[PlannedSession]) -> Iterator[WrittenSession]:
        """Write all in order. A session that repeats an earlier reply is rewritten, so each depends on all
        before it."""
        heard = BloomFilter()
        tries: dict[tuple[Any, ...], int] = defaultdict(lambda: _MAX_TRIES)
        for each in planned:
            kind = (each.kind, each.scenario, each.trap_category, each.turns)
            turns, repeats = self._write_new(each, heard, tries[kind])
            tries[kind] = max(2, tries[kind] // 2) if repeats else min(_MAX_TRIES, 2 * tries[kind])
            yield WrittenSession(each, turns)

    def _write_new(
        self, planned: PlannedSession, heard: BloomFilter, tries: int
    ) -> tuple[list[TurnRecord], bool]:
        """The turns, and whether a reply repeats an earlier one after so many tries."""
        for number in range(tries):
            turns = self.write(planned._replace(seed=f"{planned.seed}/{number}") if number else planned)
            replies = [turn.text for turn in turns if turn.role == "assistant"]
            repeats = len(set(replies)) < len(replies) or any(map(heard.may_contain, replies))
            if not repeats:
                break
        for reply in replies:
            heard.add(reply)
        return turns, repeats

    def describe(self) -> dict[str, Any]:
        unspoken = self.voice.count_unspoken()
        return {
            "generator": GENERATOR,
            "generator_version": f"{VERSION}-{phrases.compute_digest()[:12]}{'-spoken' if unspoken else ''}",
            "model": "offline",
            "lexicon_entries_left_out": unspoken or None,
            "reproducible": True,
        }


class _SessionWriter:
    """Writes one conversation."""

    def __init__(self, planned: PlannedSession, voice: Voice) -> None:
        self._planned, self._voice = planned, voice
        self._rng = SeededRandom(planned.seed)
        self._filler = Filler(self._rng, lambda text: bool(voice.avoid.count(text)))
        # An unanswered last turn is the user's.
        self._count, self._ends_with_user = divmod(planned.turns, 2)

    def write_exchanges(self) -> Iterator[_Exchange]:
        if self._planned.kind == SAFETY_TRAP:
            yield from self._write_safety_trap()
            return
        talk = ConversationScript(
            EDGE_CASE if self._planned.kind == EDGE_CASE else self._planned.scenario,
            self._count,
            self._filler,
            self._voice.register,
            self._planned.reply_words,
        )
        if self._planned.kind == BRAND_TRAP:
            yield from self._write_brand_trap(talk)
        else:
            for move in talk.generate_moves():
                yield _Exchange(move.user, self._speak_reply(move))
        if self._ends_with_user:
            yield _Exchange(talk.write_closing(), "")

    def _speak_reply(self, move: Move, before: Sequence[SentenceOptions] = ()) -> str:
        looks_alike = self._planned.kind == EDGE_CASE
        return self._voice.compose_reply(
            # Who keeps the voice has no need of another first sentence.
            [*before, *(part for part in move.reply if part.needed or not before)],
            self._filler,
            rejects=(lambda text: bool(_REFUSAL_WORDING.search(text))) if looks_alike else accept_all,
        )

    # --- off-brand replies ---------------------------------------------------------------------

    def _write_brand_trap(self, talk: ConversationScript) -> Iterator[_Exchange]:
        """Half of the replies give in; of several, at least one keeps its voice."""
        chance, category = self._rng, str(self._planned.trap_category)
        frames = phrases.load_groups("brand")[category]
        given_in = self._count // 2 + (self._count % 2 and chance.randbelow(2))
        off = set(chance.shuffle_copy(range(self._count))[:given_in])
        for number, move in enumerate(talk.generate_moves()):
            # A user who says thank you has stopped pushing.
            pushed = number == 0 or (move.kind != ENDING and chance.draw_bool(0.5))
            user = move.user
            if number == 0:
                user = f"{_end_sentence(user)} {self._write_message(frames['push'])}"
            elif pushed:
                # The question comes last, so that there is something to answer.
                push = self._write_message(frames["push more" if number - 1 in off else "push again"])
                user = f"{push} {user[0].upper()}{user[1:]}"
            gives_in = number in off
            reply = self._give_in(move, category) if gives_in else self._resist(move, category, pushed)
            yield _Exchange(user, reply, not gives_in)

    def _give_in(self, move: Move, category: str) -> str:
        """The tone of the trap; at the end of a conversation there is nothing but that."""
        content = [] if move.kind == ENDING else [part for part in move.reply if part.needed][:2]
        kind = {ENDING: "end", QUESTION_BACK: "ask"}.get(move.kind, "answer")
        return self._voice.compose_off_brand_reply(category, self._filler, content, kind=kind)

    def _resist(self, move: Move, category: str, pushed: bool) -> str:
        steady = phrases.load_groups("brand")[category]["resist"]
        return self._speak_reply(
            move, [SentenceOptions(steady)] if pushed and self._rng.draw_bool(0.5) else []
        )

    # --- requests it must refuse ---------------------------------------------------------------

    def _write_safety_trap(self) -> Iterator[_Exchange]:
        """Every answer refuses, and says why and where to find help."""
        category, chance = str(self._planned.trap_category), self._rng
        groups = phrases.load_groups("safety")
        about = groups[chance.choice([name for name in groups if name.partition("/")[0] == category])]
        yields = self._count >= 3 and chance.draw_bool(0.75)
        for number in range(self._count):
            if number == 0:
                user, parts = self._write_request(about["ask"]), self._build_refusal(about)
            elif yields and number == self._count - 1:
                user = self._write_message(about["yield"])
                after = phrases.load_groups("safety_endings")[category]["after"]
                parts = [SentenceOptions(about["settled"], True), SentenceOptions(after)]
            else:
                pressed = self._filler.pick(about["press"])
                user = self._write_message((pressed,))
                again = about["again"][about["press"].index(pressed)]
                why = [SentenceOptions(about["reason"])] if chance.draw_bool(0.5) else []
                parts = [SentenceOptions((again,), True), *why, SentenceOptions(about["offer"], True)]
            yield _Exchange(user, self._voice.compose_reply(parts, self._filler, with_words=False))
        if self._ends_with_user:
            yield _Exchange(self._write_message(about["yield"]), "")

    def _build_refusal(self, about: PhraseLists) -> list[SentenceOptions]:
        # A sentence that refuses anything is too cold for somebody who wants to hurt themselves.
        own = () if self._planned.trap_category == "self_harm" else self._voice.refusals
        refusal = own if own and self._rng.draw_bool(0.3) else about["refuse"]
        return [
            SentenceOptions(refusal, True),
            SentenceOptions(about["reason"]),
            SentenceOptions(about["offer"], True),
        ]

    def _write_request(self, options: tuple[str, ...]) -> str:
        text = self._filler.fill_unused(options)
        if self._rng.draw_bool(0.2):
            text = add_greeting(self._rng.choice(phrases.load_groups("common")["user"]["greeting"]), text)
        return format_message(text, terse=False)

    def _write_message(self, options: tuple[str, ...]) -> str:
        return format_message(self._filler.fill_unused(options), terse=False)
