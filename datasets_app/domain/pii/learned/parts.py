"""What the parts of a text between spaces are like, so that most texts need no further look.

What is in a part is remembered for the next text that has it: its tokens, the words that may be user names,
and its flags, a whole number. Flags are generous: what they rule out can't be a candidate (candidates.py).
"""

import re
from collections.abc import Sequence
from functools import reduce
from operator import or_
from typing import NamedTuple

from datasets_app.domain.pii.learned.candidates import (
    JOINTS,
    find_dates,
    may_be_in_date,
)
from datasets_app.domain.pii.learned.features import split_tokens
from datasets_app.domain.pii.learned.scoring import Context

DIGITS, IN_DATE, WHOLE_DATE, BETWEEN_DATES, IN_NUMBER = (1 << bit for bit in range(5))
DATES = IN_DATE | WHOLE_DATE
ANY = DIGITS | IN_DATE | WHOLE_DATE
# A text without so many digits in a row has no number: candidates.find_numbers.
MIN_NUMBER_DIGITS = 4
# How many digits the part has is above the flags.
_COUNT_SHIFT, _MAX_COUNT = 8, 99
MAX_PARTS, MAX_PART_CHARACTERS = 40_000, 100
_LETTERS = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile(r"\d")
# A day, a month or a year; no time, amount or number.
_DATE_NUMBER = re.compile(r"(?<![\d+#$€£])(?<!\d:)(?:\d{1,2}|(?:19|20)\d\d)(?!\d|:\d)")
# What may stand between two parts of a date: nothing but signs, a joint, an ending ("3 rd"), a Roman month.
_BETWEEN = re.compile(
    rf"[\W_]*(?:(?:{'|'.join(JOINTS)}|st|nd|rd|th|er|re|e|a|i{{1,3}}|iv|vi{{0,3}}|ix|xi{{0,2}})[\W_]*)?",
    re.IGNORECASE,
)


class Part(NamedTuple):
    """``tokens`` are those of :func:`features.split_tokens`."""

    flags: int
    tokens: tuple[tuple[str, int, int], ...]


class Parts(dict[str, Part]):
    """What is in a part."""

    def __init__(self) -> None:
        super().__init__()
        self.plain: set[str] = set()
        """Those of the parts that have none of the flags :data:`ANY`."""

    def __missing__(self, part: str) -> Part:
        found = self._read(part)
        if len(part) <= MAX_PART_CHARACTERS:
            if len(self) >= MAX_PARTS:
                self.clear()
                self.plain.clear()
            self[part] = found
            if not found.flags & ANY:
                self.plain.add(part)
        return found

    def split(self, text: str) -> Context:
        """What the search for tokens finds, from what is remembered of the parts."""
        context = Context(text, [], [], [])
        _, tokens, starts, ends = context
        line_start = 0
        for line in text.split("\n"):
            if line_start:
                tokens.append("\n")
                starts.append(line_start - 1)
                ends.append(line_start)
            place = line_start
            for part in line.split():
                place = text.index(part, place)
                for token, start, end in self[part].tokens:
                    tokens.append(token)
                    starts.append(place + start)
                    ends.append(place + end)
                place += len(part)
            line_start += len(line) + 1
        return context

    def _read(self, part: str) -> Part:
        tokens = tuple(split_tokens(part))
        flags, digits = 0, len(_DIGIT.findall(part))
        if digits:
            flags |= DIGITS | IN_NUMBER | (min(digits, _MAX_COUNT) << _COUNT_SHIFT)
        elif not any(map(str.isalnum, part)):
            flags |= IN_NUMBER  # only signs: "(", "-"
        date_words = sum(map(may_be_in_date, _LETTERS.findall(part.lower())))
        if date_words or (digits and _DATE_NUMBER.search(part)):
            flags |= IN_DATE
        if (digits or date_words > 1) and any(find_dates(part)):
            flags |= WHOLE_DATE
        if _BETWEEN.fullmatch(part):
            flags |= BETWEEN_DATES
        return Part(flags, tokens)


def unite(flags: Sequence[int]) -> int:
    """What any part has; counts of digits become meaningless."""
    return reduce(or_, flags, 0)


def count_digits_in_row(flags: Sequence[int]) -> int:
    """The most digits with no word between them."""
    most = count = 0
    for flag in flags:
        count = count + (flag >> _COUNT_SHIFT) if flag & IN_NUMBER else 0
        if count > most:
            most = count
    return most


def may_hold_date(flags: Sequence[int]) -> bool:
    begun = False
    for flag in flags:
        if flag & WHOLE_DATE:
            return True
        if flag & IN_DATE:
            if begun:
                return True
            begun = True
        elif not flag & BETWEEN_DATES:
            begun = False
    return False
