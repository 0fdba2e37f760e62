"""Placeholders that stand for values taken out: no rule may take them for values again."""

import re

# "[EMAIL]", "[NAME_2]"; but "jane [AT] acme [DOT] com" is an address written out, and a key in brackets,
# which has digits among its letters, is a key.
PLACEHOLDER_PATTERN = re.compile(r"\[(?!AT\]|DOT\])[A-Z]{1,40}(?:_[A-Z]{1,40}){0,5}(?:_[0-9]{1,9})?\]")
# White space, and part of no value.
BLANK = "\x1c"


def blank_placeholders(text: str) -> str:
    """``text`` with its placeholders as blanks of the same length, so that offsets stay."""
    return PLACEHOLDER_PATTERN.sub(lambda match: BLANK * len(match[0]), text) if "[" in text else text
