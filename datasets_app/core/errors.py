"""The exception for problems that the person at the page or terminal should read."""

from typing import Any


class UserError(Exception):
    """``message`` says what happened, why, and what to do; ``details`` is JSON for pages and scripts.

    Neither holds text of conversations. ``remedy`` is a code that callers word: see ``dataset_facts.Remedy``.
    """

    def __init__(self, message: str, details: dict[str, Any] | None = None, *, remedy: str = "") -> None:
        super().__init__(message)
        self.message, self.details, self.remedy = message, details, remedy
