"""The form of a decision."""

from typing import Any

from django import forms
from django.utils.translation import gettext

from annotations_app.domain.flag_reasons import FLAG_REASONS, describe_reason
from datasets_app.domain.labels.on_brand import ON_BRAND

MAX_COMMENT_LENGTH = 500
DECISIONS: dict[str, tuple[str, int | None]] = {
    **{level.slug: ("label", code) for code, level in ON_BRAND.downwards},
    "skip": ("skip", None),
    "flag": ("flag", None),
}
DECISION_CHOICES = [(name, name) for name in (*DECISIONS, "undo")]


class DecisionForm(forms.Form):
    assignment = forms.IntegerField(min_value=1, max_value=2**63 - 1)
    key = forms.UUIDField()
    decision = forms.ChoiceField(choices=DECISION_CHOICES)
    reason = forms.ChoiceField(choices=[("", ""), *FLAG_REASONS.items()], required=False)
    words = forms.CharField(max_length=MAX_COMMENT_LENGTH, required=False)
    notes = forms.CharField(required=False)
    confidence = forms.FloatField(required=False)
    seconds = forms.FloatField(required=False)
    # The digest of the persona on the page: a decision made offline may arrive after the persona changed.
    shown = forms.RegexField(r"^[0-9a-f]{64}\Z", required=False)

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = self.cleaned_data
        if cleaned.get("decision") == "flag":
            if not cleaned.get("reason"):
                raise forms.ValidationError(gettext("Say why you flag this reply."))
            if cleaned["reason"] == "other" and not cleaned.get("words"):
                raise forms.ValidationError(gettext("Describe in a few words why you flag this reply."))
        return cleaned

    def first_error(self) -> str:
        field, problems = next(iter(self.errors.items()))
        return problems[0] if field == "__all__" else f"{field.capitalize()}: {problems[0]}"

    def decide_arguments(self) -> dict[str, Any]:
        """Arguments of the operation ``decide``."""
        values = self.cleaned_data
        if values["decision"] == "undo":
            return {"key": values["key"], "kind": "undo"}
        kind, label = DECISIONS[values["decision"]]
        is_flag = kind == "flag"
        return {
            "key": values["key"],
            "kind": kind,
            "label": label,
            "notes": describe_reason(values["reason"], values["words"]) if is_flag else values["notes"],
            "confidence": values["confidence"] if kind == "label" else None,
            "seconds": values["seconds"],
            "shown": values["shown"],
        }
