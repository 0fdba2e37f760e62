"""Dates of birth: a date beside a word that says so, before it or behind it, in some twenty languages.

A date alone is an appointment, a release or a delivery; nothing about its form tells otherwise. Linear in
the length of the text: around each such word a bounded part is searched.
"""

import re
from collections.abc import Iterator

from datasets_app.domain.pii.detector import DATE_OF_BIRTH, Match, Span, drop_overlaps
from datasets_app.domain.pii.rules.cue_words import find_cues, make_cues
from datasets_app.domain.pii.rules.dates import (
    find_dates,
    has_year,
    match_compact_date,
    match_date,
    match_year,
)

# Of nothing but a date of birth.
_CERTAIN = (
    r"d\.? ?o\.? ?b\.?(?![^\W_])|dates?[ _-]?of[ _-]?birth|birth[ _-]?dates?|birth[ _-]?day(?= ?[\"']?[:=])"
    r"|geburts(?:datum|tag)e?|geb\.(?: ?am| ?dat(?:um|\.))?|geboren am|dates? de naissance|fechas? de nac"
    r"(?:imiento|\.)"
    r"|f\. ?nac\.?|fec\.? nac\.?|dat[ae] di nascita|datas? de nasc(?:imento|\.)|data nasc\.?|geboortedat"
    r"(?:um|a)|geb\.? ?datum"
    r"|födelse(?:datum|dag|tid)|fødsels(?:dato|dag)|syntymä(?:aika|päivä)\w{0,3}|dat[ay] urodz(?:enia|\.)"
    r"|dat(?:um|a) narozen[íi]"
    r"|dátum narodenia|születési (?:idő|dátum)\w{0,3}|data na[șs]terii|doğum (?:tarihi|günü)\w{0,3}"
    r"|tanggal lahir"
    r"|datum ro[đd]enja|datum rojstva|дат[аыу] рождения|дата народження|ημερομηνία γέννησης"
    r"|生年月日|出生(?:日期"
    r"|年月日)|생년월일"
    r"|生日|誕生日|जन्म ?(?:तिथि|दिनांक|तारीख)|תאריך לידה|تاريخ (?:الميلاد|الولادة)|ngày sinh|วันเกิด"
)
_BIRTH_YEAR = (
    r"years? of birth|birth[ _-]?year|y\.?o\.?b\.?(?![^\W_])|geburtsjahr|jahrgang|année de naissance"
    r"|año de nacimiento|anno di nascita|ano de nascimento|geboortejaar|födelseår|rok urodzenia|год рождения"
)
_BIRTHDAY = (
    r"b-?days?(?![^\W_])|birth[ -]?days?|anniversaire|cumpleaños|compleanno|aniversário|verjaardag|urodziny"
)
_BORN = (
    r"born|geb(?:oren|\.)?|née?(?:\(e\))?|nacid[oa]s?|nací|nació|nat[oa]|nascid[oa]|nasci|född|født"
    r"|syntynyt|urodzon[yea]|urodził[ao]m? się|ur\.|narozen[aý]?|narodil[ao]? se|született|născut[ăa]?"
    r"|doğdum|doğumlu"
    r"|родился|родилась|народи(?:вся|лася)|γεννήθηκα|出生于|生于|生まれ"
)
_CUE = re.compile(
    rf"(?:(?<![^\W_])|(?<=[\u3040-\u9fff])|(?<=[a-z])(?=[DB]))"
    rf"(?:(?P<certain>{_CERTAIN})|(?P<year>{_BIRTH_YEAR})|(?P<birthday>{_BIRTHDAY})|(?P<born>{_BORN}))",
    re.IGNORECASE,
)
# One of these words is part of every cue.
_CUE_WORDS = make_cues(
    """
    dob birth dateofbirth birthdate birthdates birthday birthdays bday bdays birthyear yob born
    geburtsdatum geburtstag geburtstage geb geboren geburtsjahr jahrgang naissance né née anniversaire
    nacimiento nac nacido nacida nacidos nací nació cumpleaños nascita nato nata compleanno
    nascimento nasc nascido nascida nasci aniversário geboortedatum geboortedata geboortejaar verjaardag
    gebdatum
    födelsedatum födelsedag födelsetid födelseår född fødselsdato fødselsdag født syntymäaika syntymäaikani
    syntymäpäivä syntynyt
    urodzenia urodz urodzony urodzona urodzone urodziłem urodziłam ur urodziny narozen narozena narození
    narozeni narodenia
    narozený narodil narodila születési született nașterii nasterii născut născută doğum doğdum doğumlu
    lahir rođenja rodenja
    rojstva рождения народження родился родилась народився народилася γέννησης γεννήθηκα जन्म לידה الميلاد
    الولادة sinh
    """
)
_UNSPACED_CUES = tuple(
    word.encode() for word in "生年月日 出生 생년월일 生日 誕生日 生まれ 生于 วันเกิด जन्म".split()
)
_SPELLED_CUE = make_cues("d o b")
_MAX_DISTANCE = 48
_MAX_DATES = 8

