"""WhatsApp's text exports, as Android and iPhones write them in the languages and calendars they have."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from datasets_app.domain.traces import reasons
from datasets_app.domain.traces.dates import DAY_FIRST, MONTH_FIRST, make_time
from datasets_app.domain.traces.formats.messengers import assign_roles
from datasets_app.domain.traces.formats.own_words import find_caption, is_own_words
from datasets_app.domain.traces.records import Conversation, Remark

_MARKS = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_SPACES = re.compile("[\u00a0\u202f\u2007\u2009]")
_DATE = r"\d{1,4}(?:[./-]\s?|\s?[年년]\s?)\d{1,2}(?:[./-]\s?|\s?[月월]\s?)\d{1,4}(?:\s?[日일]|\.)?"
_AT = r"at|um|a las|à|alle|às|klo|kl\.?|kell|о|в"
# Halves of the day before the time, as in Chinese, Japanese and Korean, or behind it.
_BEFORE = "上午|下午|凌晨|早上|中午|晚上|清晨|午前|午後|오전|오후|SA|CH"
_HALF = r"[^\W\d_]{1,10}\.?(?:\s?[^\W\d_]{1,4}\.?)?"
_LINE = re.compile(
    rf"\[?(?P<date>{_DATE})[,،、]?\s*(?:(?:{_AT})\s+)?(?:(?P<before>{_BEFORE})\s?)?"
    rf"(?P<time>\d{{1,2}}[:.]\d{{2}}(?:[:.]\d{{2}})?)(?:\s*(?P<half>{_HALF}))??(?:\s*Uhr)?"
    r"(?:\]\s*|\s+[-\u2013\u2014]\s*|\s*[-\u2013\u2014]\s+|,\s+(?=[^:\n]{1,40}\s:))(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_SENDER = re.compile(r"(?P<name>[^:：\n]{1,80}?)\s?[:：](?:\s(?P<text>.*)|(?P<glued>.{0,4000}))", re.DOTALL)
_EDITED = re.compile("\u200e?<(?:This message was edited|[^<>/=@\n]{8,60})>\\s*$")
_AFTERNOON = re.compile(
    r"p\.?\s?m\.?|下午|晚上|午後|오후|م|مساءً?|ب\.?ظ\.?|ös|अपराह्न|nachm\.?|ch|ptg|du\.?|μ\.?\s?μ\.?|หลังเที่ยง|i\.?p\.?|е\.?м\.?",
    re.IGNORECASE,
)
_NOON = "中午"
_QUOTES = frozenset('"“”„«»')
_FIRST_YEAR, _BUDDHIST_YEARS, _BUDDHIST = 2009, 543, 2400
# Which part of a date is the year, the month, the day.
_DAY_MONTH, _MONTH_DAY, _YEAR_MONTH = (2, 1, 0), (2, 0, 1), (0, 1, 2)


class _Line(NamedTuple):
    number: int
    sender: str
    text: str
    date: str
    time: str
    half: str


def matches(text: str) -> bool:
    """Whether the beginning of a text file looks like a WhatsApp export."""
    lines = [_clean(line) for line in text.splitlines()[:40] if line.strip()]
    found = [match for line in lines if (match := _LINE.fullmatch(line))]
    return (
        bool(found)
        and len(found) * 4 >= len(lines)
        and (lines[0][:1] == "[" or lines[0][:1].isdigit() or len(found) > 1)
    )


def _clean(line: str) -> str:
    return _SPACES.sub(" ", _MARKS.sub("", line))


def read(lines: Iterable[tuple[int, str]], order: str = "") -> Iterator[Conversation | Remark]:
    """The whole file is one conversation; the first sender is the user. ``order`` of dates: day-first or
    month-first, else told by the lines, whose times don't run backwards."""
    found, own, unread = _read_lines(lines)
    yield Remark(reasons.LINES_BEFORE, 0, unread)
    yield Remark(reasons.SERVICE_MESSAGES, 0, own)
    media = [line for line in found if is_own_words(line.text)]
    yield Remark(reasons.MEDIA, 0, len(media))
    captions = {line.number: caption for line in found if (caption := find_caption(line.text))}
    if captions:
        yield Remark(reasons.ATTACHED, min(captions), len(captions))
    times, backwards, is_clear = _read_times(found, order)
    if backwards:
        yield Remark(reasons.BACKWARDS, found[0].number, backwards)
    elif not is_clear:
        yield Remark(reasons.UNCLEAR_DATES, found[0].number, len(found))
    spoken = [
        (line.sender, captions.get(line.number, line.text), time)
        for line, time in zip(found, times, strict=True)
    ]
    # A sender of nothing but media may be the first sender.
    left = {line.number for line in media}
    said = [
        message for line, message in zip(found, assign_roles(spoken), strict=True) if line.number not in left
    ]
    if said:
        yield Conversation("", said, {}, found[0].number, separate=True)


