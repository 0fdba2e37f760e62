"""Everything that rules alone tell: what a verification can insist on being gone.

The text is folded once for all rules, and a rule is asked only about texts that can hold what it
looks for: a few searches for constants tell that of most texts.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from datasets_app.domain.pii import credentials, hosts, paths, patterns
from datasets_app.domain.pii.detector import CREDENTIAL, HOST, PATH, PATTERN_KINDS, Match
from datasets_app.domain.pii.folding import folded_and_encoded, in_original
from datasets_app.domain.pii.placeholders import blanked

ALL = frozenset(PATTERN_KINDS)
_NUMBERS_AND_ADDRESSES = frozenset(patterns.KINDS)


def _shape_of(byte: int) -> int:
    """A letter (or a byte of another script) as "a", a digit as "0", most signs as a blank."""
    sign = chr(byte)
    if byte >= 0x80 or sign.isalpha():
        return ord("a")
    if sign.isdigit():
        return ord("0")
    return byte if sign in "._~$%+-/:\\" else ord(" ")


_SHAPE = bytes(map(_shape_of, range(256)))
# Longer than words are; tokens of letters alone have as many.
_LONG_WORD = b"a" * 20


def find_all(text: str, kinds: frozenset[str] = ALL) -> list[Match]:
    """The values of ``kinds`` in ``text``, by their start; those of different classes may overlap."""
    folded, encoded = folded_and_encoded(text)
    found = [] if kinds.isdisjoint(_NUMBERS_AND_ADDRESSES) else patterns.search(folded, encoded)
    searches = list(_searches(encoded, encoded.translate(_SHAPE), kinds))
    if searches:
        blank = blanked(folded)
        for search in searches:
            found += search(blank)
    if not found:
        return found
    if folded is not text:
        found = in_original(text, found)
    return sorted((match for match in found if match.kind in kinds), key=_by_start)


def _by_start(match: Match) -> tuple[int, int]:
    return match.start, -match.end


def _searches(encoded: bytes, shape: bytes, kinds: frozenset[str]) -> Iterator[Callable[[str], list[Match]]]:
    """The searches that a text of this ``shape`` cannot be spared."""
    mixed = b"a0" in shape or b"0a" in shape
    address = b"://" in shape
    if CREDENTIAL in kinds and (mixed or _may_hold_credentials(encoded, shape, address)):
        yield credentials.search
    if PATH in kinds and (
        b"\\" in shape or b"~" in shape or (b"/" in shape and _may_hold_paths(encoded, shape))
    ):
        yield paths.search
    if HOST in kinds:
        # Within a sentence, a machine has a number, or a dot in its name, or stands behind an @.
        if b"a0" in shape or b"a-0" in shape or b"@" in encoded or (not address and b"a.a" in shape):
            yield hosts.search
        elif address:
            yield hosts.search_names


def _may_hold_credentials(encoded: bytes, shape: bytes, address: bool) -> bool:
    """Without a digit beside a letter: passwords, keys in lines, tokens of letters alone."""
    lower = encoded.lower()
    return (
        b"pass" in lower
        or b"pw" in lower
        or (address and b"@" in encoded)
        or _LONG_WORD in shape
        or b"-----" in shape
        or b"wort" in lower
        or b"senha" in lower
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
        if not self.kinds <= ALL:
            raise ValueError(f"rules find {', '.join(PATTERN_KINDS)} only")

    def find(self, text: str) -> list[Match]:
        return find_all(text, self.kinds)

    def find_many(self, texts: Sequence[str]) -> list[list[Match]]:
        kinds = self.kinds
        return [find_all(text, kinds) for text in texts]
