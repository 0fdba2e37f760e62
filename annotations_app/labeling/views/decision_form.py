"""What a browser sends when something was pressed."""

from typing import Any

from django import forms

from annotations_app.domain.flag_reasons import FLAG_REASONS, describe_reason

MAX_COMMENT_LENGTH = 500
DECISIONS = {"on": ("label", 1), "off": ("label", 0), "skip": ("skip", None), "flag": ("flag", None)}
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
    # The digest of the persona that was shown when it was pressed: it may have waited since.
    shown = forms.RegexField(r"^[0-9a-f]{64}\Z", required=False)

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = self.cleaned_data
        if cleaned.get("decision") == "flag":
            if not cleaned.get("reason"):
                raise forms.ValidationError("Say why you flag this reply.")
            if cleaned["reason"] == "other" and not cleaned.get("words"):
                raise forms.ValidationError("Say in a few words why you flag this reply.")
        return cleaned

    def sentence(self) -> str:
        """The first thing that is wrong."""
        field, problems = next(iter(self.errors.items()))
        return problems[0] if field == "__all__" else f"{field.capitalize()}: {problems[0]}"

    def decide_arguments(self) -> dict[str, Any]:
        """Arguments of the operation ``decide``."""
        given = self.cleaned_data
        if given["decision"] == "undo":
            return {"key": given["key"], "kind": "undo"}
        kind, label = DECISIONS[given["decision"]]
        is_flag = kind == "flag"
        return {
            "key": given["key"],
            "kind": kind,
            "label": label,
            "notes": describe_reason(given["reason"], given["words"]) if is_flag else given["notes"],
            "confidence": given["confidence"] if kind == "label" else None,
            "seconds": given["seconds"],
            "shown": given["shown"],
        }
