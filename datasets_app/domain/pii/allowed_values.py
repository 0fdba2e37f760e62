"""What a policy lets stay although a detector finds it: terms that people listed, and words of personas."""

from collections.abc import Iterable, Iterator

from datasets_app.domain.pii.allow import AllowList
from datasets_app.domain.pii.detector import NAME, PATTERN_KINDS, Match
from datasets_app.domain.pii.kept_names import IsPerson, KeptNames
from datasets_app.domain.pii.marks import make_missed_mark
from datasets_app.domain.pii.policy import Policy


class AllowedValues:
    """``persona_terms`` are those of :mod:`persona_terms`, which aren't people."""

    def __init__(self, policy: Policy, key: bytes, persona_terms: Iterable[str] = ()) -> None:
        self._key, self._missed = key, {mark.digest for mark in policy.missed}
        terms = (*policy.allow, *policy.allow_names)
        self._values, self._names = AllowList(policy.allow), AllowList(terms)
        self._kept_names = KeptNames(terms, persona_terms)

    def is_allowed(self, text: str, match: Match) -> bool:
        """Whether a term that people listed covers the value."""
        allowed = self._values if match.kind in PATTERN_KINDS else self._names
        return bool(allowed) and allowed.covers(text, match.start, match.end)

    def drop_allowed(self, text: str, matches: Iterable[Match], is_person: IsPerson) -> Iterator[Match]:
        """The matches that don't stay; of a name, the parts of it that don't. ``is_person`` tells the words
        that are people whatever a persona calls so."""
        for match in matches:
            if self.is_allowed(text, match):
                continue
            if match.kind == NAME and self._kept_names and not self._is_missed(text, match):
                yield from self._kept_names.cut_terms(text, match, is_person)
            else:
                yield match

    def _is_missed(self, text: str, match: Match) -> bool:
        """Whether a person has marked the value as missed, whatever the words around it say."""
        if not self._missed:
            return False
        mark = make_missed_mark(NAME, text[match.start : match.end], self._key)
        return mark is not None and mark.digest in self._missed
