"""Digits and signs that mean the same as an ASCII one, brought to it; offsets can be brought back.

Full-width ＠, Arabic digits and non-breaking hyphens come from keyboards and copied pages;
characters without width are removed, as they may stand inside a number.
"""

import re
import unicodedata
from functools import cache, lru_cache
from itertools import chain

from datasets_app.domain.pii.detector import Match

# What Unicode calls ignorable by default, and the key around a digit (1️⃣).
_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u20e3"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff"
)
_ASCII = bytes(range(128))
_NOT_DIGITS = re.compile(r"[^0-9]+")
_ANY_INVISIBLE = re.compile(f"[{_INVISIBLE}]")
# Digits of scripts in daily use lie below, and those that only look fancy (𝟓𝟓𝟓) in one block.
# A character class of others beyond would be searched one range after another.
_DIGIT_BLOCKS = (range(0x80, 0x10000), range(0x1D7CE, 0x1D800))


def needs_folding(not_ascii: bytes) -> bool:
    """Whether a text of which these bytes (UTF-8) are not ASCII would be changed by :func:`fold`."""
    # Most texts have no more than an apostrophe and an emoji: the same few answers serve them all.
    return _is_changed(not_ascii) if len(not_ascii) <= 32 else _is_changed.__wrapped__(not_ascii)


@lru_cache(maxsize=4096)
def _is_changed(not_ascii: bytes) -> bool:
    text = not_ascii.decode("utf-8", "surrogatepass")
    return bool(_build_tables()[1].search(text) or _ANY_INVISIBLE.search(text))


def fold(text: str) -> str:
    """Replace homoglyphs in ``text`` by ASCII and remove zero-width characters."""
    table, foldable = _build_tables()
    if foldable.search(text):
        text = text.translate(table)
    return _ANY_INVISIBLE.sub("", text)


def write_pattern(text: str) -> str:
    """A regular expression, for PostgreSQL too, of all that folds to ``text``; several blanks are one."""
    same: dict[str, str] = {}
    for point, sign in _build_tables()[0].items():
        same[sign] = same.get(sign, "") + re.escape(chr(point))
    signs = (
        f"[{re.escape(sign)}{same.get(sign, '')}]" if sign != " " else rf"[\s{same[sign]}]+" for sign in text
    )
    return f"[{_INVISIBLE}]*".join(signs)


def get_original_offsets(text: str) -> list[int]:
    """For each character of ``fold(text)``, where it stands in ``text``."""
    return [place for place, character in enumerate(text) if not _ANY_INVISIBLE.match(character)]


def map_to_original(text: str, matches: list[Match]) -> list[Match]:
    """Matches in ``fold(text)`` as matches in ``text``."""
    places = get_original_offsets(text)
    return [match._replace(start=places[match.start], end=places[match.end - 1] + 1) for match in matches]


def extract_digits(value: str) -> str:
    return _NOT_DIGITS.sub("", value)


def fold_and_encode(text: str) -> tuple[str, bytes]:
    """``text`` itself or, where it makes a difference, its fold; and that in UTF-8."""
    encoded = text.encode("utf-8", "surrogatepass")
    if len(encoded) == len(text) or not needs_folding(encoded.translate(None, _ASCII)):
        return text, encoded
    folded = fold(text)
    return folded, folded.encode("utf-8", "surrogatepass")


@cache
def _build_tables() -> tuple[dict[int, str], re.Pattern[str]]:
    table = {point: chr(point - 0xFEE0) for point in range(0xFF01, 0xFF5F)}  # full-width ASCII
    table |= dict.fromkeys([0xA0, 0x3000, 0x202F, 0x205F, *range(0x2000, 0x200B)], " ")
    table |= dict.fromkeys([*range(0x2010, 0x2016), 0x2212, 0xFE63], "-")
    table |= {0x2024: ".", 0x3002: ".", 0xFE52: ".", 0xFF61: ".", 0xFE6B: "@", 0xFE13: ":"}
    for point in chain(*_DIGIT_BLOCKS):
        digit = unicodedata.decimal(chr(point), None)
        if digit is not None:
            table[point] = str(digit)
    characters = "".join(re.escape(chr(point)) for point in sorted(table) if point < 0x10000)
    return table, re.compile(f"[{characters}𝟎-𝟿]")
