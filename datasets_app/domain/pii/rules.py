"""Everything that rules alone tell: what a verification can insist on being gone."""

from collections.abc import Callable, Iterable, Sequence

from datasets_app.domain.pii import credentials, hosts, paths, patterns
from datasets_app.domain.pii.detector import CREDENTIAL, HOST, PATH, PATTERN_KINDS, Match

_FINDERS: dict[tuple[str, ...], Callable[[str], list[Match]]] = {
    patterns.KINDS: patterns.find,
    (CREDENTIAL,): credentials.find,
    (PATH,): paths.find,
    (HOST,): hosts.find,
}


def find_all(text: str) -> list[Match]:
    """The values of every class in ``text``, by their start; those of different classes may overlap."""
    return _sorted(match for finder in _FINDERS.values() for match in finder(text))


def _sorted(found: Iterable[Match]) -> list[Match]:
    return sorted(found, key=lambda match: (match.start, -match.end))


class RuleDetector:
    """A detector of the pattern classes, or of some of them."""

    def __init__(self, kinds: Iterable[str] = PATTERN_KINDS) -> None:
        self.kinds = frozenset(kinds)
        if not self.kinds <= set(PATTERN_KINDS):
            raise ValueError(f"rules find {', '.join(PATTERN_KINDS)} only")
        self._finders = [finder for found, finder in _FINDERS.items() if self.kinds.intersection(found)]

    def find(self, text: str) -> list[Match]:
        kinds = self.kinds
        return _sorted(m for finder in self._finders for m in finder(text) if m.kind in kinds)

    def find_many(self, texts: Sequence[str]) -> list[list[Match]]:
        return [self.find(text) for text in texts]
