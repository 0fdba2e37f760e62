"""Addresses told by their end: a postal code with its place, and the lines or parts before it.

"Rose Cottage, Little Barton, OX12 3AB" names no street, and "12 rose hill little barton ox12 3ab" no capital.
"""

import re
import sys
from collections.abc import Iterator
from typing import NamedTuple

from datasets_app.domain.pii.detector import Span
from datasets_app.domain.pii.names.gazetteer import look_up_word
from datasets_app.domain.pii.rules import address_words as vocabulary
from datasets_app.domain.pii.rules.address_tails import find_start, place_follows, read_tail

_REACH = 150
MAX_WORDS_TO_NUMBER = 9
MAX_LINES = 5


class Block(NamedTuple):
    """The parts before a postal code, back to ``start``; ``rare_words`` are in no dictionary."""

    start: int
    parts: int
    has_number: bool
    has_street: bool
    rare_words: int = 0


_UK_AREAS = (
    "AB|AL|B|BA|BB|BD|BH|BL|BN|BR|BS|BT|CA|CB|CF|CH|CM|CO|CR|CT|CV|CW|DA|DD|DE|DG|DH|DL|DN|DT|DY|E|EC|EH"
    "|EN|EX|FK|FY|G|GL|GU|GY|HA"
    "|HD|HG|HP|HR|HS|HU|HX|IG|IM|IP|IV|JE|KA|KT|KW|KY|L|LA|LD|LE|LL|LN|LS|LU|M|ME|MK|ML|N|NE|NG|NN|NP|NR"
    "|NW|OL|OX|PA|PE|PH|PL|PO|PR"
    "|RG|RH|RM|S|SA|SE|SG|SK|SL|SM|SN|SO|SP|SR|SS|ST|SW|SY|TA|TD|TF|TN|TQ|TR|TS|TW|UB|W|WA|WC|WD|WF|WN|WR"
    "|WS|WV|YO|ZE"
)
_UK_CODE = re.compile(
    rf"(?<![\w-])(?:(?:{_UK_AREAS})\d[A-Z\d]?(?P<gap>[ ]?)\d(?P<unit>[ABD-HJLNP-UW-Z]{{2}}))(?![\w-])",
    re.IGNORECASE,
)
# Faker and some forms have areas that no town has: such a code needs more of an address before it.
_UK_FORM = re.compile(r"(?<![\w-])[A-Z]{1,2}\d[A-Z\d]?[ ]?\d[A-Z]{2}(?![\w-])")
_CANADIAN_CODE = re.compile(
    r"(?<![\w-])[ABCEGHJ-NPRSTVXY]\d[A-Z](?P<gap>[ -]?)\d[A-Z]\d(?![\w-])", re.IGNORECASE
)
_ZIP = re.compile(r"(?<=[ \t])(?:\d{5}(?:-\d{4})?|\d{4})(?![\w-]|[.,/:]\d)")
_STATE_BEFORE = re.compile(
    rf"(?<![\w-])(?:(?P<code>[A-Z]{{2,4}})|(?P<name>{vocabulary.STATE_NAMES})),?[ \t]{{1,2}}\Z", re.IGNORECASE
)
_LAST_WORDS_OF_STATES = frozenset(re.findall(r"([a-z]+)(?=[|)]|\Z)", vocabulary.STATE_NAMES))
# 10115 Berlin, 1234 AB Amsterdam, 00-001 Warszawa, 01234-567, 123 45 Stockholm
_CODE_AND_PLACE = re.compile(
    r"(?<![\w$€£.,/:+-])(?<!\d )(?:(?:D|A|CH|F|I|NL|B|L|S|SE|DK|N|NO|FI|FIN|PL|CZ|SK|H|HU|AT|DE|FR|IT|ES|E"
    r"|PT)-)?"
    r"(?:\d{5}(?:-\d{3})?|\d{4}(?:-\d{3}|[ ]?[A-Z]{2}(?=[ \n]))?|\d{2}-\d{3}|\d{3} \d{2})(?=[ ,]{1,2}"
    r"(?:\n ?)?[^\W\d_]|\n[^\W\d_])"
)
_PLACE_AND_CODE = re.compile(
    r"(?<=[^\W\d_])(?:[ ]?[-–][ ]?|,? )(?:\d{3} ?\d{3}|\d{5}-\d{3}|(?<=, )\d{5})(?![\w-]|[.,/:]\d)"
)
_LONE_FORMED_CODE = re.compile(r"(?<![\w-])\d{5}-\d{3}(?![\w-])|〒 ?\d{3}-?\d{4}(?!\d)")
# M1 8GB is a computer.
_MEASURES = frozenset("gb tb pb hz ah ad bc".split())
_NUMBERED_THINGS = re.compile(
    r"\b(?:part|model|serial|order|ref|reference|flight|gate|license|plate|reg|sku|item|product|seat|room"
    r"|version|code|invoice"
    r"|ticket|case|bus|train|chip|cpu)(?: (?:no\.?|number|id|is|code))?[ :#]{1,2}\Z",
    re.IGNORECASE,
)
_TOKEN = re.compile(
    r"(?P<number>#?\d{1,6}[A-Za-z]?(?:[-/]\d{1,5}[A-Za-z]?)*\b\.?)|(?P<word>[^\W\d_][^\W_]*"
    r"(?:['’.&/-][^\W_]+)*\.?)|(?P<sign>\S)"
)
_LAST_WORD = re.compile(r"[^\W\d_]+\Z")


