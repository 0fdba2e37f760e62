"""Labels as rows of a table: the fields of annotation JSONL, and the dataset they belong to."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.db.models import Max
from import_export.fields import Field
from import_export.results import RowResult
from import_export.widgets import Widget

from annotations_app.labels.import_annotations import import_label_rows, label_of_object
from annotations_app.labels.label_staging import LabelOutcome
from annotations_app.models import Annotation
from datasets_app.core.errors import Refused
from datasets_app.domain.annotation_lines import encode_label
from datasets_app.domain.conversations.jsonl import NotARecord, decode_object
from datasets_app.domain.conversations.records import LabelRecord
from datasets_app.domain.metadata.yaml_text import dump_yaml
from datasets_app.models import Dataset, Session
from datasets_app.tables.admin import TableResource, TableResult, text_of
from datasets_app.tables.formats import CSV, JSONL, XLSX, YAML, FileRefused

# Keys that the format does not know: one column of JSON where columns are fixed.
OTHER_KEYS = "other_keys"
CHARACTERS_PREVIEWED = 150
_TEXTS = ("text", "persona_id", "session_id", "annotator", "labeler", "notes", "timestamp")


class LabelJSONL(JSONL):
    """Lines of annotation JSONL, as the export command writes them, each with its dataset."""

    def written(self, headers: Any, rows: Any) -> bytes:
        return b"".join(map(_line, (dict(zip(headers, row, strict=True)) for row in rows)))


class LabelYAML(YAML):
    def written(self, headers: Any, rows: Any) -> bytes:
        lines = map(_line, (dict(zip(headers, row, strict=True)) for row in rows))
        return dump_yaml([json.loads(line) for line in lines]).encode()


FORMATS = [LabelJSONL, CSV, XLSX, LabelYAML]


class LabelMatches(NamedTuple):
    """How the labels of one dataset found their turns."""

    dataset_name: str
    labels: int
    by_place: int
    by_text: int
    new_sessions: int

    def in_words(self, made: str) -> str:
        """``made`` says whether sessions "will be made" or "were made"."""
        matched = self.by_place + self.by_text
        text = f"{matched:,} of {self.labels:,} labels match a turn of {self.dataset_name}"
        if matched:
            text += f" ({self.by_place:,} by session and turn number, {self.by_text:,} by text)"
        if self.new_sessions:
            text += f"; {self.new_sessions:,} one-turn session{'s' * (self.new_sessions != 1)} {made}"
        return f"{text}."


class LabelResult(TableResult):
    """Also tells which turns the labels were joined to."""

    def __init__(self) -> None:
        super().__init__()
        self.matches: list[LabelMatches] = []

    @property
    def makes_sessions(self) -> bool:
        return any(matches.new_sessions for matches in self.matches)

    def matches_in_words(self, made: str) -> str:
        return " ".join(matches.in_words(made) for matches in self.matches)


def _line(row: dict[str, Any]) -> bytes:
    dataset, extra = row.pop("dataset"), row.pop(OTHER_KEYS)
    return encode_label(LabelRecord(**row, extra={**(extra or {}), "dataset": dataset}))


def _field(name: str, attribute: str = "") -> Field:
    return Field(attribute=attribute or name, column_name=name, widget=Widget())


class AnnotationResource(TableResource):
    """Rows are joined to turns just as the lines of a file are, by the same operation."""

    dataset = _field("dataset", "dataset__name")
    text = _field("text", "turn__text")
    label = _field("label")
    persona_id = _field("persona_id")
    session_id = _field("session_id", "turn__session__session_id")
    turn_index = _field("turn_index", "turn__turn_index")
    annotator = _field("annotator")
    notes = _field("notes")
    timestamp = _field("timestamp")
    confidence = _field("confidence")
    other_keys = _field(OTHER_KEYS, "extra")

    class Meta:
        model = Annotation
        fields = (
            "dataset",
            "text",
            "label",
            "persona_id",
            "session_id",
            "turn_index",
            "annotator",
            "notes",
            "timestamp",
            "confidence",
            OTHER_KEYS,
        )
        skip_diff = True

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.chosen: Dataset | None = options.get("dataset")
        self.persona: str | None = options.get("persona") or None
        self.errors: dict[int, ValidationError] = {}
        self.outcomes: dict[int, LabelOutcome] = {}
        self.in_new_session: set[int] = set()
        self.matches: list[LabelMatches] = []

    def get_result_class(self) -> type[TableResult]:
        return LabelResult

    def before_import(self, dataset: Any, **options: Any) -> None:
        """All rows are read and saved here, set by set; import_row then tells what became of each."""
        self.errors, self.outcomes, self.in_new_session, self.matches = {}, {}, set(), []
        labels: dict[str, list[LabelRecord]] = {}
        visible = set(Dataset.objects.visible_to(self.user).values_list("name", flat=True))
        for number, values in enumerate(dataset, 1):
            row = dict(zip(dataset.headers, values, strict=True))
            try:
                name = self._dataset_name(row, visible)
                labels.setdefault(name, []).append(label_of_object(_object(row), number, self.persona))
            except NotARecord as error:
                self.errors[number] = ValidationError({error.field or "row": f"{error.code} {error}"})
            except ValidationError as error:
                self.errors[number] = error
        if self.errors:
            return
        newest = Session.objects.aggregate(pk=Max("pk"))["pk"] or 0
        try:
            saved = import_label_rows(labels, actor=self.user)
        except Refused as refusal:
            raise FileRefused(refusal.message) from None
        self.outcomes = {outcome.line: outcome for part in saved.values() for outcome in part}
        self._note_matches(labels, newest)

    def after_import(self, dataset: Any, result: Any, **options: Any) -> None:
        result.matches = self.matches
        super().after_import(dataset, result, **options)

    def _note_matches(self, labels: Mapping[str, Sequence[LabelRecord]], newest: int) -> None:
        """Which labels found a turn, and how; those of sessions younger than ``newest`` found none."""
        for name, records in sorted(labels.items()):
            added = Session.objects.filter(dataset__name=name, pk__gt=newest, session_id__startswith="label-")
            names = set(added.values_list("session_id", flat=True))
            by_place = by_text = 0
            for record in records:
                found = self.outcomes[record.line]
                if found.session_id in names:
                    self.in_new_session.add(record.line)
                elif (found.session_id, found.turn_index) == (record.session_id, record.turn_index):
                    by_place += 1
                else:
                    by_text += 1
            self.matches.append(LabelMatches(name, len(records), by_place, by_text, len(names)))

    def import_row(self, row: Any, instance_loader: Any, **options: Any) -> RowResult:
        number = options["row_number"]
        result = self.get_row_result_class()()
        if error := self.errors.get(number):
            result.import_type, result.validation_error = RowResult.IMPORT_TYPE_INVALID, error
        elif outcome := self.outcomes.get(number):
            result.import_type = RowResult.IMPORT_TYPE_NEW if outcome.is_new else RowResult.IMPORT_TYPE_SKIP
            result.is_new_session = number in self.in_new_session
            result.diff = [_shortened(str(value)) for value in self._preview(row, outcome)]
        return result

    def record_import(self, result: TableResult) -> None:
        """The operation has recorded it, for each dataset."""

    def _dataset_name(self, row: dict[str, Any], visible: set[str]) -> str:
        name = text_of(row.pop("dataset", None)) or (self.chosen.name if self.chosen else "")
        if self.chosen and name != self.chosen.name:
            raise ValidationError({"dataset": f"The row is for another dataset than {self.chosen.name}."})
        if not name:
            raise ValidationError({"dataset": "Choose the dataset the labels are for."})
        if name not in visible:
            raise ValidationError({"dataset": "There is no such dataset."})
        return name

    def _preview(self, row: dict[str, Any], outcome: LabelOutcome) -> list[Any]:
        shown = {**row, "session_id": outcome.session_id, "turn_index": outcome.turn_index}
        if self.chosen:
            shown["dataset"] = self.chosen.name
        values = [shown.get(field) for field in self._meta.fields]
        return ["" if value is None else value for value in values]


def _shortened(text: str) -> str:
    return text if len(text) <= CHARACTERS_PREVIEWED else text[: CHARACTERS_PREVIEWED - 1] + "…"


def _object(row: dict[str, Any]) -> dict[str, Any]:
    """A row → the object that its line would have. Cells of a spreadsheet become what they stand for."""
    value = {key: cell for key, cell in row.items() if cell is not None}
    for key in _TEXTS:
        if type(value.get(key)) in (int, float):
            value[key] = text_of(value[key])
    for key in ("label", "turn_index"):
        value.update(_number(key, value.get(key), int))
    value.update(_number("confidence", value.get("confidence"), float))
    other = value.pop(OTHER_KEYS, None)
    if isinstance(other, str):
        other = decode_object(other.encode())
    if other is not None and type(other) is not dict:
        raise NotARecord("E101", "expected a JSON object", OTHER_KEYS)
    return {**(other or {}), **value}


def _number(key: str, cell: Any, kind: type) -> dict[str, Any]:
    """``"1"`` and 1.0 → 1, where ``kind`` is int; what is no number is left for the reader to refuse."""
    if not isinstance(cell, (str, float)):
        return {}
    try:
        number = float(cell)
        return {key: int(number) if kind is int and number.is_integer() else number}
    except (ValueError, OverflowError):
        return {}
