"""The parameters of test cases; see ``datasets_app/jobs/parameters.py``."""

from typing import ClassVar

from msgspec import UNSET, UnsetType

from datasets_app.jobs.parameters import JobParameters
from datasets_app.model_calls.parameters import ModelParameters


class CaseParameters(JobParameters, frozen=True):
    """``annotators`` are user names, separated by commas. Texts of the case are in its dataset only."""

    case: str = ""
    annotators: str = ""

    LABELS: ClassVar = {"case": "Test case"}


class VariantParameters(ModelParameters, frozen=True):
    """``kinds`` are all that are missing if empty, and ``case`` all cases. The job stores what was ``used``
    while it runs."""

    kinds: list[str] = []
    case: str = ""
    used: dict[str, int] | UnsetType = UNSET

    LABELS: ClassVar = ModelParameters.LABELS | {"case": "Test case"}
    HIDDEN: ClassVar = frozenset({"used"})
    PROGRESS: ClassVar = frozenset({"used"})
