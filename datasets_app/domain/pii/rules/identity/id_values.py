"""Groups of letters and digits that can be one number: "943 476 5919", "QQ 12 34 56 C", "A123456(7)"."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from datasets_app.domain import lazy_re
from datasets_app.domain.pii.rules.identity.id_formats import IdFormat
from datasets_app.domain.pii.rules.identity.id_gap import FILLERS

# Scripts without spaces put no sign between a word and a number: 身份证号码是110105…
_UNSPACED = r"\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_UNSPACED_WORD = lazy_re.compile(f"[{_UNSPACED}]")
GROUP = lazy_re.compile(rf"[^\W_{_UNSPACED}]+|[{_UNSPACED}]+")
DIGIT = re.compile(r"[0-9]")
MAX_VALUE_CHARACTERS = 40
_MAX_GROUPS = 10
_MIN_SPACED_DIGITS = 8
_REST_OF_CODE = lazy_re.compile(rf"[^\W_{_UNSPACED}][-./]?\Z")
_WORD_WITH_NUMBER = re.compile(r"[A-Z]?[a-z]{3,}[0-9]{1,4}")
_JOINED = re.compile(r"[-./][^\W_]")
# A date, perhaps with the hour behind it, two years, a version, an amount.
_DATE = re.compile(
    r"(?:(?:19|20)\d\d[-./ ]\d\d?[-./ ]\d\d?|\d\d?[-./ ]\d\d?[-./ ](?:19|20)?\d\d"
    r"|(?:19|20)\d\d[-/ ](?:19|20)\d\d|\d{1,3}(?:\.\d{1,3}){3}|\d+\.\d\d?|v?\d+\.\d+\.\d+)(?: \d\d?)?"
)
COMPACT_DATE = re.compile(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:[0-2]\d|3[01])")
_UNIT_AFTER = re.compile(
    r" ?(?:%|€|\$|£|(?:usd|eur|gbp|dollars|euros|km|miles|years|days|hours|gb|mb|kb|ms|units|pieces"
    r"|pcs|users|cars|rows|images|people|times|[kmg]?bps|rpm|[kmg]?hz|k?w|mm|dpi)\b)",
    re.IGNORECASE,
)


class Value(NamedTuple):
    """Groups of letters and digits read as one number; ``plain`` is it in capitals, without signs."""

    start: int
    end: int
    plain: str
    is_spaced: bool


def looks_like_code(text: str, value: Value, form: IdFormat) -> bool:
    """Whether it can be the number of a paper: long enough, digits in it, and no date, amount or call."""
    digits = len(DIGIT.findall(value.plain))
    if form.fits(value.plain):
        if digits < 2 or (form.is_wide and _WORD_WITH_NUMBER.fullmatch(text[value.start : value.end])):
            return False
    elif not (5 <= len(value.plain) <= 20 and digits >= (_MIN_SPACED_DIGITS if value.is_spaced else 5)):
        return False
    written = text[value.start : value.end]
    if text[value.start - 1 : value.start] in ("+", "$", "€", "£", "@"):
        return False
    if _UNIT_AFTER.match(text, value.end):
        return False
    return not _DATE.fullmatch(written) or (not form.is_wide and form.fits(value.plain) and "." in written)


def read_values(text: str, group: re.Match[str]) -> Iterator[Value]:
    """The numbers that begin with a group of letters and digits, the longest first."""
    if _REST_OF_CODE.search(text, max(0, group.start() - 2), group.start()):
        return iter(())
    values: list[Value] = []
    parts: list[str] = []
    end, is_spaced = group.start(), False
    for part in GROUP.finditer(text, group.start(), group.start() + MAX_VALUE_CHARACTERS):
        between = text[end : part.start()]
        if _UNSPACED_WORD.match(part[0]):
            break
        if parts:
            if len(between) > 1 or len(parts) == _MAX_GROUPS:
                break
            if between == " ":
                if not _continues(parts[-1], part[0]) or _UNIT_AFTER.match(text, end):
                    break
                is_spaced = True
            elif between not in ("-", ".", "/", "("):
                break
        elif part[0].isalpha() and not _can_begin(part[0], text[part.end() : part.end() + 1]):
            break
        parts.append(part[0])
        end = part.end()
        closed = between == "(" and text[end : end + 1] == ")"
        if DIGIT.search("".join(parts)) and not _JOINED.match(text, end + closed):
            values.append(Value(group.start(), end + closed, "".join(parts).upper(), is_spaced))
    return reversed(values)


def _can_begin(letters: str, sign: str) -> bool:
    """Letters before the digits: AB 12 34 56 C, B-MW 1234, qq 12 34 56 c; ``sign`` stands behind them."""
    if letters.isupper():
        return len(letters) <= 5
    return len(letters) <= (2 if sign == " " else 3) and letters.lower() not in FILLERS


def _continues(before: str, part: str) -> bool:
    """Whether two groups with a space between them can be one number: 943 476 5919, QQ 12 34 56 C."""
    if len(before) > 8 or len(part) > 8:
        return False
    if DIGIT.search(part):
        return True
    if len(part) > 3 or (part in FILLERS and part != "c"):
        return False
    return part.isupper() or len(part) == 1 or len(before) <= 4
