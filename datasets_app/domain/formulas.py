"""Text that a spreadsheet would take for a formula is written so that it stays text."""

# An apostrophe is among them, so that one that was there is told from one that was added. Full-width signs
# are those of East Asian keyboards.
_FORMULA_PREFIXES = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "'")


def escape_cell(text: str) -> str:
    """``text`` with a leading apostrophe if a spreadsheet might evaluate it."""
    return "'" + text if text.startswith(_FORMULA_PREFIXES) else text


def unescape_cell(text: str) -> str:
    """The inverse of :func:`escape_cell`."""
    return text[1:] if text.startswith("'") and text[1:].startswith(_FORMULA_PREFIXES) else text
