"""Text that a spreadsheet would take for a formula is written so that it stays text."""

# An apostrophe is among them, so that one that was there is told from one that was added.
_BEGINNINGS = ("=", "+", "-", "@", "\t", "\r", "'")


def safe_cell(text: str) -> str:
    """``text`` with a leading apostrophe if a spreadsheet might evaluate it."""
    return "'" + text if text.startswith(_BEGINNINGS) else text


def plain_cell(text: str) -> str:
    """The inverse of :func:`safe_cell`."""
    return text[1:] if text.startswith("'") and text[1:].startswith(_BEGINNINGS) else text
