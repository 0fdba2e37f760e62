"""Chats that several models are trained with: of made-up companies, and of people who work with software.

In ``brands.txt`` what is a company's or a product's stands in angle brackets, and in it and
``tech_people.txt`` a person's name in braces. ``tech.txt`` names nobody.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent
PERSON, BRAND = "person", "brand"
_SIGNS = {"{": PERSON, "<": BRAND}
_MARKED = re.compile(r"[{<][^{}<>]+[}>]")


class Piece(NamedTuple):
    """``kind`` is ``PERSON``, ``BRAND``, or "" of what is neither."""

    text: str
    kind: str = ""


class Turn(NamedTuple):
    """``before`` is what the other side said last."""

    pieces: list[Piece]
    before: str = ""


def read_chats() -> Iterator[Turn]:
    """The turns of all three files."""
    yield from _read_conversations()
    for line in _read_lines("tech_people.txt"):
        if line:
            yield Turn(parse_line(line, signs="{"))
    for line in _read_lines("tech.txt"):
        if line:
            yield Turn([Piece(line)])


def _read_conversations() -> Iterator[Turn]:
    """A blank line begins another."""
    before = last_role = ""
    for line in _read_lines("brands.txt"):
        role, _, said = line.partition(": ")
        if not line:
            before = last_role = ""
            continue
        pieces = parse_line(said)
        yield Turn(pieces, before if role != last_role else "")
        before, last_role = "".join(piece.text for piece in pieces), role


def _read_lines(name: str) -> Iterator[str]:
    """The lines without headings."""
    for line in (FOLDER / name).read_text(encoding="utf-8").splitlines():
        if not line.startswith("# "):
            yield line


def parse_line(line: str, signs: str = "{<") -> list[Piece]:
    """The pieces of a line, without the signs around what is marked."""
    pieces, at = [], 0
    for marked in _MARKED.finditer(line):
        if marked[0][0] in signs:
            pieces += [Piece(line[at : marked.start()]), Piece(marked[0][1:-1], _SIGNS[marked[0][0]])]
            at = marked.end()
    pieces.append(Piece(line[at:]))
    return [piece for piece in pieces if piece.text]
