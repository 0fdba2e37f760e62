"""What is known of a word in any language: how common it is, and whether it is a first or a last name.

The packaged table holds hashes of single words, never a first name with its last name, sorted and searched in
place (``scripts/network/make_lexicon.py`` makes it; sources and licenses: ``docs/network.md``).
"""

import unicodedata
import zlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

LEXICON_PATH = Path(__file__).parent / "lexicon.npz"
# A code is first + 3 × last + 9 × common; one that is not in the table is 0.
FIRST, LAST, COMMON = 1, 3, 9
# From here on a word is common enough to be known by itself and to have a vector, and to tell a language.
KNOWN_LEVEL, TELLING_LEVEL = 2, 3


class WordFacts(NamedTuple):
    """Of a word: first and last name from 0 to 2 (rare, frequent), common from 0 to 5 (the first 300)."""

    first: int
    last: int
    common: int


def fold_word(word: str) -> str:
    """``word`` in lower case, with compatibility forms (full width, ligatures) as plain letters, without
    joiners and soft hyphens."""
    if word.isascii():
        return word.lower()
    folded = unicodedata.normalize("NFKC", word).lower().replace("i̇", "i")
    return "".join(sign for sign in folded if unicodedata.category(sign) != "Cf") or folded


def strip_marks(word: str) -> str:
    """``word`` without accents and points: José and Jose are one name."""
    if word.isascii():
        return word
    parts = unicodedata.normalize("NFKD", word)
    return "".join(part for part in parts if unicodedata.category(part) != "Mn") or word


def hash_word(word: str) -> int:
    """The number by which the table knows a folded word."""
    return zlib.crc32(word.encode("utf-8", "surrogatepass"))


def look_up(words: Sequence[str]) -> list[int]:
    """The codes of folded words; 0 for one that is not known."""
    hashes, codes = _load()
    places, is_known = find_places(hashes, words)
    return np.where(is_known, codes[places], 0).tolist()  # type: ignore[no-any-return]


def find_places(hashes: Any, words: Sequence[str]) -> tuple[Any, Any]:
    """Where folded words stand among sorted hashes [words], and whether they do [words]."""
    wanted = np.fromiter(map(hash_word, words), dtype=np.uint32, count=len(words))
    places = np.minimum(np.searchsorted(hashes, wanted), len(hashes) - 1)
    return places, hashes[places] == wanted


def read_code(code: int) -> WordFacts:
    """The facts of a code of :func:`look_up`."""
    return WordFacts(code % 3, code // LAST % 3, code // COMMON)


def list_hashes(level: int) -> Any:
    """The hashes of words that are at least so common, sorted."""
    hashes, codes = _load()
    return hashes[codes >= level * COMMON]


@cache
def _load() -> tuple[Any, Any]:
    with np.load(LEXICON_PATH) as file:
        # Stored are the steps from one hash to the next, which take half the room.
        return np.cumsum(file["steps"], dtype=np.uint32), file["codes"]
