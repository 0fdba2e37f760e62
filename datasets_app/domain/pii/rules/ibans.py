"""International bank account numbers (IBAN), by country, form and check digits.

People mistype their accounts, and a mistyped one is all but the true one: after the word "IBAN", or written
in groups of four, the check digits are not asked.
"""

import re
from collections.abc import Iterator
from functools import cache

from datasets_app.domain.pii.detector import IBAN

Span = tuple[str, int, int]  # kind, start, end

# What follows the check digits: n digits, a letters, c either. First SWIFT's registry, then what banks of
# further countries use without being in it.
_FORMS_TEXT = """
    AD8n12c AE19n AL8n16c AT16n AZ4a20c BA16n BE12n BG4a6n8c BH4a14c BI23n BR23n1a1c BY4c4n16c CH5n12c CR18n
    CY8n16c CZ20n DE18n DJ23n DK14n DO4c20n EE16n EG25n ES20n FI14n FK2a12n FO14n FR10n11c2n GB4a14n GE2a16n
    GI4a15c GL14n GR7n16c GT24c HN4a20n HR17n HU24n IE4a14n IL19n IQ4a15n IS22n IT1a10n12c JO4a4n18c KW4a22c
    KZ3n13c LB4n20c LC4a24c LI5n12c LT16n LU3n13c LV4a13c LY21n MC10n11c2n MD20c ME18n MK3n10c2n MN16n MR23n
    MT4a5n18c MU4a19n3a NI4a20n NL4a10n NO11n OM3n16c PK4a16c PL24n PS4a21c PT21n QA4a21c RO4a16c RS18n
    RU14n15c SA2n18c SC4a20n3a SD14n SE20n SI15n SK20n SM1a10n12c SO19n ST21n SV4a20n TL19n TN20n TR6n16c
    UA6n19c VA18n VG4a16n XK16n YE4a4n18c
    AO21n BF24c BJ24c CF23n CG23n CI24c CM23n CV21n DZ22n GA23n GQ23n GW2c19n IR22n KM23n MA24n MG23n ML24c
    MZ21n NE24c SN24c TD23n TG24c
"""
_FORMS = {form[:2]: form[2:] for form in _FORMS_TEXT.split()}
_PART = re.compile(r"([0-9]+)([nac])")
_CLASSES = {"n": "[0-9]", "a": "[A-Z]", "c": "[0-9A-Z]"}

# The check digits, which few texts have behind a letter; what stands before them is told afterwards. (It
# begins with a digit for the sake of speed.)
_CHECK_DIGITS = re.compile(
    r"[0-9](?:(?<=[A-Za-z][0-9])|(?<=[A-Za-z][ .\-][0-9])) ?[0-9](?=[ .\-]{0,2}[A-Za-z0-9])"
)
_COUNTRY = re.compile(r"(?:(?<![A-Za-z0-9])|(?<=IBAN)|(?<=iban))([A-Za-z]{2})[ .\-]?\Z")
_CHARACTER = re.compile(r"(?:[ .\-/]{0,2}|\n)[A-Za-z0-9]")
_IN_FOURS = re.compile(r"[A-Z]{2}[0-9]{2}(?:([ \-])[0-9A-Z]{4})(?:\1[0-9A-Z]{4}){1,6}(?:\1[0-9A-Z]{1,3})?")
_ANNOUNCED = re.compile(
    r"iban(?:[^A-Za-z0-9]{1,4}(?:no|nr|num|number|nummer|code|is|ist|est|es|of|my"
    r"|the)){0,3}[^A-Za-z0-9]{0,6}\Z",
    re.IGNORECASE,
)
_ANNOUNCEMENT_CHARACTERS = 40
# Without signs, or in groups of four.
_EVEN = re.compile(
    r"[A-Za-z]{2}[0-9]{2}(?:[A-Za-z0-9]{11,30}|([ .\-])(?:[A-Za-z0-9]{4}\1){2,7}[A-Za-z0-9]{1,4})"
)
_MIN_LENGTH, _MAX_LENGTH = 15, 34
_MIN_DIGITS, _MIN_ROUGH_DIGITS = 8, 10


def find_ibans(text: str) -> Iterator[Span]:
    end = 0
    for digits in _CHECK_DIGITS.finditer(text):
        country = _COUNTRY.search(text, max(end, digits.start() - 7), digits.start())
        if country and country[1].upper() in _FORMS:
            end = _find_end(text, country.start(), country[1].upper())
            if end:
                yield IBAN, country.start(), end
            end = end or digits.end()


def _find_end(text: str, start: int, country: str) -> int:
    """Where the account that begins at ``start`` ends; 0 if none does."""
    pattern, length = _compile_form(country)
    at, ends = start, []
    for _ in range(_MAX_LENGTH):
        character = _CHARACTER.match(text, at)
        if character is None:
            break
        at = character.end()
        ends.append(at)
    if len(ends) >= length and _is_whole(text, ends[length - 1]):
        raw = text[start : ends[length - 1]]
        value = _strip_signs(raw)
        if pattern.fullmatch(value) and (
            _IN_FOURS.fullmatch(raw) or (is_iban_valid(value) and _count_digits(value) >= _MIN_DIGITS)
        ):
            return ends[length - 1]
    return _find_odd_end(text, start, ends[_MIN_LENGTH - 1 :])


def _find_odd_end(text: str, start: int, ends: list[int]) -> int:
    """For a form that the table doesn't have: the check digits, or the word before, must be there."""
    is_announced = _ANNOUNCED.search(text, max(0, start - _ANNOUNCEMENT_CHARACTERS), start)
    for end in reversed(ends):
        raw = text[start:end]
        if not _is_whole(text, end) or not _EVEN.fullmatch(raw):
            continue
        value = _strip_signs(raw)
        if _count_digits(value) >= _MIN_ROUGH_DIGITS and (is_announced or is_iban_valid(value)):
            return end
    return 0


def _is_whole(text: str, end: int) -> bool:
    return not (text[end : end + 1].isalnum() and text[end : end + 1].isascii())


def _strip_signs(raw: str) -> str:
    return re.sub("[^A-Z0-9]", "", raw.upper())


def _count_digits(value: str) -> int:
    return sum(map(str.isdigit, value))


@cache
def _compile_form(country: str) -> tuple[re.Pattern[str], int]:
    """The account in capitals without signs, and how many characters it has."""
    parts = [(int(count), kind) for count, kind in _PART.findall(_FORMS[country])]
    body = "".join(f"{_CLASSES[kind]}{{{count}}}" for count, kind in parts)
    return re.compile(f"{country}[0-9]{{2}}{body}"), 4 + sum(count for count, _ in parts)


def is_iban_valid(value: str) -> bool:
    """Whether the check digits of ``value`` (capitals and ASCII digits only) are right (ISO 7064, mod 97)."""
    return int("".join(str(int(character, 36)) for character in value[4:] + value[:4])) % 97 == 1