# What may stand between the word and the date: signs, elements, the form (dd/mm/yyyy), words that name
# no other event. "Your date of birth? 3/5/80" is two sentences.
_FORMAT_HINT = r"[dmyjat]{1,4}(?:[-/. ][dmyjat]{1,4}){1,2}(?![^\W_])"
_OTHER_EVENT = (
    r"(?:appoint|arriv|book|check|deliver|depart|due|event|expir|flight|issue|order|part(?:y|ies)|pay"
    r"|purchas|releas"
    r"|reserv|return|schedul|ship|today|tomorrow|travel|updat|valid|visit|since|until|meet|dinner|gift"
    r"|present|lunch"
    r"|trip|start|end|wedding|admitted|admission|sign)"
)
_STEP = re.compile(
    rf"{_FORMAT_HINT}|(?!{_OTHER_EVENT})[^\W\d_]{{1,14}}(?![^\W_])|[\u3040-\u30ff\uac00-\ud7af]{{1,4}}"
    rf"|</?\w{{1,12}}>|\r?\n(?:[ \t]{{0,20}}\r?\n)?"
    r"|[ \t:=\-–—>|\"'`“”’«»()\[\]{},/*_#~?.]",
    re.IGNORECASE,
)
_BORN_LINK = re.compile(
    r"[ \t:=(\-–,]{0,3}(?:(?:on|in|at|the|am|im|den|der|le|en|el|il|em|op|dnia|w|dne|o dia|o|um|(?:the "
    r")?year)[ \t,:]{1,2}){0,3}"
    r"[(\"']?",
    re.IGNORECASE,
)
# "born in Springfield, Illinois, on May 3, 1980"
_BORN_SOMEWHERE = re.compile(
    rf"(?:[ \t]|,[ \t])(?:in|at|im|à|en|a|w|em|te|i)[ \t](?:(?!{_OTHER_EVENT})[^\W\d_][\w.'’-]{{0,20}}[ "
    rf",]{{1,2}}){{1,6}}?"
    r"(?:on|am|le|el|il|em|op|den)[ \t](?:the )?",
    re.IGNORECASE,
)
_BIRTHDAY_LINK = re.compile(
    r"(?:['’]?s)?[ \t]{0,2}(?:(?:[:=–-]|is|was|ist|est|es|è|é|\()[ \t]{0,2}){1,2}(?:on |the |am |le |el "
    r"|il |em |op ){0,2}",
    re.IGNORECASE,
)
_BIRTHDAY_ON = re.compile(r"[ \t]?,?(?: (?:on|the|am|le|el|il)){0,2}[ \t]", re.IGNORECASE)
_NEXT_DATE = re.compile(r" ?(?:,|;|&|/|and|und|et|y|e|en|och|og|i|or)[ \t]?", re.IGNORECASE)
_PERSON_BEFORE = re.compile(
    r"\b(?:i|he|she|i['’]m|ich|je suis|wife|husband|son|daughter|mother|father|mom|dad|child)[ \t]?"
    r"(?:was |am |is |bin |wurde |were )?\Z",
    re.IGNORECASE,
)

# Behind the date: "3/5/80 is my date of birth", "1980-05-03 (dob)".
_POSSESSIVE = (
    r"(?:my|his|her|their|the|your|our|mein|meine|ihr|sein|ma|sa|mi|su|la mia|minha|mijn|min|moja|patient"
    r"|customer|client"
    r"|(?:the )?\w{1,14}['’]s)"
)
_LINK_TO_CUE = re.compile(
    rf"[ \t]{{0,2}}[(,\[–-]?[ \t]{{0,2}}(?:(?:is|was|as|being|for|ist|war|est|es|è|é|är|er|to be|=)[ \t])?"
    rf"(?:{_POSSESSIVE}[ \t]{{1,2}})?(?:(?:full|own|actual|real|correct)[ \t])?",
    re.IGNORECASE,
)
_STARTS_ANOTHER = re.compile(
    r"['’s]{0,2}[\"'`]?[ \t]{0,2}(?:[:=]|(?:is|was|on|am|le|el|il|em|in)[ \t])|[^\W_]", re.IGNORECASE
)
_LEADING_CUES = frozenset(("geb", "geb.", "ur.", "nato", "nata", "né", "née"))
# "shipped 3/5/2024, dob unknown" says nothing of the date.
_ENDS = re.compile(r"[ \t]*(?:[)\]}.,;!?|\r\n]|\Z)")
_WORD = re.compile(r"[^\W\d_]{2}")
_DIGITS = re.compile(r"\d+")


