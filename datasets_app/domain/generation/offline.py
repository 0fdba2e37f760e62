"""The offline writer: conversations from phrases, the same to the byte for the same plan, anywhere."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.generation import phrases
from datasets_app.domain.generation.bloom_filter import Heard
from datasets_app.domain.generation.chance import Chance
from datasets_app.domain.generation.filling import Filler
from datasets_app.domain.generation.moves import Move, Talk, greeted, written
from datasets_app.domain.generation.phrases import Lists
from datasets_app.domain.generation.plan import (
    BRAND_TRAP,
    EDGE_CASE,
    OFF_BRAND,
    ON_BRAND,
    SAFETY_TRAP,
    PlannedSession,
)
from datasets_app.domain.generation.voice import Part, Voice
from datasets_app.domain.generation.writer import Written
from datasets_app.domain.personas.persona import PersonaDocument

GENERATOR = "alignmenter offline writer"
# To be raised with every change of what the same plan is written as; phrases are seen by their digest.
VERSION = "1"

# An answer about technical language is no refusal, and must not look like one.
_LIKE_A_REFUSAL = re.compile(
    r"\b(can't|cannot|can not|won't|will not|unable|not able|sorry|decline|refuse)\b", re.IGNORECASE
)

# So often is a session written that would repeat another.
_TRIES = 6
# Below this a source's replies are of a sentence or two.
_BRIEF_WORDS = 20


def _looks_like_a_refusal(text: str) -> bool:
    return _LIKE_A_REFUSAL.search(text) is not None


def _nothing(text: str) -> bool:
    return False


def _ended(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


class _Exchange(NamedTuple):
    user: str
    assistant: str
    on_brand: bool = True


class OfflineWriter:
    """Writes for one persona. Raises ``VoiceError`` for one that can't be written for."""

    def __init__(self, persona: PersonaDocument) -> None:
        self.voice = Voice(persona)

    def write(self, planned: PlannedSession) -> list[TurnRecord]:
        """The turns of a planned session by itself: a function of it, of the persona and of the phrases."""
        return list(self._turns(planned, _Session(planned, self.voice).exchanges()))

    def write_all(self, planned: Iterable[PlannedSession]) -> Iterator[Written]:
        """In their order. A session with a reply that an earlier one had is written anew, so that none
        repeats: what comes of a plan is told by all of it that came before."""
        heard = Heard()
        for each in planned:
            yield Written(each, self._unheard(each, heard))

    def _unheard(self, planned: PlannedSession, heard: Heard) -> list[TurnRecord]:
        for number in range(_TRIES):
            turns = self.write(planned._replace(seed=f"{planned.seed}/{number}") if number else planned)
            replies = [turn.text for turn in turns if turn.role == "assistant"]
            if len(set(replies)) == len(replies) and not any(map(heard.knows, replies)):
                break
        for reply in replies:
            heard.add(reply)
        return turns

    def describe(self) -> dict[str, Any]:
        return {
            "generator": GENERATOR,
            "generator_version": f"{VERSION}-{phrases.digest()[:12]}",
            "model": "offline",
            "reproducible": True,
        }

    def _turns(self, planned: PlannedSession, exchanges: Iterable[_Exchange]) -> Iterator[TurnRecord]:
        persona, tags, index = planned.persona_id, list(planned.tags), 1
        for user, assistant, on_brand in exchanges:
            yield TurnRecord(planned.session_id, index, "user", user, tags, persona)
            if index < planned.turns:
                label = ON_BRAND if on_brand else OFF_BRAND
                yield TurnRecord(
                    planned.session_id, index + 1, "assistant", assistant, [*tags, label], persona
                )
            index += 2


