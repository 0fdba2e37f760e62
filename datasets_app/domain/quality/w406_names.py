"""Names of people. A model finds them: so it is a warning, which may be wrong, and slow next to rules."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from datasets_app.domain.pii.allowed_values import AllowedValues
from datasets_app.domain.pii.detector import NAME, Match
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.quality.personal_data import NameOptions, PersonalDataCheck


class NamesOfPeople(PersonalDataCheck):
    """Of ``options``, the terms to keep and those of personas are no people."""

    code = "W406"
    title = "name of a person"
    kind = NAME
    options: ClassVar[NameOptions] = (("builtin",), (), ())

    def __init__(self) -> None:
        _, kept_terms, persona_terms = self.options
        self._allowed = AllowedValues(Policy(allow_names=kept_terms), b"", persona_terms)

    def drop_kept(self, text: str, match: Match) -> Iterable[Match]:
        return self._allowed.drop_allowed(text, (match,), lambda word: False)


def make_names_check(
    models: Sequence[str], *, kept_terms: Iterable[str] = (), persona_terms: Iterable[str] = ()
) -> type[NamesOfPeople]:
    """The check with these name models: ``builtin``, or spaCy pipelines."""
    options = (tuple(models), tuple(kept_terms), tuple(persona_terms))
    return type("NamesOfPeople", (NamesOfPeople,), {"options": options})
