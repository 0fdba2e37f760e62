"""The form that asks what is to be scrubbed and how; its answers are a policy."""

from typing import Any

from django import forms
from django.conf import settings
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminRadioSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldBooleanSwitchWidget,
)

from datasets_app.domain.pii.custom_patterns import compile_pattern, normalize_label
from datasets_app.domain.pii.detector import KINDS
from datasets_app.domain.pii.pattern_errors import PatternError
from datasets_app.domain.pii.policy import MAX_FUZZ_SECONDS, Policy, PolicyError
from datasets_app.models import Dataset, ScrubRun
from datasets_app.templatetags.datasets_display import KIND_LABELS

DEFAULT_SAMPLE_SESSIONS, MAX_SAMPLE_SESSIONS = 200, 100_000
DEFAULT_FUZZ_SECONDS = 86_400
KIND_CHOICES = [(kind, KIND_LABELS[kind]) for kind in KINDS]
PLACEHOLDER_CHOICES = [
    ("plain", "Plain: every name becomes [NAME]"),
    ("numbered", "Numbered: people stay apart within a session, as [NAME_1] and [NAME_2]"),
]
TIMESTAMP_CHOICES = [
    ("keep", "Keep them as they are"),
    ("move", "Move them: by one random offset a session, so that order and gaps stay"),
    ("drop", "Drop them"),
]


def _lines_input() -> UnfoldAdminTextareaWidget:
    look = {"class": "ad-low ad-lines", "rows": "4", "spellcheck": "false", "autocomplete": "off"}
    return UnfoldAdminTextareaWidget(attrs=look)


class ScrubForm(forms.Form):
    kinds = forms.MultipleChoiceField(
        label="What to look for",
        choices=KIND_CHOICES,
        initial=list(KINDS),
        required=False,
        widget=UnfoldAdminCheckboxSelectMultipleWidget(attrs={"class": "ad-check"}),
        help_text="Only a scrub that looks for all of them makes the dataset a scrubbed one.",
    )
    placeholders = forms.ChoiceField(
        choices=PLACEHOLDER_CHOICES, initial="plain", widget=UnfoldAdminRadioSelectWidget
    )
    hash_session_ids = forms.BooleanField(
        label="Hash session ids",
        required=False,
        widget=UnfoldBooleanSwitchWidget,
        help_text="By a keyed hash: one id has the same hash in every file, and nobody can guess it back.",
    )
    timestamps = forms.ChoiceField(
        choices=TIMESTAMP_CHOICES, initial="keep", widget=UnfoldAdminRadioSelectWidget
    )
    fuzz_seconds = forms.IntegerField(
        label="Move by at most, in seconds",
        required=False,
        min_value=1,
        max_value=MAX_FUZZ_SECONDS,
        initial=DEFAULT_FUZZ_SECONDS,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text="Forwards or backwards; counts only if timestamps are moved. A day has 86,400.",
    )
    patterns = forms.CharField(
        label="Own patterns",
        required=False,
        max_length=50_000,
        widget=_lines_input(),
        help_text="One a line, as LABEL=REGEX, for example ORDER=\\bORD-\\d{6}\\b. "
        "What matches becomes [LABEL].",
    )
    allow = forms.CharField(
        label="Never scrub",
        required=False,
        max_length=50_000,
        widget=_lines_input(),
        help_text="Terms that are nobody's, one a line: products, your own addresses. "
        "Letter case does not matter. Personas and their lexicons are kept anyway.",
    )
    sample = forms.IntegerField(
        label="Sessions in a preview",
        min_value=1,
        max_value=MAX_SAMPLE_SESSIONS,
        initial=DEFAULT_SAMPLE_SESSIONS,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text="Drawn at random. A preview changes nothing.",
    )

    def clean_patterns(self) -> list[tuple[str, str]]:
        """(label, regex) of each line. All lines that are wrong are told, each with its place."""
        patterns, errors = [], []
        for number, line in enumerate(self.cleaned_data["patterns"].splitlines(), 1):
            if not line.strip():
                continue
            try:
                patterns.append(_parse_pattern(line))
            except PolicyError as error:
                errors.append(f"Line {number}: {error}")
        if errors:
            raise forms.ValidationError(errors)
        return patterns

    def clean_allow(self) -> list[str]:
        return [term for line in self.cleaned_data["allow"].splitlines() if (term := line.strip())]

    def clean(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        moves = cleaned.get("timestamps") == "move"
        if moves and not cleaned.get("fuzz_seconds") and "fuzz_seconds" not in self.errors:
            self.add_error("fuzz_seconds", "Say by how many seconds timestamps may be moved.")
        if not (cleaned.get("kinds") or cleaned.get("patterns") or "patterns" in self.errors):
            self.add_error("kinds", "Choose at least one class, or write a pattern of your own.")
        return cleaned

    def policy(self) -> Policy:
        """The answers of a valid form."""
        said = self.cleaned_data
        return Policy(
            kinds=tuple(kind for kind in KINDS if kind in said["kinds"]),
            patterns=tuple(said["patterns"]),
            placeholders=said["placeholders"],
            allow=tuple(said["allow"]),
            name_models=tuple(settings.NAME_MODELS),
            hash_session_ids=said["hash_session_ids"],
            fuzz_seconds=said["fuzz_seconds"] if said["timestamps"] == "move" else 0,
            drop_timestamps=said["timestamps"] == "drop",
        )


def _parse_pattern(line: str) -> tuple[str, str]:
    label, equals, regex = line.partition("=")
    if not equals or not regex.strip():
        raise PolicyError("Write it as LABEL=REGEX.")
    label, regex = normalize_label(label), regex.strip()
    try:
        compile_pattern(label, regex)
    except PatternError as error:
        # Columns are those of the line as it was typed.
        before = line.index(regex, line.index("=") + 1)
        column = error.column + before if error.column else 0
        raise PatternError(label, error.problem, column) from None
    return label, regex


def initial_answers(dataset: Dataset, scrub: ScrubRun | None) -> dict[str, Any]:
    """What the form shows first: what was asked for last, or what suits the dataset."""
    asked = scrub.job_run.parameters if scrub and scrub.job_run else {}
    if not asked.get("policy"):
        return {"hash_session_ids": dataset.origin == Dataset.Origin.PRODUCTION}
    policy = Policy.from_json(asked["policy"])
    return {
        "kinds": policy.kinds,
        "placeholders": policy.placeholders,
        "hash_session_ids": policy.hash_session_ids,
        "timestamps": "drop" if policy.drop_timestamps else "move" if policy.fuzz_seconds else "keep",
        "fuzz_seconds": policy.fuzz_seconds or DEFAULT_FUZZ_SECONDS,
        "patterns": "\n".join(f"{label}={regex}" for label, regex in policy.patterns),
        "allow": "\n".join(policy.allow),
        "sample": asked.get("sample") or DEFAULT_SAMPLE_SESSIONS,
    }
