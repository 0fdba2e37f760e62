"""What a policy lets stay although a detector finds it: terms that people listed, and words of personas."""

from collections.abc import Iterable, Iterator

from datasets_app.domain.pii.allow import AllowList
from datasets_app.domain.pii.detector import NAME, PATTERN_KINDS, Match
from datasets_app.domain.pii.kept_names import IsPerson, KeptNames
from datasets_app.domain.pii.policy import Policy


class AllowedValues:
    """``persona_terms`` are those of :mod:`persona_terms`, which are no people."""

    def __init__(self, policy: Policy, persona_terms: Iterable[str] = ()) -> None:
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
            if match.kind == NAME and self._kept_names:
                yield from self._kept_names.cut_terms(text, match, is_person)
            else:
                yield match
