"""Dates of birth in tables: the cells below "DOB" in the first line of a file or a pasted sheet."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from datasets_app.domain.pii.detector import Span
from datasets_app.domain.pii.rules.birth_words import BIRTHDAY, CERTAIN, CUE
from datasets_app.domain.pii.rules.dates import match_compact_date, match_date

_DELIMITERS = ("|", "\t", ";", ",")
_MAX_HEADING = 400
_MAX_ROWS = 500


class Cell(NamedTuple):
    """Where it stands in the text; ``line_end`` is where its row ends."""

    start: int
    end: int
    line_end: int


def find_cells(text: str, start: int, end: int, heading: re.Pattern[str]) -> Iterator[Cell]:
    """The cells of the columns that ``heading`` matches, below the line from ``start`` to ``end``, if that
    is the first line of a table."""
    if end < 0 or end - start > _MAX_HEADING:
        return
    line = text[start:end]
    delimiter = next((sign for sign in _DELIMITERS if sign in line), None)
    if delimiter is None:
        return
    columns = [column for column, cell in enumerate(line.split(delimiter)) if heading.fullmatch(cell)]
    if columns:
        yield from _find_in_rows(text, end + 1, delimiter, columns)


def _find_in_rows(text: str, start: int, delimiter: str, columns: list[int]) -> Iterator[Cell]:
    for _ in range(_MAX_ROWS):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        places = [start]
        for cell in text[start:end].split(delimiter):
            places.append(places[-1] + len(cell) + 1)
        for column in columns:
            if column + 1 < len(places):
                yield Cell(places[column], places[column + 1] - 1, end)
        start = end + 1
        if start > len(text):
            return


_HEADING = re.compile(rf"[\s\"']*(?:\w{{1,20}}[ _-])?(?:{CERTAIN}|{BIRTHDAY})[\s\"']*", re.IGNORECASE)
_FILLER = re.compile(r"[\s\"'*]*")


def find_in_columns(text: str) -> Iterator[Span]:
    """The dates below a heading that says what they are; one table for each text."""
    if "\n" not in text:
        return
    cue = CUE.search(text)
    if cue is None or not (cue["certain"] or cue["birthday"]):
        return
    first, last = text.rfind("\n", 0, cue.start()) + 1, text.find("\n", cue.start())
    for cell in find_cells(text, first, last, _HEADING):
        value = _FILLER.match(text, cell.start)
        at = value.end() if value else cell.start
        found = match_date(text, at) or match_compact_date(text, at)
        if found and found <= cell.line_end:
            yield at, found
