"""An operation's refusal: a sentence for the person who asked, never a traceback."""

from typing import Any


class UserError(Exception):
    """``message`` says what is wrong and what to do; ``details`` is JSON for pages and scripts.

    Neither holds text of conversations.
    """

    def __init__(self, message: str, details: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message, self.details = message, details
