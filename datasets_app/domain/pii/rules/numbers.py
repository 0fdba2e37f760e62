"""Numbers that identify people among other numbers, wherever digits stand in a text.

A number counts by how it is written (555-123-4567), by its check digit (cards), or by a word that says what
it is ("call me on 5551234567"): order numbers and epochs look the same otherwise. Texts come folded to ASCII
digits (folding.py).
"""

import re
from collections.abc import Iterator

from datasets_app.domain.pii.detector import SSN
from datasets_app.domain.pii.rules import account_words, phone_cues
from datasets_app.domain.pii.rules.accounts import find_announced_accounts
from datasets_app.domain.pii.rules.cards import find_cards
from datasets_app.domain.pii.rules.cues import MAX_WINDOW_CHARACTERS, Window, split_words
from datasets_app.domain.pii.rules.other_words import OTHER_WORDS
from datasets_app.domain.pii.rules.phones import (
    DATE,
    LOOKAHEAD_CHARACTERS,
    count_digits,
    find_announced_phones,
    find_formatted_phones,
)

Span = tuple[str, int, int]  # kind, start, end

# Digits with nothing but the signs between them that numbers of people have. (It begins with a digit, and
# repeats single characters only, for the sake of speed.)
_DIGIT_RUN = re.compile(r"[0-9][0-9 ().\-/]{3,}[0-9]")
_MIN_PHONE_CHARACTERS, _MIN_CARD_CHARACTERS, _MIN_FORMATTED_DIGITS = 7, 12, 7
_SIGNS_BEFORE_OTHERS = frozenset("/$€£¥_,")
_SSN_CUES = frozenset(b"ssn itin social socal soc ss s tax taxpayer".split())
_CUES = phone_cues.CUES | account_words.CUES | _SSN_CUES


def find_numbers(text: str) -> list[Span]:
    """``(kind, start, end)`` of every number that identifies someone; spans may overlap."""
    found: list[Span] = []
    words: list[bytes] | None = None
    for run in _DIGIT_RUN.finditer(text):
        start, end = run.span()
        value = run[0]
        is_bare, is_short = value.isdigit(), end - start < _MIN_PHONE_CHARACTERS
        if is_bare and start and text[start - 1] in _SIGNS_BEFORE_OTHERS and _is_part(text, start):
            continue
        if not is_short:
            if not is_bare and _is_date(value) and text[start - 1 : start] != "+":
                continue
            found += _find_formatted(text, value, start, end)
        elif not is_bare:
            continue
        if not OTHER_WORDS.isdisjoint(text[max(0, start - 24) : start].lower().split()[-2:]):
            continue
        if len(text) > MAX_WINDOW_CHARACTERS:
            words = split_words(Window(text, start, end).join_text())
        elif words is None:
            words = split_words(text)
        if not _CUES.isdisjoint(words):
            found += _find_announced(text, start, end, words)
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


def _find_announced(text: str, start: int, end: int, words: list[bytes]) -> Iterator[Span]:
    """Numbers that are told by the words around them."""
    phones: list[Span] = []
    is_long = end - start >= _MIN_PHONE_CHARACTERS
    if is_long and not phone_cues.CUES.isdisjoint(words):
        phones = list(find_announced_phones(text, start, end, Window(text, start, end)))
        yield from phones
    if not phones and not account_words.CUES.isdisjoint(words):
        yield from find_announced_accounts(text, start, end)
    if is_long and not _SSN_CUES.isdisjoint(words):
        yield from _find_announced_ssns(text, start, end)


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
