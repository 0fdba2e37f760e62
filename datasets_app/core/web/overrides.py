"""The form field in which people with the permission give a reason to open a gate."""

from typing import Any

from django import forms
from django.conf import settings

from datasets_app.core.web import fields
from datasets_app.domain.wording import MAX_REASON_CHARACTERS


class OverrideField(fields.Text):
    def __init__(self, label: str, help_text: str = "Recorded in the audit log with your name.") -> None:
        super().__init__(label=label, max_length=MAX_REASON_CHARACTERS, help_text=help_text)

    def get_bound_field(self, form: forms.BaseForm, field_name: str) -> forms.BoundField:
        bound = super().get_bound_field(form, field_name)
        if settings.FOUR_EYES:
            bound.help_text = f"{bound.help_text} A second person has to approve it."
        return bound


class OverrideForm(forms.Form):
    """The base of forms that declare ``override = OverrideField(…)``: only those who may override see it."""

    def __init__(
        self, *args: Any, may_override: bool, override_required: bool = True, **options: Any
    ) -> None:
        super().__init__(*args, **options)
        if may_override:
            self.fields["override"].required = override_required
        else:
            del self.fields["override"]

    @property
    def filled_in(self) -> dict[str, Any]:
        """The answers of a valid form, without fields that were left empty."""
        return {name: value for name, value in self.cleaned_data.items() if value not in (None, "")}
