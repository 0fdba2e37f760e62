"""The parameters of test cases; see ``datasets_app/jobs/parameters.py``."""

from typing import ClassVar

from msgspec import UNSET, UnsetType

from datasets_app.domain.model_calls.run import DEFAULT_CONCURRENCY
from datasets_app.jobs.parameters import JobParameters
from datasets_app.model_calls.requests import ModelRequest


class CaseParameters(JobParameters, frozen=True):
    """``annotators`` are user names, separated by commas. Texts of the case are in its dataset only."""

    case: str = ""
    annotators: str = ""

    LABELS: ClassVar = {"case": "Test case"}


class VariantParameters(JobParameters, frozen=True):
    """``kinds`` are all that are missing if empty, and ``case`` all cases. The job stores what was ``used``
    while it runs."""

    model: str = ""
    base_url: str | None = None
    kinds: list[str] = []
    case: str = ""
    temperature: float | None = None
    concurrency: int = DEFAULT_CONCURRENCY
    max_tokens_total: int | None = None
    used: dict[str, int] | UnsetType = UNSET

    LABELS: ClassVar = {
        "base_url": "Endpoint",
        "case": "Test case",
        "concurrency": "Concurrent calls",
        "max_tokens_total": "Token budget",
    }
    HIDDEN: ClassVar = frozenset({"used"})
    PROGRESS: ClassVar = frozenset({"used"})

    @property
    def request(self) -> ModelRequest:
        return ModelRequest(
            self.model, self.base_url, self.temperature, self.concurrency, self.max_tokens_total
        )
