"""Placeholders that stand for values taken out: no rule may take them for values again."""

import re

from datasets_app.domain.pii.detector import Match

# What pad_placeholders adds.
PADDING = r"(?::x){0,9}"
# "[EMAIL]", "[NAME_2]"; but "jane [AT] acme [DOT] com" is an address written out, and a key in brackets,
# which has digits among its letters, is a key.
PLACEHOLDER_PATTERN = re.compile(
    r"\[(?!AT\]|DOT\])[A-Z]{1,40}(?:_[A-Z]{1,40}){0,5}(?:_[0-9]{1,9})?" + PADDING + r"\]"
)
# How many runs of letters and digits the values of a class usually have (the median of invented ones in all
# languages), if more than one. It is the same for all values of a class, so it tells nothing of any.
USUAL_WORDS = {
    "URL": 9,
    "EMAIL": 4,
    "IBAN": 6,
    "PATH": 5,
    "IP": 4,
    "MAC": 6,
    "HOST": 5,
    "CREDIT_CARD": 4,
    "SSN": 3,
    "ACCOUNT": 2,
    "PHONE": 3,
    "DATE_OF_BIRTH": 3,
    "ADDRESS": 5,
    "NAME": 2,
}
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


def pad_placeholders(text: str) -> str:
    """``text`` with placeholders of as many words as values of their class usually have, in one piece:
    ``[MAC:x:x:x:x:x]``. Scores that count words are nearly those of the values then."""
    return PLACEHOLDER_PATTERN.sub(_pad, text) if "[" in text else text


def _pad(placeholder: re.Match[str]) -> str:
    kind = placeholder[0][1:-1].rstrip("0123456789").rstrip("_")
    return f"{placeholder[0][:-1]}{':x' * (USUAL_WORDS.get(kind, 1) - 1)}]"


def blank_placeholders(text: str) -> str:
    """``text`` with its placeholders as blanks of the same length, so that offsets stay."""
    return PLACEHOLDER_PATTERN.sub(lambda match: BLANK * len(match[0]), text) if "[" in text else text
