"""Numbers that identify people among other numbers, wherever digits stand in a text.

A number counts by how it is written (555-123-4567), by its check digit (cards), or by the words for social
security around it: order numbers and epochs look the same otherwise. Texts come folded to ASCII digits
(folding.py).
"""

import re
from collections.abc import Iterator

from datasets_app.domain.pii.detector import SSN
from datasets_app.domain.pii.rules.numbers.cards import find_cards
from datasets_app.domain.pii.rules.numbers.other_words import follows_other_word
from datasets_app.domain.pii.rules.numbers.phones import (
    DATE,
    LOOKAHEAD_CHARACTERS,
    count_digits,
    find_formatted_phones,
)

Span = tuple[str, int, int]  # kind, start, end

# Digits with nothing but the signs between them that numbers of people have. (It begins with a digit, and
# repeats single characters only, for the sake of speed.)
_DIGIT_RUN = re.compile(r"[0-9][0-9 ().\-/]{5,}[0-9]")
_MIN_CARD_CHARACTERS, _MIN_FORMATTED_DIGITS = 12, 7
_SIGNS_BEFORE_OTHERS = frozenset("/$€£¥_,")


def find_numbers(text: str) -> list[Span]:
    """``(kind, start, end)`` of every number that identifies someone; spans may overlap."""
    found: list[Span] = []
    for run in _DIGIT_RUN.finditer(text):
        start, end = run.span()
        is_bare = run[0].isdigit()
        if is_bare and start and text[start - 1] in _SIGNS_BEFORE_OTHERS and _is_part(text, start):
            continue
        if not is_bare and _is_date(run[0]) and text[start - 1 : start] != "+":
            continue
        found += _find_formatted(text, run[0], start, end)
        if not follows_other_word(text, start, 2):
            found += _find_announced_ssns(text, start, end)
    return found


def _is_part(text: str, start: int) -> bool:
    """Whether it is part of an address, of an amount, or of a number with its thousands set off."""
    return text[start - 1] != "," or text[start - 2 : start - 1].isdigit()


def _find_formatted(text: str, value: str, start: int, end: int) -> Iterator[Span]:
    """Numbers that are told by how they are written."""
    is_signed = text.startswith("+", max(0, start - 1), start)
    if (is_signed or not value.isdigit()) and count_digits(value) >= _MIN_FORMATTED_DIGITS:
        first = start - _count_opening_signs(text, start)
        for match in _SSN.finditer(text, first, end + LOOKAHEAD_CHARACTERS):
            yield SSN, match.start(), match.end()
        yield from find_formatted_phones(text, first, end)
    if end - start >= _MIN_CARD_CHARACTERS:
        yield from find_cards(text, start, end)


def _count_opening_signs(text: str, start: int) -> int:
    """How many signs before its first digit belong to a number: "+", "(", "(+" or "+("."""
    before = text[max(0, start - 2) : start]
    return 2 if before in ("(+", "+(") else 1 if before[-1:] in ("+", "(") else 0


def _is_date(value: str) -> bool:
    """A date, perhaps with the hour behind it, and nothing more."""
    return DATE.match(value) is not None and (len(value) < 15 or count_digits(value) < 15)


# --- social security numbers ------------------------------------------------------------------

_SSN = re.compile(
    r"(?<!\w)(?<!\d[-. ])(?!000|666)\d{3}([- .])(?!00)\d{2}\1(?!0000)\d{4}(?!\w|[-./]\d|-\w| \d{2,})"
)
_SSN_PLAIN = re.compile(r"(?<!\w)(?<!\d[.,-])\d{3}[-. ]?\d{2}[-. ]?\d{4}(?!\w|[-.,]\d)")
_SSN_NAMES = (
    r"(?<![^\W_])(?:ssn?|itin|s\.s\.n?\.?|soc(?:ial)?\.? sec(?:urity|\.)?"
    r"|soci?al(?! media| net)|soc|taxpayer|tax id)(?![^\W_])"
)
# Right before it, on the line above, or farther with no other number named between.
_SSN_WORDS = re.compile(
    rf"{_SSN_NAMES}(?:[^\n]{{0,24}}|[ :#.]{{0,4}}\n[ \"']{{0,4}}"
    r"|(?:(?!\d|\n|\b(?:account|acct|phone|routing|order|case|ticket|call|zip|fax)\b).){0,56})\Z",
    re.IGNORECASE,
)
_SSN_WORDS_AFTER = re.compile(
    r"[ ,;:–<←-]{0,4}\(?(?:(?:th(?:at|ere)[’']?s|is|was|=|it[’']?s) )?(?:(?:my|his|her|their|the|our) )?"
    rf"(?:\w{{2,12}}[’']s )?{_SSN_NAMES}",
    re.IGNORECASE,
)
_CONTEXT_CHARACTERS = 60


def _find_announced_ssns(text: str, start: int, end: int) -> Iterator[Span]:
    for match in _SSN_PLAIN.finditer(text, start, end):
        first = match.start()
        if _SSN_WORDS.search(text, max(0, first - _CONTEXT_CHARACTERS), first) or _SSN_WORDS_AFTER.match(
            text, match.end()
        ):
            yield SSN, first, match.end()
