"""Dates as people write them: numeric, ISO, with the month as a word of some twenty languages.

They are looked for behind a label and beside a name, and a judged date is asked whether it is of a range; so
each pattern is matched at a few places of a text, and never searched for throughout it.
"""

import re

from datasets_app.domain import lazy_re
from datasets_app.domain.pii.word_lists import read_word_lists

# Where two languages share a spelling, one of them has it.
_MONTH_NAMES = read_word_lists(__file__)["months"]
_MONTH = rf"(?:{'|'.join(sorted(_MONTH_NAMES, key=len, reverse=True))})(?![^\W\d_])"
_ORDINALS = (
    r"(?:twenty|thirty)[ -](?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)"
    r"|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|thirteenth"
    r"|fourteenth|fifteenth|sixteenth|seventeenth|eighteenth|nineteenth|twentieth|thirtieth"
)
_ONES = r"(?:one|two|three|four|five|six|seven|eight|nine)"
_TEENS = (
    r"(?:ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|(?:oh|o)[ -]"
    + _ONES
    + r")"
)
_TENS = rf"(?:(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[ -]{_ONES})?)"
# nineteen eighty-four, two thousand and three, twenty twelve, eighty four
_SPELLED_YEAR = (
    rf"(?:(?:eighteen|nineteen|twenty)[ -](?:hundred(?:[ ]and)?[ -])?(?:{_TENS}|{_TEENS}|{_ONES})"
    rf"|two[ -]thousand(?:(?:[ ]and)?[ -](?:{_TENS}|{_TEENS}|{_ONES}))?|{_TENS})(?![^\W_])"
)
_FULL_YEAR = r"(?:1[5-9]|20)\d\d"
_YEAR = rf"(?:(?:{_FULL_YEAR}|['’]?\d\d)(?!\d)|{_SPELLED_YEAR})"
_DAY = rf"(?:\d{{1,2}} ?(?:st|nd|rd|th|er|re|º|ª|°|:?e|:a|-?go|-?ого)(?![^\W_])|\d{{1,2}}|{_ORDINALS})"
_OF = r"(?:of|de|del|do|di|den|in)"
_SEPARATOR = r"[ \t]{0,2}[-/.,][ \t]{0,2}|[ \t]{1,2}"
_END = r"(?!\d|[-/.:]\d)"
_ROMAN_MONTH = r"(?:i{1,3}|iv|vi{0,3}|ix|xi{0,2})"

_DATE_FORMS = (
    # 1980-05-03, 1980/5/3, 1980. 05. 03.
    rf"{_FULL_YEAR}(?:{_SEPARATOR})\d{{1,2}}(?:{_SEPARATOR})\d{{1,2}}{_END}(?:T[\d:.]{{5,15}}Z?)?",
    # 03/05/1980, 3.5.80, 3. 5. 1980
    rf"\d{{1,2}}(?:{_SEPARATOR})\d{{1,2}}(?:{_SEPARATOR}){_YEAR}{_END}",
    # 3 May 1980, 3rd of May, 3. Mai '80, 3 de mayo de 1980, 03-May-80
    rf"{_DAY}(?:{_SEPARATOR})?(?:{_OF} )?(?:the |month )?{_MONTH}"
    rf"(?:\.?,?(?:{_SEPARATOR})?(?:{_OF} )?{_YEAR}{_END})?",
    # May 3, 1980; May the 3rd; may 3 80
    rf"{_MONTH}\.?(?:{_SEPARATOR})(?:the )?{_DAY}(?![^\W_])(?:,?(?:{_SEPARATOR})(?:{_OF} )?{_YEAR}{_END})?",
    # 1980 May 3, 1980. május 3.
    rf"{_FULL_YEAR}(?:{_SEPARATOR}){_MONTH}\.?(?:{_SEPARATOR}){_DAY}(?![^\W_])\.?",
    # May 1980
    rf"{_MONTH}\.?,? (?:{_OF} )?{_FULL_YEAR}{_END}",
    # 1980年5月3日, 昭和55年5月3日, 1980년 5월 3일, 5月3日
    r"(?:(?:(?:昭和|平成|大正|令和) ?)?\d{1,4} ?[年년] ?)?\d{1,2} ?[月월] ?\d{1,2} ?[日일]?",
    # 3-V-1980
    rf"\d{{1,2}}[-/. ]{_ROMAN_MONTH}[-/. ]{_YEAR}{_END}",
)
DATE = lazy_re.compile(rf"(?<!\d)(?<!\d[.,/:-])(?<!\d )(?:{'|'.join(_DATE_FORMS)})", re.IGNORECASE)
# Roughly a date, and what joins the two ends of a range: 3.8. - 17.8.2026, 2025-03-03 to 2025-03-10.
_ROUGH_DATE = (
    r"(?:\d{1,4}[./年-] ?\d{1,2}(?:[./月-] ?\d{1,4}|[.月])?日?"
    r"|\d{1,2}\.? [^\W\d_]{3,10}\.?(?: \d{4})?|[^\W\d_]{3,10}\.? \d{1,2}(?:,? \d{4})?)"
)
_TO = (
    r" ?(?:[-–—~〜～/]|\.{2,3}|至|到|から"
    r"|\b(?:to|until|till?|through|thru|bis(?: zum)?|au|à|al?|hasta(?: el)?|até|ad|tot|t/m|do|po|až|до|по)\b"
    r") ?"
)
_RANGE_BEHIND = lazy_re.compile(rf"{_TO}{_ROUGH_DATE}", re.IGNORECASE)
_RANGE_BEFORE = lazy_re.compile(rf"{_ROUGH_DATE}{_TO}\Z", re.IGNORECASE)
_RANGE_CHARACTERS = 30
_WHOLE_RANGE = lazy_re.compile(f"{_ROUGH_DATE}{_TO}{_ROUGH_DATE}", re.IGNORECASE)
_NUMBER = re.compile(r"\d+")
_ENDS_IN_YEAR = lazy_re.compile(rf"[ -]{_SPELLED_YEAR}\Z", re.IGNORECASE)


def match_date(text: str, start: int) -> int | None:
    """The end of the date that begins at ``start``, if one does: of day and month, or month and year."""
    found = DATE.match(text, start)
    return found.end() if found and is_in_calendar(found[0]) else None


def has_year(date: str) -> bool:
    numbers = _NUMBER.findall(date)
    if len(numbers) == 2 and ("月" in date or "월" in date):
        return False
    return (
        len(numbers) > 1
        or any(len(number) == 4 for number in numbers)
        or _ENDS_IN_YEAR.search(date) is not None
    )


def is_of_range(text: str, start: int, end: int) -> bool:
    """Whether the date there is one end of a range, or all of it."""
    return (
        _RANGE_BEHIND.match(text, end) is not None
        or _WHOLE_RANGE.fullmatch(text, start, end) is not None
        or _RANGE_BEFORE.search(text, max(0, start - _RANGE_CHARACTERS), start) is not None
    )


def is_in_calendar(date: str) -> bool:
    """Whether its numbers may be a day and a month: 45/67/89 and 13/31/80 are none."""
    numbers = [int(number) for number in _NUMBER.findall(date.partition("T")[0])]
    if len(numbers) < 3:
        return all(0 < number <= 31 or number >= 100 for number in numbers[:1])
    return sum(0 < number <= 31 for number in numbers) >= 2 and any(0 < number <= 12 for number in numbers)
