"""Labels as rows of a table: the fields of annotation JSONL, and the dataset they belong to."""

import json
from collections.abc import Container, Mapping, Sequence
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.db.models import Max
from import_export.fields import Field
from import_export.results import RowResult
from import_export.widgets import Widget

from annotations_app.domain.answer_files.tables import read_number
from annotations_app.labels.import_annotations import import_label_rows, parse_import_label
from annotations_app.labels.known_schemas import KnownSchemas
from annotations_app.labels.label_staging import LabelOutcome
from annotations_app.models import Annotation
from datasets_app.catalog import raw_access
from datasets_app.core.errors import UserError
from datasets_app.domain.annotation_lines import encode_label
from datasets_app.domain.conversations.jsonl import InvalidRecord, decode_object
from datasets_app.domain.conversations.records import LabelRecord
from datasets_app.domain.metadata.yaml_text import dump_yaml
from datasets_app.domain.traces.turn_tables import LABEL_COLUMNS
from datasets_app.domain.wording import format_count
from datasets_app.models import Dataset, DatasetPartition, Session
from datasets_app.tables.admin import TableResource, TableResult, cell_text
from datasets_app.tables.formats import CSV, JSONL, XLSX, YAML, TableFileError

# Keys that the format does not know: one column of JSON where columns are fixed.
OTHER_KEYS = "other_keys"
MAX_PREVIEW_CHARACTERS = 150
# A label that matches would tell what the texts say.
_WITHHELD = (
    "This dataset contains raw text, and adding labels to it takes the permission to read it. Ask a curator."
)
_TEXT_COLUMNS = ("text", "persona_id", "session_id", "annotator", "labeler", "notes", "timestamp")


class LabelJSONL(JSONL):
    """Lines of annotation JSONL, as the export command writes them, each with its dataset."""

    def encode(self, headers: Any, rows: Any) -> bytes:
        return b"".join(map(_encode_row, (dict(zip(headers, row, strict=True)) for row in rows)))


class LabelYAML(YAML):
    def encode(self, headers: Any, rows: Any) -> bytes:
        lines = map(_encode_row, (dict(zip(headers, row, strict=True)) for row in rows))
        return dump_yaml([json.loads(line) for line in lines]).encode()


FORMATS = [LabelJSONL, CSV, XLSX, LabelYAML]


class LabelMatches(NamedTuple):
    """How the labels of one dataset found their turns."""

    dataset_name: str
    labels: int
    matched_by_position: int
    matched_by_text: int
    new_sessions: int

    def in_words(self, tense: str) -> str:
        """``tense`` says whether sessions "will be made" or "were made"."""
        matched = self.matched_by_position + self.matched_by_text
        text = f"{matched:,} of {self.labels:,} labels match a turn of {self.dataset_name}"
        if matched:
            text += (
                f" ({self.matched_by_position:,} by session and turn "
                f"number, {self.matched_by_text:,} by text)"
            )
        if self.new_sessions:
            text += f"; {format_count(self.new_sessions, 'one-turn session')} {tense}"
        return f"{text}."


class LabelResult(TableResult):
    """Also tells which turns the labels were joined to."""

    def __init__(self) -> None:
        super().__init__()
        self.matches: list[LabelMatches] = []
        self.warnings: Sequence[str] = ()

    @property
    def adds_sessions(self) -> bool:
        return any(matches.new_sessions for matches in self.matches)

    def describe_matches(self, tense: str) -> str:
        return " ".join(matches.in_words(tense) for matches in self.matches)


def _encode_row(row: dict[str, Any]) -> bytes:
    dataset, extra = row.pop("dataset"), row.pop(OTHER_KEYS)
    return encode_label(LabelRecord(**row, extra={**(extra or {}), "dataset": dataset}))


def _make_field(name: str, attribute: str = "") -> Field:
    return Field(attribute=attribute or name, column_name=name, widget=Widget())


