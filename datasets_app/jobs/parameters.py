"""The parameters of each operation that runs as a job: one struct each, stored as JSON in the job's row.

Rows are kept for years. So a struct only ever gains fields, each field has a default, and keys that are no
longer fields are ignored.
"""

from datetime import date
from typing import Any, ClassVar, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from datasets_app.core.errors import UserError
from datasets_app.domain.pii.canary.survival_text import DEFAULT_LIMIT, DEFAULT_SEED, DEFAULT_VALUES
from datasets_app.domain.pii.policy import Policy, PolicyError
from datasets_app.domain.splits.splits import SplitSettings
from datasets_app.domain.traces.convert import LABELS, ConvertOptions, read_convert_options
from datasets_app.domain.traces.label_rules import LabelRules, read_label_rules
from datasets_app.domain.wording import format_count
from datasets_app.models import Dataset, JobRun, Session
from datasets_app.templatetags.datasets_display import format_value, sentence_case

FORMAT_LABELS = {
    "turns": "Conversation JSONL, one turn a line",
    "openai": "OpenAI chat JSONL, one session a line",
    "sharegpt": "ShareGPT JSONL, one session a line",
}
# What is read beyond that; labels as they are shown in a list.
IMPORT_FORMAT_LABELS = {**FORMAT_LABELS, **dict(sorted(LABELS.items(), key=lambda item: item[1].lower()))}
ON_ERROR_LABELS = {
    "abort": "Import nothing and list the problems",
    "quarantine": "Import the valid sessions and quarantine the others in a file",
}
Rows = list[tuple[str, str]]


class JobParameters(msgspec.Struct, frozen=True):
    """``LABELS`` and ``CHOICES`` (field → value → label) are what forms and the job's page show; ``HIDDEN``
    fields are not shown. The job stores ``PROGRESS`` fields while it runs."""

    LABELS: ClassVar[dict[str, str]] = {}
    CHOICES: ClassVar[dict[str, dict[str, str]]] = {}
    HIDDEN: ClassVar[frozenset[str]] = frozenset()
    PROGRESS: ClassVar[frozenset[str]] = frozenset()

    @property
    def approval_permission(self) -> str:
        """Not empty if the job overrides, signs, deletes or erases: then people confirm who they are before
        they start it, and with four eyes a second person with this permission approves it."""
        return ""

    def as_json(self) -> dict[str, Any]:
        stored: dict[str, Any] = msgspec.to_builtins(self)
        return stored

    def describe(self) -> Rows:
        """(label, value) of each field that is not at its default."""
        return [
            self._describe_field(field.name)
            for field in msgspec.structs.fields(self)
            if field.name not in self.HIDDEN
            and getattr(self, field.name) not in (None, "", [], {}, False, field.default)
        ]

    def _describe_field(self, name: str) -> tuple[str, str]:
        value = getattr(self, name)
        label = self.CHOICES.get(name, {}).get(value) if isinstance(value, str) else None
        return self.LABELS.get(name) or sentence_case(name), label or format_value(value)


P = TypeVar("P", bound=JobParameters)


def read_parameters(job: JobRun, parameters_type: type[P]) -> P:
    """The parameters in a job's row. Raises :class:`UserError` if they are of other types."""
    try:
        return msgspec.convert(job.parameters, parameters_type, strict=False)
    except msgspec.ValidationError:
        raise UserError(
            "The parameters of this job can't be read, because another version stored them. Start a new job."
        ) from None


def has_override(job: JobRun) -> bool:
    """Whether a job was started with an override; true also if its parameters can't be read."""
    try:
        return bool(read_parameters(job, OverridableParameters).override)
    except UserError:
        return True


class NoParameters(JobParameters, frozen=True):
    """For operations that need nothing but the dataset."""


class OverridableParameters(JobParameters, frozen=True):
    """``override`` is the reason a user gave to override a policy's refusal."""

    override: str | None | UnsetType = UNSET

    @property
    def approval_permission(self) -> str:
        return "datasets_app.override_gate" if self.override else ""


