"""Hardware addresses of network cards (MAC, EUI-64): 00:1a:2b:3c:4d:5e, 00-1A-2B-3C-4D-5E, 001a.2b3c.4d5e.

Without signs, or with signs that a row of numbers has as well, one counts after a word such as "MAC".
"""

import re
from collections.abc import Iterator

from datasets_app.domain.pii.detector import MAC, Match, drop_overlaps

Span = tuple[int, int]

_HEX = "[0-9A-Fa-f]"
# As many pairs as there are: six or eight make an address, sixteen a fingerprint.
_PAIRS = re.compile(rf"(?<![0-9A-Za-z]){_HEX}{{2}}([:\-])(?:{_HEX}{{2}}\1){{4,64}}{_HEX}{{2}}(?!\1?\w)")
_FOURS = re.compile(
    rf"(?<![0-9A-Za-z])(?<![0-9A-Za-z]\.){_HEX}{{4}}(\.)(?:{_HEX}{{4}}\.){{1,2}}{_HEX}{{4}}(?!\.?\w)"
)
_BARE = re.compile(
    rf"(?<![0-9A-Za-z\-])(?:{_HEX}{{12}}|{_HEX}{{16}}|{_HEX}{{2}}(?: {_HEX}{{2}}){{5}})"
    r"(?![0-9A-Za-z]|-\w)"
)
_HEX_DIGITS_TO_H = bytes(
    ord("h") if chr(b) in "0123456789abcdefABCDEF" else b if chr(b) in ". " else 0 for b in range(256)
)
_LENGTHS = (12, 16)
_CUES = re.compile(
    r"\b(?:mac|hw ?addr|(?:hardware|physical|ethernet|wi-?fi|wlan|lan|bluetooth|network|bt) ?(?:addr|id\b)"
    r"|bssid|lladdr|eui-?(?:48|64)?|physische adresse|adresse physique|direcci[oó]n f[ií]sica)"
    r"(?P<between>[^\n]{0,40}|[^\n]{0,20}\n[^\w\n]{0,4})\Z",
    re.IGNORECASE,
)
_CUE_CHARACTERS = 70
_OTHER_CODE = re.compile(
    r"order|ticket|case|commit|build|hash|sha|version|serial|model|invoice|track|token|key|id\b|\d",
    re.IGNORECASE,
)
# Multicast is addressed to no single card.
_GROUP_ADDRESS = re.compile(r"01005e|3333|0180c2")


def may_hold(encoded: bytes, shape: bytes) -> bool:
    """Pairs or fours of hexadecimal digits with signs between them, or twelve without any."""
    if b"0" not in shape:
        return False
    if encoded.count(b":") >= 5 or encoded.count(b"-") >= 5:
        return True
    if b"a0" not in shape and b"0a" not in shape:
        return False
    hexadecimal = encoded.translate(_HEX_DIGITS_TO_H)
    return (
        b"hhhh.hhhh.hhhh" in hexadecimal
        or b"hhhhhhhhhhhh" in hexadecimal
        or b"hh hh hh hh hh hh" in hexadecimal
    )


def search_folded(text: str) -> list[Match]:
    spans = [*_find_grouped(text), *_find_bare(text)]
    return drop_overlaps(MAC, spans) if spans else []


def _find_grouped(text: str) -> Iterator[Span]:
    for pattern in (_PAIRS, _FOURS):
        for match in pattern.finditer(text):
            digits = match[0].replace(match[1], "")
            if len(digits) not in _LENGTHS or not _is_of_a_card(digits):
                continue
            # 01-12-23-34-41-49 are numbers of a lottery, unless they have a letter among them.
            if (
                (pattern is _PAIRS and match[1] == ":")
                or not digits.isdigit()
                or _is_announced(text, match.start())
            ):
                yield match.span()


def _find_bare(text: str) -> Iterator[Span]:
    for match in _BARE.finditer(text):
        if _is_of_a_card(match[0].replace(" ", "")) and _is_announced(text, match.start()):
            yield match.span()


def _is_of_a_card(digits: str) -> bool:
    return len(set(digits)) > 1 and not _GROUP_ADDRESS.match(digits.lower())


def _is_announced(text: str, start: int) -> bool:
    cue = _CUES.search(text, max(0, start - _CUE_CHARACTERS), start)
    return cue is not None and not _OTHER_CODE.search(cue["between"])
