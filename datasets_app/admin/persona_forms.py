"""The form of a persona: its YAML, and beside it fields that change the YAML."""

from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from datasets_app.admin.resources import validate_persona
from datasets_app.domain.metadata.yaml_text import YamlError
from datasets_app.domain.personas.fields import change_fields, read_fields
from datasets_app.models import Persona

NEW_PERSONA_YAML = """\
# Labels and sessions refer to the persona by this id. Required; can't be changed later.
id:
display_name:
# Who is speaking, in two or three sentences.
description: ""
# Names that a scrub keeps.
brand: ""
products: []
competitors: []
# A few replies in the persona's voice, each on its own line:
#   - You can undo that; open the activity list and choose Restore.
exemplars: []
# Single words only: entries with several words never match.
lexicon:
  preferred: []
  avoid: []
# For example sentence_length: {max_avg: 18}, tone: [calm, direct]
style_rules: {}
safety_rules:
  disallowed_topics: []
"""


# Label, help and rows of the fields beside the YAML.
_FIELDS = {
    "id": ("ID", "Labels and sessions refer to the persona by it. It can't be changed later.", 0),
    "display_name": ("Name", "", 0),
    "description": ("Description", "Who is speaking, in two or three sentences.", 3),
    "brand": ("Brand", "The company or product that the persona speaks for.", 0),
    "products": ("Products", "One per line. A scrub keeps these names, and those of competitors.", 2),
    "competitors": ("Competitors", "One per line.", 2),
    "exemplars": ("Example replies", "A few replies in the persona's voice, one per line.", 4),
    "preferred": ("Preferred words", "Single words, one per line.", 3),
    "avoid": ("Words to avoid", "Single words, one per line.", 3),
    "disallowed_topics": ("Topics to refuse", "One per line.", 3),
}


class PersonaFields(forms.Form):
    """What most people change of the YAML. Each field remembers what it began with: only changes are written
    into the YAML, which may have been changed meanwhile."""

    def __init__(self, yaml: str, *, may_change_id: bool, data: Any = None) -> None:
        try:
            self.known = read_fields(yaml)
        except YamlError:
            self.known = {}
        super().__init__(data, prefix="field", initial=self.known)
        for name, (label, help_text, rows) in _FIELDS.items():
            attrs = {"class": "ad-low", "rows": rows, "autocomplete": "off"}
            self.fields[name] = forms.CharField(
                label=label,
                help_text=help_text,
                required=False,
                show_hidden_initial=True,
                disabled=data is None and (name not in self.known or (name == "id" and not may_change_id)),
                widget=UnfoldAdminTextareaWidget(attrs=attrs)
                if rows
                else UnfoldAdminTextInputWidget(attrs={"autocomplete": "off"}),
            )

    def apply(self, yaml: str) -> str:
        """``yaml`` with what was changed in the fields; as it is where it can't be read."""
        if not self.is_valid() or not self.changed_data:
            return yaml
        changes = {name: self.cleaned_data[name] for name in self.changed_data}
        try:
            return change_fields(yaml, changes)
        except YamlError:
            return yaml


class PersonaForm(forms.ModelForm):
    class Meta:
        model = Persona
        fields = ["yaml"]
        labels = {"yaml": "YAML"}
        widgets = {
            "yaml": UnfoldAdminTextareaWidget(
                attrs={
                    "rows": 30,
                    "spellcheck": "false",
                    "class": "ad-yaml",
                    "wrap": "off",
                    "autocomplete": "off",
                    "autocapitalize": "off",
                }
            )
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "yaml" in self.fields:
            self.fields["yaml"].strip = False  # type: ignore[attr-defined]

    def clean_yaml(self) -> str:
        # Browsers send line ends as CR LF, which must not count as a change.
        submitted = str(self.cleaned_data["yaml"]).replace("\r\n", "\n")
        submitted = PersonaFields(submitted, may_change_id=True, data=self.data).apply(submitted)
        stored = self.instance.yaml
        return stored if stored.replace("\r\n", "\n") == submitted else submitted

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if "yaml" in cleaned:
            document = validate_persona(cleaned["yaml"])
            if self.instance.pk and document.id != self.instance.persona_id:
                self.add_error(
                    "yaml",
                    f"id: can't be changed from {self.instance.persona_id}. Add a new persona instead.",
                )
            elif not self.instance.pk and Persona.objects.filter(persona_id=document.id).exists():
                self.add_error("yaml", f"id: the persona {document.id} already exists. Edit that one.")
            self.instance.persona_id = document.id
            self.instance.display_name = document.display_name
            self.instance.description = document.description
        return cleaned
