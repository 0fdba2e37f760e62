"""Telephone and social security numbers among other numbers; cards are told in cards.py.

A number counts by how it is written (555-123-4567), by its check digit (cards), or after a word
that says what it is ("call me on 5551234567"): order numbers and epochs look the same otherwise.
Texts come folded to ASCII digits (folding.py).
"""

import re
from collections.abc import Iterator

from datasets_app.domain.pii.detector import PHONE, SSN
from datasets_app.domain.pii.rules.cards import find_cards

Span = tuple[str, int, int]  # kind, start, end

# Digits with nothing but the signs between them that telephone numbers have. (It begins with a
# digit, and repeats single characters only, for the sake of speed.)
_DIGIT_RUN = re.compile(r"[0-9][0-9 ().\-/]{5,}[0-9]")
# How far a pattern may look past its run: an extension, " extension 12345".
_LOOKAHEAD_CHARACTERS = 24
_DATE = re.compile(r"(?:19|20)\d\d[-./ ]\d\d?[-./ ]\d\d?(?!\d)|\d\d?[-./ ]\d\d?[-./ ](?:19|20)\d\d(?!\d)")
_NOT_DIGITS = re.compile(r"[^0-9]+")


def find_numbers(text: str) -> list[Span]:
    """``(kind, start, end)`` of every number that identifies someone; spans may overlap."""
    found: list[Span] = []
    for run in _DIGIT_RUN.finditer(text):
        value = run[0]
        start, end = run.span()
        signed = start > 0 and text[start - 1] == "+"
        if not signed and value.isdigit():
            # Nothing about it says what it is; it must be a card, or be announced.
            if end - start >= 12:
                found += find_cards(text, start, end)
            if _may_be_announced(text, start) or _PHONE_WORDS_AFTER.match(text, end):
                found += _find_announced_numbers(text, start, end)
        elif not _is_date(value) and _count_digits(value) >= 7:
            found += _find_in_run(text, start - _count_opening_signs(text, start), end)
    return found


def _count_opening_signs(text: str, start: int) -> int:
    """How many signs before its first digit belong to a number: "+", "(", "(+" or "+("."""
    before = text[max(0, start - 2) : start]
    return 2 if before in ("(+", "+(") else 1 if before[-1:] in ("+", "(") else 0


def _is_date(value: str) -> bool:
    """A date, perhaps with the hour behind it, and nothing more."""
    return _DATE.match(value) is not None and (len(value) < 15 or _count_digits(value) < 15)


def _find_in_run(text: str, start: int, end: int) -> Iterator[Span]:
    yield from _find_formatted_numbers(text, start, end)
    if end - start >= 12:
        yield from find_cards(text, start, end)
    if _may_be_announced(text, start) or _PHONE_WORDS_AFTER.match(text, end):
        yield from _find_announced_numbers(text, start, end)


def _count_digits(value: str) -> int:
    return len(_NOT_DIGITS.sub("", value))


# --- told by how they are written -------------------------------------------------------------

