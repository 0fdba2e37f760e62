"""Personal data that has a shape: e-mail and IP addresses, and numbers of telephones, cards and accounts.

Standard library only and linear in the length of the text: every repetition is bounded or can
end in one way only, as the text may come from anyone. What has no shape of its own (a bare run
of digits) counts only after a word that says what it is.
"""

import ipaddress
import re
from collections.abc import Iterator
from functools import cache

from datasets_app.domain.pii.detector import (
    ACCOUNT,
    CREDIT_CARD,
    EMAIL,
    IBAN,
    IP,
    PHONE,
    SSN,
    Match,
    merge_matches,
)
from datasets_app.domain.pii.folding import fold_and_encode, map_to_original
from datasets_app.domain.pii.placeholders import blank_placeholders
from datasets_app.domain.pii.rules.internet.emails import find_emails
from datasets_app.domain.pii.rules.numbers import labels
from datasets_app.domain.pii.rules.numbers.numbers import find_numbers

# International bank account numbers (IBAN), by country, form and check digits.
#
# People mistype their accounts, and a mistyped one is all but the true one: after the word "IBAN", or
# written in groups of four, the check digits are not asked.
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
    UA6n19c VA18n VG4a16n XK16n YE4a4n18c AO21n BF24c BJ24c CF23n CG23n CI24c CM23n CV21n DZ22n GA23n GQ23n
    GW2c19n IR22n KM23n MA24n MG23n ML24c MZ21n NE24c SN24c TD23n TG24c
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


SHAPED_KINDS = (
    EMAIL,
    IBAN,
    IP,
    CREDIT_CARD,
    SSN,
    ACCOUNT,
    PHONE,
)

# Every digit as 0, and what may stand between the digits of a number left out: so that "has it
# seven digits in a row?" is one search for a constant.
_DIGITS_TO_ZEROES = bytes(48 if 48 <= byte <= 57 else byte for byte in range(256))
_BETWEEN_DIGITS = b" ().-/"
_LETTERS_AND_DIGITS = bytes(
    ord("a") if chr(b).isascii() and chr(b).isalpha() else 48 if 48 <= b <= 57 else 32 for b in range(256)
)


def find_patterns(text: str) -> list[Match]:
    """Every value in ``text``, in order of its start, none overlapping another.

    Addresses that are written out ("jane [at] acme (dot) com") are left to ``rules.find_all``.
    """
    folded, encoded = fold_and_encode(text)
    found = merge_matches(
        [*search_folded(folded, encoded), *labels.search_folded(blank_placeholders(folded))]
    )
    return map_to_original(text, found) if found and folded is not text else found


def search_folded(text: str, encoded: bytes) -> list[Match]:
    """The same in a text that is folded; ``encoded`` is it in UTF-8."""
    found = search_numbers(text, encoded)
    if b"@" in encoded:
        found += find_emails(text)
    return merge_matches(found) if len(found) > 1 else found


def search_numbers(text: str, encoded: bytes) -> list[Match]:
    """Of what :func:`search` finds all that has digits; spans may overlap."""
    # Necessary conditions first: most texts have none of this, and must cost next to nothing.
    # Single characters before longer ones: a text without a colon is told by the quickest search.
    squeezed = encoded.translate(_DIGITS_TO_ZEROES, _BETWEEN_DIGITS)
    found: list[Match] = []
    if b":" in squeezed and (b"::" in squeezed or squeezed.count(b":") >= 7):
        found += _find_ipv6(text)
    if b"0" in squeezed and b"0000" in squeezed:
        # Four numbers with dots between them hold "0.0" twice at least: 1.2.3.4 is 0.0.0.0.
        if encoded.count(b".") >= 3 and encoded.translate(_DIGITS_TO_ZEROES).count(b"0.0") >= 2:
            found += _find_ipv4(text)
        if b"00000" in squeezed:
            found += _find_all_numbers(text, encoded, squeezed)
    return found


