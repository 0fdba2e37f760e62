"""The parameters of deletions and erasures; see ``jobs/parameters.py``."""

from typing import Any, ClassVar

from msgspec import UNSET, UnsetType

from datasets_app.jobs.parameters import JobParameters


class EraseParameters(JobParameters, frozen=True):
    """Primary keys of sessions, received spans, files of jobs and of imported files, whose names are erased:
    ids themselves must be erased. ``erased`` is stored while the job runs: the results so far, in case its
    worker dies."""

    session: int | None = None
    reason: str | None = None
    copies: list[int] = []
    spans: list[int] | UnsetType = UNSET
    files: list[int] | UnsetType = UNSET
    imports: list[int] | UnsetType = UNSET
    everywhere: bool | UnsetType = UNSET
    erased: list[dict[str, Any]] | UnsetType = UNSET

    HIDDEN: ClassVar = frozenset({"session", "copies", "spans", "files", "imports", "erased"})
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

    policy: int = 0
    seen: str = ""
    pattern: str = ""
    retention: str = ""

    LABELS: ClassVar = {"pattern": "Deletes datasets named", "retention": "Kept for"}
    HIDDEN: ClassVar = frozenset({"policy", "seen"})

    @property
    def approval_permission(self) -> str:
        return "datasets_app.activate_retentionpolicy"
