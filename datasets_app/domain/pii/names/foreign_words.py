"""Ordinary words of other languages than English, which the name model would take for names.

They count only in a text that has some which English hasn't: names in English text are judged as before.
"""

from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from datasets_app.domain.pii.names.gazetteer import UNKNOWN_WORD, fold_word, look_up_word

WORDS_PATH = Path(__file__).parent / "name_model" / "foreign_words.txt"
MIN_WORDS = 2
MIN_KNOWN = 3
MAX_ENGLISH = 3  # words for each of another language
# Parts of names: Vincent van Gogh, Maria de la Cruz.
_PARTICLES = frozenset(
    "van von vom zu zur de der den des di da del della do dos das du la le el al ten ter y e i och".split()
)

_JOINERS = frozenset("-‐‑'’.") | _PARTICLES


@cache
def load_foreign_words() -> tuple[frozenset[str], frozenset[str]]:
    """The words that English hasn't, and all: those it has too are marked with a question mark."""
    lines = WORDS_PATH.read_text(encoding="utf-8").split()
    words = frozenset(line.lstrip("?") for line in lines) - _PARTICLES
    return words - {line[1:] for line in lines if line[0] == "?"}, words


def find_foreign_words(plain: Collection[str]) -> frozenset[str]:
    """The words of a text, in lower case, that another language has and English hasn't."""
    return load_foreign_words()[0].intersection(plain)


def find_ordinary_words(words: Sequence[str], likely: Collection[int]) -> list[int]:
    """Which of the ``likely`` names are none, as the text is of another language.

    One word tells that if no list of names has it; from two on, a name must be known to a list, or be beside
    one that is: what the model makes of other languages alone is a guess.
    """
    every = load_foreign_words()[1]
    found, english, _ = _find_evidence(words)
    if len(found) < MIN_WORDS and not any(look_up_word(plain) == UNKNOWN_WORD for plain in found):
        return []
    if english > MAX_ENGLISH * len(found):
        return []
    rest = {number for number in likely if not _is_ordinary(words[number], every)}
    if len(found) >= MIN_WORDS:
        known = {number for number in rest if any(look_up_word(words[number])[:2])}
        rest = {number for number in rest if {number - 1, number, number + 1} & known}
    return [
        number
        for number in likely
        if number not in rest
        or (fold_word(words[number]) in _PARTICLES and not {number - 1, number + 1} & rest)
    ]


def _is_ordinary(word: str, foreign: Collection[str]) -> bool:
    """Capitals leave "Hans" a name, which is "his" in Swedish."""
    return fold_word(word) in foreign and (word[0].islower() or look_up_word(word).first < 2)


def is_foreign(words: Sequence[str]) -> bool:
    """Whether a text is mostly of another language."""
    evidence = _find_evidence(words)
    # "sam 1234", "my name is ali": words that are names tell nothing.
    sure = sum(1 for word in evidence.foreign if not any(look_up_word(word)[:2]))
    if sure >= max(MIN_WORDS, evidence.english):
        return True
    return sure > 0 and not evidence.english and evidence.known >= MIN_KNOWN


def has_foreign_words(words: Sequence[str]) -> bool:
    """Whether a text has words that English hasn't, and not many that only English has."""
    evidence = _find_evidence(words)
    return bool(evidence.foreign) and evidence.english <= MAX_ENGLISH * len(evidence.foreign)


class _Evidence(NamedTuple):
    """``foreign`` words are those that English hasn't, ``english`` is the number of frequent words that only
    English has, and ``known`` that of all that other languages have, if these are half of the text."""

    foreign: frozenset[str]
    english: int
    known: int


def _find_evidence(words: Sequence[str]) -> _Evidence:
    """Without words with capitals within the text, which may be names."""
    is_upper = not any(word.islower() for word in words)
    said = {
        fold_word(word)
        for number, word in enumerate(words)
        if word[0].isalpha() and (is_upper or not number or word.islower())
    }
    every = load_foreign_words()[1]
    english = sum(1 for word in said - every if len(word) > 1 and look_up_word(word).common == 2)
    known = len(said & every)
    return _Evidence(find_foreign_words(said), english, known if 2 * known >= len(said) else 0)


def find_strangers(words: Sequence[str], likely: Collection[int], announced: Collection[int]) -> list[int]:
    """Which of the ``likely`` names in a foreign text are none: all but first names, those ``announced`` and
    what is beside these in the same letter case. Lists of last names have many a word of other languages.
    """
    every = load_foreign_words()[1]
    possible = {
        number
        for number in likely
        if not _is_ordinary(words[number], every) and fold_word(words[number]) not in _PARTICLES
    }
    people = {
        number
        for number in possible
        if number in announced
        or _may_be_first_name(words[number])
        or (number - 1 in possible and words[number - 1][0].isupper() and _is_last_name(words[number]))
    }
    beside = sorted(people)
    while beside:
        number = beside.pop()
        for other in (number - 1, number + 1, number - 2, number + 2):
            if (
                other in possible
                and other not in people
                and words[other][0].isupper() == words[number][0].isupper()
                and (abs(other - number) == 1 or words[(other + number) // 2] in _JOINERS)
            ):
                people.add(other)
                beside.append(other)
    return [
        number
        for number in likely
        if number not in people
        and not (fold_word(words[number]) in _PARTICLES and {number - 1, number + 1} <= people)
    ]


def _may_be_first_name(word: str) -> bool:
    fact = look_up_word(word)
    return fact.first > 0 and (word[0].isupper() or not fact.common)


def _is_last_name(word: str) -> bool:
    fact = look_up_word(word)
    return word[0].isupper() and fact.last > 0 and not fact.common
