"""Telephone numbers, by how they are written or by the words around them.

In a clear national or international form, one counts by itself. Any other counts where a word says that it is
one: before it, behind it, or on the line above or below; the farther the word, the more the number must
look like one.
"""

import re
from collections.abc import Iterator

from datasets_app.domain import lazy_re
from datasets_app.domain.pii.detector import PHONE
from datasets_app.domain.pii.names.gazetteer import look_up_word
from datasets_app.domain.pii.rules.cues import Window
from datasets_app.domain.pii.rules.phone_cues import EMAIL_CUE, NO_CUE, STRONG_CUE, WEAK_CUE, rate_phone_words
from datasets_app.domain.pii.rules.phone_plans import has_national_grouping, is_mobile

Span = tuple[str, int, int]  # kind, start, end

# How far a pattern may look past its run: an extension, " extension 12345".
LOOKAHEAD_CHARACTERS = 24
_DAY_OR_MONTH = r"(?:0?[1-9]|[12]\d|3[01])"
DATE = re.compile(
    rf"(?:19|20)\d\d[-./ ]{_DAY_OR_MONTH}[-./ ]{_DAY_OR_MONTH}(?!\d)"
    rf"|{_DAY_OR_MONTH}[-./ ]{_DAY_OR_MONTH}[-./ ](?:19|20)\d\d(?!\d)"
)
# Letters of other scripts may stand right beside a number: 我的电话是13812345678.
_W = "A-Za-z0-9_"
_NOT_DIGITS = re.compile(r"[^0-9]+")


def count_digits(value: str) -> int:
    return len(_NOT_DIGITS.sub("", value))


# --- told by how they are written -------------------------------------------------------------

