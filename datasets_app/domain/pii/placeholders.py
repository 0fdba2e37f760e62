"""Placeholders that stand for values taken out: no rule may take them for values again."""

import re

from datasets_app.domain.pii.detector import Match

# "[EMAIL]", "[NAME_2]"; but "jane [AT] acme [DOT] com" is an address written out, and a key in brackets,
# which has digits among its letters, is a key.
PLACEHOLDER_PATTERN = re.compile(r"\[(?!AT\]|DOT\])[A-Z]{1,40}(?:_[A-Z]{1,40}){0,5}(?:_[0-9]{1,9})?\]")
# White space, and part of no value.
BLANK = "\x1c"


def drop_placeholders(matches: list[Match], text: str) -> list[Match]:
    """The matches that don't touch a placeholder in ``text``."""
    if not matches or "[" not in text:
        return matches
    spans = [placeholder.span() for placeholder in PLACEHOLDER_PATTERN.finditer(text)]
    return [
        match for match in matches if not any(start < match.end and match.start < end for start, end in spans)
    ]


def blank_placeholders(text: str) -> str:
    """``text`` with its placeholders as blanks of the same length, so that offsets stay."""
    return PLACEHOLDER_PATTERN.sub(lambda match: BLANK * len(match[0]), text) if "[" in text else text
