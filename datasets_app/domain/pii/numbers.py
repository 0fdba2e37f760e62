"""Phone, social security and card numbers among other numbers.

A number counts by how it is written (555-123-4567), by its check digit (cards), or after a word
that says what it is ("call me on 5551234567"): order numbers and epochs look the same otherwise.
Texts come folded to ASCII digits (folding.py).
"""

import re
from collections.abc import Iterator

from datasets_app.domain.pii.detector import CREDIT_CARD, PHONE, SSN

Span = tuple[str, int, int]  # kind, start, end

# Digits with nothing but the signs between them that telephone numbers have. (It begins with a
# digit, and repeats single characters only, for the sake of speed.)
_RUN = re.compile(r"[0-9][0-9 ().\-/]{5,}[0-9]")
# How far a pattern may look past its run: an extension, " extension 12345".
_BEYOND = 24
_DATE = re.compile(r"(?:19|20)\d\d[-./ ]\d\d?[-./ ]\d\d?(?!\d)|\d\d?[-./ ]\d\d?[-./ ](?:19|20)\d\d(?!\d)")
_NOT_DIGITS = re.compile(r"[^0-9]+")


def numbers(text: str) -> list[Span]:
    """``(kind, start, end)`` of every number that identifies someone; spans may overlap."""
    found: list[Span] = []
    for run in _RUN.finditer(text):
        value = run[0]
        start, end = run.span()
        signed = start > 0 and text[start - 1] == "+"
        if not signed and value.isdigit():
            # Nothing about it says what it is; it must be a card, or be announced.
            if end - start >= 12:
                found += _cards(text, start, end)
            if _may_be_announced(text, start) or (end - start >= 10 and _SAID_AFTER.match(text, end)):
                found += _announced(text, start, end)
        elif not _is_date(value) and _digit_count(value) >= 7:
            opening = 1 if signed or (start and text[start - 1] == "(") else 0
            found += _in_run(text, start - opening, end)
    return found


def _is_date(value: str) -> bool:
    """A date, perhaps with the hour behind it, and nothing more."""
    return _DATE.match(value) is not None and (len(value) < 15 or _digit_count(value) < 15)


def _in_run(text: str, start: int, end: int) -> Iterator[Span]:
    yield from _written_out(text, start, end)
    if end - start >= 12:
        yield from _cards(text, start, end)
    if _may_be_announced(text, start):
        yield from _announced(text, start, end)


def _digit_count(value: str) -> int:
    return len(_NOT_DIGITS.sub("", value))


# --- told by how they are written -------------------------------------------------------------

_EXTENSION = r"(?:,? {0,2}(?:ext\.?|extension|x) {0,2}\d{1,6})?"
_ALONE = r"(?<![\w+])(?<!\d[-./])(?<!\d\()(?<!\d )"
_SSN = re.compile(
    r"(?<!\w)(?<!\d[-. ])(?!000|666)\d{3}([- ])(?!00)\d{2}\1(?!0000)\d{4}(?!\w|[-./]\d| \d{2,})"
)
_PHONES = (
    # +49 151 64003691
    re.compile(r"(?<![\w+])\+[1-9](?:[ .\-/()]{0,2}\d){7,14}" + _EXTENSION + r"(?!\w|[-.]\d)"),
    # (508) 777-8189 ext. 14, 1-800-555-0199, 454.520.3028, 443 428 9089
    re.compile(
        _ALONE
        + r"(?:1[ .-])?(?:\(\d{3}\)[ -]?|\d{3}[-.]|[2-9]\d{2} )\d{3}[-. ]\d{4}"
        + _EXTENSION
        + r"(?!\w|[-./]\d| \d{3})"
    ),
    # 020 7320 4716, 0151/64003691, 06 12 34 56 78, (030) 28685478
    re.compile(
        _ALONE + r"\(?0[1-9]\d{0,3}\)?[ \-/](?:\d{1,8}[ -]?){1,5}(?<=\d)" + _EXTENSION + r"(?!\w|[-./]\d| \d)"
    ),
    # 0049 30 28685478
    re.compile(_ALONE + r"00[1-9](?:[ -]?\d){8,12}" + r"(?!\w|[-./]\d| \d)"),
)
_SIGNED_DECIMAL = re.compile(r"\+\d+\.\d+")


def _written_out(text: str, start: int, end: int) -> Iterator[Span]:
    for match in _SSN.finditer(text, start, end + _BEYOND):
        yield SSN, match.start(), match.end()
    for pattern in _PHONES:
        for match in pattern.finditer(text, start, end + _BEYOND):
            if match.start() < end and _could_be_dialled(match[0]):
                yield PHONE, match.start(), match.end()


def _could_be_dialled(value: str) -> bool:
    if _DATE.match(value) or _SIGNED_DECIMAL.fullmatch(value):
        return False
    if value.lstrip("(").startswith("0") and not value.startswith("00"):
        return 10 <= _digit_count(re.split("[ex]", value)[0]) <= 12
    return True


# --- told by their check digit ----------------------------------------------------------------

