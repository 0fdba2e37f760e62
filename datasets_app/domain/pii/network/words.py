"""Cuts a text into the words that the network reads, in every script.

A word is a run of letters with the marks that belong to them (vowel signs, points, joiners), or of letters
and digits. Scripts that write no spaces, and Korean, whose particles stick to names, are read by characters.
All offsets count code points, so what is found is cut out exactly.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from datasets_app.domain import lazy_re
from datasets_app.domain.pii.detector import HOLE

# Read by characters: Han, kana, Hangul, Thai, Lao, Burmese, Khmer; each with the signs above and below it.
_ALONE = (
    "\u3005-\u3007\u3040-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7a3"
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u109f\u1780-\u17d3\U00020000-\U0003134f"
)
_ALONE_MARKS = "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u3099\u309a\u17b4-\u17d3"
# Within a word: accents, Hebrew and Arabic points, signs of Indic scripts, joiners, soft hyphens.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0900-\u0903\u093a-\u093c\u093e-\u094f\u0951-\u0957"
    "\u0962\u0963\u0981-\u0983\u09bc\u09be-\u09cd\u09d7\u09e2\u09e3\u0a01-\u0a03\u0a3c-\u0a51\u0a70\u0a71\u0a75"
    "\u0a81-\u0a83\u0abc\u0abe-\u0acd\u0b01-\u0b03\u0b3c\u0b3e-\u0b57\u0b82\u0bbe-\u0bcd\u0bd7\u0c00-\u0c04"
    "\u0c3c\u0c3e-\u0c56\u0c81-\u0c83\u0cbc\u0cbe-\u0cd6\u0d00-\u0d03\u0d3b-\u0d4d\u0d57\u0d81-\u0d83\u0dca-\u0ddf"
    "\u00ad\u200b-\u200d\u2060\ufeff"
)


# Addresses are one word each, and so are placeholders; bounded, since every start of a word tries them.
_WHOLE = (
    r"\w[\w.+-]{0,63}@[\w-]{1,63}\.[\w.-]{1,190}\w|\bhttps?://[^\s<>\"']{1,2000}"
    r"|(?-i:\[[A-Z][A-Z0-9_]{1,40}(?: \d{1,6})?\])|"
)


def _compile(character: str, alone: str, whole: str = _WHOLE) -> re.Pattern[str]:
    return lazy_re.compile(
        whole
        + alone
        # The article or pronoun that French, Italian and Catalan join: l'hôtel, qu'Anna.
        + r"\b(?:[dlnmtscj]|qu|dell|dall|nell|sull|all|un)['’](?=[^\W\d_])"
        # What stands behind an apostrophe belongs to the word, but for the English genitive.
        + rf"|{character}+(?:['’ʼ׳״](?!s\b|S\b){character}+)*"
        r"|\S",
        re.IGNORECASE,
    )


_PIECE = _compile(rf"(?:(?![{_ALONE}])[^\W]|[{_MARKS}])", rf"[{_ALONE}][{_ALONE_MARKS}]*|")
# The same, for text that has none of these, and for text that has neither addresses nor placeholders.
_ASCII_PIECE, _ASCII_WORD = _compile(r"\w", ""), _compile(r"\w", "", "")
_IS_ALONE = lazy_re.compile(f"[{_ALONE}]")
_SURROGATE = re.compile("[\ud800-\udfff]")


class Word(NamedTuple):
    """A word and where it stands: ``text[start:end]``."""

    text: str
    start: int
    end: int


def split_words(text: str) -> list[Word]:
    """The words of ``text`` and the signs between them, in order; white space is left out.

    Lone surrogates become question marks.
    """
    pattern, text = _choose_pattern(text)
    return [Word(found.group(), found.start(), found.end()) for found in pattern.finditer(text)]


def list_words(text: str) -> list[str]:
    """The words of :func:`split_words`, without their places."""
    pattern, text = _choose_pattern(text)
    return pattern.findall(text)


def _choose_pattern(text: str) -> tuple[re.Pattern[str], str]:
    if text.isascii():
        return _ASCII_PIECE if "@" in text or "[" in text or "://" in text else _ASCII_WORD, text
    return _PIECE, _SURROGATE.sub("?", text)


def is_placeholder(word: str) -> bool:
    """Whether ``word`` stands for a value that was removed: a placeholder, or the sign of a hole."""
    return word == HOLE or (word[0] == "[" and len(word) > 1)


def is_read_alone(word: str) -> bool:
    """Whether ``word`` is a character of a script that is read by characters."""
    return _IS_ALONE.match(word) is not None


def has_lone_characters(text: str) -> bool:
    """Whether a text has characters of such a script."""
    return not text.isascii() and _IS_ALONE.search(text) is not None


def list_gaps(text: str) -> list[int]:
    """:func:`describe_gaps` of the words of ``text``."""
    pattern, text = _choose_pattern(text)
    return describe_gaps(text, [found.span() for found in pattern.finditer(text)])


def describe_gaps(text: str, spans: Iterable[tuple[int, int]]) -> list[int]:
    """What stands before each word: 0 nothing, 1 a blank, 2 a line break or the beginning of the text."""
    gaps: list[int] = []
    has_breaks, before = "\n" in text, 0
    for start, end in spans:
        is_new = not gaps or (has_breaks and "\n" in text[before:start])
        gaps.append(2 if is_new else int(start > before))
        before = end
    return gaps