def _read_lines(lines: Iterable[tuple[int, str]]) -> tuple[list[_Line], int, int]:
    """(messages, how many lines are WhatsApp's own, how many before them belong to no message)."""
    found: list[_Line] = []
    own = unread = 0
    for number, raw in lines:
        line = _clean(raw).rstrip("\r\n")
        match = _LINE.fullmatch(line)
        if not match:
            if found:
                found[-1] = found[-1]._replace(text=f"{found[-1].text}\n{line}".rstrip("\n"))
            else:
                unread += bool(line.strip())
            continue
        sender = _SENDER.fullmatch(match["rest"])
        # iPhones mark what WhatsApp itself says in the name of a sender.
        marked = sender and re.search(f"{re.escape(sender['name'])}\\s?[:：]\\s?\u200e(?!<)", raw)
        if not sender or _QUOTES & set(sender["name"]) or (marked and not is_own_words(sender["text"] or "")):
            own += 1
            continue
        text = sender["text"] if sender["text"] is not None else sender["glued"] or ""
        if text.endswith(">") and ("edited>" in text or "\u200e<" in raw) and not is_own_words(text):
            text = _EDITED.sub("", text).rstrip(" ")
        half = match["before"] or match["half"] or ""
        found.append(_Line(number, sender["name"].strip(), text, match["date"], match["time"], half))
    return found, own, unread


def _read_times(lines: Sequence[_Line], order: str) -> tuple[list[float | None], int, bool]:
    """(times, how many run backwards, whether the order of day and month is clear)."""
    orders = {DAY_FIRST: [_DAY_MONTH], MONTH_FIRST: [_MONTH_DAY]}.get(order, [_DAY_MONTH, _MONTH_DAY])
    tried = [[_parse_time(line, place) for line in lines] for place in (*orders, _YEAR_MONTH)]
    scores = [(sum(time is None for time in times), _count_backwards(times)) for times in tried]
    best = scores.index(min(scores))
    # A year of two digits comes first only if nothing else fits.
    is_clear = len(scores) < 3 or best == 2 or scores[0] != scores[1] or tried[0] == tried[1]
    return tried[best], scores[best][1], is_clear


def _count_backwards(times: Sequence[float | None]) -> int:
    known = [time for time in times if time is not None]
    return sum(later < earlier for earlier, later in zip(known, known[1:], strict=False))


def _parse_time(line: _Line, places: tuple[int, int, int]) -> float | None:
    parts = [int(part) for part in re.findall(r"\d+", line.date)]
    if parts[0] > 31 and places != _YEAR_MONTH:
        places = _YEAR_MONTH
    year, month, day = (parts[place] for place in places)
    year = year + 2000 if year < 100 else year - _BUDDHIST_YEARS if year > _BUDDHIST else year
    hour, minute, second = (*(int(part) for part in re.split(r"[:.]", line.time)), 0)[:3]
    if line.half and hour <= 12 and line.half != _NOON:
        hour = hour % 12 + (12 if _AFTERNOON.fullmatch(line.half.strip()) else 0)
    return make_time(year, month, day, hour, minute, second) if year >= _FIRST_YEAR else None
