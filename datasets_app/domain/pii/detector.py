"""What all detectors of personal data share: the match, the protocol, the classes and their order."""

from collections.abc import Iterable
from typing import NamedTuple, Protocol

EMAIL, IP, CREDIT_CARD, SSN, PHONE = "EMAIL", "IP", "CREDIT_CARD", "SSN", "PHONE"
CREDENTIAL, PATH, HOST, NAME = "CREDENTIAL", "PATH", "HOST", "NAME"
HANDLE, ADDRESS, URL, DATE_OF_BIRTH = "HANDLE", "ADDRESS", "URL", "DATE_OF_BIRTH"
IBAN, ACCOUNT, ID_NUMBER, CRYPTO_WALLET, MAC = "IBAN", "ACCOUNT", "ID_NUMBER", "CRYPTO_WALLET", "MAC"


class PersonalClass(NamedTuple):
    """Checks call one value a ``noun``, and their findings have the ``code``; people choose ``nouns``.

    A finding of a judged class may be wrong, so that people judge it: only a model or the words around a
    value decide. All others a format or a checksum decides.
    """

    kind: str
    code: str
    noun: str
    nouns: str
    is_judged: bool = False


# Every class that a scrub replaces if none are chosen. Where two overlap, the earlier names the whole.
CLASSES = (
    PersonalClass(CREDENTIAL, "E407", "credential", "credentials"),
    PersonalClass(URL, "E416", "web address with personal data", "web addresses that carry personal data"),
    PersonalClass(EMAIL, "E401", "e-mail address", "e-mail addresses"),
    PersonalClass(CRYPTO_WALLET, "E417", "wallet address", "wallet addresses"),
    PersonalClass(IBAN, "E412", "bank account (IBAN)", "bank accounts (IBAN)"),
    PersonalClass(PATH, "E408", "file-system path", "file-system paths"),
    PersonalClass(IP, "E405", "IP address", "IP addresses"),
    PersonalClass(MAC, "E418", "hardware address", "hardware (MAC) addresses"),
    PersonalClass(HOST, "E409", "internal host name", "internal host names"),
    PersonalClass(CREDIT_CARD, "E404", "credit card number", "card numbers"),
    PersonalClass(SSN, "E403", "social security number", "social security numbers"),
    PersonalClass(ID_NUMBER, "E414", "identity number", "identity, tax, license and health numbers"),
    PersonalClass(ACCOUNT, "E413", "account number", "account and customer numbers", is_judged=True),
    PersonalClass(PHONE, "E402", "phone number", "telephone numbers"),
    PersonalClass(DATE_OF_BIRTH, "E415", "date of birth", "dates of birth", is_judged=True),
    PersonalClass(ADDRESS, "E411", "postal address", "postal addresses", is_judged=True),
    PersonalClass(HANDLE, "E410", "user name", "user names", is_judged=True),
    PersonalClass(NAME, "W406", "name of a person", "names of people", is_judged=True),
)
CLASS_BY_KIND = {item.kind: item for item in CLASSES}
KINDS = tuple(CLASS_BY_KIND)
JUDGED_KINDS = frozenset(item.kind for item in CLASSES if item.is_judged)
# Replaced only if a policy names it: who gave such a number knows whose it is, and nobody else.
ORDER_NUMBER = "ORDER_NUMBER"
OPTIONAL_KINDS = (ORDER_NUMBER,)

# When a word may or may not be a name: recall takes it for one, precision doesn't.
RECALL, PRECISION = "recall", "precision"
PREFERENCES = (RECALL, PRECISION)

# Told by rules alone, so that a verification can insist on none being left.
PATTERN_KINDS = tuple(kind for kind in KINDS if kind != NAME)

# What the network finds; in English all but the names.
NETWORK_KINDS = frozenset({NAME, HANDLE, PHONE, ADDRESS, DATE_OF_BIRTH, ID_NUMBER, ACCOUNT})

# Stands for a replaced value or an earlier placeholder while a scrub goes on: no detector matches it.
HOLE = "\ufffc"

# Grows when rules or weights find more: text that only an earlier version has searched is searched again.
DETECTION_VERSION = 18

# Classes whose values are digits, with or without signs between them.
DIGIT_KINDS = frozenset({CREDIT_CARD, PHONE, SSN})

_RANK = {kind: rank for rank, kind in enumerate(KINDS)}
_CUSTOM_RANK = -1


class Match(NamedTuple):
    """``text[start:end]`` is a value of class ``kind``; offsets count code points.

    ``score`` is how likely that is, from 0 to 1: a pattern is certain, a model is not.
    """

    kind: str
    start: int
    end: int
    score: float = 1.0


Span = tuple[int, int]


def is_digit_value(kind: str, value: str) -> bool:
    """Whether a value is the same with other signs between its digits."""
    return kind in DIGIT_KINDS or (kind in (ID_NUMBER, ACCOUNT) and not any(map(str.isalpha, value)))


class Detector(Protocol):
    """Finds the values of some classes in a text."""

    kinds: frozenset[str]

    def find(self, text: str) -> list[Match]:
        """The values in ``text``, by their start; those of different classes may overlap."""
        ...


def drop_overlaps(kind: str, spans: Iterable[Span]) -> list[Match]:
    """Spans of one class as matches, in order; of two that overlap the earlier stands, or the longer."""
    kept: list[Match] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not kept or start >= kept[-1].end:
            kept.append(Match(kind, start, end))
    return kept


def merge_matches(matches: Iterable[Match]) -> list[Match]:
    """Overlapping matches as one that covers them all: what any detector found goes.

    The class is that of the earliest in :data:`KINDS`; a custom class comes before all others.
    """
    merged: list[Match] = []
    for match in sorted(matches, key=lambda match: (match.start, -match.end)):
        if merged and match.start < merged[-1].end:
            merged[-1] = _merge_pair(merged[-1], match)
        else:
            merged.append(match)
    return merged


def _merge_pair(first: Match, second: Match) -> Match:
    kind, score = min(((m.kind, m.score) for m in (first, second)), key=lambda pair: get_kind_rank(pair[0]))
    return Match(kind, first.start, max(first.end, second.end), score)


def get_kind_rank(kind: str) -> int:
    """Where a class stands in the order of overlaps; custom ones first."""
    return _RANK.get(kind, _CUSTOM_RANK)
