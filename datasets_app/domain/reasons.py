"""Reasons that people give for the audit log: one line of limited length."""

MAX_REASON_CHARACTERS = 500


def normalize_reason(text: str) -> str:
    """``text`` on one line, as the audit log keeps it."""
    return " ".join(text.split())
