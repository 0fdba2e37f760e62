"""Ordinary words of other languages than English, which the name model would take for names.

They count only in a text that has some which English hasn't: names in English text are judged as before.
"""

from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path

from datasets_app.domain.pii.names.gazetteer import UNKNOWN_WORD, fold_word, look_up_word

WORDS_PATH = Path(__file__).parent / "name_model" / "foreign_words.txt"
MIN_WORDS = 2
# Parts of names: Vincent van Gogh, Maria de la Cruz.
_PARTICLES = frozenset(
    "van von vom zu zur de der den des di da del della do dos das du la le el al ten ter y e i och".split()
)


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
    found = find_foreign_words([fold_word(word) for word in words])
    if len(found) < MIN_WORDS and not any(look_up_word(plain) == UNKNOWN_WORD for plain in found):
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
