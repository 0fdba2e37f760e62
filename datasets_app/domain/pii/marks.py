"""Values that people marked as missed, found again without keeping them: by keyed digest."""

import hashlib
import hmac
import re
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache

from datasets_app.domain.pii.detector import Match
from datasets_app.domain.pii.folding import fold
from datasets_app.domain.pii.policy import MissedMark

_WORD = re.compile(r"\w+")
MAX_WORDS = 20


def make_missed_mark(kind: str, value: str, key: bytes) -> MissedMark | None:
    """What is kept of ``value``; None if there is no word in it, or too many."""
    words = [fold(word).casefold() for word in _WORD.findall(value)]
    if not words or len(words) > MAX_WORDS:
        return None
    joined = " ".join(words)
    return MissedMark(kind, _compute_digest(joined, key), len(words), len(joined))


class MissedValueDetector:
    """A detector for the values of marks. Letter case and the signs between words don't matter."""

    def __init__(self, marks: Iterable[MissedMark], key: bytes) -> None:
        self._key = key
        self._kinds = {mark.digest: mark.kind for mark in marks}
        self.kinds = frozenset(self._kinds.values())
        # Number of words → lengths: most windows are told apart without a digest.
        self._lengths: dict[int, set[int]] = defaultdict(set)
        for mark in marks:
            self._lengths[mark.words].add(mark.length)

    def find(self, text: str) -> list[Match]:
        if not self._kinds:
            return []
        places = [match.span() for match in _WORD.finditer(text)]
        words = [fold(text[start:end]).casefold() for start, end in places]
        found = []
        for count, lengths in self._lengths.items():
            for first in range(len(words) - count + 1):
                joined = " ".join(words[first : first + count])
                if len(joined) in lengths:
                    kind = self._kinds.get(_compute_digest(joined, self._key))
                    if kind:
                        found.append(Match(kind, places[first][0], places[first + count - 1][1]))
        return sorted(found, key=lambda match: match.start)


@lru_cache(maxsize=50_000)
def _compute_digest(joined: str, key: bytes) -> str:
    return hmac.new(key, b"missed:" + joined.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()
