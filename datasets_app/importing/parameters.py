"""The parameters of an import; see ``jobs/parameters.py``."""

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from msgspec import UNSET, UnsetType

from datasets_app.domain.conversations.reading import FORMAT_LABELS
from datasets_app.domain.traces.convert import LABELS, ConvertOptions, read_convert_options
from datasets_app.domain.traces.label_rules import LabelRules, read_label_rules
from datasets_app.jobs.parameters import OverridableParameters
from datasets_app.models import Dataset

# What is read beyond that; labels as they are shown in a list.
IMPORT_FORMAT_LABELS = {**FORMAT_LABELS, **dict(sorted(LABELS.items(), key=lambda item: item[1].lower()))}
ON_ERROR_LABELS = {
    "abort": "Import nothing and list the problems",
    "quarantine": "Import the valid sessions and quarantine the others in a file",
}


class ImportOptions(NamedTuple):
    """How files are read. Sessions that name no persona get ``persona``."""

    format: str = "auto"
    persona: str | None = None
    renumber: bool = False
    quarantine: bool = False
    append: bool = False
    reading: ConvertOptions = ConvertOptions()
    labels: LabelRules = LabelRules()


class ImportParameters(OverridableParameters, frozen=True):
    """``prepared_origin`` and ``uploaded_by`` are kept from the upload: someone else may import it."""

    format: str | None = "auto"
    origin: str | None = None
    persona: str | None = None
    on_error: str | None = "abort"
    renumber: bool = False
    append: bool = False
    prepared_origin: str | None = None
    uploaded_by: str | None = None
    # "text=Body, role=Author" of a table; "good=1, bad=0" and the only question that counts of label tools.
    assistant: str | UnsetType = UNSET
    columns: str | UnsetType = UNSET
    label_map: str | UnsetType = UNSET
    question: str | UnsetType = UNSET
    # What a command imported, and how earlier versions of it stored on_error.
    files: list[str] | UnsetType = UNSET
    quarantine: bool | UnsetType = UNSET

    @property
    def reading(self) -> ConvertOptions:
        return read_convert_options(self.assistant or "", self.columns or "")

    @property
    def label_rules(self) -> LabelRules:
        return read_label_rules(self.question or "", self.label_map or "")

    @property
    def options(self) -> ImportOptions:
        return ImportOptions(
            self.format or "auto",
            self.persona or None,
            self.renumber,
            self.on_error == "quarantine",
            self.append,
            self.reading,
            self.label_rules,
        )

    LABELS: ClassVar = {
        "on_error": "If there are problems",
        "renumber": "Renumber turns",
        "append": "Skip existing sessions",
        "prepared_origin": "Origin stated with the upload",
        "override": "Reason for the override",
    }
    CHOICES: ClassVar = {
        "format": IMPORT_FORMAT_LABELS,
        "on_error": ON_ERROR_LABELS,
        "origin": dict(Dataset.Origin.choices),
        "prepared_origin": dict(Dataset.Origin.choices),
    }


def read_entered(
    entered: Mapping[str, Any], prepared_origin: str | None, uploaded_by: str | None
) -> ImportParameters:
    """What was entered in the form of the options; what is empty is not stored."""
    stored: dict[str, Any] = {name: entered[name] for name in ("format", "renumber", "on_error", "append")}
    stored |= {name: entered[name] or None for name in ("origin", "persona")}
    texts = ("assistant", "columns", "label_map", "question", "override")
    stored |= {name: entered.get(name) or UNSET for name in texts}
    return ImportParameters(**stored, prepared_origin=prepared_origin, uploaded_by=uploaded_by)
