"""Retention rules: how long a dataset is kept, by the pattern its name matches."""

import re
from dataclasses import dataclass

_WORDS = re.compile(r"(\d{1,4})\s+(day|week|month|year)s?")
_ISO = re.compile(r"P(\d{1,4})([DWMY])")
_ISO_UNITS = {"D": "day", "W": "week", "M": "month", "Y": "year"}


@dataclass(frozen=True)
class Duration:
    """A calendar duration: ``amount`` of ``unit`` (day, week, month or year)."""

    amount: int
    unit: str


def parse_retention(text: str) -> Duration | None:
    """``"90 days"``, ``"18 months"``, ``"P90D"`` → Duration; ``"indefinite"`` → None.

    Raises ValueError with what was expected.
    """
    given = text.strip()
    if given.lower() == "indefinite":
        return None
    if match := _WORDS.fullmatch(given.lower()):
        amount, unit = int(match[1]), match[2]
    elif match := _ISO.fullmatch(given.upper()):
        amount, unit = int(match[1]), _ISO_UNITS[match[2]]
    else:
        raise ValueError(
            f'retention must be like "90 days", "18 months", "1 year", "P90D" or "indefinite", got {given!r}'
        )
    if amount == 0:
        raise ValueError("retention must be at least 1")
    return Duration(amount, unit)
