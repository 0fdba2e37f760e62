"""What sharing a dataset requires beyond the fixed checklist: measurements of what scrubs leave."""

from typing import NamedTuple

from django.conf import settings

from datasets_app.domain.pii.canary.survival_text import DEFAULT_LIMIT
from datasets_app.models import Dataset

# Shares of planted values and numbers of turns that require nothing.
NO_CANARY, NO_AUDIT = 1.0, 0


class SharingRequirements(NamedTuple):
    """``canary_upper`` is the largest upper bound of planted values that survive a scrub, ``audit_readings``
    how many turns people must have read."""

    canary_upper: float
    audit_readings: int

    @property
    def needs_canary(self) -> bool:
        return self.canary_upper < NO_CANARY

    @property
    def canary_limit(self) -> float:
        """The limit of a measurement for which nobody names another."""
        return self.canary_upper if self.needs_canary else DEFAULT_LIMIT

    def is_less_than(self, other: "SharingRequirements") -> bool:
        return self.canary_upper > other.canary_upper or self.audit_readings < other.audit_readings


def load_requirements(dataset: Dataset) -> SharingRequirements:
    """The dataset's own; where it has none, those of the installation."""
    own = dataset.sharing_canary_upper, dataset.sharing_audit_readings
    return SharingRequirements(
        settings.SHARING_CANARY_UPPER if own[0] is None else own[0],
        settings.SHARING_AUDIT_READINGS if own[1] is None else own[1],
    )
