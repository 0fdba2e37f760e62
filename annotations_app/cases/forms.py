"""The form of a test case: where it is cut, what was wrong, and its variants."""

from collections.abc import Iterator, Sequence
from typing import Any

from django import forms
from django.core.validators import RegexValidator
from django.db.models import QuerySet

from annotations_app.campaigns.forms import UserMultipleChoiceField
from annotations_app.cases.make_case import MAX_MODE_CHARACTERS, MAX_RUBRIC_CHARACTERS, MAX_TEXT_CHARACTERS
from annotations_app.cases.send_case import OVERLAP
from datasets_app.core.web import fields
from datasets_app.core.web.suggestions import SuggestingInput
from datasets_app.domain.generation.families import ANSWERS, KINDS, draft_variant
from datasets_app.models.dataset import NAME_PATTERN

START_CHARACTERS = 60


class CaseForm(forms.Form):
    rubric = fields.LongText(
        required=False,
        max_length=MAX_RUBRIC_CHARACTERS,
        attrs={"rows": 2, "autofocus": True},
        help_text="What a good answer does. People judge by it, and Alignmenter grades by it.",
    )
    failure_mode = forms.CharField(
        label="What was wrong", required=False, max_length=MAX_MODE_CHARACTERS, widget=SuggestingInput()
    )
    dataset = fields.Text(label="Dataset of cases", max_length=100, validators=[RegexValidator(NAME_PATTERN)])
    annotators = UserMultipleChoiceField(label="Send to", required=False)
    reply = fields.Choice()
    first = fields.Choice(label="Conversation from")

    def __init__(
        self,
        data: Any = None,
        *,
        turns: Sequence[Any],
        reply: Any,
        modes: Iterator[str],
        dataset: str,
        annotators: QuerySet[Any] | None,
    ) -> None:
        """``annotators`` is None for who may not create campaigns; the first of them are chosen."""
        super().__init__(data)
        replies = [turn for turn in turns if turn.role == "assistant"]
        for name, offered, initial in (("reply", replies, reply), ("first", turns[:-1], turns[0])):
            self.fields[name].choices = [(turn.turn_index, _describe(turn)) for turn in offered]  # type: ignore[attr-defined]
            self.fields[name].initial = initial.turn_index
        self.fields["failure_mode"].widget.suggest = lambda: modes
        self.fields["dataset"].initial = dataset
        if annotators is None:
            del self.fields["annotators"]
        else:
            self.fields["annotators"].queryset = annotators
            self.fields["annotators"].initial = annotators[:OVERLAP]
        asked = next(
            (
                turn.text
                for turn in reversed(turns)
                if turn.role == "user" and turn.turn_index < reply.turn_index
            ),
            "",
        )
        for name, kind in KINDS.items():
            self.fields[f"text_{name}"] = fields.LongText(
                label=kind.label,
                required=False,
                max_length=MAX_TEXT_CHARACTERS,
                initial=draft_variant(name, asked),
                attrs={"rows": 3},
            )
            self.fields[f"answer_{name}"] = fields.Choice(
                label=f"{kind.label}: the answer",
                required=False,
                choices=list(ANSWERS.items()),
                initial=kind.answer,
            )

    def read_variants(self) -> Iterator[tuple[str, str, str]]:
        """Kind, expected answer and text of those with a text."""
        for name, kind in KINDS.items():
            if text := self.cleaned_data[f"text_{name}"].strip():
                yield name, self.cleaned_data[f"answer_{name}"] or kind.answer, text

    @property
    def main_fields(self) -> list[Any]:
        return [field for field in self if not field.name.startswith(("text_", "answer_"))]

    @property
    def variant_fields(self) -> list[tuple[Any, Any]]:
        """The text and the expected answer of each kind."""
        return [(self[f"text_{name}"], self[f"answer_{name}"]) for name in KINDS]


def _describe(turn: Any) -> str:
    text = " ".join(turn.text.split())
    return f"{turn.turn_index}, {turn.role}: {text[:START_CHARACTERS]}{'…' * (len(text) > START_CHARACTERS)}"
