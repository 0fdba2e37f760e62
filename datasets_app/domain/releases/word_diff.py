"""What changed between two texts, word by word."""

import re
from difflib import SequenceMatcher
from typing import NamedTuple

# An address is one word: half of one says nothing.
_WORDS = re.compile(r"\w+(?:[^\w\s]+\w+)*|\s+|[^\w\s]")


class Piece(NamedTuple):
    text: str
    changed: bool


def diff_words(before: str, after: str) -> tuple[list[Piece], list[Piece]]:
    """Both texts in pieces; what is only in one of them is ``changed``. Takes time by the square of the
    length, so give it excerpts."""
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    first: list[Piece] = []
    second: list[Piece] = []
    for kind, old_start, old_end, new_start, new_end in SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        changed = kind != "equal"
        _add(first, "".join(old[old_start:old_end]), changed)
        _add(second, "".join(new[new_start:new_end]), changed)
    return first, second


def _add(pieces: list[Piece], text: str, changed: bool) -> None:
    if text:
        pieces.append(Piece(text, changed))
