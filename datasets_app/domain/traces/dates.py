"""Dates as tables write them → Unix seconds. A date without a time zone is taken as UTC, unless its column
names one."""

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

from datasets_app.domain.traces.time_zones import UnknownZone, find_stated_zone, move_to_zone, split_zone
from datasets_app.domain.traces.values import to_seconds

DAY_FIRST, MONTH_FIRST = "day-first", "month-first"
DATE_ORDERS = (DAY_FIRST, MONTH_FIRST)
# Numbers outside of 1990 to 2100 aren't dates, but seconds of a call, rows or serials of spreadsheets.
MIN_SECONDS, MAX_SECONDS = 631_152_000, 4_102_444_800
MAX_SHAPE_CHARACTERS = 30
MAX_DATE_CHARACTERS = 100

_TIME = (
    r"(?:[T,]?\s*(?:at\s+|um\s+)?(?P<hour>\d{1,2})[:.h](?P<minute>\d{2})(?:[:.](?P<second>\d{2})(?:[.,]\d{1,9})?)?"
    r"(?:\s*Uhr)?\s*(?P<half>[ap]\.?\s?m\.?)?)?"
)
# As programs in C print them: "Tue Jan  2 10:00:00 CET 2024".
_YEAR_LAST = re.compile(r"([^\W\d]{3} [^\W\d]{3}\s+\d{1,2}) (\d{1,2}:\d{2}:\d{2}) (\S{1,6}) (\d{4})")
_NUMBERS = re.compile(r"(\d{1,4})([./-])(\d{1,2})\2(\d{4}|\d{1,2})" + _TIME, re.IGNORECASE)
_DAY_NAME = r"(?:[^\W\d]{2,10}\.?,?\s+)?"
_DAY_MONTH = re.compile(
    _DAY_NAME + r"(\d{1,2})\.?[\s-]+([^\W\d]{3,10})\.?[\s,-]+(\d{4})" + _TIME, re.IGNORECASE
)
_MONTH_DAY = re.compile(
    _DAY_NAME + r"([^\W\d]{3,10})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})" + _TIME, re.IGNORECASE
)
_COMPACT = re.compile(r"(?:19|20)\d{6}(?:\d{4}(?:\d{2})?)?")
_DIGITS = re.compile(r"\d+(\.\d+)?")
_MONTHS = {
    name: number
    for number, names in enumerate(
        "jan feb mar|mär|mrz apr may|mai jun jul aug sep oct|okt nov dec|dez".split(), 1
    )
    for name in names.split("|")
}


class AmbiguousDate(Exception):
    """Nothing says whether the day or the month comes first."""


class DateReader:
    """Reads one column. ``list_values`` returns all values of the column; it is called once, and only if the
    column has dates like 03/04/2026, whose order all of them decide together. ``name`` may have the zone of
    its times."""

    def __init__(self, list_values: Callable[[], Iterable[Any]], order: str = "", name: str = "") -> None:
        self._list_values, self._order = list_values, order
        self._decided = bool(order)
        self._zone = find_stated_zone(name)

    def read(self, value: Any) -> float | None:
        """None for what isn't a date. Raises AmbiguousDate and UnknownZone."""
        if type(value) in (int, float):
            return _in_range(to_seconds(value))
        text = value.strip() if type(value) is str else ""
        if _DIGITS.fullmatch(text):
            return _read_digits(text)
        if not self._zone and text[4:5] == "-" and (seconds := to_seconds(text)) is not None:
            return seconds  # ISO 8601, which most are
        time, zone = split_zone(_YEAR_LAST.sub(r"\1 \4 \2 \3", text))
        if zone is None and self._zone:
            _, zone = split_zone(f"0:00 {self._zone}")
        seconds = self._read_text(time) if time else None
        return seconds if seconds is None or zone is None else move_to_zone(seconds, zone)

    def _read_text(self, text: str) -> float | None:
        if match := _NUMBERS.fullmatch(text):
            return self._read_numbers(match)
        if match := _DAY_MONTH.fullmatch(text):
            return _make_seconds(match[3], _MONTHS.get(match[2][:3].lower(), 0), match[1], match)
        if match := _MONTH_DAY.fullmatch(text):
            return _make_seconds(match[3], _MONTHS.get(match[1][:3].lower(), 0), match[2], match)
        return to_seconds(text)

    def _read_numbers(self, match: re.Match[str]) -> float | None:
        first, mark, second, last = match[1], match[2], match[3], match[4]
        if len(first) > 2:
            return _make_seconds(first, second, last, match)
        if mark == ".":
            return _make_seconds(last, second, first, match)
        if not self._decided:
            self._order, self._decided = find_order(self._list_values()), True
        if not self._order:
            raise AmbiguousDate
        day, month = (first, second) if self._order == DAY_FIRST else (second, first)
        return _make_seconds(last, month, day, match)


def find_order(values: Iterable[Any]) -> str:
    """Whether the day or the month comes first in dates like 03/04/2026; empty if they don't tell, or
    contradict each other."""
    orders = set()
    for value in values:
        match = _NUMBERS.fullmatch(_drop_zone(value.strip())) if type(value) is str else None
        if match and match[2] != "." and len(match[1]) <= 2:
            orders |= {DAY_FIRST} if int(match[1]) > 12 else set()
            orders |= {MONTH_FIRST} if int(match[3]) > 12 else set()
    return orders.pop() if len(orders) == 1 else ""


def is_written(value: Any) -> bool:
    """Whether this is a date as people write it, or none that a program reads, of which ISO 8601 is one."""
    text = value.strip() if type(value) is str and len(value) <= MAX_DATE_CHARACTERS else ""
    return any(map(str.isdigit, text)) and to_seconds(text) is None


def _drop_zone(text: str) -> str:
    try:
        return split_zone(text)[0]
    except UnknownZone:
        return text


def describe_shape(value: Any) -> str:
    """ "99/99/9999 99:99" for 03/04/2026 08:00: what a value looks like, without what it says."""
    text = re.sub(r"[^\W\d_]+", "A", re.sub(r"\d", "9", " ".join(str(value).split())))
    text = re.sub(r"[^\w\s.,:/+-]", "?", text)
    return text if len(text) <= MAX_SHAPE_CHARACTERS else f"{text[:MAX_SHAPE_CHARACTERS]}…"


def _read_digits(text: str) -> float | None:
    if not _COMPACT.fullmatch(text):
        return _in_range(to_seconds(text))
    try:
        date = datetime.strptime(text, "%Y%m%d%H%M%S"[: {8: 6, 12: 10, 14: 12}[len(text)]])
    except ValueError:
        return _in_range(to_seconds(text))
    return date.replace(tzinfo=UTC).timestamp()


def _in_range(seconds: float | None) -> float | None:
    return seconds if seconds is not None and MIN_SECONDS <= seconds < MAX_SECONDS else None


def _make_seconds(year: str, month: str | int, day: str, match: re.Match[str]) -> float | None:
    number = int(year)
    number += 0 if len(year) > 2 else 2000 if number < 70 else 1900
    hour, half = int(match["hour"] or 0), (match["half"] or "").lower()[:1]
    if half and not 1 <= hour <= 12:
        return None
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    return make_time(number, int(month), int(day), hour, int(match["minute"] or 0), int(match["second"] or 0))


def make_time(year: int, month: int, day: int, hour: int, minute: int, second: int) -> float | None:
    """None for what is no date."""
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC).timestamp()
    except (ValueError, OverflowError):
        return None