_EXTENSION = r"(?:,? {0,2}(?:ext\.?|extension|x|#) {0,2}\d{1,6})?"
_NUMBER_START = r"(?<![\w+])(?<!\d[-./])(?<!\d\()(?<!\d )"
_NUMBER_END = _EXTENSION + r"(?!\w|[-./]\d| \d)"
_SSN = re.compile(
    r"(?<!\w)(?<!\d[-. ])(?!000|666)\d{3}([- .])(?!00)\d{2}\1(?!0000)\d{4}(?!\w|[-./]\d|-\w| \d{2,})"
)
_PHONES = (
    # +49 151 64003691, +(44) 20 7946 0958
    re.compile(r"(?<![\w+])\(?\+\(?[1-9](?:[ .\-/()]{0,2}\d){7,14}" + _EXTENSION + r"(?!\w|[-.]\d)"),
    # (508) 777-8189 ext. 14, 1-800-555-0199, 454.520.3028, 443 428 9089, 212/555-0198
    re.compile(
        _NUMBER_START
        + r"(?:1[ .-])?(?:\(\d{3}\)[ -]{0,2}|\d{3}[-./]|[2-9]\d{2} )\d{3}(?:[-. ]| - )\d{4}"
        + _EXTENSION
        + r"(?!\w|[-./]\d|-[A-Z]| \d{3})"
    ),
    # 020 7320 4716, 0151/64003691, 06 12 34 56 78, (030) 28685478
    re.compile(_NUMBER_START + r"\(?0[1-9]\d{0,3}\)?[ \-/](?:\d{1,8}[ -]?){1,5}(?<=\d)" + _NUMBER_END),
    # 06.12.34.56.78, 02/555.12.12
    re.compile(_NUMBER_START + r"0[1-9](?:(?:\.\d\d){4}|\d?/\d{3}(?:\.\d\d){2})" + _NUMBER_END),
    # (11) 91234-5678, (01) 234 5678, (0)30 1234567, 8 (912) 345-67-89
    re.compile(_NUMBER_START + r"(?:[78][ -]?)?\(\d{1,5}\)[ -]?\d{2,5}(?:[ -]?\d{2,5}){1,3}" + _NUMBER_END),
    # 0049 30 28685478, 001-555-123-4567x123
    re.compile(_NUMBER_START + r"00[1-9](?:[ .-]?\d){8,12}" + _NUMBER_END),
    # 138-0013-8000
    re.compile(_NUMBER_START + r"1[3-9]\d([ -])\d{4}\1\d{4}" + _NUMBER_END),
)
_NINE_DIGITS = re.compile(r"0\d{1,3}(?:/\d{5,7}|([ -])\d{3}\1\d{3})(?!\d)")
_SIGNED_DECIMAL = re.compile(r"\+\d+\.\d+")


def _find_formatted_numbers(text: str, start: int, end: int) -> Iterator[Span]:
    for match in _SSN.finditer(text, start, end + _LOOKAHEAD_CHARACTERS):
        yield SSN, match.start(), match.end()
    for pattern in _PHONES:
        for match in pattern.finditer(text, start, end + _LOOKAHEAD_CHARACTERS):
            if match.start() < end and _could_be_dialed(match[0]):
                yield PHONE, match.start(), match.end()


def _could_be_dialed(value: str) -> bool:
    if _DATE.match(value) or _SIGNED_DECIMAL.fullmatch(value):
        return False
    digits = _count_digits(re.split("[ex#]", value)[0])
    if value.startswith("0") and not value.startswith("00"):
        # 021 123 456 and 030/901820 have nine; a row of numbers may have as many.
        return 10 <= digits <= 12 or (digits == 9 and _NINE_DIGITS.match(value) is not None)
    return digits >= 8


# --- told by the words around them ------------------------------------------------------------

