"""Terms that people exempted from scrubbing, and how often they occur in what is left."""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from datasets_app.domain.pii.allow import AllowList, normalize_term
from datasets_app.domain.wording import format_count

# Under this key are counts of terms that no pattern class matches.
ORDINARY = ""


class Exemption(NamedTuple):
    """A term that stays in the text. ``kind`` is the pattern class that matches it, if any: such a term is
    exempt only because someone with the override permission said so."""

    term: str
    kind: str = ORDINARY


class ExemptCount(NamedTuple):
    terms: int
    occurrences: int


def make_pattern_exemptions(exemptions: Iterable[Exemption]) -> AllowList:
    """What is exempt from the pattern classes: only terms that were approved for one."""
    return AllowList(exemption.term for exemption in exemptions if exemption.kind)


class ExemptionCounter:
    """Counts occurrences of exempt terms as whole words, in any letter case."""

    def __init__(self, exemptions: Iterable[Exemption]) -> None:
        self._kinds = {
            normalized: exemption.kind
            for exemption in sorted(exemptions, key=lambda exemption: exemption.kind)  # an approved one wins
            if (normalized := normalize_term(exemption.term))
        }
        longest_first = sorted(self._kinds, key=len, reverse=True)
        words = "|".join(map(re.escape, longest_first))
        self._pattern = re.compile(rf"(?<!\w)(?:{words})(?!\w)") if words else None
        self._counts: dict[str, int] = {}

    def add(self, text: str) -> None:
        if self._pattern is None:
            return
        for match in self._pattern.finditer(normalize_term(text)):
            self._counts[match[0]] = self._counts.get(match[0], 0) + 1

    def totals(self) -> dict[str, ExemptCount]:
        """Terms that occur, and their occurrences, by class."""
        totals: dict[str, ExemptCount] = {}
        for term, count in self._counts.items():
            kind = self._kinds[term]
            before = totals.get(kind, ExemptCount(0, 0))
            totals[kind] = ExemptCount(before.terms + 1, before.occurrences + count)
        return dict(sorted(totals.items()))


def read_exempt_counts(value: Any) -> dict[str, ExemptCount]:
    """The totals as JSON keeps them: class → [terms, occurrences]."""
    return {kind: ExemptCount(*counts) for kind, counts in (value or {}).items()}


def add_exempt_counts(
    first: dict[str, ExemptCount], second: dict[str, ExemptCount]
) -> dict[str, ExemptCount]:
    """Totals of two parts of a dataset. Both may have the same terms: the larger number counts."""
    empty = ExemptCount(0, 0)
    return {
        kind: ExemptCount(
            max(first.get(kind, empty).terms, second.get(kind, empty).terms),
            first.get(kind, empty).occurrences + second.get(kind, empty).occurrences,
        )
        for kind in sorted({*first, *second})
    }


def describe_exempt(totals: dict[str, ExemptCount]) -> str:
    """``1 ignored term (18 occurrences)``; empty without occurrences."""
    occurrences = sum(count.occurrences for count in totals.values())
    if not occurrences:
        return ""
    terms = format_count(sum(count.terms for count in totals.values()), "ignored term")
    return f"{terms} ({format_count(occurrences, 'occurrence')})"
