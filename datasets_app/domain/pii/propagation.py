"""Finds a known value again in its session: in other turns, other letter case, other fields."""

import re
import unicodedata
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
from datasets_app.domain.pii.names.gazetteer import look_up_word
from datasets_app.domain.pii.network.words import has_lone_characters, is_read_alone, split_words
from datasets_app.domain.pii.policy import ID
from datasets_app.domain.pii.rules.announced_handles import is_ordinary

_APOSTROPHE = re.compile("['’ʼ]")
_DIGIT_RUN = re.compile(r"\d[\d ().\-/]*\d")
MIN_DIGITS = 7
MIN_VALUE_CHARACTERS = 4
MIN_WORD_CHARACTERS = 3  # of a name; two in Chinese, Japanese and Korean
_FIRST_HAN, _FIRST_HANGUL = "\u3400", "\uac00"
PROPAGATED_SCORE = 0.9


class KnownValues:
    """The values found in one session so far."""

    def __init__(self) -> None:
        self._words: dict[str, str] = {}
        self._digits: dict[str, str] = {}
        self._name_words: set[str] = set()

    def __bool__(self) -> bool:
        return bool(self._words or self._digits)

    def has_name(self, word: str) -> bool:
        """Whether a word, in lower case, is part of a name found in the session."""
        return word in self._name_words

    def add(self, kind: str, value: str) -> None:
        if is_digit_value(kind, value):
            digits = extract_digits(value)
            if len(digits) >= MIN_DIGITS:
                self._digits[digits] = kind
        elif kind == NAME:
            words = _list_name_words(value)
            for word in words:
                self._name_words.add(word.lower())
                if look_up_word(word).common == 0:
                    self._words.setdefault(word.lower(), NAME)
            if " " in value and any(look_up_word(word).common < 2 for word in words):
                self._words.setdefault(value.lower(), NAME)
        elif len(value) >= MIN_VALUE_CHARACTERS and _is_distinctive(kind, value):
            for written in _list_spellings(kind, value.lower()):
                self._words.setdefault(written, kind)

    def find_occurrences(self, text: str) -> Iterator[Match]:
        lower = text.lower()
        if len(lower) != len(text):
            # A letter whose small form is two characters: the offsets would not be right.
            lower = "".join(small if len(small := letter.lower()) == 1 else letter for letter in text)
        for word, kind in self._words.items():
            at = lower.find(word)
            while at >= 0:
                end = at + len(word)
                if _stands_alone(lower, at, end):
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


def _list_name_words(name: str) -> list[str]:
    """The words of a name that are long enough to be known again; one in a script without spaces is whole."""
    if has_lone_characters(name):
        return [
            part
            for part in name.split()
            if len(part) >= (2 if part[0] >= _FIRST_HAN else MIN_WORD_CHARACTERS)
        ]
    parts = (part for word in split_words(name) for part in _APOSTROPHE.split(word.text))
    return [part for part in parts if len(part) >= MIN_WORD_CHARACTERS and part[0].isalpha()]


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether no word is cut: in scripts without spaces none is; to a Korean name, particles stick."""
    before, after = text[start - 1] if start else " ", text[end] if end < len(text) else " "
    first, last = text[start], text[end - 1]
    begins = not (_is_in_word(before) and _is_in_word(first)) or (
        is_read_alone(first) and first < _FIRST_HANGUL
    )
    return begins and (not (_is_in_word(after) and _is_in_word(last)) or is_read_alone(last))


def _is_in_word(sign: str) -> bool:
    """Letters, digits, and the vowel signs and points that belong to letters."""
    return sign.isalnum() or (not sign.isascii() and unicodedata.category(sign)[0] == "M")
