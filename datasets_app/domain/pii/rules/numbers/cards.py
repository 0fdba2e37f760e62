"""Card numbers: by issuer and check digit, by how they are grouped, or after a word that says so.

People mistype their cards, and a mistyped one is all but the true one: where the grouping or the
words around leave no doubt, the check digit is not asked.
"""

import re
from collections.abc import Iterator

from datasets_app.domain import lazy_re
from datasets_app.domain.pii.detector import CREDIT_CARD

Span = tuple[str, int, int]

_DIGIT_GROUPS = re.compile(r"(?<![\w+])(?<!\d[./])\d+(?:[ .-]\d+)*(?!\w)")
_GROUP = re.compile(r"\d+")
_ISSUER_NUMBER = lazy_re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}"
    r"|3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11}|35(?:2[89]|[3-8]\d)\d{12,15}|(?:1800|2131)\d{11}"
    r"|(?:6011|64[4-9]\d|65\d\d|62\d\d|81\d\d)\d{12,15}|(?:220[0-4]|979\d|9792)\d{12}"
    r"|(?:5018|5020|5038|5[68]\d\d|57\d\d|0604|6304|6390|67\d\d|60\d\d)\d{8,15}"
)
# How cards are written; digits in other groups are a row of numbers.
_GROUPINGS = frozenset(
    {(4, 4, 4, n) for n in (1, 2, 3, 4)}
    | {(4, 4, 4, 4, n) for n in (1, 2, 3)}
    | {(4, 6, 5), (4, 6, 4), (8, 8), (4, 4, 5), (6, 4, 5), (4, 4, 4)}
    | {(n,) for n in range(12, 20)}
)
# Nothing else is written so.
_CARD_ONLY_GROUPINGS = {(4, 4, 4, 4): "23456", (4, 6, 5): "3", (4, 6, 4): "3"}
_CARD_WORDS_BEFORE = lazy_re.compile(
    r"\b(?:(?:credit|debit|bank|gift|prepaid|virtual|charge)? ?card(?:s|holder)?|visa|master ?card|amex"
    r"|american express|discover|maestro|diners(?: club)?|jcb|unionpay|cc|ccn|pan|credit|debit"
    r"|tarjeta|carte|karte|kreditkarte)\b"
    r"(?P<between>[^\n]{0,40})\Z",
    re.IGNORECASE,
)
_CARD_WORDS_AFTER = re.compile(
    r"[ ,;/|-]{0,4}(?:\(?(?:exp|cvv|cvc|cv2|csc|valid|good thru|security code|pin)\b"
    r"|(?:0[1-9]|1[0-2]) ?/ ?\d\d)",
    re.IGNORECASE,
)
# A number of something else that stands nearer than the card.
_OTHER_NUMBER_WORDS = re.compile(
    r"order|ticket|case|\bref|\bid\b|track|transaction|invoice|serial|model|version|booking|confirm|epoch"
    r"|time|imei|\blog\b|iban|account|isbn|phone|reference|\bat\b|policy|member|loyalty",
    re.IGNORECASE,
)
_CONTEXT_CHARACTERS = 60


def find_cards(text: str, start: int, end: int) -> Iterator[Span]:
    """Cards among the digits and signs of ``text[start:end]``."""
    for row in _DIGIT_GROUPS.finditer(text, start, end + 1):
        if row.end() - row.start() >= 12:
            yield from _find_cards_in_groups(
                text, [group.span() for group in _GROUP.finditer(text, *row.span())]
            )


def _find_cards_in_groups(text: str, groups: list[tuple[int, int]]) -> Iterator[Span]:
    """Cards among groups of digits; an expiry date or a security code may stand behind one."""
    first = 0
    while first < len(groups):
        for last in range(min(first + 5, len(groups)), first, -1):
            if _is_card(text, groups[first:last], is_all=len(groups) <= last + 2 and first == 0):
                yield CREDIT_CARD, groups[first][0], groups[last - 1][1]
                first = last - 1
                break
        first += 1


def _is_card(text: str, groups: list[tuple[int, int]], is_all: bool) -> bool:
    grouping = tuple(end - start for start, end in groups)
    if grouping not in _GROUPINGS:
        return False
    number = "".join(text[start:end] for start, end in groups)
    if _ISSUER_NUMBER.fullmatch(number) and is_luhn_valid(number):
        # Twelve or thirteen digits are more often the number of a parcel.
        if len(number) >= 14 or (number[0] == "4" and len(groups) == 1):
            return True
    elif not is_all or _are_years(text, groups):
        return False
    elif grouping in _CARD_ONLY_GROUPINGS and number[0] in _CARD_ONLY_GROUPINGS[grouping]:
        return not _IBAN.search(text, max(0, groups[0][0] - 12), groups[0][0])
    return _is_announced(text, groups[0][0], groups[-1][1])


_IBAN = re.compile(r"[A-Z]{2}\d\d ?\Z")


def _are_years(text: str, groups: list[tuple[int, int]]) -> bool:
    return len(groups) > 1 and all(text[start:end][:2] in ("19", "20") for start, end in groups)


def _is_announced(text: str, start: int, end: int) -> bool:
    if _CARD_WORDS_AFTER.match(text, end):
        return True
    said = _CARD_WORDS_BEFORE.search(text, max(0, start - _CONTEXT_CHARACTERS), start)
    return said is not None and _OTHER_NUMBER_WORDS.search(said["between"]) is None


def is_luhn_valid(number: str) -> bool:
    """Whether the last digit of ``number`` (ASCII digits only) is its Luhn check digit."""
    total = 0
    for position, digit in enumerate(reversed(number)):
        value = int(digit) << (position & 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0
