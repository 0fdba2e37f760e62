"""Everything that rules alone tell: what a verification can insist on being gone.

The text is folded once for all rules, and a rule is asked only about texts that can hold what it
looks for: a few searches for constants tell that of most texts.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

from datasets_app.domain import lazy_re
from datasets_app.domain.pii.detector import (
    ACCOUNT,
    CREDENTIAL,
    CRYPTO_WALLET,
    EMAIL,
    HANDLE,
    HOST,
    IBAN,
    ID_NUMBER,
    JUDGED_KINDS,
    MAC,
    PATH,
    PATTERN_KINDS,
    URL,
    Match,
)
from datasets_app.domain.pii.encodings import MAX_DEPTH, decode_escapes, find_encoded_texts
from datasets_app.domain.pii.folding import fold_and_encode, map_to_original
from datasets_app.domain.pii.placeholders import blank_placeholders
from datasets_app.domain.pii.rules import patterns
from datasets_app.domain.pii.rules.credentials import credentials, wallets
from datasets_app.domain.pii.rules.identity import id_numbers
from datasets_app.domain.pii.rules.internet import hosts, mac_addresses, paths, urls
from datasets_app.domain.pii.rules.internet.emails import find_spelled_emails
from datasets_app.domain.pii.rules.numbers import labels
from datasets_app.domain.pii.rules.technical import blank_protected, drop_protected, find_protected
from datasets_app.domain.pii.rules.users import handles

ALL_KINDS = frozenset(PATTERN_KINDS)
# What makes an address of the web personal; its folders aren't paths of a file system.
_KINDS_IN_URLS = ALL_KINDS - {URL, HOST, PATH}
# Without its surroundings, code says nothing of people; its folders and machines aren't findings.
_CERTAIN_IN_CODE = ALL_KINDS - JUDGED_KINDS - {URL, HOST, PATH}
_NUMBERS_AND_ADDRESSES = frozenset(patterns.SHAPED_KINDS)


def _get_shape(byte: int) -> int:
    """A letter (or a byte of another script) as "a", a digit as "0", most signs as a blank."""
    sign = chr(byte)
    if byte >= 0x80 or sign.isalpha():
        return ord("a")
    if sign.isdigit():
        return ord("0")
    return byte if sign in "._~$%+-/:\\" else ord(" ")


_ASCII = bytes(range(128))
_SHAPE_TABLE = bytes(map(_get_shape, range(256)))


class _Search(NamedTuple):
    """A search for values of ``kinds``, and the necessary condition that spares it most texts.

    ``may_hold`` is told the text in UTF-8, and its shape: see :func:`_get_shape`. ``find`` is given the
    folded text with its placeholders blanked.
    """

    kinds: frozenset[str]
    may_hold: Callable[[bytes, bytes], bool]
    find: Callable[[str], list[Match]]


def _find_values_in_url(text: str) -> list[Match]:
    return find_all(text, _KINDS_IN_URLS)


# A further class of personal data is a module of its own in this package, and a line here.
_SEARCHES: tuple[_Search, ...] = (
    _Search(frozenset({ID_NUMBER}), id_numbers.may_hold, id_numbers.search_folded),
    _Search(frozenset({CRYPTO_WALLET}), wallets.may_hold, wallets.search_folded),
    _Search(frozenset({MAC}), mac_addresses.may_hold, mac_addresses.search_folded),
    _Search(labels.KINDS, labels.may_hold, labels.search_folded),
    _Search(frozenset({HANDLE}), handles.may_hold, handles.search_folded),
    # Every address of the web has an unusual sign.
    _Search(
        frozenset({URL}),
        urls.may_hold,
        partial(urls.search_folded, find_values=_find_values_in_url),
    ),
)


# Letters of scripts in which people put no space beside an address or a number: "IPは192.0.2.17です".
_UNSPACED = "\u0590-\u1cff\u2e80-\ud7ff\uf900-\ufdff\ufe70-\ufefe"
_BESIDE_ASCII = lazy_re.compile(f"(?<=[!-~])[{_UNSPACED}]|[{_UNSPACED}](?=[!-~])")


def find_all(text: str, kinds: frozenset[str] = ALL_KINDS, depth: int = 0) -> list[Match]:
    """The values of ``kinds`` in ``text``, by their start; those of different classes may overlap. Those that
    a format decides are found in what is encoded too, to a certain depth."""
    folded, encoded = fold_and_encode(text)
    found = _search_folded(folded, encoded, kinds)
    if len(encoded) != len(folded) and not kinds <= JUDGED_KINDS:
        parted = _BESIDE_ASCII.sub(" ", folded)
        if parted != folded:
            parted_encoded = parted.encode("utf-8", "surrogatepass")
            found = _unite(found, _search_folded(parted, parted_encoded, kinds - JUDGED_KINDS))
    if found and folded is not text:
        found = map_to_original(text, found)
    if depth < MAX_DEPTH and (certain := kinds & _CERTAIN_IN_CODE):
        found = _unite(found, _find_encoded(text, encoded, certain, depth + 1))
    return sorted(found, key=_get_place)


def _find_encoded(text: str, encoded: bytes, kinds: frozenset[str], depth: int) -> list[Match]:
    """The values behind escapes, and the whole of what is in base64 or hexadecimal digits and holds one."""
    found: list[Match] = []
    if decoded := decode_escapes(text, encoded):
        for match in find_all(decoded.text, kinds, depth):
            if place := decoded.locate(match.start, match.end):
                found.append(match._replace(start=place[0], end=place[1]))
    for start, end, said in find_encoded_texts(text, encoded):
        found += [match._replace(start=start, end=end) for match in find_all(said, kinds, depth)]
    return found


def _unite(found: list[Match], more: list[Match]) -> list[Match]:
    """All of both without those that lie within another of their class."""
    if not more:
        return found
    united: list[Match] = []
    ends: dict[str, int] = {}
    for match in sorted([*found, *more], key=_get_place):
        if match.end > ends.get(match.kind, -1):
            united.append(match)
            ends[match.kind] = match.end
    return united


def _search_folded(folded: str, encoded: bytes, kinds: frozenset[str]) -> list[Match]:
    found = [] if kinds.isdisjoint(_NUMBERS_AND_ADDRESSES) else patterns.search_folded(folded, encoded)
    if EMAIL in kinds and (b"dot" in encoded or _may_be_escaped(encoded)):
        found += find_spelled_emails(folded)
    shape = encoded.translate(_SHAPE_TABLE)
    searches = _choose_searches(encoded, shape, kinds)
    searches += _choose_further_searches(_SEARCHES, encoded, shape, kinds)
    if not found and not searches:
        return found
    protected = find_protected(folded)
    blank = blank_protected(blank_placeholders(folded), protected)
    for search in searches:
        found += search(blank)
    if any(match.kind in (ACCOUNT, IBAN) for match in found):
        found += labels.find_bank_codes(blank)
    if not found:
        return found
    found = drop_protected(_drop_credentials_of_wallets(found), protected)
    return list(dict.fromkeys(match for match in found if match.kind in kinds))


def _get_place(match: Match) -> tuple[int, int]:
    return match.start, -match.end


def _drop_credentials_of_wallets(found: list[Match]) -> list[Match]:
    """A wallet's address looks as random as a key; its form and check sum tell the two apart."""
    wallets_found = {(match.start, match.end) for match in found if match.kind == CRYPTO_WALLET}
    if not wallets_found:
        return found
    return [m for m in found if m.kind != CREDENTIAL or (m.start, m.end) not in wallets_found]


