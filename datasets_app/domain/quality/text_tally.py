"""Counts the personal data in a stream of turns: what a gate wants to know before text may leave."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain

from datasets_app.domain.conversations.records import LabelRecord, LineError, TurnRecord
from datasets_app.domain.pii.exemptions import (
    ExemptCount,
    Exemption,
    ExemptionCounter,
    make_pattern_exemptions,
)
from datasets_app.domain.pii.pieces import Place, visit_turn
from datasets_app.domain.quality.personal_data import PERSONAL_DATA_CHECKS, PersonalDataSearch, SearchBatches
from datasets_app.domain.quality.personal_data_codes import CODE_BY_KIND
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
        self._labels = PersonalDataSearch((check() for check in PERSONAL_DATA_CHECKS), self._approved)

    @property
    def exempt(self) -> dict[str, ExemptCount]:
        return self._terms.totals() if self._terms else {}

    def add(self, turns: Iterable[TurnRecord], search_batches: SearchBatches | None = None) -> None:
        """Count what is in ``turns``; ``search_batches`` as in :func:`run_checks`."""
        for finding in run_checks(
            self.count_terms(turns), PERSONAL_DATA_CHECKS, self._approved, search_batches=search_batches
        ):
            self.found[KINDS_BY_CODE[finding.code]] += 1

    def add_label(self, label: LabelRecord) -> None:
        """Count values in what people wrote beside a label. Its text is that of a turn, and its annotator is
        known to those who keep labels."""
        strings = self._labels.list_strings(label._replace(text="", annotator=None))
        for finding in chain.from_iterable(self._labels.find(strings)):
            self.found[KINDS_BY_CODE[finding.code]] += 1

    def count_terms(self, turns: Iterable[TurnRecord | LineError]) -> Iterator[TurnRecord | LineError]:
        """The same turns; counts them and the exempt terms in them."""
        for turn in turns:
            self.turn_count += 1
            if self._terms and isinstance(turn, TurnRecord):
                visit_turn(turn, self._count_terms_in)
            yield turn

    def _count_terms_in(self, place: Place, text: str) -> str:
        if self._terms:
            self._terms.add(text)
        return text


def count_found(totals: dict[str, int]) -> dict[str, int]:
    """Values by class, from the totals of a report by code."""
    return {KINDS_BY_CODE[code]: count for code, count in totals.items() if code in KINDS_BY_CODE}
