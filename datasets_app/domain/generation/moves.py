"""Plans what a conversation says, move by move, before the persona's voice is applied."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from datasets_app.domain.generation import phrases
from datasets_app.domain.generation.chance import SeededRandom
from datasets_app.domain.generation.filling import Filler, capitalize_sentences
from datasets_app.domain.generation.phrases import Case
from datasets_app.domain.generation.voice import SentenceOptions

OPENING, QUESTION_BACK, SOLUTION, ANSWER, ENDING = "opening", "question back", "solution", "answer", "ending"
# How users write, and their percentages.
_MOODS = (("plain", 45), ("polite", 20), ("annoyed", 20), ("terse", 15))
_WORDS_PER_SENTENCE = 12
_MAX_SENTENCES = 8
_PLACES = {"problem": "opening", "information": "opening", "farewell": "farewell"}
# The sentences of an answer that are never left out.
_NEEDED_SENTENCES = 2


class Move(NamedTuple):
    """A user's message and the sentences of the answer."""

    user: str
    reply: list[SentenceOptions]
    kind: str = ANSWER


def describe_subject(scenario: str) -> str:
    """The name of a scenario as a person would say it: "restaurant_booking" → "restaurant booking"."""
    name = " ".join(re.sub(r"[^\w]+|_", " ", scenario).split())[:40].strip().lower() or "this"
    return f"the handling of {name}" if name.endswith("s") else name


