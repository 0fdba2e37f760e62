"""Looks up words as first names, last names and ordinary words.

The packaged list is sorted, one word per line, and searched in place: a dictionary of a hundred thousand
words would cost each process ten times the memory.
"""

import re
import unicodedata
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

GAZETTEER_PATH = Path(__file__).parent / "name_model" / "gazetteer.txt"
_INDEXED_BYTES = 3


class WordFacts(NamedTuple):
    """Frequency of a word in each role: 0 unknown, 1 seen, 2 frequent."""

    first: int
    last: int
    common: int


UNKNOWN_WORD = WordFacts(0, 0, 0)


@lru_cache(maxsize=1 << 15)
def look_up_word(word: str) -> WordFacts:
    """Look up a word in any case; full-width letters count as plain, and accents are optional."""
    plain = fold_word(word)
    found = _search_table(plain)
    if found is UNKNOWN_WORD and not plain.isascii():
        found = _search_table(strip_accents(plain))
    return found


def fold_word(word: str) -> str:
    """``word`` in lower case, with compatibility forms (full-width, ligatures) as plain letters."""
    if word.isascii():
        return word.lower()
    return unicodedata.normalize("NFKC", word).lower()


def strip_accents(word: str) -> str:
    """``word`` without accents and zero-width characters: José and Jose are one name."""
    parts = unicodedata.normalize("NFKD", word)
    return "".join(part for part in parts if unicodedata.category(part) not in ("Mn", "Cf"))


def _search_table(word: str) -> WordFacts:
    table, wanted = _load_table(), word.encode("utf-8", "surrogatepass")
    place = _find_line(wanted, *_find_lines(wanted[:_INDEXED_BYTES]))
    end = place + len(wanted)
    # Some entries are of two words.
    if table[place : end + 1] != wanted + b" " or table[end + 4 : end + 5] != b"\n":
        return UNKNOWN_WORD
    return WordFacts(*(digit - 48 for digit in table[end + 1 : end + 4]))


@lru_cache(maxsize=1 << 12)
def _find_lines(start: bytes) -> tuple[int, int]:
    """Where the lines that begin with these bytes are: most words are searched in few."""
    size = len(_load_table())
    return _find_line(start, 0, size), _find_line(start + b"\xff", 0, size)


def _find_line(wanted: bytes, low: int, high: int) -> int:
    """Binary search in the lines ``word 210``, sorted by bytes: the first that isn't before the word."""
    table = _load_table()
    while low < high:
        middle = (low + high) // 2
        end = table.index(b"\n", middle)
        start = table.rfind(b"\n", low, middle) + 1 or low
        if table[start : end - 4] < wanted:
            low = end + 1
        else:
            high = start
    return low


def find_words(facts: str) -> list[str]:
    """Words of 3 to 12 letters without accents; ``facts`` is an expression for the digits of their entry."""
    entry = re.compile(rb"^([a-z]{3,12}) %s$" % facts.encode(), re.MULTILINE)
    return [word.decode() for word in entry.findall(_load_table())]


@cache
def _load_table() -> bytes:
    return GAZETTEER_PATH.read_bytes()
