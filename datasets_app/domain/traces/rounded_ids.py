"""Ids of conversations that a spreadsheet or a float has rounded, so that different ones may be alike."""

from collections.abc import Iterable
from itertools import groupby
from math import isfinite
from typing import Any

from datasets_app.domain.traces.values import SPREADSHEET_NUMBER, as_name

MERGED_IDS = (
    "has ids of conversations that were rounded (such as 1.23457E+11), so that several have become one. "
    "Format the column as a number without decimals and export it again, or state session_id=each-row"
)
# Numbers from here on aren't exact as floats.
_MAX_EXACT = 2**53


def may_be_rounded(value: Any) -> bool:
    """Whether an id is a number that may have lost its last digits, as 1.0E+05 may."""
    if type(value) is float:
        return isfinite(value) and abs(value) >= _MAX_EXACT
    match = SPREADSHEET_NUMBER.fullmatch(value.strip()) if type(value) is str else None
    return match is not None and len(match[2] or "") < int(match[3])


def are_merged(ids: Iterable[Any]) -> bool:
    """Whether a rounded id comes back behind another one, or is that of all rows."""
    seen: set[str] = set()
    others, count = False, 0
    for name, group in groupby(ids, key=as_name):
        values = list(group)
        count += len(values)
        if not may_be_rounded(values[0]) or not name.strip("-").rstrip("0")[1:]:
            others |= bool(name)
        elif name in seen:
            return True
        else:
            seen.add(name)
    return len(seen) == 1 and not others and count > 2