_DIGIT_GROUPS = re.compile(r"(?<![\w+])(?<!\d[./])\d+(?:[ -]\d+)*(?!\w)")
_GROUP = re.compile(r"\d+")
_CARD_NUMBER = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}"
    r"|3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11}|35(?:2[89]|[3-8]\d)\d{12,15}"
    r"|(?:6011|64[4-9]\d|65\d\d|62\d\d)\d{12,15}|(?:5018|5020|5038|5893|6304|6759|676[1-3])\d{8,15}"
)
# How cards are written; digits in other groups are a row of numbers.
_CARD_GROUPS = frozenset(
    {(4, 4, 4, n) for n in (1, 2, 3, 4)}
    | {(4, 4, 4, 4, n) for n in (1, 2, 3)}
    | {(4, 6, 5), (4, 6, 4), (8, 8)}
    | {(n,) for n in range(12, 20)}
)


def _cards(text: str, start: int, end: int) -> Iterator[Span]:
    for row in _DIGIT_GROUPS.finditer(text, start, end + 1):
        if row.end() - row.start() >= 12:
            yield from _cards_in(text, [group.span() for group in _GROUP.finditer(text, *row.span())])


def _cards_in(text: str, groups: list[tuple[int, int]]) -> Iterator[Span]:
    """Cards among groups of digits; an expiry date or a security code may stand behind one."""
    first = 0
    while first < len(groups):
        for last in range(min(first + 5, len(groups)), first, -1):
            if _is_card(text, groups[first:last]):
                yield CREDIT_CARD, groups[first][0], groups[last - 1][1]
                first = last - 1
                break
        first += 1


def _is_card(text: str, groups: list[tuple[int, int]]) -> bool:
    if tuple(end - start for start, end in groups) not in _CARD_GROUPS:
        return False
    number = "".join(text[start:end] for start, end in groups)
    return _CARD_NUMBER.fullmatch(number) is not None and luhn_valid(number)


def luhn_valid(number: str) -> bool:
    """Whether the last digit of ``number`` (ASCII digits only) is its Luhn check digit."""
    total = 0
    for position, digit in enumerate(reversed(number)):
        value = int(digit) << (position & 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


# --- told by the words around them ------------------------------------------------------------

_WINDOW = 60
_PLAIN_NUMBER = re.compile(r"(?<![\w-])(?<!\d\.)\(?\d[\d ().\-/]{5,18}\d" + _EXTENSION + r"(?!\w|[-.]\d)")
_SSN_PLAIN = re.compile(r"(?!000|666)\d{3}[-. ]?(?!00)\d{2}[-. ]?(?!0000)\d{4}")
_SSN_SAID = re.compile(r"\b(?:ssn|itin|social security|social)\b[^\n]{0,24}\Z", re.IGNORECASE)
_PHONE_SAID = re.compile(
    r"(?:\b(?:(?:tele)?phone|mobile|cell(?:phone)?|tel|fax|whatsapp|callback|sms)"
    r"|\b(?:call|text|ring|phone|reach|dial|contact)(?: (?:me|us|him|her|them))?(?: back)?(?: at| on)?"
    r"|\b(?:my|our|his|her|their|contact) number)\b([^\d\n;!?+(]{0,24})\Z",
    re.IGNORECASE,
)
_SAID_AFTER = re.compile(
    r" (?:is|was) (?:the|my|our|his|her|their)"
    r"(?: (?:best|new|old|home|work|mobile|cell|contact|phone|office)){0,2}"
    r" (?:number|phone|cell|mobile|line)\b",
    re.IGNORECASE,
)
_OTHER_NUMBER = re.compile(
    r"order|ticket|case|ref|\bid\b|track|transaction|account|invoice|serial|model|version|booking"
    r"|confirm|epoch|time|date|imei|log|error|code|took|last|\$|€|£|:\S",
    re.IGNORECASE,
)


# One of these stands before every announced number; to look words up is quicker than a search.
_SAYING = frozenset(
    b"ssn itin social phone telephone mobile cell cellphone tel fax whatsapp callback sms call text ring "
    b"reach dial contact number".split()
)
_TO_WORDS = bytes(byte if chr(byte).isascii() and chr(byte).isalpha() else 32 for byte in range(256))


def _may_be_announced(text: str, start: int) -> bool:
    before = text[start - _WINDOW : start] if start > _WINDOW else text[:start]
    words = before.encode("ascii", "replace").lower().translate(_TO_WORDS).split()
    return not _SAYING.isdisjoint(words)


def _announced(text: str, start: int, end: int) -> Iterator[Span]:
    for match in _PLAIN_NUMBER.finditer(text, start, end + _BEYOND):
        if match.start() >= end:
            return
        first, last = match.span()
        if match[0][0] == "(" and ")" not in match[0]:
            first += 1
        value, before = text[first:last], text[max(0, first - _WINDOW) : first]
        if _SSN_PLAIN.fullmatch(value) and _SSN_SAID.search(before):
            yield SSN, first, last
        elif _is_said_to_be_phone(value, before.rstrip("("), text[last : last + _WINDOW]):
            yield PHONE, first, last


def _is_said_to_be_phone(value: str, before: str, after: str) -> bool:
    said = _PHONE_SAID.search(before)
    if said is None or _OTHER_NUMBER.search(said[1]):
        return len(value) >= 10 and value.isdigit() and _SAID_AFTER.match(after) is not None
    return not _DATE.match(value)
