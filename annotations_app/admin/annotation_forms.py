"""The forms of labels: corrections by a lead, and files."""

from typing import Any

from django import forms
from import_export.forms import ConfirmImportForm
from unfold.widgets import (
    UnfoldAdminSelectWidget,
    UnfoldForeignKeyRawIdWidget,
)

from annotations_app.labels.label_writing import list_label_texts
from annotations_app.models import Annotation
from datasets_app.catalog.personas import suggest_persona_ids
from datasets_app.catalog.written_text import find_problems
from datasets_app.core.web.suggestions import SuggestingInput
from datasets_app.models import Dataset, Persona
from datasets_app.tables.admin import TableImportForm


class AnnotationImportForm(TableImportForm):
    dataset = forms.ModelChoiceField(
        Dataset.objects.none(),
        required=False,
        widget=UnfoldAdminSelectWidget(attrs={"data-picker": True}),
        help_text="For rows without a column named dataset.",
    )
    persona = forms.CharField(
        required=False,
        max_length=500,
        widget=SuggestingInput(suggest_persona_ids),
        help_text="For rows without a persona_id; rows that name another are refused.",
    )
    field_order = ["resource", "dataset", "persona", "import_file", "format"]


class AnnotationConfirmForm(ConfirmImportForm):  # type: ignore[misc]
    dataset = forms.ModelChoiceField(Dataset.objects.none(), required=False, widget=forms.HiddenInput)
    persona = forms.CharField(required=False, max_length=500, widget=forms.HiddenInput)


class LabelForm(forms.ModelForm):
    def clean(self) -> dict[str, Any]:
        """Refuse what a scrub of the dataset would replace in the fields that were changed."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        turn = cleaned.get("turn") or (self.instance.turn if self.instance.pk else None)
        if turn is not None and not self.errors:
            label = Annotation(**{name: cleaned.get(name) for name in ("notes", "annotator", "persona_id")})
            texts = list_label_texts(label, set(Persona.objects.values_list("persona_id", flat=True)))
            changed = {name: texts[name] for name in self.changed_data if name in texts}
            for name, problem in find_problems(turn.session.dataset, changed).items():
                self.add_error(name, problem)
        return cleaned


class TurnWidget(UnfoldForeignKeyRawIdWidget):
    """Without a label beside the number: the framework would describe turns of hidden datasets, too."""

    def label_and_url_for_value(self, value: Any) -> tuple[str, str]:
        return "", ""