_CONTEXT_CHARACTERS = 60
_PLAIN_NUMBER = re.compile(r"(?<![\w-])(?<!\d\.)\(?\d[\d ().\-/]{5,18}\d" + _EXTENSION + r"(?!\w|[-.]\d)")
_SSN_PLAIN = re.compile(r"\d{3}[-. ]?\d{2}[-. ]?\d{4}")
_SSN_WORDS = re.compile(
    r"\b(?:ssn?|itin|s\.s\.n?\.?|social security|social|taxpayer|tax id)(?:\b|#)[^\n]{0,24}\Z", re.IGNORECASE
)
# What may stand between "call" and the number, or the number is of something else.
_PHONE_FILLER_WORDS = re.compile(
    r"(?:[ \t]*(?:me|us|him|her|them|my|our|his|their|your|the|at|on|to|via|by|back|is|was|are|no|num|nr|nbr"
    r"|n°|line|home|work|office|mobile|cell|cellphone|phone|telephone|tel|fax|direct|new|old|best|main|private|business"
    r"|number|now|please|under|this|it|it's|that's|either|again|or|and|anytime|first|using"
    r"|with|for"
    r"|contact|whatsapp|uk|us|here|also|still|changed|=|#|:|-|–|\.|,|\(|\"|'|\*|>|\[)){0,8}[ \t]*",
    re.IGNORECASE,
)
_PHONE_WORDS_BEFORE = re.compile(
    r"\b(?:(?P<noun>(?:tele)?phone|mobile|cell(?:phone)?|tel|fax|whatsapp|callback|sms|hotline|landline|handset"
    r"|(?:my|our|his|her|their|contact) number)"
    r"|call|text|ring|phone|reach|dial|contact|message)(?:s|ed|ing)?\b([^\d\n;!?+(]{0,24})\Z",
    re.IGNORECASE,
)
_PHONE_WORDS_AFTER = re.compile(
    r" (?:is|was) (?:the|my|our|his|her|their)"
    r"(?: (?:best|new|old|home|work|mobile|cell|contact|phone|office|direct|cellphone|telephone)){0,3}"
    r" (?:number|phone|cell|mobile|line|fax)\b",
    re.IGNORECASE,
)
_OTHER_NUMBER_WORDS = re.compile(
    r"order|ticket|case|ref|\bid\b|track|transaction|account|invoice|serial|model|version|booking"
    r"|confirm|epoch|time|date|imei|log|error|code|took|last|\$|€|£|:\S",
    re.IGNORECASE,
)


# One of these stands before every announced number; to look words up is quicker than a search.
_ANNOUNCING_WORDS = frozenset(
    b"ssn itin social phone telephone mobile cell cellphone tel fax whatsapp callback sms call text ring "
    b"reach dial contact number hotline landline ss s tax taxpayer calling called texting texted calls "
    b"reached reaching dialed dialled dialing message messaging mobiles phones".split()
)
_NON_LETTERS_TO_SPACES = bytes(
    byte if chr(byte).isascii() and chr(byte).isalpha() else 32 for byte in range(256)
)


def _may_be_announced(text: str, start: int) -> bool:
    before = text[start - _CONTEXT_CHARACTERS : start] if start > _CONTEXT_CHARACTERS else text[:start]
    words = before.encode("ascii", "replace").lower().translate(_NON_LETTERS_TO_SPACES).split()
    return not _ANNOUNCING_WORDS.isdisjoint(words)


def _find_announced_numbers(text: str, start: int, end: int) -> Iterator[Span]:
    for match in _PLAIN_NUMBER.finditer(text, start, end + _LOOKAHEAD_CHARACTERS):
        if match.start() >= end:
            return
        first, last = match.span()
        if match[0][0] == "(" and ")" not in match[0]:
            first += 1
        value, before = text[first:last], text[max(0, first - _CONTEXT_CHARACTERS) : first]
        if _SSN_PLAIN.fullmatch(value) and _SSN_WORDS.search(before):
            yield SSN, first, last
        elif _is_said_to_be_phone(value, before.rstrip("("), text[last : last + _CONTEXT_CHARACTERS]):
            yield PHONE, first, last


def _is_said_to_be_phone(value: str, before: str, after: str) -> bool:
    if _DATE.match(value):
        return False
    if _PHONE_WORDS_AFTER.match(after):
        return True
    said = _PHONE_WORDS_BEFORE.search(before)
    if said is None or _OTHER_NUMBER_WORDS.search(said[2]):
        return False
    if said["noun"]:
        return not value.isdigit() or len(value) >= 7
    return _PHONE_FILLER_WORDS.fullmatch(said[2]) is not None and not (
        value.isdigit() and _COUNTED_NOUN.match(after)
    )


# "reach 1000000 users" counts something.
_COUNTED_NOUN = re.compile(
    r" (?!at|on|or|and|if|after|before|from|any|when|until|till|please|thanks|asap|today|tomorrow|now|for|but"
    r"|to|with|in|as|then|instead|between|during|is|again|ext|it|i|my|so|because|this|that|he|she|we|they|you|directly)[a-z]"
)