class ImportParameters(OverridableParameters, frozen=True):
    """``prepared_origin`` and ``uploaded_by`` are kept from the upload: someone else may import it."""

    format: str | None = "auto"
    origin: str | None = None
    persona: str | None = None
    on_error: str | None = "abort"
    renumber: bool = False
    append: bool = False
    prepared_origin: str | None = None
    uploaded_by: str | None = None
    # "text=Body, role=Author" of a table; "good=1, bad=0" and the only question that counts of label tools.
    assistant: str | UnsetType = UNSET
    columns: str | UnsetType = UNSET
    label_map: str | UnsetType = UNSET
    question: str | UnsetType = UNSET
    # What a command imported, and how earlier versions of it stored on_error.
    files: list[str] | UnsetType = UNSET
    quarantine: bool | UnsetType = UNSET

    @property
    def reading(self) -> ConvertOptions:
        return read_convert_options(self.assistant or "", self.columns or "")

    @property
    def label_rules(self) -> LabelRules:
        return read_label_rules(self.question or "", self.label_map or "")

    LABELS: ClassVar = {
        "on_error": "If there are problems",
        "renumber": "Renumber turns",
        "append": "Skip existing sessions",
        "prepared_origin": "Origin stated with the upload",
        "override": "Reason for the override",
    }
    CHOICES: ClassVar = {
        "format": IMPORT_FORMAT_LABELS,
        "on_error": ON_ERROR_LABELS,
        "origin": dict(Dataset.Origin.choices),
        "prepared_origin": dict(Dataset.Origin.choices),
    }


class ExportParameters(OverridableParameters, frozen=True):
    format: str | None = None
    package: bool = False
    # In a package.
    labels: bool = True
    version: str | None = None
    split: str | None = None
    persona: str | None = None
    tag: str | None = None
    gzip: bool = False
    # The primary key of a SessionSelection.
    selection: int | None = None

    HIDDEN: ClassVar = frozenset({"selection"})
    LABELS: ClassVar = {
        "labels": "With the labels",
        "split": "Only this split",
        "persona": "Only this persona",
        "tag": "Only this tag",
        "gzip": "Compress with gzip",
        "override": "Reason for exporting it unscrubbed",
    }
    CHOICES: ClassVar = {
        "format": {**FORMAT_LABELS, "csv": "CSV for spreadsheets", "parquet": "Parquet, one turn per row"},
        "split": dict(Session.Split.choices),
    }


class ScrubParameters(JobParameters, frozen=True):
    """``policy`` is of :meth:`Policy.as_json`; ``sample`` is how many sessions a dry run looks at; with
    ``check``, the checks run afterwards."""

    policy: dict[str, Any] | None = None
    dry_run: bool = False
    sample: int | None = None
    check: bool = False

    def describe(self) -> Rows:
        """The policy in sentences; the terms it ignores are only counted, as they may be personal."""
        try:
            policy = Policy.from_json(self.policy or {})
        except (PolicyError, TypeError, ValueError):
            return []
        rows = [("What", "Preview" if self.dry_run else "Scrub")]
        rows += [("Sessions previewed", f"{self.sample:,}")] if self.sample else []
        rows += [("Policy", "; ".join([*policy.describe(), f"{policy.placeholders} placeholders"]))]
        terms = len(policy.allow) + len(policy.allow_names)
        return rows + ([("Never scrubbed", format_count(terms, "term"))] if terms else [])


class ScrubPartParameters(JobParameters, frozen=True):
    scrub: int | None = None


class CanaryParameters(JobParameters, frozen=True):
    """``limit`` is the greatest upper bound that passes, as a share."""

    count: int = DEFAULT_VALUES
    seed: int = DEFAULT_SEED
    limit: float = DEFAULT_LIMIT

    LABELS: ClassVar = {"count": "Planted values"}
    HIDDEN: ClassVar = frozenset({"limit"})


class SplitParameters(OverridableParameters, frozen=True):
    """``settings`` are of :meth:`SplitSettings.as_json`, or None to split new sessions like the others."""

    settings: dict[str, Any] | None = None
    again: bool = False

    def describe(self) -> Rows:
        settings = SplitSettings.from_json(self.settings).describe() if self.settings else ""
        rows = [("What", "All sessions, again" if self.again else "Sessions without a split")]
        rows += [("How", settings or "Like the sessions that are split already")]
        return rows + ([("Reason", self.override)] if self.override else [])


_SHARE_LABELS = {
    "safety_trap_ratio": "Safety traps",
    "brand_trap_ratio": "Brand traps",
    "edge_case_share": "Edge cases",
}


