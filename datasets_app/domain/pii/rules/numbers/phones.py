"""Telephone numbers by how they are written: in a clear national or international form."""

import re
from collections.abc import Iterator

from datasets_app.domain import lazy_re
from datasets_app.domain.pii.detector import PHONE

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


EXTENSION = r"(?:,? {0,2}(?:ext\.?|extension|x|#) {0,2}\d{1,6})?"
_NUMBER_START = rf"(?<![{_W}+])(?<!\d[-./:])(?<!\d\()(?<!\d )"
_NUMBER_END = EXTENSION + rf"(?![{_W}]|[-./]\d| \d)"
_SHAPES = (
    # +49 151 64003691, +(44) 20 7946 0958
    re.compile(
        rf"(?<![{_W}+])\(?\+\(?[1-9](?:[ .\-/()]{{0,2}}\d){{7,14}}" + EXTENSION + rf"(?![{_W}]|[-.]\d)"
    ),
    # (508) 777-8189 ext. 14, 1-800-555-0199, 454.520.3028, 443 428 9089, 212/555-0198
    lazy_re.compile(
        _NUMBER_START
        + r"(?:1[ .-])?(?:\(\d{3}\)[ -]{0,2}|\d{3}[-./]|[2-9]\d{2} )\d{3}(?:[-. ]| - )\d{4}"
        + EXTENSION
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
