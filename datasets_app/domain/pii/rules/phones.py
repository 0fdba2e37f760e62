"""Telephone numbers, by how they are written or by a word before them.

In a clear national or international form, one counts by itself. Any other counts where a word before it, or
on the line above, says that it is one; what other words say is for the network.
"""

import re
from collections.abc import Iterator

from datasets_app.domain import lazy_re
from datasets_app.domain.pii.detector import PHONE
from datasets_app.domain.pii.rules.cues import Window
from datasets_app.domain.pii.rules.phone_cues import announces_phone

Span = tuple[str, int, int]  # kind, start, end

# How far a pattern may look past its run: an extension, " extension 12345".
LOOKAHEAD_CHARACTERS = 24
_DAY_OR_MONTH = r"(?:0?[1-9]|[12]\d|3[01])"
DATE = re.compile(
    rf"(?:19|20)\d\d[-./ ]{_DAY_OR_MONTH}[-./ ]{_DAY_OR_MONTH}(?!\d)"
    rf"|{_DAY_OR_MONTH}[-./ ]{_DAY_OR_MONTH}[-./ ](?:19|20)\d\d(?!\d)"
)
# Letters of other scripts may stand right beside a number: 我的电话是13812345678.
_W = "A-Za-z0-9_"
_NOT_DIGITS = re.compile(r"[^0-9]+")


def count_digits(value: str) -> int:
    return len(_NOT_DIGITS.sub("", value))


# --- told by how they are written -------------------------------------------------------------

_EXTENSION = r"(?:,? {0,2}(?:ext\.?|extension|x|#) {0,2}\d{1,6})?"
_NUMBER_START = rf"(?<![{_W}+])(?<!\d[-./:])(?<!\d\()(?<!\d )"
_NUMBER_END = _EXTENSION + rf"(?![{_W}]|[-./]\d| \d)"
_SHAPES = (
    # +49 151 64003691, +(44) 20 7946 0958
    re.compile(
        rf"(?<![{_W}+])\(?\+\(?[1-9](?:[ .\-/()]{{0,2}}\d){{7,14}}" + _EXTENSION + rf"(?![{_W}]|[-.]\d)"
    ),
    # (508) 777-8189 ext. 14, 1-800-555-0199, 454.520.3028, 443 428 9089, 212/555-0198
    lazy_re.compile(
        _NUMBER_START
        + r"(?:1[ .-])?(?:\(\d{3}\)[ -]{0,2}|\d{3}[-./]|[2-9]\d{2} )\d{3}(?:[-. ]| - )\d{4}"
        + _EXTENSION
        + rf"(?![{_W}]|[-./]\d|-[A-Z]| \d{{3}})"
    ),
    # 020 7320 4716, 0151/64003691, 06 12 34 56 78, (030) 28685478
    re.compile(_NUMBER_START + r"\(?0[1-9]\d{0,3}\)?[ \-/](?:\d{1,8}[ -]?){1,5}(?<=\d)" + _NUMBER_END),
    # 06.12.34.56.78, 02/555.12.12
    re.compile(_NUMBER_START + r"0[1-9](?:(?:\.\d\d){4}|\d?/\d{3}(?:\.\d\d){2})" + _NUMBER_END),
    # (11) 91234-5678, (01) 234 5678, (0)30 1234567, 8 (912) 345-67-89
    re.compile(_NUMBER_START + r"(?:[78][ -]?)?\(\d{1,5}\)[ -]?\d{2,5}(?:[ -]?\d{2,5}){1,3}" + _NUMBER_END),
    # 0049 30 28685478, 001-555-123-4567x123
    re.compile(_NUMBER_START + r"00[1-9](?:[ .-]?\d){8,12}" + _NUMBER_END),
    # 138-0013-8000
    re.compile(_NUMBER_START + r"1[3-9]\d([ -])\d{4}\1\d{4}" + _NUMBER_END),
)
_NINE_DIGITS = re.compile(r"0\d{1,3}(?:/\d{5,7}|([ -])\d{3}\1\d{3})(?!\d)")
_SIGNED_DECIMAL = re.compile(r"\+\d+\.\d+")