class _Session:
    """One conversation in the making."""

    def __init__(self, planned: PlannedSession, voice: Voice) -> None:
        self._planned, self._voice = planned, voice
        self._chance = Chance(planned.seed)
        self._filler = Filler(
            self._chance, phrases.lists("slots"), lambda text: bool(voice.avoid.count(text))
        )
        # A last turn without an answer is the user's.
        self._count, self._has_last_word = divmod(planned.turns, 2)

    def exchanges(self) -> Iterator[_Exchange]:
        if self._planned.kind == SAFETY_TRAP:
            yield from self._safety_trap()
            return
        talk = Talk(
            EDGE_CASE if self._planned.kind == EDGE_CASE else self._planned.scenario,
            self._count,
            self._chance,
            self._filler,
            self._voice.register,
            self._planned.reply_words,
        )
        if self._planned.kind == BRAND_TRAP:
            yield from self._brand_trap(talk)
        else:
            for move in talk.moves():
                yield _Exchange(move.user, self._spoken(move))
        if self._has_last_word:
            yield _Exchange(talk.last_word(), "")

    def _spoken(self, move: Move, before: Sequence[Part] = ()) -> str:
        looks_alike = self._planned.kind == EDGE_CASE
        return self._voice.speak(
            [*before, *move.reply],
            self._filler,
            self._chance,
            place={"question back": "?", "end": "."}.get(move.kind, ""),
            brief=(self._planned.reply_words or _BRIEF_WORDS) < _BRIEF_WORDS,
            rejects=_looks_like_a_refusal if looks_alike else _nothing,
        )

    # --- pushed out of its voice ---------------------------------------------------------------

    def _brand_trap(self, talk: Talk) -> Iterator[_Exchange]:
        """Half of the replies give in, and at least one of several keeps its voice."""
        chance, category = self._chance, str(self._planned.trap_category)
        frames = phrases.groups("brand")
        given_in = self._count // 2 + (self._count % 2 and chance.below(2))
        off = set(chance.shuffled(range(self._count))[:given_in])
        for number, move in enumerate(talk.moves()):
            # Who says thank you is done with pushing.
            pushed = number == 0 or (move.kind != "end" and chance.happens(0.5))
            user = move.user
            if pushed:
                push = self._say(frames[category]["push again" if number else "push"])
                # What is asked stands last, so that there is something to answer.
                user = f"{_ended(user)} {push}" if number == 0 else f"{push} {user[0].upper()}{user[1:]}"
            yield _Exchange(user, self._pushed(move, category, number in off, pushed), number not in off)

    def _pushed(self, move: Move, category: str, gives_in: bool, pushed: bool) -> str:
        if gives_in:
            content = [part for part in move.reply if part.needed][:1] if self._chance.happens(0.4) else []
            return self._voice.speak_off(category, self._filler, self._chance, content)
        resist = phrases.groups("brand")["steady"]["resist"]
        steady = [Part(resist)] if pushed and self._chance.happens(0.5) else []
        return self._spoken(move, steady)

    # --- asked for what it must not do ---------------------------------------------------------

    def _safety_trap(self) -> Iterator[_Exchange]:
        """Every answer refuses; what else it says is why, and where help is to be had."""
        texts, chance = phrases.groups("safety"), self._chance
        about, refusal = texts[str(self._planned.trap_category)], texts["refusal"]
        self._filler.set_about(thing=about["thing"])
        yields = self._count >= 3 and chance.happens(0.75)
        for number in range(self._count):
            if number == 0:
                user = self._asked(about["ask"])
                parts = self._first_refusal(refusal, about)
            elif yields and number == self._count - 1:
                user = self._say(about["yield"])
                parts = [Part(refusal["settled"], True), Part(about["offer"], True), Part(refusal["after"])]
            else:
                user = self._say(about["press"])
                parts = [Part(refusal["again"], True), Part(about["reason"]), Part(about["offer"], True)]
            yield _Exchange(user, self._voice.speak(parts, self._filler, chance, with_words=False))
        if self._has_last_word:
            yield _Exchange(self._say(about["yield"]), "")

    def _first_refusal(self, refusal: Lists, about: Lists) -> list[Part]:
        why = [Part(about["reason"]), Part(about["offer"], True)]
        own = self._voice.refusals
        if own and self._chance.happens(0.3):
            return [Part(own, True), *why, Part(refusal["after"])]
        return [Part(refusal["first"], True), *why]

    def _asked(self, options: tuple[str, ...]) -> str:
        text = self._filler.say(options)
        if self._chance.happens(0.2):
            text = greeted(self._chance.choice(phrases.groups("common")["user"]["greeting"]), text)
        return written(text, terse=False)

    def _say(self, options: tuple[str, ...]) -> str:
        return written(self._filler.say(options), terse=False)
