"""The packaged lists of products and of software, and how surely each entry isn't a person."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from enum import IntEnum
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from datasets_app.domain.pii.names.gazetteer import fold_word, look_up_word
from datasets_app.domain.pii.names.name_rules import TITLES
from datasets_app.domain.pii.names.name_words import select_words, split_pieces

PRODUCTS_PATH = Path(__file__).parent / "name_model" / "products.txt"
SOFTWARE_PATH = PRODUCTS_PATH.with_name("software.txt")
_FIRM_SIGN = "&"
_SERIES = re.compile(r"([A-Z]{2,}[a-z]*)\d{2,5}[A-Z]{0,3}")


_METHOD = re.compile(r"^[A-Z][a-z]+-[A-Z][a-z]+|['’]s? ")  # Fisher-Yates, Simpson's rule


class Certainty(IntEnum):
    """How an entry is told from a person: ``LIKELY`` products are one unless they are next to a name,
    ``DOUBTFUL`` ones take words that speak of a product as well."""

    DOUBTFUL = 0
    LIKELY = 1
    SURE = 2


_MARKS = {"?": Certainty.DOUBTFUL, "!": Certainty.LIKELY}


class Entry(NamedTuple):
    """``words`` as the tokenizer makes them, in lower case; ``marked`` is what the list says of it."""

    words: tuple[str, ...]
    marked: Certainty | None
    is_technical: bool

    @property
    def certainty(self) -> Certainty:
        return _judge(self.words) if self.marked is None else self.marked


class ProductPlace(NamedTuple):
    """The words from ``first`` to ``last`` are an entry."""

    certainty: Certainty
    first: int
    last: int
    is_technical: bool


def find_entries(plain: Sequence[str], number: int) -> Iterator[ProductPlace]:
    """The entries that the word at ``number`` is a part of."""
    for entry, offset in load_entries().get(plain[number], ()):
        first, end = number - offset, number - offset + len(entry.words)
        if first >= 0 and tuple(plain[first:end]) == entry.words:
            yield ProductPlace(entry.certainty, first, end - 1, entry.is_technical)


def is_software(name: str) -> bool:
    """Whether a name without spaces is software: react-router."""
    words = tuple(word for word in map(fold_word, select_words(split_pieces(name))) if word[0].isalnum())
    return bool(words) and any(
        offset == 0 and entry.is_technical and entry.words == words
        for entry, offset in load_entries().get(words[0], ())
    )


def is_part_number(name: str) -> bool:
    """Whether a name is a chip or a board of a series: ATmega328P."""
    series = _SERIES.fullmatch(name)
    return series is not None and not any(look_up_word(series[1])) and is_software(series[1])


@cache
def load_entries() -> dict[str, list[tuple[Entry, int]]]:
    """Each word of the list → the entries that it is in, and its place there."""
    entries: dict[str, list[tuple[Entry, int]]] = defaultdict(list)
    for path in (SOFTWARE_PATH, PRODUCTS_PATH):
        for entry in read_entries(path.read_text(encoding="utf-8"), is_technical=path == SOFTWARE_PATH):
            for offset, word in enumerate(entry.words):
                if word[0].isalpha():
                    entries[word].append((entry, offset))
    return dict(entries)


def read_entries(text: str, is_technical: bool = False) -> Iterator[Entry]:
    for paragraph in text.split("\n\n"):
        lines = [line for line in paragraph.splitlines() if not line.startswith("#")]
        for entry in filter(None, map(str.strip, " ".join(lines).split(","))):
            marked = _MARKS.get(entry[0])
            if marked is None and is_technical and _METHOD.search(entry):
                marked = Certainty.LIKELY
            words = _split_entry(entry.lstrip("?!"))
            if words[0] in TITLES:  # Dr Pepper
                marked = Certainty.SURE
            yield Entry(words, marked, is_technical)


def _split_entry(entry: str) -> tuple[str, ...]:
    """Its words. The tokenizer is asked about the few that are more than letters with spaces between."""
    words = entry.split(" ")
    if entry.isascii() and all(map(str.isalpha, words)):
        return tuple(map(str.lower, words))
    return tuple(map(fold_word, select_words(split_pieces(entry))))


@lru_cache(maxsize=1 << 12)
def _judge(words: tuple[str, ...]) -> Certainty:
    """What the gazetteer says of an entry; a name of several words has nothing but names."""
    facts = [look_up_word(word) for word in words if word[0].isalpha()]
    if not all(fact.first or fact.last for fact in facts):
        return Certainty.SURE
    if _FIRM_SIGN in words:
        return Certainty.LIKELY
    if len(facts) > 1 and facts[0].first and facts[-1].last:
        return Certainty.DOUBTFUL
    if all(fact.first or fact.last == 2 for fact in facts):
        return Certainty.DOUBTFUL
    return Certainty.LIKELY
