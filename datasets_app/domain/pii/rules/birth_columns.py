"""Dates of birth in tables: the cells below "DOB" in the first line of a file or a pasted sheet."""

import re
from collections.abc import Iterator

from datasets_app.domain.pii.detector import Span
from datasets_app.domain.pii.rules.birth_words import BIRTHDAY, CERTAIN, CUE
from datasets_app.domain.pii.rules.dates import match_compact_date, match_date

_DELIMITERS = ("|", "\t", ";", ",")
_HEADING = re.compile(rf"[\s\"']*(?:\w{{1,20}}[ _-])?(?:{CERTAIN}|{BIRTHDAY})[\s\"']*", re.IGNORECASE)
_FILLER = re.compile(r"[\s\"'*]*")
_MAX_HEADING = 400
_MAX_ROWS = 500


def find_in_columns(text: str) -> Iterator[Span]:
    """The dates below a heading that says what they are; one table for each text."""
    if "\n" not in text:
        return
    cue = CUE.search(text)
    if cue is None or not (cue["certain"] or cue["birthday"]):
        return
    first, last = text.rfind("\n", 0, cue.start()) + 1, text.find("\n", cue.start())
    if last < 0 or last - first > _MAX_HEADING:
        return
    heading = text[first:last]
    delimiter = next((sign for sign in _DELIMITERS if sign in heading), None)
    if delimiter is None:
        return
    columns = [column for column, cell in enumerate(heading.split(delimiter)) if _HEADING.fullmatch(cell)]
    if columns:
        yield from _find_in_rows(text, last + 1, delimiter, columns)


def _find_in_rows(text: str, start: int, delimiter: str, columns: list[int]) -> Iterator[Span]:
    for _ in range(_MAX_ROWS):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        places = [start]
        for cell in text[start:end].split(delimiter):
            places.append(places[-1] + len(cell) + 1)
        for column in columns:
            if column + 1 < len(places):
                value = _FILLER.match(text, places[column])
                at = value.end() if value else places[column]
                found = match_date(text, at) or match_compact_date(text, at)
                if found and found <= end:
                    yield at, found
        start = end + 1
        if start > len(text):
            return
