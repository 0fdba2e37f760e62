"""Names of people. A model finds them: so it is a warning, which may be wrong, and slow next to rules."""

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from datasets_app.domain.conversations.records import Finding, LabelRecord, TurnRecord
from datasets_app.domain.pii.detection import Detection, DetectionInput
from datasets_app.domain.pii.detector import NAME, Match
from datasets_app.domain.pii.kept_names import KeptNames
from datasets_app.domain.pii.pieces import PERSONA_PLACE, Place, visit_object, visit_turn
from datasets_app.domain.pii.placeholders import drop_placeholders
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.quality.base import Check

# Many texts at once take the model a fifth of the time of one after the other.
RECORDS_PER_BATCH = 500

PendingText = tuple[TurnRecord | LabelRecord, str, DetectionInput]


class NamesOfPeople(Check):
    """Findings come some hundred records late, and at the latest at the end. ``persona_terms`` and
    ``kept_terms`` are no people."""

    code = "W406"
    title = "name of a person"
    models: ClassVar[tuple[str, ...]] = ("builtin",)
    kept_terms: ClassVar[tuple[str, ...]] = ()
    persona_terms: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        self._kept_names = KeptNames(self.kept_terms, self.persona_terms)
        self._detection = Detection(Policy(kinds=(NAME,), name_models=self.models), b"")
        self._pending: list[PendingText] = []
        self._records = 0

    def turn(self, turn: TurnRecord) -> Iterable[Finding] | None:
        def collect(place: Place, text: str) -> str:
            if place != PERSONA_PLACE:
                self._queue_text(turn, place, text)
            return text

        visit_turn(turn, collect)
        return self._check_full_batch()

    def label(self, record: LabelRecord) -> Iterable[Finding] | None:
        def collect(place: Place, text: str) -> str:
            self._queue_text(record, place, text)
            return text

        collect(Place("text"), record.text)
        visit_object({"notes": record.notes, **(record.extra or {})}, "", collect)
        return self._check_full_batch()

    def end(self) -> Iterator[Finding]:
        pending, self._pending, self._records = self._pending, [], 0
        matches_by_text = self._detection.find_many([item for _, _, item in pending])
        for (record, field, item), matches in zip(pending, matches_by_text, strict=True):
            for _, start, end, _ in self._drop_kept(drop_placeholders(matches, item.text), item.text):
                yield self._make_name_finding(record, field, start, end)

    def _drop_kept(self, matches: Iterable[Match], text: str) -> Iterable[Match]:
        if not self._kept_names:
            return matches
        return [
            part for match in matches for part in self._kept_names.cut_terms(text, match, lambda word: False)
        ]

    def _queue_text(self, record: TurnRecord | LabelRecord, place: Place, text: str) -> None:
        # A path could show a key that is a name itself.
        field = (
            place.field
            if place.field.startswith(("text", "tags", "notes"))
            else _get_top_field(place, record)
        )
        is_text = place.field == "text" or " " in text
        self._pending.append((record, field, DetectionInput(text, "", is_text)))

    def _check_full_batch(self) -> Iterable[Finding] | None:
        self._records += 1
        return list(self.end()) if self._records >= RECORDS_PER_BATCH else None

    def _make_name_finding(
        self, record: TurnRecord | LabelRecord, field: str, start: int, end: int
    ) -> Finding:
        message = f"name of a person in {field} at column {start + 1} ({end - start} characters); "
        place = (record.line, record.session_id, record.turn_index, field)
        return Finding(self.code, message + "scrub it before sharing", *place)


def _get_top_field(place: Place, record: TurnRecord | LabelRecord) -> str:
    if place.is_key:
        return "a key"
    return "metadata" if place.field.startswith("metadata") else "an unknown key"


def make_names_check(
    models: Sequence[str], *, kept_terms: Iterable[str] = (), persona_terms: Iterable[str] = ()
) -> type[NamesOfPeople]:
    """The check with these name models: ``builtin``, or spaCy pipelines."""
    options = {"kept_terms": tuple(kept_terms), "persona_terms": tuple(persona_terms)}
    return type("NamesOfPeople", (NamesOfPeople,), {"models": tuple(models), **options})
