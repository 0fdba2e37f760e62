"""The forms of an import: options, the upload, the preview."""

import re
from typing import Any

from django import forms

from datasets_app.catalog import gates, policies
from datasets_app.catalog.personas import suggest_persona_ids
from datasets_app.core.limits import MAX_SUGGESTIONS
from datasets_app.core.web import fields
from datasets_app.core.web.overrides import OverrideField, OverrideForm
from datasets_app.core.web.suggestions import SuggestingInput
from datasets_app.domain.conversations.lines import UnreadableFile
from datasets_app.domain.traces.convert import MAX_COLUMNS_CHARACTERS, check_columns, read_convert_options
from datasets_app.domain.traces.label_rules import read_label_rules
from datasets_app.domain.traces.table_columns import format_columns
from datasets_app.importing.mappings import (
    MAPPING_NAME_RULE,
    MAX_NAME_CHARACTERS,
    get_mapping,
    is_mapping_name,
)
from datasets_app.importing.parameters import IMPORT_FORMAT_LABELS, ON_ERROR_LABELS
from datasets_app.models import Dataset, TableMapping
from datasets_app.models.dataset import NAME_PATTERN, NAME_RULE

UPLOAD_ENDINGS = ".jsonl,.json,.ndjson,.gz,.csv,.tsv,.txt,.xlsx,.parquet,.arrow,.zip,.tar,.tgz,.sqlite3"


def is_name_hidden(name: str, user: Any) -> bool:
    return bool(Dataset.objects.hidden_from(user).filter(name=name).exists())