# One of these is part of every code; most texts with a number have neither.
_BRITISH_PART = re.compile(r"\d[A-Za-z]{2}(?!\w)")
_CANADIAN_PART = re.compile(r"\d[A-Za-z]\d")
_DIGITS_PART = re.compile(r"\d{4}|\d[ -]\d{2}")


def find_blocks(text: str) -> Iterator[Span]:
    """Addresses around a postal code, to the end of what belongs to it."""
    if _BRITISH_PART.search(text):
        for code in _UK_CODE.finditer(text):
            yield from _around_formed_code(text, code, code["unit"].lower() not in _MEASURES)
        for code in _UK_FORM.finditer(text):
            yield from _around_weak_code(text, code, min_parts=2)
    if _CANADIAN_PART.search(text):
        for code in _CANADIAN_CODE.finditer(text):
            yield from _around_formed_code(text, code, True)
    if _DIGITS_PART.search(text):
        yield from _find_around_digits(text)


def _find_around_digits(text: str) -> Iterator[Span]:
    for code in _LONE_FORMED_CODE.finditer(text):
        yield from _around_weak_code(text, code, min_parts=1)
    for code in _ZIP.finditer(text):
        yield from _around_state(text, code)
    for code in _CODE_AND_PLACE.finditer(text):
        if place_follows(text, code.end()):
            yield from _around_weak_code(text, code)
    for code in _PLACE_AND_CODE.finditer(text):
        before = _LAST_WORD.search(text, max(0, code.start() - 30), code.start())
        if before and (before[0][0].isupper() or not look_up_word(before[0]).common):
            yield from _around_weak_code(text, code, min_parts=2)


def _finish(text: str, start: int, end: int) -> Span:
    tail = read_tail(text, end)
    return find_start(text, start), tail.end if not tail.has_unit else end


def _around_formed_code(text: str, code: re.Match[str], is_plausible: bool) -> Iterator[Span]:
    """A British or Canadian code: nothing else looks like one in capitals with its space."""
    block = read_block(text, code.start())
    if block and (block.has_number or block.has_street or block.parts > 1):
        yield _finish(text, block.start, code.end())
    elif (
        is_plausible
        and code[0].isupper()
        and code["gap"]
        and len(code[0]) > 6
        and not _NUMBERED_THINGS.search(text, max(0, code.start() - 30), code.start())
    ):
        yield _finish(text, block.start if block and block.parts == 1 else code.start(), code.end())


def _around_weak_code(text: str, code: re.Match[str], *, min_parts: int = sys.maxsize) -> Iterator[Span]:
    """Digits that only a street, or so many parts before them, make a postal code."""
    is_behind_place = code.re is _PLACE_AND_CODE
    block = read_block(text, code.start())
    if block is None or not (
        block.has_street
        or (block.has_number and block.parts >= min_parts)
        or (is_behind_place and block.has_number and block.rare_words > 1)
    ):
        return
    if is_behind_place and not block.has_number and not block.has_street:
        return
    tail = read_tail(text, code.end())
    if code.re is _CODE_AND_PLACE and not tail.has_place:
        return
    yield find_start(text, block.start), tail.end if not tail.has_unit else code.end()


def _around_state(text: str, code: re.Match[str]) -> Iterator[Span]:
    """Springfield, IL 62704; "springfield il 62704" if a number stands before it."""
    before = _LAST_WORD.search(
        text, max(0, code.start() - 24), code.start() - _count_separators(text, code.start())
    )
    if before is None or (len(before[0]) > 4 and before[0].lower() not in _LAST_WORDS_OF_STATES):
        return
    state = _STATE_BEFORE.search(text, max(0, code.start() - 30), code.start())
    block = read_block(text, state.start()) if state else None
    if state and state["code"] and block is None and _stands_alone(state, code[0]):
        yield state.start(), code.end()
    if state is None or block is None or not _is_state(state, code[0], block):
        return
    is_formal = state["code"] is not None and state["code"].isupper() and not text.isupper()
    if is_formal or block.has_number or block.has_street or "-" in code[0]:
        yield _finish(text, block.start, code.end())


# Codes of states that are words as well.
_WORDS = frozenset("OK OR IN ME HI OH".split())


