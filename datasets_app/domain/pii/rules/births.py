"""Dates of birth: a date beside a word that says so, before it or behind it, in some thirty languages.

A date alone is an appointment, a release or a delivery; nothing about its form tells otherwise. Linear in
the length of the text: around each such word a bounded part is searched.
"""

import re
from collections.abc import Iterator

from datasets_app.domain import lazy_re
from datasets_app.domain.pii.detector import DATE_OF_BIRTH, Match, Span, drop_overlaps
from datasets_app.domain.pii.rules.birth_words import CUE, CUE_WORDS, OTHER_EVENT, SPELLED_CUES, UNSPACED_CUES
from datasets_app.domain.pii.rules.cue_words import find_cues, make_cues
from datasets_app.domain.pii.rules.dates import (
    find_dates,
    find_in_columns,
    has_year,
    match_compact_date,
    match_date,
    match_day_and_month,
    match_short_year,
    match_spoken_date,
    match_year,
    may_start_date,
)

_TURNING_CUES = make_cues("turn turns turned turning")
_MAX_DISTANCE = 64
_MAX_DATES = 8

# What may stand between the word and the date: signs, elements, the form (dd/mm/yyyy), words that name
# no other event. "Your date of birth? 3/5/80" is two sentences.
_FORMAT_HINT = r"[dmyjatg]{1,4}(?:[-/. ][dmyjatg]{1,4}){1,2}(?![^\W_])"
_STEP = lazy_re.compile(
    rf"{_FORMAT_HINT}|(?!{OTHER_EVENT})[^\W\d_]{{1,14}}(?![^\W_])|[\u3040-\u30ff\uac00-\ud7af]{{1,4}}"
    rf"|</?\w{{1,12}}>|\r?\n(?:[ \t]{{0,20}}\r?\n)?"
    r"|[ \t:;=\-–—>|\"'`“”’«»()\[\]{},/*_#~?!.&、，]",
    re.IGNORECASE,
)
# Of a birthday and of who was born: within the sentence, and no list of other things.
_STEP_IN_SENTENCE = lazy_re.compile(
    rf"(?!{OTHER_EVENT})[^\W\d_]{{1,20}}(?![^\W_])|[\u3040-\u30ff\uac00-\ud7af]{{1,4}}"
    r"|(?<=[A-Z][a-z])\.|[?.!,][ ](?=it['’]?s[ ]|it is |should be )|[ \t,:=\-–'’\"()&/]",
    re.IGNORECASE,
)
_BORN_LINK = re.compile(
    r"[ \t:=(\-–,|\"]{0,4}(?:\r?\n)?(?:(?:on|in|at|the|am|im|den|der|le|en|el|il|nel|em|no|op|dnia|w|dne|o"
    r"|dia|do|um|la|στις|το|vào|ngày|tanggal|pada|於|于|v|roku|(?:the )?year|back)[ \t,:]{1,2}){0,3}"
    r"[(\"'*]{0,2}",
    re.IGNORECASE,
)
# "born in Springfield, Illinois, on May 3, 1980"
_BORN_SOMEWHERE = lazy_re.compile(
    rf"(?:[ \t]|,[ \t])(?:in|at|im|à|en|a|w|em|te|i)[ \t](?:(?!{OTHER_EVENT})[^\W\d_][\w.'’-]{{0,20}}[ "
    rf",]{{1,2}}){{1,6}}?(?:(?:on|am|le|el|il|em|op|den|in)[ \t](?:the )?)?",
    re.IGNORECASE,
)
_BIRTHDAY_LINK = re.compile(
    r"(?:['’]?s(?![^\W_]))?[ \t]{0,2}(?:(?:[:=–,|-]|\r?\n|(?:is|was|ist|am|est|es|è|é|är|er|to|jest"
    r"|on file)(?![^\W_])|は|은|는|是|\()"
    r"[ \t]{0,2}){0,2}(?:on |the |am |der |den |le |el |il |em |op |dia |o )?(?:on |the |am |der "
    r"|den )?[(\"']?",
    re.IGNORECASE,
)
_BIRTHDAY_COPULA = re.compile(
    r"['’]s|[:=\n|(,]|\b(?:is|was|ist|est|es|è|é|är|er|to|jest)\b|は|은|는|是", re.IGNORECASE
)
_STARTS_FIELD = re.compile(r"(?:\A|[\n,;|(])[ \t\"'-]{0,4}(?:my |mein |mi )?\Z", re.IGNORECASE)
_IT_IS = re.compile(r"\b(?:it['’]?s|it is|c['’]est|es|today|heute)[ ](?:\w{1,8}[ ])?\Z", re.IGNORECASE)
_NEXT_DATE = re.compile(r" ?(?:,|;|&|/|and|und|et|y|e|en|och|og|i|or)[ \t]?", re.IGNORECASE)
_CORRECTED = re.compile(
    r"[^\w\n]{0,3}(?:(?:not|but|to|is|was|it|should|be|wrong|incorrect|actually|really|correct|right|and"
    r"|the|instead|of"
    r"|now|says?|reads?|sondern|nicht|statt|pas|no|sino|has|have|changed|['’]s)[ \t,:]{0,2}){1,8}",
    re.IGNORECASE,
)
_PERSON_BEFORE = re.compile(
    r"(?:\A|[\n,;(\"]|\b(?i:i|he|she|we|you|they|who|i['’]m|ich|je suis|jag|jeg|ik|sono|wife|husband|son"
    r"|daughter"
    r"|mother|father|mom|mum|dad|child|kid|baby|boy|girl|brother|sister|twins?|niece|nephew|patient|customer"
    r"|applicant|member|guest|passenger|driver|client)(?![^\W_])"
    r"|\b[A-ZÀ-Þ][a-zß-ÿ]{1,15}(?![^\W_]))[ \t]{0,2}"
    r"(?i:was |am |is |bin |wurde |were |har |är |ben |zijn |blev |fui |suis )?\Z"
)
_NO_PERSON_BEFORE = re.compile(
    r"(?:company|band|team|club|brand|idea|project|genre|startup|firm|group|Inc\.?|It|it|This"
    r"|That) (?:was |is )?\Z"
)
_BACKWARDS_YEAR = re.compile(
    r"(?:\b(?:ich|i|ik|jag|am|im|in|en|nel|bin|ben|is|jahr)[ \t]){1,3}(['’]?\d\d(?:\d\d)?)[ \t]\Z", re.I
)

