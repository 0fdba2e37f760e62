"""The words that stand in for values: ``[NAME]``, or ``[NAME_1]`` and ``[NAME_2]`` for two people."""

import re
from collections.abc import Iterable

from datasets_app.domain.pii.detector import IBAN, MAC, NAME, is_digit_value
from datasets_app.domain.pii.folding import extract_digits, fold
from datasets_app.domain.pii.placeholders import PADDING

_WORD = re.compile(r"\w+")
_POSSESSIVE = re.compile(r"['’]s\b")


def build_placeholder_pattern(labels: Iterable[str]) -> re.Pattern[str]:
    """Matches every placeholder of these labels, also numbered and padded; group 1 is label, 2 the number."""
    words = "|".join(sorted(map(re.escape, labels), key=len, reverse=True))
    return re.compile(rf"\[({words})(?:_([1-9]\d{{0,8}}))?{PADDING}\]")


def format_placeholder(kind: str) -> str:
    return f"[{kind}]"


class Pseudonyms:
    """The numbered placeholders of one session: one value, one number.

    A value is the same in any letter case and with other signs between its digits. A person is the
    same by part of the name: Ana and Ana Silva are one, until an Ana Lopez is mentioned too.
    """

    def __init__(self) -> None:
        self._last: dict[str, int] = {}
        self._numbers: dict[tuple[str, str], int] = {}
        self._people: list[tuple[set[str], int]] = []

    def reserve(self, kind: str, number: int) -> None:
        """A number that stands in the session already is somebody else's."""
        self._last[kind] = max(number, self._last.get(kind, 0))

    def get_placeholder(self, kind: str, value: str) -> str:
        number = self._number_person(value) if kind == NAME else self._number_value(kind, value)
        return f"[{kind}_{number}]"

    def _number_value(self, kind: str, value: str) -> int:
        same = fold(value).casefold()
        if is_digit_value(kind, value):
            same = extract_digits(same) or same
        elif kind in (IBAN, MAC):
            same = "".join(filter(str.isalnum, same))
        return self._numbers.setdefault((kind, same), 0) or self._assign_number(kind, (kind, same))

    def _assign_number(self, kind: str, key: tuple[str, str]) -> int:
        self._numbers[key] = self._last[kind] = self._last.get(kind, 0) + 1
        return self._numbers[key]

    def _number_person(self, value: str) -> int:
        words = set(_WORD.findall(_POSSESSIVE.sub("", fold(value).casefold()))) or {value}
        # The person last mentioned is the likeliest to be meant.
        for place in range(len(self._people) - 1, -1, -1):
            known, number = self._people[place]
            if words <= known or known <= words:
                self._people.append((known | words, number))
                del self._people[place]
                return number
        number = self._last[NAME] = self._last.get(NAME, 0) + 1
        self._people.append((words, number))
        return number
