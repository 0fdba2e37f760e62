"""Personal data that has a shape: e-mail and IP addresses, and numbers of telephones, cards and accounts.

Standard library only and linear in the length of the text: every repetition is bounded or can
end in one way only, as the text may come from anyone. What has no shape of its own (a bare run
of digits) counts only after a word that says what it is.
"""

import ipaddress
import re
from collections.abc import Iterator

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
from datasets_app.domain.pii.rules.accounts import find_bank_codes
from datasets_app.domain.pii.rules.emails import find_emails
from datasets_app.domain.pii.rules.ibans import find_ibans
from datasets_app.domain.pii.rules.numbers import find_numbers

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
    found = search_folded(folded, encoded)
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
    if any(kind in (ACCOUNT, IBAN) for kind, _, _ in found):
        found += find_bank_codes(text)
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
