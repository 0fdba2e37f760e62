"""What is said in a conversation, move by move, before anyone gives it a voice."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from datasets_app.domain.generation import phrases
from datasets_app.domain.generation.chance import Chance
from datasets_app.domain.generation.filling import Filler, capitalised
from datasets_app.domain.generation.phrases import Case, Lists
from datasets_app.domain.generation.voice import Part

# How a person writes, and how many of a hundred do.
_MOODS = (("plain", 45), ("polite", 20), ("annoyed", 20), ("terse", 15))
_ASIDES = ("failed", "changed", "unclear", "worried")
_WORDS_A_SENTENCE = 12
_MOST_SENTENCES = 8


class Move(NamedTuple):
    """What the user says, and the sentences of the answer; ``kind`` is "solution", "question back",
    "end" or "answer"."""

    user: str
    reply: list[Part]
    kind: str = "answer"


def subject_of(scenario: str) -> str:
    """The name of a scenario as a person would say it: ``restaurant_booking`` → "restaurant booking"."""
    name = " ".join(re.sub(r"[^\w]+|_", " ", scenario).split())[:40].strip().lower() or "this"
    return f"the handling of {name}" if name.endswith("s") else name


class Talk:
    """A conversation of ``exchanges`` questions and answers in which somebody wants something done."""

    def __init__(
        self, scenario: str, exchanges: int, chance: Chance, filler: Filler, register: str, words: int | None
    ) -> None:
        self._chance, self._filler = chance, filler
        self._exchanges, self._words = exchanges, words
        common = phrases.groups("common")
        self._user, self._assistant = common["user"], common["assistant"]
        self._leads = _of_register(self._assistant, "lead", register)
        self._begins = _of_register(self._assistant, "begin", register)
        self._cases = iter(_in_turn(phrases.cases(scenario), chance))
        self._mood = chance.weighted(_MOODS)
        self._information = True
        filler.about["subject"] = (subject_of(scenario),)

    def moves(self) -> Iterator[Move]:
        """``exchanges`` of them."""
        ends = self._exchanges >= 3 and self._chance.happens(0.8)
        left = self._exchanges - ends
        first = True
        while left:
            for move in self._about(next(self._cases), left, first):
                yield move
                left -= 1
                if not left:
                    break
            first = False
        if ends:
            yield self._end()

    def last_word(self) -> str:
        """What the user says when no answer follows."""
        return self._said(self._of_manner(self._user, "thanks"))

    def _about(self, case: Case, left: int, first: bool) -> Iterator[Move]:
        self._filler.set_about(topic=case.topics, action=case.actions)
        self._information = case.information
        yield from self._beginning(case, left, first)
        further = self._chance.shuffled(case.follow_ups)
        asides = self._chance.shuffled(_ASIDES[case.information :])[: 1 + self._chance.below(2)]
        while further or asides:
            if asides and (not further or self._chance.happens(0.4)):
                yield self._aside(asides.pop())
            else:
                users, answers = further.pop()
                parts = [self._lead(0.25), *(Part(answer, True) for answer in answers)]
                yield Move(self._said(users), self._sized(parts))

    def _beginning(self, case: Case, left: int, first: bool) -> Iterator[Move]:
        thread = self._chance.below(len(case.openings))
        if not case.information and thread < len(case.topics):
            self._filler.set_about(topic=case.topics[thread : thread + 1])
        opening = self._opening(case.openings[thread], first)
        begin = Part(self._begins) if self._chance.happens(0.5) else None
        if case.asks and left >= 2 and self._chance.happens(0.55):
            questions, answers = self._chance.choice(case.asks)
            asked = self._chance.below(len(questions))
            # The last question has all the answers that are left.
            fitting = answers[asked:] if asked == len(questions) - 1 else answers[asked : asked + 1]
            begin = begin or (Part(self._begins) if self._chance.happens(0.5) else None)
            yield Move(opening, self._sized([begin, _ranked(questions, asked)], most=2), "question back")
            answer = self._said(fitting or answers[-1:])
            yield Move(answer, self._solution(case, thread, self._lead(0.6)), "solution")
        else:
            yield Move(opening, self._solution(case, thread, begin), "solution")

    def _solution(self, case: Case, thread: int, lead: Part | None) -> list[Part]:
        causes, *others = case.fixes
        if case.information or thread >= len(causes):
            thread = self._chance.below(len(causes))
        parts = [lead, _ranked(causes, thread)]
        for fixes in others[:1]:
            parts.append(Part(fixes, True) if case.information else _ranked(fixes, thread))
        if self._chance.happens(0.5):
            parts += [Part(fixes) for fixes in others[1:]]
        if self._chance.happens(0.3):
            parts.append(Part(self._assistant["step"]))
        return self._sized(parts)

    def _aside(self, kind: str) -> Move:
        first, second, third = (self._assistant[f"{kind} {number}"] for number in (1, 2, 3))
        parts = [Part(first) if self._chance.happens(0.7) else None, Part(second, True)]
        if self._chance.happens(0.7):
            parts.append(Part(third))
        return Move(self._said(self._user[kind]), self._sized(parts))

    def _end(self) -> Move:
        annoyed = self._mood == "annoyed" and self._chance.happens(0.5)
        user = self._said(self._of_manner(self._user, "grudging" if annoyed else "thanks"))
        parts = [Part(self._of_manner(self._assistant, "close 1")), Part(self._assistant["close 2"], True)]
        return Move(user, self._sized(parts, most=2), "end")

    def _of_manner(self, lists: Lists, name: str) -> tuple[str, ...]:
        """Who has asked something is answered; who has had trouble is rid of it."""
        return lists[f"{name} information" if self._information else name]

    def _lead(self, share: float) -> Part | None:
        return Part(self._leads) if self._chance.happens(share) else None

    def _sized(self, parts: Sequence[Part | None], most: int = _MOST_SENTENCES) -> list[Part]:
        """About as many sentences as replies of the source have; as they are if there is none."""
        given = [part for part in parts if part is not None]
        if self._words is None:
            return given
        wanted = min(max(round(self._words / _WORDS_A_SENTENCE), 1), most)
        if len(given) > wanted:
            given = [part for part in given if part.needed][:wanted]
        extra = [self._assistant[name] for name in ("step", "close 2", "worried 3", "failed 3", "changed 3")]
        return given + [Part(options) for options in extra[: wanted - len(given)]]

    # --- as this person writes -----------------------------------------------------------------

    def _opening(self, phrase: str, first: bool) -> str:
        text = self._filler.fill(phrase, to_user=False)
        if not first:
            return self._written(f"{self._any('next')} {text}")
        if self._mood != "terse" and self._chance.happens(0.35):
            text = greeted(self._any("greeting"), text)
        if self._mood in {"annoyed", "polite"} and self._chance.happens(0.7):
            text = f"{text} {self._any(self._mood)}"
        return self._written(text)

    def _said(self, options: Sequence[str]) -> str:
        return self._written(self._filler.say(options))

    def _any(self, name: str) -> str:
        return self._filler.say(self._user[name])

    def _written(self, text: str) -> str:
        return written(text, terse=self._mood == "terse")


def written(text: str, *, terse: bool) -> str:
    """``text`` with capitals; or as people type who are in a hurry."""
    text = capitalised(text)
    if not terse:
        return text
    if not re.match(r"I\b|OK\b", text):
        text = text[0].lower() + text[1:]
    return text.removesuffix(".")


def greeted(greeting: str, text: str) -> str:
    """ "Hi," and "My list …" → "Hi, my list …"."""
    if greeting.endswith(",") and not re.match(r"I\b", text):
        text = text[0].lower() + text[1:]
    return f"{greeting} {text}"


def _of_register(lists: Lists, name: str, register: str) -> tuple[str, ...]:
    return lists[name] + lists.get(f"{name} {register}", ())


def _ranked(options: Sequence[str], first: int) -> Part:
    """The one that fits; the others stand by."""
    at = first % len(options)
    return Part((options[at], *options[:at], *options[at + 1 :]), needed=True, ranked=True)


def _in_turn(cases: Sequence[Case], chance: Chance) -> Iterator[Case]:
    """Each once, in a random order; then again."""
    while True:
        yield from chance.shuffled(cases)
