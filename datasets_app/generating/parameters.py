"""The parameters of a generation; see ``jobs/parameters.py``."""

from typing import Any, ClassVar

from msgspec import UNSET, UnsetType

from datasets_app.jobs.parameters import Rows
from datasets_app.model_calls.parameters import ModelParameters

_SHARE_LABELS = {
    "safety_trap_ratio": "Safety traps",
    "brand_trap_ratio": "Brand traps",
    "edge_case_share": "Edge cases",
}


class GenerationParameters(ModelParameters, frozen=True):
    """The options of a generation and of its model; None stands for the default. The job stores the last two
    while it runs: the digest of its plan, and the progress of the model."""

    persona: str | None = None
    sessions: int | None = None
    turns: tuple[int, int] | None = None
    seed: int | None = None
    safety_trap_ratio: float | None = None
    brand_trap_ratio: float | None = None
    edge_case_share: float | None = None
    resume: bool = False
    plan: str | UnsetType = UNSET
    model_run: dict[str, Any] | UnsetType = UNSET

    LABELS: ClassVar = ModelParameters.LABELS | {"model": "Writer", "resume": "Resume an earlier run"}
    HIDDEN: ClassVar = frozenset({"turns", "plan", "model_run", *_SHARE_LABELS})
    PROGRESS: ClassVar = frozenset({"plan", "model_run"})

    def request_options(self) -> dict[str, Any]:
        """The fields of a :class:`GenerationRequest` that were chosen."""
        return self._select_options("sessions", "turns", "seed", *_SHARE_LABELS)

    def _select_options(self, *names: str) -> dict[str, Any]:
        return {name: value for name in names if (value := getattr(self, name)) not in (None, "")}

    def describe(self) -> Rows:
        rows = super().describe()
        if self.turns:
            low, high = self.turns
            rows.append(("Turns per session", str(low) if low == high else f"{low} to {high}"))
        shares = self._select_options(*_SHARE_LABELS)
        described = [f"{_SHARE_LABELS[name]} {100 * share:g} %" for name, share in shares.items()]
        rows += [("Shares", ", ".join(described))] if described else []
        return rows + ([("Plan", f"{self.plan[:12]}…")] if self.plan else [])
