"""Names of people. A model finds them: so it is a warning, which may be wrong, and slow next to rules."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from datasets_app.domain.pii.allowed_values import AllowedValues
from datasets_app.domain.pii.detector import CLASS_BY_KIND, NAME, Match
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.quality.kept_terms import NOTHING_KEPT, KeptTerms
from datasets_app.domain.quality.personal_data import NameOptions, PersonalDataCheck


class NamesOfPeople(PersonalDataCheck):
    """The terms to keep and those of personas aren't people."""

    code = CLASS_BY_KIND[NAME].code
    title = CLASS_BY_KIND[NAME].noun
    kind = NAME
    options: ClassVar[NameOptions] = NameOptions(("builtin",))

    def __init__(self) -> None:
        kept = self.options.kept
        policy = Policy(allow_names=(*kept.values, *kept.names))
        self._allowed = AllowedValues(policy, b"", kept.personas)

    def drop_kept(self, text: str, match: Match) -> Iterable[Match]:
        return self._allowed.drop_allowed(text, (match,), lambda word: False)


def make_names_check(models: Sequence[str], kept: KeptTerms = NOTHING_KEPT) -> type[NamesOfPeople]:
    """The check with these name models: ``builtin``, or spaCy pipelines."""
    return type("NamesOfPeople", (NamesOfPeople,), {"options": NameOptions(tuple(models), kept)})