class AnnotationResource(TableResource):
    """Rows are joined to turns just as the lines of a file are, by the same operation."""

    dataset = _make_field("dataset", "dataset__name")
    text = _make_field("text", "turn__text")
    label = _make_field("label")
    persona_id = _make_field("persona_id")
    session_id = _make_field("session_id", "turn__session__session_id")
    turn_index = _make_field("turn_index", "turn__turn_index")
    annotator = _make_field("annotator")
    notes = _make_field("notes")
    timestamp = _make_field("timestamp")
    confidence = _make_field("confidence")
    other_keys = _make_field(OTHER_KEYS, "extra")

    class Meta:
        model = Annotation
        fields = LABEL_COLUMNS
        skip_diff = True

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.selected_dataset: Dataset | None = options.get("dataset")
        self.persona: str | None = options.get("persona") or None
        self.errors: dict[int, ValidationError] = {}
        self.outcomes: dict[int, LabelOutcome] = {}
        self.rows_in_new_sessions: set[int] = set()
        self.matches: list[LabelMatches] = []
        self.warnings: Sequence[str] = ()

    def get_result_class(self) -> type[TableResult]:
        return LabelResult

    def before_import(self, dataset: Any, **options: Any) -> None:
        """All rows are read and saved here, set by set; import_row then tells what became of each."""
        self.errors, self.outcomes, self.rows_in_new_sessions, self.matches = {}, {}, set(), []
        labels: dict[str, list[LabelRecord]] = {}
        visible = {dataset.name: dataset for dataset in Dataset.objects.visible_to(self.user)}
        schemas = KnownSchemas()
        raw = raw_access.find_withheld(self.user, visible.values())
        withheld = {name for name, dataset in visible.items() if dataset.pk in raw}
        for number, values in enumerate(dataset, 1):
            row = dict(zip(dataset.headers, values, strict=True))
            try:
                name = self._dataset_name(row, visible)
                if name in withheld:
                    raise ValidationError({"dataset": _WITHHELD})
                labels.setdefault(name, []).append(
                    parse_import_label(_row_to_object(row), number, self.persona, schemas)
                )
            except InvalidRecord as error:
                self.errors[number] = ValidationError({error.field or "row": f"{error.code} {error}"})
            except ValidationError as error:
                self.errors[number] = error
        if self.errors:
            return
        newest = DatasetPartition.objects.aggregate(key=Max("last_session"))["key"] or 0
        try:
            saved, self.warnings = import_label_rows(labels, schemas, actor=self.user)
        except UserError as refusal:
            raise TableFileError(refusal.message) from None
        self.outcomes = {outcome.line: outcome for part in saved.values() for outcome in part}
        self._count_matches(labels, newest, visible)

    def after_import(self, dataset: Any, result: Any, **options: Any) -> None:
        result.matches, result.warnings = self.matches, self.warnings
        super().after_import(dataset, result, **options)

    def _count_matches(
        self,
        labels: Mapping[str, Sequence[LabelRecord]],
        last_session_pk: int,
        datasets: Mapping[str, Dataset],
    ) -> None:
        """Which labels found a turn, and how; those of sessions younger than ``newest`` found none."""
        for name, records in sorted(labels.items()):
            added = Session.objects.filter(
                dataset=datasets[name], pk__gt=last_session_pk, session_id__startswith="label-"
            )
            names = set(added.values_list("session_id", flat=True))
            by_place = by_text = 0
            for record in records:
                found = self.outcomes[record.line]
                if found.session_id in names:
                    self.rows_in_new_sessions.add(record.line)
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
            result.is_new_session = number in self.rows_in_new_sessions
            result.diff = [_truncate(str(value)) for value in self._preview_values(row, outcome)]
        return result

    def record_import(self, result: TableResult) -> None:
        """The operation has recorded it, for each dataset."""

    def _dataset_name(self, row: dict[str, Any], visible: Container[str]) -> str:
        name = cell_text(row.pop("dataset", None)) or (
            self.selected_dataset.name if self.selected_dataset else ""
        )
        if self.selected_dataset and name != self.selected_dataset.name:
            raise ValidationError(
                {"dataset": f"The row is for another dataset than {self.selected_dataset.name}."}
            )
        if not name:
            raise ValidationError({"dataset": "Choose the dataset the labels are for."})
        if name not in visible:
            raise ValidationError({"dataset": "There is no such dataset."})
        return name

    def _preview_values(self, row: dict[str, Any], outcome: LabelOutcome) -> list[Any]:
        shown = {**row, "session_id": outcome.session_id, "turn_index": outcome.turn_index}
        if self.selected_dataset:
            shown["dataset"] = self.selected_dataset.name
        values = [shown.get(field) for field in self._meta.fields]
        return ["" if value is None else value for value in values]


def _truncate(text: str) -> str:
    return text if len(text) <= MAX_PREVIEW_CHARACTERS else text[: MAX_PREVIEW_CHARACTERS - 1] + "…"


def _row_to_object(row: dict[str, Any]) -> dict[str, Any]:
    """A row → the object that its line would have. Cells of a spreadsheet become what they stand for."""
    value = {key: cell for key, cell in row.items() if cell is not None}
    for key in _TEXT_COLUMNS:
        if type(value.get(key)) in (int, float):
            value[key] = cell_text(value[key])
    for key, kind in (("label", int), ("turn_index", int), ("confidence", float)):
        if isinstance(value.get(key), (str, float)):
            value[key] = read_number(value[key], kind)
    other = value.pop(OTHER_KEYS, None)
    if isinstance(other, str):
        other = decode_object(other.encode())
    if other is not None and type(other) is not dict:
        raise InvalidRecord("E101", "expected a JSON object", OTHER_KEYS)
    return {**(other or {}), **value}
