"""The form for a scrub; its answers make a policy."""

from dataclasses import replace
from typing import Any

from django import forms
from django.conf import settings

from datasets_app.catalog.scrubbers import add_recognizer_files, make_default_policy
from datasets_app.core.web import fields
from datasets_app.domain.pii.custom_patterns import ParsedPattern, parse_pattern
from datasets_app.domain.pii.detector import KINDS, PRECISION, RECALL
from datasets_app.domain.pii.policy import ALL_KINDS, MAX_FUZZ_SECONDS, Policy, PolicyError
from datasets_app.jobs.parameters import read_parameters
from datasets_app.models import Dataset, ScrubRun
from datasets_app.scrubbing.parameters import ScrubParameters
from datasets_app.templatetags.datasets_display import KIND_LABELS

DEFAULT_SAMPLE_SESSIONS, MAX_SAMPLE_SESSIONS = 200, 100_000
DEFAULT_FUZZ_SECONDS = 86_400
KIND_CHOICES = [(kind, KIND_LABELS[kind]) for kind in ALL_KINDS]
PLACEHOLDER_CHOICES = [
    ("plain", "Plain: every name becomes [NAME]"),
    ("numbered", "Numbered: people stay distinct within a session, as [NAME_1] and [NAME_2]"),
]
MAX_PATTERNS = 100
PREFER_CHOICES = [
    (RECALL, "Recall: replace it, so that few names stay"),
    (PRECISION, "Precision: keep it, so that few other words change"),
]
TIMESTAMP_CHOICES = [
    ("keep", "Keep"),
    ("move", "Shift: by one random offset per session, which keeps order and gaps"),
    ("drop", "Remove"),
]


class ScrubForm(forms.Form):
    kinds = fields.Checkboxes(
        label="Types of personal data",
        choices=KIND_CHOICES,
        initial=list(KINDS),
        required=False,
        help_text="Select all types but the last to mark the dataset as scrubbed.",
    )
    placeholders = fields.Radio(choices=PLACEHOLDER_CHOICES, initial="plain")
    prefer = fields.Radio(
        label="When a word may or may not be a name",
        choices=PREFER_CHOICES,
        initial=RECALL,
        help_text="Precision suits synthetic data. In test chats in 27 languages it leaves 16 instead of 7 "
        "of 100 names, and changes half as many other words.",
    )
    hash_session_ids = fields.Switch(
        label="Hash session ids",
        help_text="A keyed hash: the same id gets the same hash in every file and can't be reversed.",
    )
    timestamps = fields.Radio(choices=TIMESTAMP_CHOICES, initial="keep")
    fuzz_seconds = fields.Integer(
        label="Maximum shift (seconds)",
        required=False,
        min_value=1,
        max_value=MAX_FUZZ_SECONDS,
        initial=DEFAULT_FUZZ_SECONDS,
        help_text="Forward or backward; only used to shift timestamps. A day has 86,400 seconds.",
    )
    patterns = fields.Lines(
        label="Custom patterns",
        required=False,
        max_length=50_000,
        attrs={"rows": "4"},
        help_text="One per line: LABEL=REGEX, for example ORDER=\\bORD-\\d{6}\\b, or LABEL: and three "
        "examples, for example ORDER_NUMBER: ORD-00017, ORD-00018, ORD-00412. Matches become [LABEL].",
    )
    sample = fields.Integer(
        label="Preview sample (sessions)",
        min_value=1,
        max_value=MAX_SAMPLE_SESSIONS,
        initial=DEFAULT_SAMPLE_SESSIONS,
        help_text="A random sample. A preview changes nothing.",
    )

    def __init__(self, *args: Any, may_read: bool, **options: Any) -> None:
        """Without ``may_read`` there are no patterns to enter: counting their matches would tell what raw
        text contains, and those of the last scrub may quote it."""
        super().__init__(*args, **options)
        if not may_read:
            del self.fields["patterns"]

    def clean_patterns(self) -> list[ParsedPattern]:
        """The pattern of each line. Reports all invalid lines with their numbers."""
        patterns, errors = [], []
        lines = self.cleaned_data["patterns"].splitlines()
        if (given := sum(map(bool, map(str.strip, lines)))) > MAX_PATTERNS:
            raise forms.ValidationError(f"Give at most {MAX_PATTERNS} patterns, not {given:,}.")
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                patterns.append(parse_pattern(line))
            except PolicyError as error:
                errors.append(f"Line {number}: {error}")
        if errors:
            raise forms.ValidationError(errors)
        return patterns

    def clean(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        shifts = cleaned.get("timestamps") == "move"
        if shifts and not cleaned.get("fuzz_seconds") and "fuzz_seconds" not in self.errors:
            self.add_error("fuzz_seconds", "Enter the maximum shift in seconds.")
        if not (cleaned.get("kinds") or cleaned.get("patterns") or "patterns" in self.errors):
            self.add_error("kinds", "Select at least one type, or enter a custom pattern.")
        try:
            self._installed = add_recognizer_files(Policy())
        except PolicyError as error:
            self.add_error(None, f"The recognizers of this installation can't be used. {error}")
        return cleaned

    def policy(self) -> Policy:
        """The answers of a valid form, with the recognizers of the installation."""
        cleaned = self.cleaned_data
        return replace(
            self._installed,
            kinds=tuple(kind for kind in ALL_KINDS if kind in cleaned["kinds"]),
            patterns=tuple(pattern[:2] for pattern in cleaned.get("patterns", ())),
            placeholders=cleaned["placeholders"],
            prefer=cleaned["prefer"],
            name_models=tuple(settings.NAME_MODELS),
            hash_session_ids=cleaned["hash_session_ids"],
            fuzz_seconds=cleaned["fuzz_seconds"] if cleaned["timestamps"] == "move" else 0,
            drop_timestamps=cleaned["timestamps"] == "drop",
        )


def initial_answers(dataset: Dataset, scrub: ScrubRun | None) -> dict[str, Any]:
    """The initial values: those of the last scrub, or defaults."""
    job = scrub.job_run if scrub else None
    parameters = read_parameters(job, ScrubParameters) if job else ScrubParameters()
    policy = Policy.from_json(parameters.policy) if parameters.policy else make_default_policy(dataset)
    return {
        "kinds": policy.kinds,
        "placeholders": policy.placeholders,
        "prefer": policy.prefer,
        "hash_session_ids": policy.hash_session_ids,
        "timestamps": "drop" if policy.drop_timestamps else "move" if policy.fuzz_seconds else "keep",
        "fuzz_seconds": policy.fuzz_seconds or DEFAULT_FUZZ_SECONDS,
        "patterns": "\n".join(f"{label}={regex}" for label, regex in policy.patterns),
        "sample": parameters.sample or DEFAULT_SAMPLE_SESSIONS,
    }
