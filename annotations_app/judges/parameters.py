"""The parameters of a judge's run; see ``datasets_app/jobs/parameters.py``."""

from typing import ClassVar

from annotations_app.judges.run_judge import JudgeOptions
from datasets_app.domain.model_calls.run import DEFAULT_CONCURRENCY
from datasets_app.jobs.parameters import OverridableParameters


class JudgeParameters(OverridableParameters, frozen=True):
    """``campaign`` and ``judge`` are names; of a judge with its version."""

    campaign: str = ""
    judge: str = ""
    repeats: int = 1
    swap: bool = False
    concurrency: int = DEFAULT_CONCURRENCY
    max_tokens: int | None = None
    max_cost: float | None = None

    LABELS: ClassVar = {
        "repeats": "Times each reply is judged",
        "swap": "Both ways round",
        "concurrency": "Concurrent calls",
        "max_tokens": "Token budget",
        "max_cost": "Budget",
    }

    @property
    def options(self) -> JudgeOptions:
        return JudgeOptions(self.repeats, self.swap, self.concurrency, self.max_tokens, self.max_cost)