def _find_all_numbers(text: str, encoded: bytes, squeezed: bytes) -> list[Match]:
    # A placeholder's word says nothing about the number beside it.
    text = blank_placeholders(text)
    found = find_numbers(text)
    if b"0000000" in squeezed and (
        b"0000000000" in squeezed or b"a00" in encoded.translate(_LETTERS_AND_DIGITS)
    ):
        found += find_ibans(text)
    return [Match(*number) for number in found]


# --- IP addresses ----------------------------------------------------------------------------

_IPV4 = re.compile(
    r"(?<![\w.])(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})"
    r"(?!\w|\.\d|[-.+]?(?:rc|alpha|beta|dev|preview|snapshot)[.-]?\d{0,4}\b|[-.+]?(?:tar|zip|t?gz|exe|msi|jar|whl|deb|rpm|dmg)\b)"
)
# A version within the same sentence, with nothing of a network between it and the number; a name and a slash.
_VERSION_CONTEXT = re.compile(
    r"(?:(?:\b(?:v|ver|rev|section|chapter|step|article|clause|rule|room|paragraph|part|item|table|figure|oid|odbc|dotnet|sdk"
    r"|chrome|chromium|firefox|edge|safari|opera|webkit|package|driver|firmware)|[vV]ersions?|[rR]elease[ds]?|[bB]uilds?"
    r"|[rR]evisions?|\b(?:up|down)grad\w{1,5}|\bbump(?:ed|s)?|\bsemver)\b[\"')]{0,2}"
    r"(?:(?!\b(?:ips?|ipv4|addr\w*|hosts?|servers?|ping|ssh|subnet|gateway|dns|clients?|peer|proxy|listen\w*|bind)\b)[^\n;]){0,40}"
    r"|[A-Za-z]/|==|>=|<=|~[=>]|\^|[^\s>]\s[<>]\s|§)[\s:=\"'(]{0,3}$",
    re.IGNORECASE,
)
# In blocks in use, or written out with all of its eight groups; the last two may be an IPv4 address.
_HEX_GROUP = r"[0-9a-f]{1,4}"
_QUAD = r"\d{1,3}(?:\.\d{1,3}){3}"
_IPV6 = re.compile(
    rf"(?<![\w:.])(?:(?:[23][0-9a-f]{{3}}|f[c-f][0-9a-f]{{2}}|64:ff9b"
    rf"|::ffff)(?::{{1,2}}{_HEX_GROUP}(?!\.\d)){{0,7}}"
    rf"(?:(?:::?{_QUAD})|::)?|{_HEX_GROUP}(?::{_HEX_GROUP}){{7}})(?![\w:]|\.\d)",
    re.IGNORECASE,
)


def _find_ipv4(text: str) -> Iterator[Match]:
    for match in _IPV4.finditer(text):
        parts = [int(part) for part in match.groups()]
        if max(parts) > 255 or _is_special_address(parts):
            continue
        start = match.start()
        # "upgrade to 13.19.19.94" has the shape, but is a version.
        if not _VERSION_CONTEXT.search(text, max(0, start - 40), start):
            yield Match(IP, start, match.end())


def _is_special_address(parts: list[int]) -> bool:
    """Loopback, "any address" and network masks belong to no one."""
    return parts[0] == 127 or parts == [0, 0, 0, 0] or parts[:2] == [255, 255]


def _find_ipv6(text: str) -> Iterator[Match]:
    # a::b and x[1::2] are code: only the blocks in use (2000::/3, fc00::/6) count. And
    # feed::beef is a joke: a real address has a digit somewhere.
    for match in _IPV6.finditer(text):
        value = match[0]
        # 00:1a:2b:ff:fe:3c:4d:5e is the address of a network card.
        is_hardware = len(value) == 23 and value.count(":") == 7 and value[2::3] == ":" * 7
        if value.count(":") >= 2 and any(c.isdigit() for c in value) and not is_hardware and _is_ipv6(value):
            yield Match(IP, match.start(), match.end())


def _is_ipv6(value: str) -> bool:
    try:
        ipaddress.IPv6Address(value)
    except ValueError:
        return False
    return True