def find_formatted_phones(text: str, start: int, end: int) -> Iterator[Span]:
    """Numbers among the digits and signs of ``text[start:end]`` that are written as such."""
    for pattern in _SHAPES:
        for match in pattern.finditer(text, start, end + LOOKAHEAD_CHARACTERS):
            if match.start() < end and _could_be_dialed(match[0]):
                yield PHONE, match.start(), match.end()


def _could_be_dialed(value: str) -> bool:
    if DATE.match(value) or _SIGNED_DECIMAL.fullmatch(value):
        return False
    digits = count_digits(re.split("[ex#]", value)[0])
    if value.startswith("0") and not value.startswith("00"):
        # 021 123 456 and 030/901820 have nine; a row of numbers may have as many.
        return 10 <= digits <= 12 or (digits == 9 and _NINE_DIGITS.match(value) is not None)
    return digits >= 8


# --- told by the words around them ------------------------------------------------------------

_PLAIN_NUMBER = re.compile(
    rf"(?<![{_W}$€£¥-])(?<!\d[.,:])\+?\(?\d[\d ().\-/]{{4,20}}\d{_EXTENSION}(?![{_W}]|[-.,:]\d| ?[%€$£])"
)
_MIN_DIGITS, _MAX_DIGITS = 6, 15
_BARE_DATE = re.compile(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])")
_DECIMAL = re.compile(r"(?!0\d)\d+\.\d+")
# Also ranges of amounts: 13.000-20.000.
_VERSION_OR_TIMES = re.compile(
    r"(?!\d\d\.\d\d\.\d\d\.\d\d)\d{1,2}(?:\.\d{1,5}){3}"
    r"|[1-9]\d{0,2}(?:\.\d{3})+ ?- ?\d{1,3}(?:\.\d{3})+"
    r"|(?:[01]?\d|2[0-4])[.:]?(?:00|15|30|45) ?- ?(?:[01]?\d|2[0-4])[.:]?(?:00|15|30|45)"
)
_UNIT = re.compile(
    r" ?(?:[mµn]?s|secs?|seconds?|minutes?|[kmgt]?b|bytes?|k?m|km/h|kg|usd|eur|gbp|rs|inr|dollars?|euros?)\b",
    re.IGNORECASE,
)
_FOURS = re.compile(r"\d{4}\.\d{4}")
# "reach 1000000 users" counts something.
_MAX_COUNTED_DIGITS = 8
_COUNTED_NOUN = lazy_re.compile(
    r" (?!at|on|or|and|if|after|before|from|any|when|until|till|please|thanks|asap|today|tomorrow|now|for|but"
    r"|to|with|in|as|then|instead|between|during|is|again|ext|it|i|my|so|because|this|that|he|she|we|they"
    r"|you|directly)[a-z]"
)


def find_announced_phones(text: str, start: int, end: int, window: Window) -> Iterator[Span]:
    """Numbers in ``text[start:end]`` that words in its window say are telephone numbers."""
    if not announces_phone(window):
        return
    for match in _PLAIN_NUMBER.finditer(text, max(0, start - 2), end + LOOKAHEAD_CHARACTERS):
        first, last = match.span()
        if first >= end:
            return
        if match[0][0] == "(" and ")" not in match[0]:
            first += 1
        if _is_said_to_be_phone(text[first:last], text[last : last + 40]):
            yield PHONE, first, last


def _is_said_to_be_phone(value: str, after: str) -> bool:
    number = re.split("[ex#]", value)[0].strip(" ,")
    digits = _NOT_DIGITS.sub("", number)
    if not _MIN_DIGITS <= len(digits) <= _MAX_DIGITS or DATE.match(number):
        return False
    if _VERSION_OR_TIMES.fullmatch(number) or _UNIT.match(after):
        return False
    if _BARE_DATE.fullmatch(number) or (_DECIMAL.fullmatch(number) and not _FOURS.fullmatch(number)):
        return False
    is_count = number.isdigit() and len(digits) <= _MAX_COUNTED_DIGITS and digits[0] != "0"
    return not (is_count and _COUNTED_NOUN.match(after))
