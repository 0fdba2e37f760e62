"""Counts the personal data in a stream of turns: what a gate wants to know before text may leave."""

from collections import Counter
from collections.abc import Iterable, Iterator

from datasets_app.domain.conversations.records import LabelRecord, LineError, TurnRecord
from datasets_app.domain.pii.exemptions import (
    ExemptCount,
    Exemption,
    ExemptionCounter,
    make_pattern_exemptions,
)
from datasets_app.domain.pii.rules.finder import find_all
from datasets_app.domain.quality.personal_data import PersonalDataSearch, iterate_strings
from datasets_app.domain.quality.personal_data_checks import CODE_BY_KIND, PERSONAL_DATA_CHECKS
from datasets_app.domain.quality.runner import run_checks

# The class that a check reports, by its code.
KINDS_BY_CODE: dict[str, str] = {code: kind for kind, code in CODE_BY_KIND.items()}


class TextTally:
    """``turn_count``, and values ``found`` by class. Values that are exempt are not among them."""

    def __init__(self, exemptions: Iterable[Exemption] = ()) -> None:
        exemptions = list(exemptions)
        self.turn_count = 0
        self.found: Counter[str] = Counter()
        self._approved = make_pattern_exemptions(exemptions)
        self._terms = ExemptionCounter(exemptions) if exemptions else None
        checks = (check() for check in PERSONAL_DATA_CHECKS)
        self._labels = PersonalDataSearch(checks, self._approved, find_all)

    @property
    def exempt(self) -> dict[str, ExemptCount]:
        return self._terms.totals() if self._terms else {}

    def add(self, turns: Iterable[TurnRecord]) -> None:
        for finding in run_checks(
            self.count_terms(turns), PERSONAL_DATA_CHECKS, self._approved, find=find_all
        ):
            self.found[KINDS_BY_CODE[finding.code]] += 1

    def add_label(self, label: LabelRecord) -> None:
        """Count values in what people wrote beside a label. Its text is that of a turn, and its annotator is
        known to those who keep labels."""
        for finding in self._labels.label(label._replace(text="", annotator=None)) or ():
            self.found[KINDS_BY_CODE[finding.code]] += 1

    def count_terms(self, turns: Iterable[TurnRecord | LineError]) -> Iterator[TurnRecord | LineError]:
        """The same turns; counts them and the exempt terms in them."""
        for turn in turns:
            self.turn_count += 1
            if self._terms and isinstance(turn, TurnRecord):
                for text in _list_strings(turn):
                    self._terms.add(text)
            yield turn


def count_found(totals: dict[str, int]) -> dict[str, int]:
    """Values by class, from the totals of a report by code."""
    return {KINDS_BY_CODE[code]: count for code, count in totals.items() if code in KINDS_BY_CODE}


def _list_strings(turn: TurnRecord) -> Iterator[str]:
    yield turn.text
    yield from turn.tags
    if turn.persona_id:
        yield turn.persona_id
    for value in (turn.metadata, turn.extra):
        for _, _, text in iterate_strings(value, "", set()):
            yield text