# Behind the date: "3/5/80 is my date of birth", "1980-05-03 (dob)".
_POSSESSIVE = (
    r"(?:my|his|her|their|the|your|our|mein|meine|ihr|sein|ma|sa|mi|su|la mia|minha|mijn|min|moja|patient"
    r"|customer|client|(?:the )?\w{1,14}['’]s)"
)
_LINK_TO_CUE = re.compile(
    rf"[ \t]{{0,2}}[(,\[–-]?[ \t]{{0,2}}(?:(?:that['’]?s|which is|which was|is|was|as|being|for|ist|war"
    rf"|est|es|è|é|är|er"
    rf"|to be|on file as|listed as|=)[ \t])?"
    rf"(?:{_POSSESSIVE}[ \t]{{1,2}})?(?:(?:full|own|actual|real|correct|date of|new|old)[ \t])?",
    re.IGNORECASE,
)
# "Ich bin am 3.5.1980 in Kiel geboren", "3.5.1980 г.р.", "1980年5月3日生まれ"
_YEAR_BEFORE = re.compile(r"(?<![\w.,/-])(?:1[89]|20)\d\d(?=[ ]?(?:年|년|r\.)?[ ]?\Z)")
_LINK_TO_BORN = re.compile(r"(?:[ \t]{0,2}|[ \t](?:in|i|à|a|en)[ \t]\w{2,20}[ \t])(?:r\.?[ \t])?")
_STARTS_ANOTHER = re.compile(
    r"['’s]{0,2}[\"'`]?[ \t]{0,2}(?:[:=]|(?:is|was|on|am|le|el|il|em|in)[ \t])|[^\W_]", re.IGNORECASE
)
_BORN_BEHIND = frozenset(
    (
        "geboren",
        "syntynyt",
        "född",
        "født",
        "doğdum",
        "doğumlu",
        "doğumluyum",
        "г.р.",
        "г. р.",
        "года рождения",
        "р.н.",
        "生まれ",
        "出生",
        "출생",
    )
)
_LEADING_CUES = frozenset(
    ("geb", "geb.", "ur.", "nato", "nata", "né", "née", "nar.", "lahir", "roden", "rojen")
)
# "shipped 3/5/2024, dob unknown" says nothing of the date.
_ENDS = re.compile(r"[ \t]*(?:[)\]}.,;!?|\r\n]|\Z)")
_WORD = re.compile(r"[^\W\d_]{2}")
_DIGITS = re.compile(r"\d+")
_WORD_START = re.compile(r"(?<![^\W_])[A-Za-z]")
_MAX_SHORT_ANSWER = 40
_MAX_DIRECT = 12

