"""Words that look like names but aren't in their context.

Codes in capitals, months with a day or a year, drawn-out words, laughter, and parts of identifiers.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from datasets_app.domain.pii.names.gazetteer import look_up_word

_CODES_TEXT = """
aed aud bic brl cad chf cny czk dkk eta eur gbp hkd huf iban inr isa jpy kyc mxn myr nok nzd ora pin pln
ron sek sgd sim thb tls usa usd vat vpn zar api apr atm ceo cfo cli cpu css csv cto dns faq gps gpu html
http ide imei jar json jwt kpi lan mac mfa nas orm otp pdf php png pos qa ram rds sdk sla sms sql ssd ssh
ssl sso ssn svg tcp udp uri url usb utc uuid wan wifi xml yaml zip
"""
_CODES = frozenset(_CODES_TEXT.split())
_MONTHS_TEXT = """
january february march april may june july august september october november december
jan feb mar apr jun jul aug sep sept oct nov dec
"""
_MONTHS = frozenset(_MONTHS_TEXT.split())
_DATE_JOINERS = frozenset({"of", "the", ",", ".", "-", "/"})  # a month and its day or year
_DAY_OR_YEAR = re.compile(r"(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?|(?:19|20)\d\d", re.IGNORECASE)
_ELONGATED_WORD = re.compile(
    r"(.)\1\1|^(?:h[aeio]+){2,}h?$|^(?:j[ae]+){3,}$|^(?:l+o+)+l+s?$|^a+(?:w+|h+|r*g+h*)$"
)
_MAX_CODE_CHARACTERS = 4
_MAX_UNKNOWN_CHARACTERS = 3
_ROMAN_NUMERAL = re.compile("[ivx]+")  # Louis XVI
_IDENTIFIER_JOINERS = frozenset("_\\$")


def is_refused(words: Sequence[str], starts: Sequence[int], number: int, shouted: bool) -> bool:
    """Whether this word is not a name; ``shouted``: the text is in capitals."""
    word = words[number]
    plain = word.lower()
    if not shouted and len(word) <= _MAX_CODE_CHARACTERS and word.isupper() and _is_code(plain):
        return True
    if plain in _MONTHS and _is_dated(words, number):
        return True
    return _is_elongated(plain) or _is_within_identifier(words, starts, number)


def _is_code(plain: str) -> bool:
    """Short words in capitals, in a text with lower case, that no list of names has."""
    known = look_up_word(plain)
    if plain in _CODES:
        return True
    unknown = 1 < len(plain) <= _MAX_UNKNOWN_CHARACTERS and not known.first and not known.last
    return unknown and not _ROMAN_NUMERAL.fullmatch(plain)


def _is_dated(words: Sequence[str], number: int) -> bool:
    for step in (-1, 1):
        beside = number + step
        if 0 <= beside < len(words) and words[beside].lower() in _DATE_JOINERS:
            beside += step
        if 0 <= beside < len(words) and _DAY_OR_YEAR.fullmatch(words[beside]):
            return True
    return False


@lru_cache(maxsize=1 << 14)
def _is_elongated(plain: str) -> bool:
    """ "hahaha", "awww", "pleaaase", and unpronounceable words."""
    return bool(_ELONGATED_WORD.search(plain)) and not any(look_up_word(plain)[:2])


def _is_within_identifier(words: Sequence[str], starts: Sequence[int], number: int) -> bool:
    """Joined by a sign that connects the parts of an identifier: first_name."""
    start, end = starts[number], starts[number] + len(words[number])
    if (
        number
        and starts[number - 1] + len(words[number - 1]) == start
        and words[number - 1] in _IDENTIFIER_JOINERS
    ):
        return True
    return number + 1 < len(words) and starts[number + 1] == end and words[number + 1] in _IDENTIFIER_JOINERS