def _may_be_escaped(encoded: bytes) -> bool:
    """Whether an address may be written with (at) or [AT]."""
    return (
        (b"(" in encoded and (b"at)" in encoded or b"AT)" in encoded))
        or (b"[" in encoded and (b"at]" in encoded or b"AT]" in encoded))
        or (b"{" in encoded and b"at}" in encoded)
        or (b"D" in encoded and b"DOT" in encoded)
    )


def _choose_searches(
    encoded: bytes, shape: bytes, kinds: frozenset[str]
) -> list[Callable[[str], list[Match]]]:
    """The searches that cannot be spared a text."""
    searches: list[Callable[[str], list[Match]]] = []
    letter_digit = b"a0" in shape
    address = b"://" in shape
    if CREDENTIAL in kinds and (letter_digit or b"0a" in shape or _may_hold_credentials(encoded, address)):
        searches.append(credentials.search_folded)
    if PATH in kinds and (
        b"\\" in shape or b"~" in shape or (b"/" in shape and _may_hold_paths(encoded, shape))
    ):
        searches.append(paths.search_folded)
    if HOST in kinds:
        # Within a sentence, a machine has a number, or a dot in its name, or stands behind an @.
        if letter_digit or b"@" in encoded or b"a-0" in shape or (not address and b"a.a" in shape):
            searches.append(hosts.search_folded)
        elif address:
            searches.append(hosts.search_host_names)
    return searches


def _choose_further_searches(
    searches: Iterable[_Search], encoded: bytes, shape: bytes, kinds: frozenset[str]
) -> list[Callable[[str], list[Match]]]:
    return [
        search.find
        for search in searches
        if not kinds.isdisjoint(search.kinds) and search.may_hold(encoded, shape)
    ]


def _may_hold_credentials(encoded: bytes, address: bool) -> bool:
    """Without a digit beside a letter: passwords, keys in lines, tokens of letters alone."""
    return (
        b"ass" in encoded
        or b"ASS" in encoded
        or b"pw" in encoded
        or b"PW" in encoded
        or b"wort" in encoded
        or (address and b"@" in encoded)
        or b"_" in encoded
        or b"AKIA" in encoded
        or b"-----" in encoded
        or b" -" in encoded
    )


def _may_hold_paths(encoded: bytes, shape: bytes) -> bool:
    """A slash that no letter, digit or slash stands before: /home, not and/or."""
    if b" /" in shape or shape.startswith(b"/"):
        return True
    return b":/" in shape and (
        b":/a" in shape
        or b":///" in shape
        or b"b://" in encoded
        or b"fs://" in encoded
        or b"afp://" in encoded
    )


class RuleDetector:
    """A detector of the pattern classes, or of some of them."""

    def __init__(self, kinds: Iterable[str] = PATTERN_KINDS) -> None:
        self.kinds = frozenset(kinds)
        if not self.kinds <= ALL_KINDS:
            raise ValueError(f"rules find {', '.join(PATTERN_KINDS)} only")

    def find(self, text: str) -> list[Match]:
        return find_all(text, self.kinds)