class ConversationScript:
    """Plan a conversation of ``exchanges`` questions and answers about a request."""

    def __init__(
        self,
        scenario: str,
        exchanges: int,
        filler: Filler,
        register: str,
        reply_words: int | None,
    ) -> None:
        self._rng, self._filler, self._register = filler.rng, filler, register
        self._exchanges, self._words = exchanges, reply_words
        common = phrases.load_groups("common")
        self._user, self._assistant = common["user"], common["assistant"]
        self._cases = iter(_cycle_cases(phrases.load_cases(scenario), filler.rng))
        self._case: Case | None = None
        self._mood = filler.rng.weighted_choice(_MOODS)
        filler.set_value("subject", describe_subject(scenario))

    def generate_moves(self) -> Iterator[Move]:
        """Yield ``exchanges`` moves."""
        ends = self._exchanges >= 3 and self._rng.draw_bool(0.8)
        left = self._exchanges - ends
        while left:
            for move in self._generate_case(next(self._cases), left):
                yield move
                left -= 1
                if not left:
                    break
        if ends:
            yield self._build_ending()

    def write_closing(self) -> str:
        """The user's closing message, which gets no answer."""
        return self._write_one_of(self._case.thanks if self._case else self._user["thanks"])

    def _generate_case(self, case: Case, remaining: int) -> Iterator[Move]:
        first, self._case = self._case is None, case
        opening = self._write_opening(case, first)
        greeting = self._draw_lead("information" if case.information else "problem", 0.4)
        if case.questions and remaining >= 2 and self._rng.draw_bool(0.3):
            parts = [greeting, SentenceOptions(case.questions, True), self._draw_lead("asked", 0.7)]
            yield Move(opening, self._fit_length(parts, max_sentences=2), QUESTION_BACK)
            lead = self._draw_lead("answered", 0.5)
            yield Move(self._write_one_of(case.answers), self._build_reply(lead, case.solution), SOLUTION)
        else:
            yield Move(opening, self._build_reply(greeting, case.solution), SOLUTION)
        if case.failed and self._rng.draw_bool(0.25):
            lead = self._draw_lead("failed", 0.6)
            yield Move(self._write_one_of(self._user["failed"]), self._build_reply(lead, case.failed))
        for users, sentences in self._rng.shuffle_copy(case.follow_ups):
            yield Move(
                self._write_one_of(users), self._build_reply(self._draw_lead("further", 0.2), sentences)
            )

    def _build_reply(
        self, lead: SentenceOptions | None, sentences: phrases.Sentences
    ) -> list[SentenceOptions]:
        said = [
            SentenceOptions(options, number < _NEEDED_SENTENCES)
            for number, options in enumerate(sentences)
            if number < _NEEDED_SENTENCES or self._rng.draw_bool(0.5)
        ]
        return self._fit_length([lead, *said])

    def _build_ending(self) -> Move:
        assert self._case is not None
        grudging = self._mood == "annoyed" and not self._case.information and self._rng.draw_bool(0.4)
        user = self._write_one_of(self._user["grudging"] if grudging else self._case.thanks)
        lead = SentenceOptions(self._get_leads("grudging" if grudging else "thanks"))
        parts = [lead, SentenceOptions(self._case.closings, True), self._draw_lead("farewell", 0.7)]
        return Move(user, self._fit_length(parts, max_sentences=2), ENDING)

    def _draw_lead(self, name: str, share: float) -> SentenceOptions | None:
        if not self._rng.draw_bool(share):
            return None
        return SentenceOptions(self._get_leads(name), place=_PLACES.get(name, ""))

    def _get_leads(self, name: str) -> tuple[str, ...]:
        """The first sentences for an answer of this kind, in the register of the persona."""
        own = self._assistant.get(f"{name} {self._register}", ())
        # A register of its own comes first: a formal persona doesn't say "Good question!" half of the time.
        return own if len(own) > 1 and self._rng.draw_bool(0.7) else self._assistant[name] + own

    def _fit_length(
        self, parts: Sequence[SentenceOptions | None], max_sentences: int = _MAX_SENTENCES
    ) -> list[SentenceOptions]:
        """Adjust the number of sentences to the source's replies, if there is a source."""
        given = [part for part in parts if part is not None]
        if self._words is None:
            return given
        wanted = min(max(round(self._words / _WORDS_PER_SENTENCE), 1), max_sentences)
        if len(given) > wanted:
            given = [part for part in given if part.needed][:wanted]
        extra = [self._assistant[f"extra {number}"] for number in (1, 2, 3, 4)]
        return given + [SentenceOptions(options) for options in extra[: wanted - len(given)]]

    # --- as this person writes -----------------------------------------------------------------

    def _write_opening(self, case: Case, first: bool) -> str:
        text = self._filler.fill_unused(case.openings)
        if not first:
            return self._apply_mood(f"{self._write_any('next')} {text}")
        if self._mood != "terse" and self._rng.draw_bool(0.35):
            text = add_greeting(self._write_any("greeting"), text)
        if self._mood == "polite" or (self._mood == "annoyed" and not case.information):
            text = f"{text} {self._write_any(self._mood)}" if self._rng.draw_bool(0.6) else text
        return self._apply_mood(text)

    def _write_one_of(self, options: Sequence[str]) -> str:
        return self._apply_mood(self._filler.fill_unused(options))

    def _write_any(self, name: str) -> str:
        return self._filler.fill_unused(self._user[name])

    def _apply_mood(self, text: str) -> str:
        return format_message(text, terse=self._mood == "terse")


def format_message(text: str, *, terse: bool) -> str:
    """Capitalize ``text``, or leave it as a hurried user types."""
    text = capitalize_sentences(text)
    if not terse:
        return text
    if not re.match(r"I\b|OK\b|API\b|CSV\b", text):
        text = text[0].lower() + text[1:]
    return text.removesuffix(".")


def add_greeting(greeting: str, text: str) -> str:
    """ "Hi," and "My list …" → "Hi, my list …"."""
    if greeting.endswith(",") and not re.match(r"I\b", text):
        text = text[0].lower() + text[1:]
    return f"{greeting} {text}"


def _cycle_cases(cases: Sequence[Case], rng: SeededRandom) -> Iterator[Case]:
    """Cycle through the cases, reshuffled each round."""
    while True:
        yield from rng.shuffle_copy(cases)
