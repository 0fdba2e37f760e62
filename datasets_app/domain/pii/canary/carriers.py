"""Where values are planted: turns of the dataset itself, in copies, as people there write.

A value stands where one stood before (a placeholder), answers a question of the conversation, follows
what people call their own ("my phone number"), or comes in a sentence of its own among those of a turn.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from random import Random
from typing import NamedTuple

from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.pii import detector
from datasets_app.domain.pii.canary.language_files import OTHER, read_sections, read_words
from datasets_app.domain.pii.canary.survival import survives
from datasets_app.domain.pii.canary.values import PlantedValue, make_value
from datasets_app.domain.pii.network.languages import tell_main_languages
from datasets_app.domain.pii.network.words import has_lone_characters
from datasets_app.domain.pii.placeholders import PLACEHOLDER_PATTERN, blank_placeholders


# What people of a language call personal data, and the sentences they put it in.
#
# Texts that are planted in a dataset use the nouns that its own texts use, where they use some.
def list_nouns(kind: str, language: str) -> tuple[str, ...]:
    """What people call values of a class; none for those that nobody announces."""
    return _read_nouns(language).get(kind) or _read_nouns(OTHER).get(kind, ())


@cache
def _read_nouns(language: str) -> dict[str, tuple[str, ...]]:
    """By class: lines "PHONE: phone number | mobile"."""
    pairs = (line.split(": ", 1) for line in read_sections(language)["nouns"])
    return {kind: tuple(nouns.split(" | ")) for kind, nouns in pairs}


def list_sentences(kind: str, language: str, *, by_assistant: bool, with_noun: bool) -> tuple[str, ...]:
    """Sentences with ``{value}``, and with ``{noun}`` if there is one."""
    sections = read_sections(language)
    general = sections["assistant" if by_assistant else "user"] if with_noun else ()
    own = sections.get(kind, ())
    return (*general, *(() if by_assistant else own)) or own or sections["any"]


@cache
def compile_question_pattern(kind: str, language: str) -> re.Pattern[str] | None:
    """Matches a turn that asks for values of a class: "may I have your phone number?"."""
    nouns = list_nouns(kind, language)
    return re.compile(f"{_name_any(nouns)}[^?？؟.\n]{{0,60}}[?？؟;]", re.IGNORECASE) if nouns else None


@cache
def compile_mention_pattern(kind: str, language: str) -> re.Pattern[str] | None:
    """Matches where people speak of their own: "my phone number"."""
    nouns, mine = list_nouns(kind, language), read_words(language, "mine")
    if not nouns or not mine or kind == detector.NAME:
        return None
    return re.compile(rf"{_name_any(mine)} {_name_any(nouns)}(?! (?:of|on|for)\b)", re.IGNORECASE)


def _name_any(words: tuple[str, ...]) -> str:
    """An expression for any of these, as words of their own where a script has spaces."""
    before, after = ("", "") if has_lone_characters("".join(words)) else (r"(?<!\w)", r"(?!\w)")
    return f"{before}(?:{'|'.join(map(re.escape, sorted(words, key=len, reverse=True)))}){after}"


@cache
def compile_nouns_pattern(language: str) -> re.Pattern[str]:
    """Matches what people call values of any class, in small letters."""
    nouns = {noun.lower() for kind in detector.KINDS for noun in list_nouns(kind, language)}
    return re.compile(_name_any(tuple(sorted(nouns))))


# Of a long session only the turns around the planted one are copied.
TURNS_BEFORE, TURNS_AFTER = 3, 1
MAX_TRIES = 50
PLACEHOLDER, ANSWER, MENTION, SENTENCE = "placeholder", "answer", "mention", "sentence"
# Without a word that announces them nobody could tell their values, wherever they stand.
_ANNOUNCED_KINDS = frozenset({detector.ID_NUMBER, detector.HANDLE, detector.CREDENTIAL})
# A word, not an address or a name of a machine, which a capital would change.
_ORDINARY_START = re.compile(r"[^\W\d_]+(?:'[a-z]+)?:? ")
_STOPS, _WIDE_STOPS = ".!?؟।。！？", "。！？"
_WIDE_LETTER = re.compile("[\u3041-\u30ff\u4e00-\u9fff]")
_SENTENCE_END = re.compile(r"(?<=[.!?؟।])\s+|(?<=[。！？])|\n+")


class Planting(NamedTuple):
    """A copy of some turns with a value in the turn at ``place``, how it was put there, and the language."""

    value: PlantedValue
    turns: list[TurnRecord]
    place: int
    manner: str
    language: str


class _Spot(NamedTuple):
    """A turn in which a value can stand, and between which characters of it."""

    session: int
    turn: int
    start: int = 0
    end: int = 0


class Carriers:
    """The scrubbed sessions of a sample as places for values."""

    def __init__(self, sessions: Sequence[Sequence[TurnRecord]]) -> None:
        self.sessions = [session for session in sessions if session]
        self.languages = tell_main_languages(
            [blank_placeholders(turn.text) for turn in session] for session in self.sessions
        )
        self._nouns: dict[str, Counter[str]] = {}
        self._turns = [
            _Spot(number, place)
            for number, session in enumerate(self.sessions)
            for place, turn in enumerate(session)
            if turn.text.strip()
        ]
        users = [spot for spot in self._turns if self._get_turn(spot).role == "user"]
        self._user_turns = users or self._turns
        self._spots: dict[tuple[str, str], list[_Spot]] = {}

    def __bool__(self) -> bool:
        return bool(self._turns)

    def plant(self, kind: str, random: Random) -> Planting:
        """A value of ``kind`` in a copy of a turn that says nothing like it already."""
        manners = [manner for manner in _FINDERS if self._list_spots(kind, manner)]
        manner = random.choice((*manners, SENTENCE))
        for _ in range(MAX_TRIES):
            spot = self._choose_spot(kind, manner, random)
            value = make_value(kind, random, self.languages[spot.session])
            if manner in (PLACEHOLDER, ANSWER) and value.text.isdigit() and kind != detector.ACCOUNT:
                continue  # nothing would say what it is
            if not survives(value, self._get_turn(spot).text):
                break
        return self._plant_value(value, spot, manner, random)

    def _get_turn(self, spot: _Spot) -> TurnRecord:
        return self.sessions[spot.session][spot.turn]

    def _choose_spot(self, kind: str, manner: str, random: Random) -> _Spot:
        if manner != SENTENCE:
            return random.choice(self._list_spots(kind, manner))
        return random.choice(self._user_turns if random.random() < 0.8 else self._turns)

    def _list_spots(self, kind: str, manner: str) -> list[_Spot]:
        key = (kind, manner)
        if key not in self._spots:
            self._spots[key] = list(_FINDERS[manner](self, kind))
        return self._spots[key]

    # --- where values stood or could stand ---

    def _find_placeholders(self, kind: str) -> Iterator[_Spot]:
        if kind in _ANNOUNCED_KINDS:
            return
        for spot in self._turns:
            for match in PLACEHOLDER_PATTERN.finditer(self._get_turn(spot).text):
                if match[0].strip("[]_0123456789") == kind:
                    yield spot._replace(start=match.start(), end=match.end())

    def _find_answers(self, kind: str) -> Iterator[_Spot]:
        for spot in self._turns:
            pattern = compile_question_pattern(kind, self.languages[spot.session])
            before = self.sessions[spot.session][spot.turn - 1] if spot.turn else None
            turn = self._get_turn(spot)
            if pattern and before and before.role != turn.role and pattern.search(before.text):
                yield spot._replace(end=len(turn.text))

    def _find_mentions(self, kind: str) -> Iterator[_Spot]:
        for spot in self._user_turns:
            pattern = compile_mention_pattern(kind, self.languages[spot.session])
            if pattern and (match := pattern.search(self._get_turn(spot).text)):
                yield spot._replace(start=match.end(), end=match.end())

    # --- how they are written ---

    def _plant_value(self, value: PlantedValue, spot: _Spot, manner: str, random: Random) -> Planting:
        turn, language = self._get_turn(spot), self.languages[spot.session]
        if manner == SENTENCE:
            text = self._add_sentence(turn, value, language, random)
        else:
            stated = _match_case(value, turn.text)
            if manner == ANSWER:
                stated = random.choice(read_sections(language)["answers"]).format(value=stated)
            before, after = turn.text[: spot.start], turn.text[spot.end :]
            text = f"{before}{' ' if manner == MENTION else ''}{stated}{after}"
        first = max(0, spot.turn - TURNS_BEFORE)
        turns = list(self.sessions[spot.session][first : spot.turn + TURNS_AFTER + 1])
        place = spot.turn - first
        turns[place] = turn._replace(text=text)
        return Planting(value, turns, place, manner, language)

    def _add_sentence(self, turn: TurnRecord, value: PlantedValue, language: str, random: Random) -> str:
        """The text of the turn with one more sentence, which is written like the others."""
        noun = random.choice(value.nouns) if value.nouns else self._choose_noun(value.kind, language, random)
        sentences = list_sentences(
            value.kind, language, by_assistant=turn.role != "user", with_noun=bool(noun)
        )
        sentence = random.choice(sentences)
        if _is_lower(turn.text):
            sentence, noun = sentence.lower(), noun.lower()
        return _insert_sentence(
            turn.text, sentence.format(noun=noun, value=_match_case(value, turn.text)), random
        )

    def _choose_noun(self, kind: str, language: str, random: Random) -> str:
        """Those that people in this dataset use are preferred."""
        nouns = list_nouns(kind, language)
        if not nouns:
            return ""
        if language not in self._nouns:
            self._nouns[language] = self._count_nouns(language)
        used = self._nouns[language]
        return random.choices(nouns, [1 + min(50, used[noun.lower()]) for noun in nouns])[0]

    def _count_nouns(self, language: str) -> Counter[str]:
        pattern = compile_nouns_pattern(language)
        return Counter(
            noun
            for session, spoken in zip(self.sessions, self.languages, strict=True)
            for turn in session
            if spoken == language
            for noun in pattern.findall(turn.text.lower())
        )


_FINDERS = {
    PLACEHOLDER: Carriers._find_placeholders,
    ANSWER: Carriers._find_answers,
    MENTION: Carriers._find_mentions,
}


def _is_lower(text: str) -> bool:
    written = PLACEHOLDER_PATTERN.sub("", text)
    return written.islower()


def _match_case(value: PlantedValue, text: str) -> str:
    return value.text.lower() if _is_lower(text) and not value.fixed_case else value.text


def _insert_sentence(text: str, sentence: str, random: Random) -> str:
    """Between two sentences or behind the last, with the marks and capitals that are used around it."""
    stop, space = ("。", "") if _WIDE_LETTER.search(text) else (".", " ")
    ends = [match.start() for match in _SENTENCE_END.finditer(text)]
    at = random.choice((*ends, len(text), len(text)))
    before, after = text[:at].rstrip(), text[at:].lstrip()
    if before[-1:] in _STOPS and not _is_lower(text) and _ORDINARY_START.match(sentence):
        sentence = sentence[:1].upper() + sentence[1:]
    if after and before[-1:] in _STOPS and sentence[-1:] not in _STOPS:
        sentence += stop
    joiner = "" if not before else random.choice((" ", ", ", f"{stop}{space}"))
    if before[-1:] in _WIDE_STOPS:
        joiner = ""
    elif before[-1:] in f"{_STOPS},:;،":
        joiner = " "
    return f"{before}{joiner}{sentence}{space if after else ''}{after}"
