"""The parameters of releases, comparisons and signatures; see ``jobs/parameters.py``."""

from typing import ClassVar

from datasets_app.jobs.parameters import JobParameters, OverridableParameters


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


class SignParameters(JobParameters, frozen=True):
    """``last_session`` and ``last_scrub`` tell whether the dataset is still what was reviewed."""

    statement: str = ""
    last_session: int | None = None
    last_scrub: int | None = None

    HIDDEN: ClassVar = frozenset({"last_session", "last_scrub"})

    @property
    def approval_permission(self) -> str:
        return "datasets_app.sign_review"