class GenerationParameters(JobParameters, frozen=True):
    """The options of a generation and of its model; None stands for the default. The job stores the last two
    while it runs: the digest of its plan, and the progress of the model."""

    persona: str | None = None
    sessions: int | None = None
    turns: tuple[int, int] | None = None
    seed: int | None = None
    safety_trap_ratio: float | None = None
    brand_trap_ratio: float | None = None
    edge_case_share: float | None = None
    model: str | None = None
    base_url: str | None = None
    temperature: float | None = None
    concurrency: int | None = None
    max_tokens_total: int | None = None
    resume: bool = False
    plan: str | UnsetType = UNSET
    model_run: dict[str, Any] | UnsetType = UNSET

    LABELS: ClassVar = {
        "model": "Writer",
        "base_url": "Endpoint",
        "concurrency": "Concurrent calls",
        "max_tokens_total": "Token budget",
        "resume": "Resume an earlier run",
    }
    HIDDEN: ClassVar = frozenset({"turns", "plan", "model_run", *_SHARE_LABELS})
    PROGRESS: ClassVar = frozenset({"plan", "model_run"})

    def request_options(self) -> dict[str, Any]:
        """The fields of a :class:`GenerationRequest` that were chosen."""
        return self._select_options("sessions", "turns", "seed", *_SHARE_LABELS)

    def model_options(self) -> dict[str, Any]:
        """The fields of a request for a model (``ModelRequest``) that were chosen."""
        return self._select_options("model", "base_url", "temperature", "concurrency", "max_tokens_total")

    def _select_options(self, *names: str) -> dict[str, Any]:
        return {name: value for name in names if (value := getattr(self, name)) not in (None, "")}

    def describe(self) -> Rows:
        rows = super().describe()
        if self.turns:
            low, high = self.turns
            rows.insert(2, ("Turns per session", str(low) if low == high else f"{low} to {high}"))
        shares = self._select_options(*_SHARE_LABELS)
        described = [f"{_SHARE_LABELS[name]} {100 * share:g} %" for name, share in shares.items()]
        rows += [("Shares", ", ".join(described))] if described else []
        return rows + ([("Plan", f"{self.plan[:12]}…")] if self.plan else [])


class ReleaseParameters(OverridableParameters, frozen=True):
    """Without ``bump`` the release gets the proposed version."""

    bump: str | None = None
    notes: str | None = None

    LABELS: ClassVar = {"bump": "Version bump", "override": "Reason for releasing with open problems"}
    CHOICES: ClassVar = {"bump": {bump: bump.capitalize() for bump in ("major", "minor", "patch")}}


class CompareParameters(JobParameters, frozen=True):
    """Two versions; ``after`` is empty for the dataset as it is now."""

    before: str = ""
    after: str | None = None


class EraseParameters(JobParameters, frozen=True):
    """Primary keys of sessions, received spans and files of jobs: ids themselves must be erased. ``erased``
    is stored while the job runs: the results so far, in case its worker dies."""

    session: int | None = None
    reason: str | None = None
    copies: list[int] = []
    spans: list[int] | UnsetType = UNSET
    files: list[int] | UnsetType = UNSET
    everywhere: bool | UnsetType = UNSET
    erased: list[dict[str, Any]] | UnsetType = UNSET

    HIDDEN: ClassVar = frozenset({"session", "copies", "spans", "files", "erased"})
    PROGRESS: ClassVar = frozenset({"erased"})

    @property
    def approval_permission(self) -> str:
        return "datasets_app.erase_session"


class RetentionParameters(JobParameters, frozen=True):
    """``reason`` is set when a user deletes the contents of one dataset."""

    reason: str | None = None

    @property
    def approval_permission(self) -> str:
        return "datasets_app.apply_retention" if self.reason else ""


class ActivationParameters(JobParameters, frozen=True):
    """``seen`` is the digest of the deletion schedule that was shown; the rest is for those who approve."""

    policy: int | None = None
    seen: str = ""
    pattern: str = ""
    retention: str = ""

    LABELS: ClassVar = {"pattern": "Deletes datasets named", "retention": "Kept for"}
    HIDDEN: ClassVar = frozenset({"policy", "seen"})

    @property
    def approval_permission(self) -> str:
        return "datasets_app.activate_retentionpolicy"


class SignParameters(JobParameters, frozen=True):
    """``last_session`` and ``last_scrub`` tell whether the dataset is still what was reviewed."""

    statement: str = ""
    last_session: int | None = None
    last_scrub: int | None = None

    HIDDEN: ClassVar = frozenset({"last_session", "last_scrub"})

    @property
    def approval_permission(self) -> str:
        return "datasets_app.sign_review"


class OriginParameters(OverridableParameters, frozen=True):
    origin: str = ""

    LABELS: ClassVar = {"override": "Reason"}
    CHOICES: ClassVar = {"origin": dict(Dataset.Origin.choices)}


class AttestParameters(OverridableParameters, frozen=True):
    """``last_session`` tells whether sessions were added since the request."""

    last_session: int | None = None

    LABELS: ClassVar = {"override": "Why the text may stay as it is"}
    HIDDEN: ClassVar = frozenset({"last_session"})


class ExemptParameters(OverridableParameters, frozen=True):
    """``finding`` is the primary key of a preview's finding: the value itself must not be kept here."""

    finding: int | None = None

    LABELS: ClassVar = {"override": "Why it may stay"}


class AuditExportParameters(JobParameters, frozen=True):
    format: str = "jsonl"
    action: str = ""
    dataset: str = ""
    actor: str = ""
    since: date | None = None
    until: date | None = None


class NightlyParameters(JobParameters, frozen=True):
    """``night`` is the day the night begins on, in ISO format: each is started once."""

    night: str | None = None
