"""Text that a spreadsheet would take for a formula is written so that it stays text."""

import re

# Full-width and small signs are those of East Asian keyboards. An apostrophe is among them, so that one that
# was there is told from one that was added.
_SIGNS = r"=+@＝＋－＠﹦﹢﹣﹫'\-"
# What programs may skip before they look for a sign: white space, quotation marks, invisible characters.
_SKIPPED = r"(?:[^\S\t\r\n]|[\"\x00-\x08\x0e-\x1b\x7f\xad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff])*"
_SIGN = f"(?={_SKIPPED}[{_SIGNS}])"
_SIGN_AT_START = f"(?={_SKIPPED}[{_SIGNS}\\t\\r\\n])"
_STARTS_UNSAFE = re.compile(_SIGN_AT_START)
# A program that separates by semicolons or tabs, as Excel does in half of Europe, begins cells within a text;
# quotation marks don't keep it from that, nor from taking a line of a text for a row.
_UNSAFE_WITHIN = re.compile(r"([;\t\r\n])" + _SIGN)
_ESCAPES = re.compile(rf"\A'{_SIGN_AT_START}|(?<=[;\t\r\n])'{_SIGN}")


def escape_cell(text: str) -> str:
    """``text`` with an apostrophe wherever a spreadsheet might begin to evaluate it."""
    text = _UNSAFE_WITHIN.sub(r"\1'", text)
    return "'" + text if _STARTS_UNSAFE.match(text) else text


def unescape_cell(text: str) -> str:
    """The inverse of :func:`escape_cell`."""
    return _ESCAPES.sub("", text)