# "b. 1980", "(* 3.5.1980)", "I turn 40 on May 3", "3. Mai 1980 (Geburtstag)", "1980년생"
_SIGN = re.compile(
    r"(?:(?<![\w.])b\.[ ]?|\([ ]?\*[ ]?|(?<=[^\W\d_])[ ]\*(?=\d))(?=[\d'’]|[A-Z][a-z])"
    r"|\b(?:turn(?:s|ed|ing)?|(?:will|['’]ll) be)[ ]\d{1,2}[ ](?:years old[ ]|next[ ]"
    r"|this[ ])?(?:on[ ](?:the[ ])?)?"
)
_BORN_SUFFIX = re.compile(r"(?<=[年년日일])[ ]?(?:生(?![产産年命活物成])|생(?![가-힣]))")


def may_hold(encoded: bytes, shape: bytes) -> bool:
    if b"0" not in shape and b"ty" not in encoded and b"teen" not in encoded and b"thousand" not in encoded:
        return False
    cues = find_cues(encoded)
    if cues and (
        not CUE_WORDS.isdisjoint(cues)
        or not _TURNING_CUES.isdisjoint(cues)
        or any(map(cues.issuperset, SPELLED_CUES))
    ):
        return True
    return (
        b"ll be " in encoded
        or b"(*" in encoded
        or b"b. " in encoded
        or (not encoded.isascii() and any(map(encoded.__contains__, UNSPACED_CUES)))
    )


def search_folded(text: str) -> list[Match]:
    """Every date of birth in a folded text without placeholders, by its start, without overlaps."""
    found: list[Span] = list(find_in_columns(text))
    for cue in CUE.finditer(text):
        found += list(_find_after(text, cue)) or _find_before(text, cue)
    for sign in _SIGN.finditer(text):
        found += _find_after_sign(text, sign)
    if not text.isascii():
        for suffix in _BORN_SUFFIX.finditer(text):
            found += (
                date
                for date in find_dates(text, max(0, suffix.start() - 16), suffix.start())
                if date[1] == suffix.start()
            )
    return drop_overlaps(DATE_OF_BIRTH, found)


def find_answered_dates(reply: str) -> Iterator[Span]:
    """The dates in the answer to "when were you born?"."""
    dates = list(find_dates(reply, 0, len(reply)))
    for number in _DIGITS.finditer(reply):
        start = number.start()
        end = (
            match_compact_date(reply, start)
            or match_year(reply, start)
            or match_day_and_month(reply, start)
            or (match_short_year(reply, start) if len(reply) < _MAX_SHORT_ANSWER else None)
        )
        if end and not any(first <= start < last for first, last in dates):
            dates.append((start, end))
    yield from dates
    for word in _WORD_START.finditer(reply):
        if may_start_date(reply, word.start()) and (end := match_spoken_date(reply, word.start())):
            yield word.start(), end


def _find_after(text: str, cue: re.Match[str]) -> Iterator[Span]:
    """The date that follows, and those listed with it, or that correct it."""
    date = _find_first_after(text, cue)
    for _ in range(_MAX_DATES):
        if date is None:
            return
        yield date
        link = _NEXT_DATE.match(text, date[1])
        following = _match_at(text, link.end()) if link else None
        if following is None and not cue["born"] and (link := _CORRECTED.match(text, date[1])):
            following = _match_full_date(text, link.end())
        date = following


def _find_first_after(text: str, cue: re.Match[str]) -> Span | None:
    if cue["certain"] or cue["year"]:
        return _find_after_certain_cue(text, cue.end(), is_year=cue["year"] is not None)
    if cue["birthday"]:
        return _find_birthday(text, cue)
    if cue[0] == "NATO":
        return None
    link = _BORN_LINK.match(text, cue.end())
    start = link.end() if link else cue.end()
    if date := _match_at(text, start) or _match_compact(text, start):
        return date
    if somewhere := _BORN_SOMEWHERE.match(text, cue.end()):
        date = _match_full_date(text, somewhere.end())
    if date is None and cue[0].lower() not in _LEADING_CUES:
        date = _walk_to_full_date(text, cue.end())
    return date or _find_own_birth_year(text, cue, start)


