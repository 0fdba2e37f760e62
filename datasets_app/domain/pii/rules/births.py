"""Dates of birth behind a label that means nothing else: "DOB: 3/5/1980", "Geburtsdatum 3.5.80", in columns.

A date alone is an appointment, a release or a delivery. Where only the sentence says that it is one of birth
("I turned up on 3 May 1980", "my birthday"), the network tells. Linear in the length of the text: behind each
label a bounded part is searched.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from datasets_app.domain import lazy_re
from datasets_app.domain.pii.detector import DATE_OF_BIRTH, Match, Span, drop_overlaps
from datasets_app.domain.pii.rules.cue_words import make_cues, split_letters
from datasets_app.domain.pii.rules.dates import (
    find_dates,
    match_compact_date,
    match_date,
    match_day_and_month,
    match_short_year,
    match_spoken_date,
    match_year,
    may_start_date,
)

_CERTAIN = (
    r"d\.? ?/?o\.? ?/?b\.?(?![^\W_])"
    r"|(?:(?:place|time|city|country|birthplace)[ ]?(?:[/&,]|and|,? ?and)[ ]?)?"
    r"(?:dates?|day|month)(?:[ ]?(?:[/&,]|and)[ ]?(?:dates?|day|month|year|time"
    r"|place)){0,2}[ _-]?of[ _-]?birth"
    r"|birth[ _-]?(?:dates?|dt)(?![^\W_])|birth[ _-]?day(?= ?[\"']?[:=])|birth ?place ?(?:/|and|&) ?date"
    r"|births?(?=[\"']?[ \t]?[:=]|[ ]\d)"
    r"|geb(?:urts|\.)?[ _-]?dat(?:um|en|\.)?(?![^\W_])|geb(?:urts)?tage?(?=[\"']?[ ]?[:=])"
    r"|geb\.(?:[ ]?am)?|geboren am"
    r"|(?:dates?|jour|lieu)[ _](?:de[ _])?naissance|naissance(?=[\"']?[ ]?[:=]|[ ]\d)|ddn(?![^\W_])|d\.d\.n\."
    r"|(?:fechas?|f(?:ec)?\.?)?[ _]?(?:de[ _])?nac(?:imiento|\.)(?! de (?:la|las|una))|f\. ?n\.(?=[ :])"
    r"|(?:luogo e )?dat[ae][ _](?:di[ _])?nascita|nascita(?=[\"']?[ ]?[:=]|[ ]\d)"
    r"|d(?:ata|t)\.?[ _]?(?:de[ _])?nasc(?:imento|\.)?|nascimento(?=[\"']?[ ]?[:=]|[ ]\d)|nasc\."
    r"|d\.?n\.?(?=[ ]?:)|geboortedat(?:um|a)|födelse(?:datum|dag|tid)|fødsels(?:dato|dag)|fæðingardagur"
    r"|syntymä(?:aika|päivä)\w{0,3}|synt\."
    r"|dat[ay][ _](?:urodzenia|ur\.|ur(?![^\W_]))|dat(?:um|a)[ _]narozen[íi]|nar\.(?=[ :]{0,2}\d)"
    r"|dátum narodenia|születési (?:helye? és )?(?:idej?e?|idő|dátum)\w{0,3}|szül\.(?: ?(?:idő|dátum"
    r"|hely, idő))?"
    r"|data na[șşs]terii|doğum (?:tarihi|günü)\w{0,3}|d\. ?tarihi|t(?:anggal|gl\.?) lahir|sünni(?:aeg"
    r"|kuupäev)"
    r"|dzimšanas datums|gimimo data|datum ro[đd]enja|datum rojstva|дат[аыу] рождения|д\. ?р\.|дата народження"
    r"|дата на раждане|ημερομηνία γέννησης|ημ\. ?γέννησης"
    r"|生年月日|出生(?:日期|年月日|日)|생년월일|जन्म ?(?:तिथि|दिनांक|तारीख)"
    r"|תאריך לידה|تاريخ (?:الميلاد|الولادة)|تاریخ تولد"
    r"|ngày(?:,)? (?:tháng,? năm )?sinh(?! nhật)"
)
_BIRTH_YEAR = (
    r"years? of birth|birth[ _-]?year|y\.?o\.?b\.?(?![^\W_])|geburtsjahr|jahrgang|année de naissance"
    r"|año de nacimiento|anno di nascita|ano de nascimento|geboortejaar|födelseår|fødselsår|syntymävuosi"
    r"|rok urodzenia|rok narození|doğum yılı|год рождения|năm sinh|sinh năm|tahun lahir|出生年份?"
)
_LABEL = lazy_re.compile(
    rf"(?:(?<![^\W_])|(?<=[\u0e00-\u0e7f\u3040-\u9fff\uac00-\ud7af\d])(?=[\u0e00-\u0e7f\u3040-\u9fff\uac00-\ud7af])"
    rf"|(?<=[a-z])(?=[DB]))(?:(?P<year>{_BIRTH_YEAR})|{_CERTAIN})",
    re.IGNORECASE,
)
# One of these words is part of every label.
_LABEL_WORDS = make_cues(
    """
    dob birth births dateofbirth birthdate birthdates birthdt birthday birthyear yob birthplace patientdob
    userdob customerdob geburtsdatum geburtstag geburtstage geb geboren geburtsjahr jahrgang gebdatum gebdat
    naissance ddn nacimiento nac nascita nascimento nasc dn geboortedatum geboortedata geboortejaar
    födelsedatum födelsedag födelsetid födelseår fødselsdato fødselsdag fødselsår fæðingardagur
    syntymäaika syntymäaikani syntymäpäivä syntymäpäiväni syntymävuosi synt urodzenia ur narození narozeni nar
    narodenia születési szül nașterii naşterii nasterii doğum tarihi lahir sünniaeg sünnikuupäev dzimšanas
    gimimo rođenja rodenja rojstva рождения народження раждане γέννησης जन्म לידה الميلاد الولادة تولد sinh
    """
)
_UNSPACED_LABELS = tuple(word.encode() for word in "生年月日 出生 생년월일 जन्म".split())
# d.o.b., d/o/b, b day, d.d.n., f.n., д.р.
_SPELLED_LABELS = tuple(
    frozenset(letter.encode() for letter in letters.split()) for letters in ("d o b", "d n", "f n", "д р")
)
# What names another event: a date behind it is none of birth.
_OTHER_EVENT = (
    r"(?:appoint|arriv|book(?!let)|check|deliver|depart|due|event|expir|flight|issue|order|part(?:y|ies)"
    r"|pay(?!s)"
    r"|purchas|releas|reserv|return|schedul|ship|today|tomorrow|travel|updat|valid|visit|since|until|meet"
    r"|dinner|gift|present|lunch|trip|start|end(?:s|ed)?(?![^\W_])|wedding|admitted|admission|sign|cake"
    r"|celebrat|surprise"
    r"|voucher|deal|discount|coupon|weekend|table|ticket|holiday|vacation|concert|certificate|control|rate"
    r"|submi|verified on|updat|creat|chang(?:e|ed|ing) on|mov(?:e|ed|ing) |join|marri|graduat|call(?:s|ed"
    r"|ing)?(?![^\W_])"
    r"|missing|required|company|die[ds]?(?![^\W_])|death|bash|sale|stay|diagnos|admit|seen|exam)"
)
_MAX_DISTANCE, _MAX_DIRECT, _MAX_SHORT_ANSWER = 64, 12, 40
# What may stand between the word and the date: signs, elements, the form (dd/mm/yyyy), words that name
# no other event. "Your date of birth? 3/5/80" is two sentences.
_FORMAT_HINT = r"[dmyjatg]{1,4}(?:[-/. ][dmyjatg]{1,4}){1,2}(?![^\W_])"
_STEP = lazy_re.compile(
    rf"{_FORMAT_HINT}|(?!{_OTHER_EVENT})[^\W\d_]{{1,14}}(?![^\W_])|[\u3040-\u30ff\uac00-\ud7af]{{1,4}}"
    rf"|</?\w{{1,12}}>|\r?\n(?:[ \t]{{0,20}}\r?\n)?"
    r"|[ \t:;=\-–—>|\"'`“”’«»()\[\]{},/*_#~?!.&、，]",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d+")
_WORD_START = re.compile(r"(?<![^\W_])[A-Za-z]")


def may_hold(encoded: bytes, shape: bytes) -> bool:
    if b"0" not in shape and b"ty" not in encoded and b"teen" not in encoded and b"thousand" not in encoded:
        return False
    words = split_letters(encoded)
    return (
        not _LABEL_WORDS.isdisjoint(words)
        or any(map(words.issuperset, _SPELLED_LABELS))
        or (not encoded.isascii() and any(map(encoded.__contains__, _UNSPACED_LABELS)))
    )


def search_folded(text: str) -> list[Match]:
    """Every date behind a label in a folded text without placeholders, by its start, without overlaps."""
    found = list(_find_in_columns(text))
    for label in _LABEL.finditer(text):
        if date := _find_behind(text, label.end(), is_year=label["year"] is not None):
            found.append(date)
    return drop_overlaps(DATE_OF_BIRTH, found)


def _find_behind(text: str, start: int, *, is_year: bool) -> Span | None:
    """The first date behind a label and whatever may stand between."""
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


# --- in tables -------------------------------------------------------------------------------

# Dates of birth in tables: the cells below "DOB" in the first line of a file or a pasted sheet.
_DELIMITERS = ("|", "\t", ";", ",")
_MAX_HEADING = 400
_MAX_ROWS = 500


class _Cell(NamedTuple):
    """Where it stands in the text; ``line_end`` is where its row ends."""

    start: int
    end: int
    line_end: int


def _find_cells(text: str, start: int, end: int, heading: re.Pattern[str]) -> Iterator[_Cell]:
    """The cells of the columns that ``heading`` matches, below the line from ``start`` to ``end``, if that
    is the first line of a table."""
    if end < 0 or end - start > _MAX_HEADING:
        return
    line = text[start:end]
    delimiter = next((sign for sign in _DELIMITERS if sign in line), None)
    if delimiter is None:
        return
    columns = [column for column, cell in enumerate(line.split(delimiter)) if heading.fullmatch(cell)]
    if columns:
        yield from _find_in_rows(text, end + 1, delimiter, columns)


def _find_in_rows(text: str, start: int, delimiter: str, columns: list[int]) -> Iterator[_Cell]:
    for _ in range(_MAX_ROWS):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        places = [start]
        for cell in text[start:end].split(delimiter):
            places.append(places[-1] + len(cell) + 1)
        for column in columns:
            if column + 1 < len(places):
                yield _Cell(places[column], places[column + 1] - 1, end)
        start = end + 1
        if start > len(text):
            return


_HEADING = lazy_re.compile(
    rf"[\s\"']*(?:\w{{1,20}}[ _-])?(?:{_CERTAIN}|birth[ -]?day|geburtstag)[\s\"']*", re.IGNORECASE
)
_FILLER = re.compile(r"[\s\"'*]*")


def _find_in_columns(text: str) -> Iterator[Span]:
    """The dates below a heading that says what they are; one table for each text."""
    if "\n" not in text:
        return
    cue = _LABEL.search(text)
    if cue is None:
        return
    first, last = text.rfind("\n", 0, cue.start()) + 1, text.find("\n", cue.start())
    for cell in _find_cells(text, first, last, _HEADING):
        value = _FILLER.match(text, cell.start)
        at = value.end() if value else cell.start
        found = match_date(text, at) or match_compact_date(text, at)
        if found and found <= cell.line_end:
            yield at, found
