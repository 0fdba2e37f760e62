"""Dates of birth in tables: the cells below "DOB" in the first line of a file or a pasted sheet."""

import re
from collections.abc import Iterator

from datasets_app.domain.pii.detector import Span
from datasets_app.domain.pii.rules.birth_words import BIRTHDAY, CERTAIN, CUE
from datasets_app.domain.pii.rules.columns import find_cells
from datasets_app.domain.pii.rules.dates import match_compact_date, match_date

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