class ImportOptionsForm(forms.Form):
    """Refuses the name of a dataset that is hidden from ``user``."""

    dataset_name = forms.RegexField(
        NAME_PATTERN,
        label="Dataset",
        required=False,
        max_length=100,
        # Browsers check it before they send the file. Their expressions want the dash escaped.
        widget=SuggestingInput(
            attrs={"pattern": r"[A-Za-z0-9][A-Za-z0-9._\-]{0,99}", "title": NAME_RULE},
        ),
        help_text=f"A new name or that of an existing dataset; empty uses the file name. {NAME_RULE}",
        error_messages={"invalid": NAME_RULE},
    )
    # Without a default: it decides which rules apply.
    origin = fields.Choice(
        choices=[("", "Choose an origin"), *Dataset.Origin.choices],
        help_text="Production data contains text by real people.",
        error_messages={"required": "Choose the origin: it decides which rules apply to the dataset."},
    )
    persona = forms.CharField(
        label="Persona",
        required=False,
        max_length=500,
        widget=SuggestingInput(suggest_persona_ids),
        help_text="The persona ID for sessions that have none.",
    )
    format = fields.Choice(choices=[("auto", "Detect automatically"), *IMPORT_FORMAT_LABELS.items()])
    assistant = fields.Text(
        label="Assistant",
        required=False,
        max_length=200,
        help_text="For messengers and tables: the participant who is the assistant; empty takes all but the "
        "first sender.",
    )
    columns = fields.Text(
        label="Columns by name",
        required=False,
        max_length=MAX_COLUMNS_CHARACTERS,
        help_text="For tables: session_id=…, role=…, text=…, timestamp=…, tags=…; those that "
        "aren't named are detected, and tags= uses no column.",
    )
    saved_mapping = fields.Choice(
        label="Saved columns",
        required=False,
        attrs={"data-picker": True},
        help_text="For tables: columns that were saved by name; used if none are named above.",
    )
    question = fields.Text(
        label="Label question",
        required=False,
        max_length=200,
        help_text="For label tools: the only question whose answers are on-brand or off-brand.",
    )
    label_map = fields.Text(
        label="Label values",
        required=False,
        max_length=1000,
        help_text="For label tools: good=1, bad=0; empty recognizes yes, no, 1, 0, on-brand, off-brand and "
        "thumbs.",
    )
    on_error = fields.Radio(
        label="If there are problems", choices=list(ON_ERROR_LABELS.items()), initial="abort"
    )
    renumber = fields.Switch(
        label="Renumber turns",
        help_text="For files that count from 0 or have gaps: turns are numbered 1, 2, 3 … in their order.",
    )
    append = fields.Switch(
        label="Skip existing sessions",
        help_text="Only identical sessions are skipped; different ones with the same ID are problems.",
    )

    def __init__(self, *args: Any, user: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.user = user
        datasets = Dataset.objects.visible_to(user).order_by("name").values_list("name", flat=True)
        self.fields["dataset_name"].widget.suggest = lambda: datasets[:MAX_SUGGESTIONS]  # type: ignore[attr-defined]
        names = TableMapping.objects.values_list("name", flat=True)[:200]
        choices: Any = self.fields["saved_mapping"]
        choices.choices = [("", "None"), *((name, name) for name in names)]

    def clean_columns(self) -> str:
        try:
            check_columns(read_convert_options("", self.cleaned_data["columns"]).mapping)
        except UnreadableFile as error:
            raise forms.ValidationError(f"{str(error).capitalize()}.") from None
        return self.cleaned_data["columns"]

    def clean_label_map(self) -> str:
        try:
            read_label_rules("", self.cleaned_data["label_map"])
        except UnreadableFile as error:
            raise forms.ValidationError(f"{str(error).capitalize()}.") from None
        return self.cleaned_data["label_map"]

    def clean(self) -> dict[str, Any]:
        saved = self.cleaned_data.get("saved_mapping")
        if saved and not self.cleaned_data.get("columns"):
            self.cleaned_data["columns"] = format_columns(get_mapping(saved))
        name = self.cleaned_data.get("dataset_name")
        if name and is_name_hidden(name, self.user):
            self.add_error("dataset_name", "This name is taken. Choose another one.")
        return self.cleaned_data


class PreviewForm(OverrideForm, ImportOptionsForm):
    """Checks also the origin: against the one stated with the upload, and the dataset's own."""

    save_mapping = fields.Text(
        label="Save columns as",
        required=False,
        max_length=MAX_NAME_CHARACTERS,
        help_text="For tables: a name under which the columns can be chosen for the next file. "
        f"{MAPPING_NAME_RULE}",
    )

    override = OverrideField(
        "Reason for an override",
        "To change the stated origin or import erased sessions. Recorded in the audit log with your name.",
    )

    def __init__(self, *args: Any, prepared_origin: str | None, user: Any, **options: Any) -> None:
        may_override = gates.can_override(user)
        super().__init__(*args, user=user, may_override=may_override, override_required=False, **options)
        self.prepared_origin = prepared_origin

    def clean_save_mapping(self) -> str:
        name: str = self.cleaned_data["save_mapping"]
        if name and not is_mapping_name(name):
            raise forms.ValidationError(MAPPING_NAME_RULE)
        return name

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        origin = cleaned.get("origin") or ""
        request = gates.request_override(self.user, cleaned.get("override", ""))
        verdict = policies.decide_stated_origin(origin, self.prepared_origin, "The upload", request)
        if "dataset_name" in self.errors:
            return cleaned  # hidden datasets keep their origin to themselves
        dataset = Dataset.objects.filter(name=cleaned.get("dataset_name")).first()
        if dataset is not None and not isinstance(verdict, policies.Refused):
            verdict = policies.decide_import_origin(gates.load_facts(dataset), origin)
        if isinstance(verdict, policies.Refused):
            self.add_error("origin", verdict.message)
        return cleaned


class _SeveralFiles(forms.FileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """One or more files, as a list."""

    widget = _SeveralFiles

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        files = data if isinstance(data, list | tuple) else [data]
        return [super(FilesField, self).clean(each, initial) for each in files or [None]]


class UploadForm(ImportOptionsForm):
    file = FilesField(
        label="Files",
        widget=_SeveralFiles(attrs={"accept": UPLOAD_ENDINGS}),
        help_text="JSONL, or an export of another tool: traces, chats, tickets, tables.",
        allow_empty_file=True,
        max_length=255,
    )
    field_order = ["file"]

    def usable_options(self) -> dict[str, Any]:
        """What was entered, and the default for what can't be used: files that are here are not sent again,
        so the preview asks for the rest."""
        defaults = {name: self.get_initial_for_field(field, name) for name, field in self.fields.items()}
        blank = {name: "" if value is None else value for name, value in defaults.items()}
        if "dataset_name" in self.errors and not is_name_hidden(self["dataset_name"].value(), self.user):
            blank["dataset_name"] = dataset_name_from_file(self["dataset_name"].value())
        return {**blank, **self.cleaned_data}


def dataset_name_from_file(file_name: str) -> str:
    """ "Support logs (May).jsonl.gz" → Support_logs_May."""
    endings = UPLOAD_ENDINGS.replace(".", "").replace(",", "|")
    stem = re.sub(rf"(\.({endings}))+$", "", file_name, flags=re.IGNORECASE)
    name = re.sub(r"[^A-Za-z0-9._-]+", "_", stem).strip("._-")
    return name[:100] or "dataset"