def may_hold(encoded: bytes, shape: bytes) -> bool:
    if b"0" not in shape:
        return False
    cues = find_cues(encoded)
    return (
        not _CUE_WORDS.isdisjoint(cues)
        or cues >= _SPELLED_CUE
        or (not encoded.isascii() and any(cue in encoded for cue in _UNSPACED_CUES))
    )


def search_folded(text: str) -> list[Match]:
    """Every date of birth in a folded text without placeholders, by its start, without overlaps."""
    found: list[Span] = []
    for cue in _CUE.finditer(text):
        found += list(_find_after(text, cue)) or _find_before(text, cue)
    return drop_overlaps(DATE_OF_BIRTH, found)


def find_answered_dates(reply: str) -> Iterator[Span]:
    """The dates in the answer to "when were you born?"."""
    dates = list(find_dates(reply, 0, len(reply)))
    for number in _DIGITS.finditer(reply):
        start = number.start()
        end = match_compact_date(reply, start) or match_year(reply, start)
        if end and not any(first <= start < last for first, last in dates):
            dates.append((start, end))
    yield from dates


def _find_after(text: str, cue: re.Match[str]) -> Iterator[Span]:
    """The date that follows, and those listed with it."""
    date = _find_first_after(text, cue)
    for _ in range(_MAX_DATES):
        if date is None:
            return
        yield date
        link = _NEXT_DATE.match(text, date[1])
        date = _match_at(text, link.end()) if link else None


def _find_first_after(text: str, cue: re.Match[str]) -> Span | None:
    if cue["certain"] or cue["year"]:
        return _find_after_certain_cue(text, cue.end(), is_year=cue["year"] is not None)
    if cue["birthday"]:
        if link := _BIRTHDAY_LINK.match(text, cue.end()):
            return _match_at(text, link.end())
        return _match_full_date(text, _BIRTHDAY_ON.match(text, cue.end()))
    return (
        _match_full_date(text, _BORN_LINK.match(text, cue.end()))
        or _match_full_date(text, _BORN_SOMEWHERE.match(text, cue.end()))
        or _find_own_birth_year(text, cue)
    )


def _find_after_certain_cue(text: str, start: int, *, is_year: bool) -> Span | None:
    """The first date behind the cue and whatever may stand between."""
    place, limit = start, min(len(text), start + _MAX_DISTANCE)
    while place < limit:
        if text[place].isalnum() or text[place] in "'’":
            end = match_date(text, place) or match_compact_date(text, place)
            if is_year and not end:
                end = match_year(text, place)
            if end or text[place].isdigit():
                return (place, end) if end else None
        step = _STEP.match(text, place)
        if step is None:
            return None
        place = step.end()
    return None


def _match_at(text: str, place: int) -> Span | None:
    end = match_date(text, place)
    return (place, end) if end else None


def _match_full_date(text: str, link: re.Match[str] | None) -> Span | None:
    """The date behind ``link`` if it has a year: "my birthday on May 3" is about a party."""
    found = _match_at(text, link.end()) if link else None
    return found if found and has_year(text[slice(*found)]) else None


def _find_own_birth_year(text: str, cue: re.Match[str]) -> Span | None:
    """The year of "I was born in 1985"; a band or a style that was born is no person."""
    link = _BORN_LINK.match(text, cue.end())
    end = match_year(text, link.end()) if link else None
    if link is None or end is None or not _PERSON_BEFORE.search(text, max(0, cue.start() - 24), cue.start()):
        return None
    return link.end(), end


def _find_before(text: str, cue: re.Match[str]) -> Iterator[Span]:
    """The date that the cue stands behind, unless the cue announces another one."""
    if _STARTS_ANOTHER.match(text, cue.end()) or cue[0].lower() in _LEADING_CUES:
        return
    dates = list(find_dates(text, max(0, cue.start() - _MAX_DISTANCE), cue.start()))
    last = dates[-1] if dates else None
    link = _LINK_TO_CUE.fullmatch(text, last[1], cue.start()) if last else None
    if (
        last
        and link
        and has_year(text[slice(*last)])
        and (_WORD.search(link[0]) or _ENDS.match(text, cue.end()))
    ):
        yield last
