"""Plans what a conversation says, move by move, before the persona's voice is applied."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from datasets_app.domain.generation import phrases
from datasets_app.domain.generation.chance import SeededRandom
from datasets_app.domain.generation.filling import Filler, capitalize_sentences
from datasets_app.domain.generation.phrases import Case, PhraseLists
from datasets_app.domain.generation.voice import SentenceOptions

# How users write, and their percentages.
_MOODS = (("plain", 45), ("polite", 20), ("annoyed", 20), ("terse", 15))
_ASIDE_KINDS = ("failed", "changed", "unclear", "worried")
_WORDS_PER_SENTENCE = 12
_MAX_SENTENCES = 8


class Move(NamedTuple):
    """A user's message and the sentences of the answer; ``kind`` is "solution", "question back",
    "end" or "answer". ``information`` tells that it answers a question about the product."""

    user: str
    reply: list[SentenceOptions]
    kind: str = "answer"
    information: bool = False


def describe_subject(scenario: str) -> str:
    """The name of a scenario as a person would say it: ``restaurant_booking`` → "restaurant booking"."""
    name = " ".join(re.sub(r"[^\w]+|_", " ", scenario).split())[:40].strip().lower() or "this"
    return f"the handling of {name}" if name.endswith("s") else name


class ConversationScript:
    """Plan a conversation of ``exchanges`` questions and answers about a request."""

    def __init__(
        self,
        scenario: str,
        exchanges: int,
        rng: SeededRandom,
        filler: Filler,
        register: str,
        reply_words: int | None,
    ) -> None:
        self._rng, self._filler = rng, filler
        self._exchanges, self._words = exchanges, reply_words
        common = phrases.load_groups("common")
        self._user, self._assistant = common["user"], common["assistant"]
        self._leads = _get_register_phrases(self._assistant, "lead", register)
        self._begins = _get_register_phrases(self._assistant, "begin", register)
        self._cases = iter(_cycle_cases(phrases.load_cases(scenario), rng))
        self._mood = rng.weighted_choice(_MOODS)
        self._information = True
        filler.topics["subject"] = (describe_subject(scenario),)

    def generate_moves(self) -> Iterator[Move]:
        """Yield ``exchanges`` moves."""
        ends = self._exchanges >= 3 and self._rng.draw_bool(0.8)
        left = self._exchanges - ends
        first = True
        while left:
            for move in self._generate_case(next(self._cases), left, first):
                yield move
                left -= 1
                if not left:
                    break
            first = False
        if ends:
            yield self._build_ending()

    def write_closing(self) -> str:
        """The user's closing message, which gets no answer."""
        return self._write_one_of(self._get_variant(self._user, "thanks"))

    def _generate_case(self, case: Case, remaining: int, first: bool) -> Iterator[Move]:
        self._filler.set_topics(topic=case.topics, action=case.actions)
        self._information = case.information
        yield from self._generate_opening(case, remaining, first)
        further = self._rng.shuffle_copy(case.follow_ups)
        asides = self._rng.shuffle_copy(_ASIDE_KINDS[case.information :])[: 1 + self._rng.randbelow(2)]
        while further or asides:
            if asides and (not further or self._rng.draw_bool(0.4)):
                yield self._build_aside(asides.pop())
            else:
                users, answers = further.pop()
                parts = [self._draw_lead(0.25), *(SentenceOptions(answer, True) for answer in answers)]
                yield Move(self._write_one_of(users), self._fit_length(parts), information=self._information)

    def _generate_opening(self, case: Case, remaining: int, first: bool) -> Iterator[Move]:
        thread = self._rng.randbelow(len(case.openings))
        if not case.information and thread < len(case.topics):
            self._filler.set_topics(topic=case.topics[thread : thread + 1])
        opening = self._write_opening(case.openings[thread], first)
        begin = SentenceOptions(self._begins) if self._rng.draw_bool(0.5) else None
        if case.questions and remaining >= 2 and self._rng.draw_bool(0.2):
            questions, answers = self._rng.choice(case.questions)
            asked = self._rng.randbelow(len(questions))
            # The last question gets all remaining answers.
            fitting = answers[asked:] if asked == len(questions) - 1 else answers[asked : asked + 1]
            begin = begin or (SentenceOptions(self._begins) if self._rng.draw_bool(0.5) else None)
            yield Move(
                opening,
                self._fit_length([begin, _rank_phrases(questions, asked)], max_sentences=2),
                "question back",
            )
            answer = self._write_one_of(fitting or answers[-1:])
            solution = self._build_solution(case, thread, self._draw_lead(0.6))
            yield Move(answer, solution, "solution", case.information)
        else:
            solution = self._build_solution(case, thread, begin)
            yield Move(opening, solution, "solution", case.information)

    def _build_solution(self, case: Case, thread: int, lead: SentenceOptions | None) -> list[SentenceOptions]:
        causes, *others = case.fixes
        if thread >= len(causes):
            thread = self._rng.randbelow(len(causes))
        parts = [lead, _rank_phrases(causes, thread)]
        for fixes in others[:1]:
            parts.append(SentenceOptions(fixes, True) if case.information else _rank_phrases(fixes, thread))
        if self._rng.draw_bool(0.5):
            parts += [SentenceOptions(fixes) for fixes in others[1:]]
        return self._fit_length(parts)

    def _build_aside(self, kind: str) -> Move:
        first, second, third = (self._assistant[f"{kind} {number}"] for number in (1, 2, 3))
        parts = [SentenceOptions(first) if self._rng.draw_bool(0.7) else None, SentenceOptions(second, True)]
        if self._rng.draw_bool(0.7):
            parts.append(SentenceOptions(third))
        return Move(self._write_one_of(self._user[kind]), self._fit_length(parts))

    def _build_ending(self) -> Move:
        annoyed = self._mood == "annoyed" and self._rng.draw_bool(0.5)
        user = self._write_one_of(self._get_variant(self._user, "grudging" if annoyed else "thanks"))
        first = "close 1 grudging" if annoyed else ""
        parts = [
            SentenceOptions(self._assistant.get(first) or self._get_variant(self._assistant, "close 1")),
            SentenceOptions(self._get_variant(self._assistant, "close 2"), True),
        ]
        return Move(user, self._fit_length(parts, max_sentences=2), "end", self._information)

    def _get_variant(self, lists: PhraseLists, name: str) -> tuple[str, ...]:
        """The phrases under ``name`` that fit an answered question or a solved problem."""
        return lists[f"{name} information" if self._information else name]

    def _draw_lead(self, share: float) -> SentenceOptions | None:
        return SentenceOptions(self._leads) if self._rng.draw_bool(share) else None

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
        extra = [
            self._assistant[name]
            for name in ("step", "close 2 information", "worried 3", "detail", "changed 3")
        ]
        return given + [SentenceOptions(options) for options in extra[: wanted - len(given)]]

    # --- as this person writes -----------------------------------------------------------------

    def _write_opening(self, phrase: str, first: bool) -> str:
        text = self._filler.fill(phrase, to_user=False)
        if not first:
            return self._apply_mood(f"{self._write_any('next')} {text}")
        if self._mood != "terse" and self._rng.draw_bool(0.35):
            text = add_greeting(self._write_any("greeting"), text)
        if self._mood in {"annoyed", "polite"} and self._rng.draw_bool(0.7):
            text = f"{text} {self._write_any(self._mood)}"
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
    if not re.match(r"I\b|OK\b", text):
        text = text[0].lower() + text[1:]
    return text.removesuffix(".")


def add_greeting(greeting: str, text: str) -> str:
    """ "Hi," and "My list …" → "Hi, my list …"."""
    if greeting.endswith(",") and not re.match(r"I\b", text):
        text = text[0].lower() + text[1:]
    return f"{greeting} {text}"


def _get_register_phrases(lists: PhraseLists, name: str, register: str) -> tuple[str, ...]:
    return lists[name] + lists.get(f"{name} {register}", ())


def _rank_phrases(options: Sequence[str], first: int) -> SentenceOptions:
    """Put the fitting option first; the others are fallbacks."""
    at = first % len(options)
    return SentenceOptions((options[at], *options[:at], *options[at + 1 :]), needed=True, ranked=True)


def _cycle_cases(cases: Sequence[Case], rng: SeededRandom) -> Iterator[Case]:
    """Cycle through the cases, reshuffled each round."""
    while True:
        yield from rng.shuffle_copy(cases)