def _stands_alone(state: re.Match[str], code: str) -> bool:
    """ "CA 94103" with nothing before it: only in capitals, and not as a word."""
    letters = state["code"]
    return (
        len(code) != 4
        and letters.lower() in vocabulary.STATE_CODES
        and letters.isupper()
        and letters not in _WORDS
    )


def _count_separators(text: str, end: int) -> int:
    before = text[max(0, end - 4) : end]
    return len(before) - len(before.rstrip(" \t,"))


def _is_state(state: re.Match[str], code: str, block: Block) -> bool:
    """Four digits may be a year, two letters a word; some countries have states (Puebla, PUE 72000)."""
    letters = state["code"]
    if len(code) == 4:
        is_year = code[:2] in ("17", "18", "19", "20")
        is_australian = letters is not None and letters.lower() in vocabulary.AUSTRALIAN_STATES
        return is_australian and (
            block.has_street or (letters.isupper() and (not is_year or block.parts > 1))
        )
    if letters is None or letters.lower() in vocabulary.STATE_CODES:
        return True
    return block.has_number and (block.parts > 2 or (block.parts > 1 and letters.isupper()))


def read_block(text: str, end: int) -> Block | None:
    """The parts of an address right before ``end``; None if nothing like it is there."""
    first = max(0, end - _REACH)
    tokens = list(_TOKEN.finditer(text, first, end))
    kept: list[re.Match[str]] = []
    for place, token in enumerate(tokens):
        if kept and text.count("\n", kept[-1].end(), token.start()) > 1:
            kept = []
        if _belongs(text, tokens, place, bool(kept)):
            kept.append(token)
        else:
            kept = []
    while kept and (
        kept[0].lastgroup == "sign" or kept[0][0].lower() in vocabulary.PARTICLES and kept[0][0].islower()
    ):
        kept = kept[1:]
    if not kept:
        return _read_small_block(text, tokens, end)
    lines = text[kept[0].start() : end].count("\n")
    if lines > MAX_LINES:
        return None
    return _describe(text, kept, end)


def _belongs(text: str, tokens: list[re.Match[str]], place: int, has_begun: bool) -> bool:
    token = tokens[place]
    value = token[0]
    if token.lastgroup == "number":
        return True
    if token.lastgroup == "sign":
        return has_begun and value in ",-–#/"
    lower = value.lower().rstrip(".")
    if value[-1] == "." and len(lower) > 4 and lower not in vocabulary.ALL_TYPES:
        return False
    before = tokens[place - 1][0] if place else ""
    following = tokens[place + 1][0] if place + 1 < len(tokens) else ""
    if not vocabulary.may_be_in_name(value, before, following):
        return False
    if value[0].isupper():
        return True
    if lower in vocabulary.PARTICLES or lower in vocabulary.LINKING_WORDS:
        return has_begun and before[:1].isupper()
    # "Smith views", "Apt 4", "rue Dupont"
    if lower in vocabulary.ALL_TYPES:
        return has_begun and before[:1].isupper()
    return (
        (lower in vocabulary.PREFIX_TYPES and following[:1].isalpha())
        or _is_compound(lower)
        or (has_begun and len(lower) < 6 and following[:1].isdigit())
    )


def _is_compound(lower: str) -> bool:
    return len(lower) > 5 and lower.endswith(vocabulary.SUFFIX_TYPES)


def _read_small_block(text: str, tokens: list[re.Match[str]], end: int) -> Block | None:
    """In small letters: back to a number, over words none of which breaks an address off."""
    kept: list[re.Match[str]] = []
    start = None
    for token in reversed(tokens[-MAX_WORDS_TO_NUMBER:]):
        lower = token[0].lower().rstrip(".")
        if (
            token.lastgroup == "sign"
            and token[0] not in ",-#/"
            or lower in vocabulary.STOP_WORDS
            or "\n" in text[token.end() : token.end() + 1]
        ):
            break
        kept.append(token)
        if token.lastgroup == "number" and len(kept) > 2:
            start = len(kept)
    if start is None:
        words = [token[0] for token in kept if token.lastgroup == "word"]
        if words and look_up_word(words[0]).common == 0 and not words[0][0].isdigit():
            return Block(kept[0].start(), 1, False, False)
        return None
    return _describe(text, kept[:start][::-1], end)


def _describe(text: str, kept: list[re.Match[str]], end: int) -> Block:
    words = [token[0].lower().rstrip(".") for token in kept if token.lastgroup == "word"]
    has_street = any(
        word in vocabulary.STREET_TYPES or word in vocabulary.PREFIX_TYPES or _is_compound(word)
        for word in words[1:]
    ) or (bool(words) and (words[0] in vocabulary.PREFIX_TYPES or _is_compound(words[0])))
    start = kept[0].start()
    parts = len([part for part in re.split(r"[,\n]|\s[-–]\s", text[start:end]) if part.strip()])
    rare_words = sum(look_up_word(word).common == 0 for word in words)
    return Block(start, parts, any(token.lastgroup == "number" for token in kept), has_street, rare_words)