def _find_birthday(text: str, cue: re.Match[str]) -> Span | None:
    """A birthday without a year has to be said to be one: "on my birthday, May 3" is about a party."""
    link = _BIRTHDAY_LINK.match(text, cue.end())
    if link:
        date = _match_at(text, link.end())
        if date and (
            has_year(text[slice(*date)])
            or _BIRTHDAY_COPULA.search(link[0])
            or _IT_IS.search(text, max(0, cue.start() - 24), cue.start())
            or _STARTS_FIELD.search(text, max(0, cue.start() - 12), cue.start())
        ):
            return date
        if _BIRTHDAY_COPULA.search(link[0]) and (end := match_day_and_month(text, link.end())):
            return link.end(), end
    return _walk_to_full_date(text, cue.end())


def _walk_to_full_date(text: str, start: int) -> Span | None:
    """The date with a year that the same sentence comes to, unless it names something else before."""
    place, limit = start, min(len(text), start + _MAX_DISTANCE)
    while place < limit:
        if may_start_date(text, place) and (end := match_date(text, place)) and has_year(text[place:end]):
            return place, end
        step = _STEP_IN_SENTENCE.match(text, place)
        if step is None:
            return None
        place = step.end()
    return None


def _find_after_certain_cue(text: str, start: int, *, is_year: bool) -> Span | None:
    """The first date behind the cue and whatever may stand between."""
    place, limit = start, min(len(text), start + _MAX_DISTANCE)
    while place < limit:
        if may_start_date(text, place):
            end = match_date(text, place) or match_compact_date(text, place) or match_spoken_date(text, place)
            if is_year and not end:
                end = match_year(text, place) or match_short_year(text, place)
            if not end and place - start <= _MAX_DIRECT:
                end = match_day_and_month(text, place)
            if end or text[place].isdigit():
                return (place, end) if end else None
        step = _STEP.match(text, place)
        if step is None:
            return None
        place = step.end()
    return None


def _find_after_sign(text: str, sign: re.Match[str]) -> Iterator[Span]:
    date = _match_at(text, sign.end())
    if date and ("." in sign[0] or "*" in sign[0]) and not has_year(text[slice(*date)]):
        return
    end = match_year(text, sign.end()) if date is None and sign[0].startswith("b") else None
    if date:
        yield date
    elif end and text[sign.start() - 1 : sign.start()] in ("(", " "):
        yield sign.end(), end


def _match_at(text: str, place: int) -> Span | None:
    end = match_date(text, place)
    return (place, end) if end else None


def _match_compact(text: str, place: int) -> Span | None:
    end = match_compact_date(text, place)
    return (place, end) if end else None


def _match_full_date(text: str, place: int) -> Span | None:
    """The date there if it has a year."""
    found = _match_at(text, place)
    return found if found and has_year(text[slice(*found)]) else None


def _find_own_birth_year(text: str, cue: re.Match[str], start: int) -> Span | None:
    """The year of "I was born in 1985"; a band or a style that was born isn't a person."""
    end = match_year(text, start)
    if end is None and start - cue.end() > 1:
        end = match_short_year(text, start)
    if end is None and (somewhere := _BORN_SOMEWHERE.match(text, cue.end())):
        start = somewhere.end()
        end = match_year(text, start)
    if end is not None:
        return (start, end) if _is_person(text, cue.start()) else None
    backwards = _BACKWARDS_YEAR.search(text, max(0, cue.start() - 32), cue.start())
    return backwards.span(1) if backwards else None


def _is_person(text: str, start: int) -> bool:
    first = max(0, start - 24)
    return (
        _PERSON_BEFORE.search(text, first, start) is not None
        and _NO_PERSON_BEFORE.search(text, first, start) is None
    )


def _find_before(text: str, cue: re.Match[str]) -> Iterator[Span]:
    """The date that the cue stands behind, unless the cue announces another one."""
    is_behind = cue[0].lower() in _BORN_BEHIND
    if not is_behind and (_STARTS_ANOTHER.match(text, cue.end()) or cue[0].lower() in _LEADING_CUES):
        return
    first = max(0, cue.start() - _MAX_DISTANCE)
    if _DIGITS.search(text, first, cue.start()) is None:
        return
    dates = list(find_dates(text, first, cue.start()))
    last = dates[-1] if dates else None
    if is_behind and (year := _YEAR_BEFORE.search(text, max(0, cue.start() - 8), cue.start())):
        yield year.span()
    if last is None or not has_year(text[slice(*last)]):
        return
    if is_behind and _LINK_TO_BORN.fullmatch(text, last[1], cue.start()):
        yield last
        return
    link = _LINK_TO_CUE.fullmatch(text, last[1], cue.start())
    if link and (_WORD.search(link[0]) or _ENDS.match(text, cue.end())):
        yield last
