"""Finds a known value again in its session: in other turns, other letter case, other fields."""

import re
from collections.abc import Iterator

from datasets_app.domain.pii.detector import (
    ADDRESS,
    CREDENTIAL,
    DATE_OF_BIRTH,
    HANDLE,
    IBAN,
    NAME,
    Match,
    is_digit_value,
)
from datasets_app.domain.pii.folding import extract_digits
from datasets_app.domain.pii.known_names import PROPAGATED_SCORE, KnownNames, stands_alone
from datasets_app.domain.pii.policy import ID
from datasets_app.domain.pii.rules.users.user_names import is_ordinary

_DIGIT_RUN = re.compile(r"\d[\d ().\-/]*\d")
MIN_DIGITS = 7
MIN_VALUE_CHARACTERS = 4


class KnownValues:
    """The values found in one session so far."""

    def __init__(self) -> None:
        self._words: dict[str, str] = {}
        self._digits: dict[str, str] = {}
        self._names = KnownNames()

    def __bool__(self) -> bool:
        return bool(self._words or self._digits or self._names)

    def has_name(self, word: str) -> bool:
        """Whether a word, in lower case, is part of a name found in the session."""
        return word in self._names.words

    def add(self, kind: str, value: str) -> None:
        if is_digit_value(kind, value):
            digits = extract_digits(value)
            if len(digits) >= MIN_DIGITS:
                self._digits[digits] = kind
        elif kind == NAME:
            self._names.add(value)
        elif len(value) >= MIN_VALUE_CHARACTERS and _is_distinctive(kind, value):
            for written in _list_spellings(kind, value.lower()):
                self._words.setdefault(written, kind)

    def find_occurrences(self, text: str) -> Iterator[Match]:
        yield from self._names.find_occurrences(text)
        lower = text.lower()
        if len(lower) != len(text):
            # A letter whose small form is two characters: the offsets would not be right.
            lower = "".join(small if len(small := letter.lower()) == 1 else letter for letter in text)
        for word, kind in self._words.items():
            at = lower.find(word)
            while at >= 0:
                end = at + len(word)
                if stands_alone(lower, at, end):
                    yield Match(kind, at, end, PROPAGATED_SCORE)
                at = lower.find(word, end)
        if self._digits:
            yield from self._find_numbers(text)

    def _find_numbers(self, text: str) -> Iterator[Match]:
        for run in _DIGIT_RUN.finditer(text):
            digits = extract_digits(run[0])
            for known, kind in self._digits.items():
                # With or without the country code: the end of a number is what it is known by.
                same = known if digits.endswith(known) else digits
                if len(digits) >= MIN_DIGITS and known.endswith(same):
                    yield Match(
                        kind, _find_number_start(text, len(same), run.end()), run.end(), PROPAGATED_SCORE
                    )
                    break


def _find_number_start(text: str, digits: int, end: int) -> int:
    """Where the last so many digits before ``end`` begin, with the sign or bracket before them."""
    at = end
    while digits:
        at -= 1
        digits -= text[at].isdigit()
    before = text[at - 1 : at]
    return at - (before == "+" or (before == "(" and ")" in text[at:end]))


def _list_spellings(kind: str, value: str) -> Iterator[str]:
    """An account is the same without signs, and in groups of four; a handle without its @."""
    yield value
    if kind == IBAN:
        plain = "".join(filter(str.isalnum, value))
        yield plain
        yield " ".join(plain[start : start + 4] for start in range(0, len(plain), 4))
    elif kind == HANDLE and value[0] == "@" and _is_distinctive(kind, value[1:]):
        yield value[1:]


def _is_distinctive(kind: str, value: str) -> bool:
    """False for a password that is a word, or an id that is a small number: elsewhere they mean nothing."""
    if kind == CREDENTIAL:
        return len(value) >= 12 or not value.isalpha()
    if kind == HANDLE:
        return value[0] == "@" or (len(value) >= MIN_VALUE_CHARACTERS and not is_ordinary(value))
    if kind == ADDRESS:
        return any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return kind not in (ID, DATE_OF_BIRTH) or (len(value) >= 6 and any(map(str.isdigit, value)))
