"""Names of people. A model finds them: so it is a warning, which may be wrong, and slow next to rules."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from datasets_app.domain.pii.detector import NAME, Match
from datasets_app.domain.pii.kept_names import KeptNames
from datasets_app.domain.quality.personal_data import NameOptions, PersonalDataCheck


class NamesOfPeople(PersonalDataCheck):
    """Of ``options``, the terms to keep and those of personas are no people."""

    code = "W406"
    title = "name of a person"
    kind = NAME
    options: ClassVar[NameOptions] = (("builtin",), (), ())

    def __init__(self) -> None:
        _, kept_terms, persona_terms = self.options
        self._kept_names = KeptNames(kept_terms, persona_terms)

    def drop_kept(self, text: str, match: Match) -> Iterable[Match]:
        if not self._kept_names:
            return (match,)
        return self._kept_names.cut_terms(text, match, lambda word: False)


def make_names_check(
    models: Sequence[str], *, kept_terms: Iterable[str] = (), persona_terms: Iterable[str] = ()
) -> type[NamesOfPeople]:
    """The check with these name models: ``builtin``, or spaCy pipelines."""
    options = (tuple(models), tuple(kept_terms), tuple(persona_terms))
    return type("NamesOfPeople", (NamesOfPeople,), {"options": options})
