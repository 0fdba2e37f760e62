"""The parameters of a split; see ``jobs/parameters.py``."""

from typing import Any

from datasets_app.domain.splits.splits import SplitSettings
from datasets_app.jobs.parameters import OverridableParameters, Rows


class SplitParameters(OverridableParameters, frozen=True):
    """``settings`` are of :meth:`SplitSettings.as_json`, or None to split new sessions like the others."""

    settings: dict[str, Any] | None = None
    again: bool = False

    def describe(self) -> Rows:
        settings = SplitSettings.from_json(self.settings).describe() if self.settings else ""
        rows = [("What", "All sessions, again" if self.again else "Sessions without a split")]
        rows += [("How", settings or "Like the sessions that are split already")]
        return rows + ([("Reason", self.override)] if self.override else [])
