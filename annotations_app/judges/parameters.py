"""The parameters of a judge's run, and of proposals for it; see ``datasets_app/jobs/parameters.py``."""

from typing import Any, ClassVar, NamedTuple

from msgspec import UNSET, UnsetType

from datasets_app.domain.model_calls.endpoint import DEFAULT_CONCURRENCY
from datasets_app.jobs.parameters import OverridableParameters

DEFAULT_TRIES = 3


class JudgeOptions(NamedTuple):
    """``max_tokens`` and ``max_cost`` limit a run with all that it has used before,
    ``max_new_tokens`` and ``max_new_cost`` without. With ``swap`` each pair is judged both ways round."""

    repeats: int = 1
    swap: bool = False
    concurrency: int = DEFAULT_CONCURRENCY
    max_tokens: int | None = None
    max_cost: float | None = None
    max_new_tokens: int | None = None
    max_new_cost: float | None = None


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


class JuryParameters(OverridableParameters, frozen=True):
    """``members`` are names, or NAME@VERSION, the cheapest first."""

    campaign: str = ""
    name: str = ""
    members: list[str] = []
    certainty: float | None = None
    swap: bool = False
    concurrency: int = DEFAULT_CONCURRENCY
    max_tokens: int | None = None
    max_cost: float | None = None

    LABELS: ClassVar = JudgeParameters.LABELS | {"name": "Jury", "certainty": "Sure enough from"}

    @property
    def options(self) -> dict[str, Any]:
        options = JudgeOptions(1, self.swap, self.concurrency, self.max_tokens, self.max_cost)
        return {
            "name": self.name,
            "members": self.members,
            "certainty": self.certainty,
            "options": options,
        }


class ImproveParameters(OverridableParameters, frozen=True):
    """``campaign`` and ``judge`` as above. The job stores its ``state`` while it runs."""

    campaign: str = ""
    judge: str = ""
    criterion: str = ""
    tries: int = DEFAULT_TRIES
    max_tokens: int | None = None
    state: dict[str, Any] | UnsetType = UNSET

    HIDDEN: ClassVar = frozenset({"state"})
    PROGRESS: ClassVar = frozenset({"state"})
    LABELS: ClassVar = {"tries": "Prompts to try", "max_tokens": "Token budget"}

    @property
    def options(self) -> dict[str, Any]:
        return {"criterion": self.criterion, "tries": self.tries, "max_tokens": self.max_tokens}
