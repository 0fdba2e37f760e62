"""The form of a decision."""

import json
from typing import Any

from django import forms
from django.utils.translation import gettext

from annotations_app.domain.flag_reasons import FLAG_REASONS, describe_reason
from datasets_app.domain.labels.criterion import Criterion, Kind
from datasets_app.domain.labels.on_brand import ON_BRAND
from datasets_app.domain.labels.schema import Schema

MAX_COMMENT_LENGTH = 500
NO_GUIDELINES = "none"
DECISIONS: dict[str, tuple[str, int | None]] = {
    **{level.slug: ("label", code) for code, level in ON_BRAND.downwards},
    "skip": ("skip", None),
    "flag": ("flag", None),
}
# Under a schema, one decision has all answers.
SCHEMA_DECISIONS: dict[str, tuple[str, int | None]] = {"label": ("label", None)} | {
    name: DECISIONS[name] for name in ("skip", "flag")
}
# Of the fields of a form without scripts, one for each criterion: chosen and typed answers.
CHOSEN_PREFIX, TYPED_PREFIX = "chosen.", "typed."
MAX_ANSWERS_LENGTH = 200_000
MAX_EVIDENCE_LENGTH = 5_000


class DecisionForm(forms.Form):
    assignment = forms.IntegerField(min_value=1, max_value=2**63 - 1)
    key = forms.UUIDField()
    decision = forms.ChoiceField()
    # By criterion, as JSON: from the script.
    answers = forms.CharField(max_length=MAX_ANSWERS_LENGTH, required=False)
    # Marked words, as JSON: from the script.
    evidence = forms.CharField(max_length=MAX_EVIDENCE_LENGTH, required=False)
    reason = forms.ChoiceField(choices=[("", ""), *FLAG_REASONS.items()], required=False)
    words = forms.CharField(max_length=MAX_COMMENT_LENGTH, required=False)
    notes = forms.CharField(required=False)
    confidence = forms.FloatField(required=False)
    seconds = forms.FloatField(required=False)
    # The digest of the persona on the page: a decision made offline may arrive after the persona changed.
    shown = forms.RegexField(r"^[0-9a-f]{64}\Z", required=False)
    # The same of the guidelines; "none" without any.
    guidelines = forms.RegexField(r"^([0-9a-f]{64}|none)\Z", required=False)

    def __init__(self, data: Any, schema: Schema | None) -> None:
        super().__init__(data)
        self.schema = schema
        self.decisions = SCHEMA_DECISIONS if schema else DECISIONS
        self.fields["decision"].choices = [(name, name) for name in (*self.decisions, "undo")]

    def clean_answers(self) -> dict[str, Any]:
        if self.schema is None:
            return {}
        if not (said := self.cleaned_data["answers"]):
            return read_fields(self.schema, self.data)
        return _parse_object(said, gettext("The answers can't be read."))

    def clean_evidence(self) -> dict[str, Any]:
        said = self.cleaned_data["evidence"]
        return _parse_object(said, gettext("The marked words can't be read.")) if said else {}

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
        kind, label = self.decisions[values["decision"]]
        is_flag = kind == "flag"
        return {
            "key": values["key"],
            "kind": kind,
            "label": label,
            "answers": values["answers"] if kind == "label" else None,
            "notes": describe_reason(values["reason"], values["words"]) if is_flag else values["notes"],
            "evidence": values["evidence"],
            "confidence": values["confidence"] if kind == "label" else None,
            "seconds": values["seconds"],
            "shown": values["shown"],
            "guidelines": {"": None, NO_GUIDELINES: ""}.get(values["guidelines"], values["guidelines"]),
        }


def _parse_object(text: str, problem: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise forms.ValidationError(problem)
    return value


def read_fields(schema: Schema, data: Any) -> dict[str, Any]:
    """Answers from the fields of the page: codes of levels, numbers and texts.

    A page without scripts has all questions: what is filled in, but asked only after another answer, is left.
    """
    answers: dict[str, Any] = {}
    of_session = [criterion.key for criterion in schema.criteria if criterion.is_of_session]
    given = (data.get(prefix + key) for key in of_session for prefix in (CHOSEN_PREFIX, TYPED_PREFIX))
    with_session = bool(data.get("asks_session")) or any(given)
    for question in schema.questions:
        prefix = CHOSEN_PREFIX if question.criterion.levels else TYPED_PREFIX
        said = [one for one in data.getlist(prefix + question.criterion.key) if one]
        condition = question.condition
        other = condition and schema.find(condition.key)
        if (
            condition
            and other
            and answers.get(other.key) not in [other.values[code] for code in condition.codes]
        ):
            continue
        if question.criterion.is_of_session and not with_session:
            continue
        if said or question.criterion.kind == Kind.TAGS:
            answers[question.criterion.key] = _read_field(question.criterion, said)
    return answers


def _read_field(criterion: Criterion, said: list[str]) -> Any:
    if criterion.levels:
        chosen = [level.value for level in criterion.levels if level.slug in said]
        return chosen if criterion.kind == Kind.TAGS else (chosen or said)[0]
    if criterion.kind == Kind.TEXT:
        return said[0]
    try:
        return float(said[0])
    except ValueError:
        return said[0]
