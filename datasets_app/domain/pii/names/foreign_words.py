"""Ordinary words of other languages than English, which user names are told from."""

from functools import cache
from pathlib import Path

WORDS_PATH = Path(__file__).parent / "name_model" / "foreign_words.txt"
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
