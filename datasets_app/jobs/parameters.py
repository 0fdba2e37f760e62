"""The parameters of an operation that runs as a job: one struct each, stored as JSON in the job's row.

Each is in the `parameters.py` of its package.

Rows are kept for years. So a struct only ever gains fields, each field has a default, and keys that are no
longer fields are ignored.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Self, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from datasets_app.core.errors import UserError
from datasets_app.models import JobRun
from datasets_app.templatetags.datasets_display import format_value, sentence_case

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

    @classmethod
    def from_options(cls, options: Mapping[str, Any], **others: Any) -> Self:
        """With the options of a command that are named like a field."""
        named = {name: options[name] for name in cls.__struct_fields__ if name in options}
        return cls(**named | others)

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
