"""Numbers of accounts at a bank or of a customer, by the words before them: "my account number is 12345678".

The number of a bank identifies no person, but is replaced together with an account: sort codes and routing
numbers by their own words, a BIC where an account is in the same text.
"""

import re
from collections.abc import Iterator, Sequence

from datasets_app.domain.pii.detector import ACCOUNT
from datasets_app.domain.pii.rules.account_words import (
    ACCOUNTS,
    COMPOUNDS,
    FILLERS,
    NUMBER_WORDS,
    OTHERS,
    SUBJECTS,
)
from datasets_app.domain.pii.rules.cues import NEWLINE, Window

Span = tuple[str, int, int]  # kind, start, end

# A row of digits as part of a longer code: AB-123456-X.
_CODE_BEFORE = re.compile(
    r"(?<![A-Za-z0-9])(?:[A-Za-z][A-Za-z0-9]{0,7}(?:-[A-Za-z0-9]{1,8}){0,3}[-/]?|[A-Z]{1,4} )\Z"
)
_CODE_AFTER = re.compile(r"[A-Za-z0-9]{0,24}(?:-[A-Za-z0-9]{1,12}){0,4}")
_MAX_CODE_CHARACTERS = 40
_MIN_DIGITS, _MIN_DIGITS_OF_PLAIN, _MAX_DIGITS = 5, 6, 34
_DATE_OR_DECIMAL = re.compile(
    r"(?:19|20)\d\d[-./]\d\d?[-./]\d\d?|\d\d?[-./]\d\d?[-./](?:19|20)\d\d"
    r"|\d+\.\d+|(?:19|20)\d\d ?- ?(?:19|20)\d\d"
)
# An amount of money, a share, part of a number with its thousands set off, or of an address.
_NOT_BEFORE = re.compile(r"(?:[$€£¥@_]|\d[.,:])\Z")
_NOT_AFTER = re.compile(
    r"[.,:]\d|[@_]| ?[%€$£]"
    r"| ?(?:eur|usd|gbp|dollars?|euros?|pounds|rupees|rs|points|miles|km|days|years|users)\b",
    re.IGNORECASE,
)
NO_CUE, _PLAIN, _NUMBERED = range(3)
_MAX_UNKNOWN_WORDS = _MAX_LINES = 2


def find_announced_accounts(text: str, start: int, end: int) -> Iterator[Span]:
    """The number ``text[start:end]``, with the letters around it, if words say that it is an account."""
    if _DATE_OR_DECIMAL.fullmatch(text, start, end) or _NOT_AFTER.match(text, end):
        return
    before = _CODE_BEFORE.search(text, max(0, start - _MAX_CODE_CHARACTERS), start)
    after = _CODE_AFTER.match(text, end)
    last = after.end() if after else end
    if _is_alphanumeric(text[last : last + 1]):
        return
    # "acct-123456" looks like a code, but is a word and a number.
    for first in (before.start(), start) if before else (start,):
        digits = sum(map(str.isdigit, text[first:last]))
        if not _MIN_DIGITS <= digits <= _MAX_DIGITS or _NOT_BEFORE.search(text, max(0, first - 2), first):
            continue
        if first and _is_alphanumeric(text[first - 1]) and not (before and before[0].lower() in SUBJECTS):
            continue
        cue = rate_account_words(Window(text, first, last))
        if cue == _NUMBERED or (cue == _PLAIN and digits >= _MIN_DIGITS_OF_PLAIN):
            yield ACCOUNT, first, last
            return


def _is_alphanumeric(sign: str) -> bool:
    """Of Latin script: others put no space before a number."""
    return sign.isascii() and sign.isalnum()


def rate_account_words(window: Window) -> int:
    """Whether the words before a number say that it is an account's, or even its number."""
    tokens = window.list_tokens_before()
    unknown = lines = 0
    is_numbered = False
    for place, token in enumerate(tokens):
        further = tokens[place + 1 : place + 5]
        if token in COMPOUNDS:
            return _NUMBERED
        if token in OTHERS:
            subjects = SUBJECTS if is_numbered else ACCOUNTS
            if token in _REFERENCES and further and further[0] in subjects:
                continue  # customer reference number
            return NO_CUE
        if token == "card" and further[:1] and further[0] in SUBJECTS:
            is_numbered = True  # loyalty card
            continue
        if token in SUBJECTS and not (token == "card" and not is_numbered):
            is_numbered = is_numbered or (token in ACCOUNTS and place > 0 and tokens[place - 1] in ":=")
            if unknown and not is_numbered:
                return _PLAIN if token in ACCOUNTS and tokens[0] in _IS else NO_CUE
            return (
                _NUMBERED if is_numbered or _is_numbered(further) else _PLAIN if token in ACCOUNTS else NO_CUE
            )
        if token == NEWLINE:
            lines += 1
            if lines > _MAX_LINES:
                return NO_CUE
        elif token in NUMBER_WORDS:
            is_numbered = is_numbered or unknown <= _MAX_UNKNOWN_WORDS
        elif token.isdigit():
            return NO_CUE
        elif token not in FILLERS:
            unknown += 1
            if unknown > _MAX_UNKNOWN_WORDS or is_numbered:
                return NO_CUE
    return NO_CUE


_REFERENCES = frozenset("reference ref".split())
_IS = frozenset("is ist est es è é".split())


def _is_numbered(further: Sequence[str]) -> bool:
    """``further`` are the words before the subject: "número de cuenta", but not "zip code of a customer"."""
    for place, token in enumerate(further):
        if token in NUMBER_WORDS:
            return OTHERS.isdisjoint(further[place + 1 : place + 2])
        if token not in FILLERS and token not in SUBJECTS:
            return False
    return False


# --- the bank beside it -----------------------------------------------------------------------

_BANK_CODE = re.compile(
    r"\b(?:bic|swift)(?:[ /-]{1,2}(?:bic|swift|code|no))?[\s:=#.\-]{1,4}(?:is[ :]{1,2})?"
    r"(?P<code>(?-i:[A-Z]{6}[A-Z0-9]{2}(?:[A-Z0-9]{3})?))\b",
    re.IGNORECASE,
)


def find_bank_codes(text: str) -> Iterator[Span]:
    """A BIC after its name, for a text in which an account stands as well."""
    for match in _BANK_CODE.finditer(text):
        yield ACCOUNT, *match.span("code")