_EXTENSION = r"(?:,? {0,2}(?:ext\.?|extension|x|#) {0,2}\d{1,6})?"
_NUMBER_START = rf"(?<![{_W}+])(?<!\d[-./:])(?<!\d\()(?<!\d )"
_NUMBER_END = _EXTENSION + rf"(?![{_W}]|[-./]\d| \d)"
_SHAPES = (
    # +49 151 64003691, +(44) 20 7946 0958
    re.compile(
        rf"(?<![{_W}+])\(?\+\(?[1-9](?:[ .\-/()]{{0,2}}\d){{7,14}}" + _EXTENSION + rf"(?![{_W}]|[-.]\d)"
    ),
    # (508) 777-8189 ext. 14, 1-800-555-0199, 454.520.3028, 443 428 9089, 212/555-0198
    lazy_re.compile(
        _NUMBER_START
        + r"(?:1[ .-])?(?:\(\d{3}\)[ -]{0,2}|\d{3}[-./]|[2-9]\d{2} )\d{3}(?:[-. ]| - )\d{4}"
        + _EXTENSION
        + rf"(?![{_W}]|[-./]\d|-[A-Z]| \d{{3}})"
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


def find_formatted_phones(text: str, start: int, end: int) -> Iterator[Span]:
    """Numbers among the digits and signs of ``text[start:end]`` that are written as such."""
    for pattern in _SHAPES:
        for match in pattern.finditer(text, start, end + LOOKAHEAD_CHARACTERS):
            if match.start() < end and _could_be_dialed(match[0]):
                yield PHONE, match.start(), match.end()


def _could_be_dialed(value: str) -> bool:
    if DATE.match(value) or _SIGNED_DECIMAL.fullmatch(value):
        return False
    digits = count_digits(re.split("[ex#]", value)[0])
    if value.startswith("0") and not value.startswith("00"):
        # 021 123 456 and 030/901820 have nine; a row of numbers may have as many.
        return 10 <= digits <= 12 or (digits == 9 and _NINE_DIGITS.match(value) is not None)
    return digits >= 8


# --- told by the words around them ------------------------------------------------------------

_PLAIN_NUMBER = re.compile(
    rf"(?<![{_W}$€£¥-])(?<!\d[.,:])\+?\(?\d[\d ().\-/]{{4,20}}\d{_EXTENSION}(?![{_W}]|[-.,:]\d| ?[%€$£])"
)
_MIN_DIGITS, _MAX_DIGITS = 6, 15
_MIN_DIGITS_FROM_ZERO, _MAX_DIGITS_FROM_ZERO = 8, 13
_MIN_BARE_DIGITS, _MIN_GROUPED_DIGITS, _MIN_DIGITS_BESIDE_EMAIL = 10, 8, 8
_BARE_DATE = re.compile(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])")
_DECIMAL = re.compile(r"(?!0\d)\d+\.\d+")
# Also ranges of amounts: 13.000-20.000.
_VERSION_OR_TIMES = re.compile(
    r"(?!\d\d\.\d\d\.\d\d\.\d\d)\d{1,2}(?:\.\d{1,5}){3}"
    r"|[1-9]\d{0,2}(?:\.\d{3})+ ?- ?\d{1,3}(?:\.\d{3})+"
    r"|(?:[01]?\d|2[0-4])[.:]?(?:00|15|30|45) ?- ?(?:[01]?\d|2[0-4])[.:]?(?:00|15|30|45)"
)
_UNIT = re.compile(
    r" ?(?:[mµn]?s|secs?|seconds?|minutes?|[kmgt]?b|bytes?|k?m|km/h|kg|usd|eur|gbp|rs|inr|dollars?|euros?)\b",
    re.IGNORECASE,
)
_EPOCH_OR_AMOUNT = re.compile(r"1[4-9]\d{8}(?:\d{3})?|[1-9]\d{0,2}(?:\.\d{3})+")
_FOURS = re.compile(r"\d{4}\.\d{4}")
_GROUP = re.compile(r"\d+")
# "reach 1000000 users" counts something.
_MAX_COUNTED_DIGITS = 8
_COUNTED_NOUN = lazy_re.compile(
    r" (?!at|on|or|and|if|after|before|from|any|when|until|till|please|thanks|asap|today|tomorrow|now|for|but"
    r"|to|with|in|as|then|instead|between|during|is|again|ext|it|i|my|so|because|this|that|he|she|we|they"
    r"|you|directly)[a-z]"
)


def find_announced_phones(text: str, start: int, end: int, window: Window) -> Iterator[Span]:
    """Numbers in ``text[start:end]`` that words in its window say are telephone numbers."""
    cue = rate_phone_words(window)
    if cue == NO_CUE:
        return
    for match in _PLAIN_NUMBER.finditer(text, max(0, start - 2), end + LOOKAHEAD_CHARACTERS):
        first, last = match.span()
        if first >= end:
            return
        if match[0][0] == "(" and ")" not in match[0]:
            first += 1
        if _is_said_to_be_phone(text[first:last], text[last : last + 40], cue):
            yield PHONE, first, last


# Behind "Jane Roe, " or "Jane (wife): ".
_PERSON_BEFORE = re.compile(r"(?<!\w)([A-Z][^\W\d_]{2,20})(?: \([a-z ]{1,20}\))?(?:[ ,:(–-]{1,3})\Z")
_MAX_PERSON_CHARACTERS = 50


def find_phones_of_people(text: str, start: int, end: int) -> Iterator[Span]:
    """What looks like a telephone number right behind somebody's name."""
    person = _PERSON_BEFORE.search(text, max(0, start - _MAX_PERSON_CHARACTERS), start)
    if person is None:
        return
    facts = look_up_word(person[1])
    if facts.common or not facts.first + facts.last:
        return
    for match in _PLAIN_NUMBER.finditer(text, start, end + LOOKAHEAD_CHARACTERS):
        if match.start() < end and _is_said_to_be_phone(
            match[0], text[match.end() : match.end() + 40], WEAK_CUE
        ):
            yield PHONE, *match.span()


def _is_said_to_be_phone(value: str, after: str, cue: int) -> bool:
    number = re.split("[ex#]", value)[0].strip(" ,")
    digits = _NOT_DIGITS.sub("", number)
    if not _MIN_DIGITS <= len(digits) <= _MAX_DIGITS or DATE.match(number):
        return False
    if _VERSION_OR_TIMES.fullmatch(number) or _UNIT.match(after):
        return False
    if _BARE_DATE.fullmatch(number) or (cue < STRONG_CUE and _EPOCH_OR_AMOUNT.fullmatch(number)):
        return False
    if _DECIMAL.fullmatch(number) and not (cue == STRONG_CUE and _FOURS.fullmatch(number)):
        return False
    is_bare = number.isdigit()
    if is_bare and len(digits) <= _MAX_COUNTED_DIGITS and digits[0] != "0" and _COUNTED_NOUN.match(after):
        return False
    if cue == EMAIL_CUE:
        return len(digits) >= _MIN_DIGITS_BESIDE_EMAIL
    return cue == STRONG_CUE or _looks_like_phone(number, digits, is_bare)


def _looks_like_phone(number: str, digits: str, is_bare: bool) -> bool:
    """For a number whose words are far: it must be written, or be grouped, as people do somewhere."""
    if digits[0] == "0" or number[0] in "(+":
        return _MIN_DIGITS_FROM_ZERO <= len(digits) <= _MAX_DIGITS_FROM_ZERO
    if is_bare:
        return len(digits) >= _MIN_BARE_DIGITS and is_mobile(digits)
    groups = _GROUP.findall(number)
    return len(digits) >= _MIN_GROUPED_DIGITS and has_national_grouping(groups)
