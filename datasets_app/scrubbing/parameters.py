"""The parameters of scrubs, measurements, exceptions and changes of origin; see ``jobs/parameters.py``."""

from typing import Any, ClassVar

from datasets_app.domain.pii.canary.survival_text import DEFAULT_LIMIT, DEFAULT_SEED, DEFAULT_VALUES
from datasets_app.domain.pii.policy import Policy, PolicyError
from datasets_app.domain.wording import format_count
from datasets_app.jobs.parameters import JobParameters, OverridableParameters, Rows
from datasets_app.models import Dataset


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
    scrub: int = 0


class CanaryParameters(JobParameters, frozen=True):
    """``limit`` is the greatest upper bound that passes, as a share."""

    count: int = DEFAULT_VALUES
    seed: int = DEFAULT_SEED
    limit: float = DEFAULT_LIMIT

    LABELS: ClassVar = {"count": "Planted values"}
    HIDDEN: ClassVar = frozenset({"limit"})


class AttestParameters(OverridableParameters, frozen=True):
    """``last_session`` tells whether sessions were added since the request."""

    last_session: int | None = None

    LABELS: ClassVar = {"override": "Why the text may stay as it is"}
    HIDDEN: ClassVar = frozenset({"last_session"})


class ExemptParameters(OverridableParameters, frozen=True):
    """``finding`` is the primary key of a preview's finding: the value itself must not be kept here."""

    finding: int = 0

    LABELS: ClassVar = {"override": "Why it may stay"}


class OriginParameters(OverridableParameters, frozen=True):
    origin: str = ""

    LABELS: ClassVar = {"override": "Reason"}
    CHOICES: ClassVar = {"origin": dict(Dataset.Origin.choices)}
