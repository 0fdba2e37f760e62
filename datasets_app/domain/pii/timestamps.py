"""Timestamps of a session moved by one offset: what lies between them stays, and so does their form.

A stamp moves by whole units of its own precision: one of minutes by minutes, a date by days. Where a
session mixes precisions, the offset is cut back until none passes another.
"""

import hmac
import re
import secrets
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple

SECOND, MINUTE, HOUR, DAY = 1, 60, 3600, 86_400
WEEK = 7 * DAY

# The forms of ISO 8601 that the reader takes (domain/jsonl.py); what follows the time stays as it is.
_TIMESTAMP_FORM = re.compile(
    r"(?:(?P<year>\d{4})(?P<dash>-?)(?P<month>\d\d)(?P=dash)(?P<day>\d\d)"
    r"|(?P<week_year>\d{4})(?P<week_dash>-?)W(?P<week>\d\d)(?:(?P=week_dash)(?P<weekday>[1-7])(?!\d))?)"
    r"(?:(?P<between>.)(?P<hour>\d\d)(?:(?P<colon>:?)(?P<minute>\d\d)(?:(?P=colon)(?P<second>\d\d))?)?"
    r"(?P<rest>.*))?",
    re.DOTALL,
)


class Stamp(NamedTuple):
    """A timestamp read: ``local`` as its clock shows it, ``ticks`` since year 1 in microseconds of UTC.

    ``unit`` is its precision in seconds. Without a zone it is taken for UTC. ``form`` is None for one
    that can be read and not be written alike.
    """

    text: str
    local: datetime
    ticks: int
    unit: int
    form: re.Match[str] | None


def fuzz_timestamps(
    timestamps: Sequence[str | None], *, session_id: str, seconds: int, seed: int | None, key: bytes
) -> list[str | None]:
    """A session's timestamps, in the order of its turns, all moved by one offset within ± ``seconds``."""
    stamps = [None if text is None else parse_stamp(text) for text in timestamps]
    there = [stamp for stamp in stamps if stamp is not None]
    offset = fit_offset(there, choose_offset(session_id, seconds, seed, key))
    return [None if stamp is None else move_stamp(stamp, offset) for stamp in stamps]


def choose_offset(session_id: str, fuzz_seconds: int, seed: int | None, key: bytes) -> int:
    """Whole seconds from -``fuzz_seconds`` to ``fuzz_seconds``, every one as likely, but never 0.

    0 would leave the true times standing, and look as if nothing had been done. With a seed the offset
    comes from seed, session and key: the same on every machine that has the key, and not to be worked
    out by guessing the seed. Without a key it is random and can't be recovered.
    """
    if fuzz_seconds <= 0:
        return 0
    if seed is None:
        drawn = secrets.randbelow(2 * fuzz_seconds)
    else:
        message = f"fuzz\0{seed}\0{session_id}".encode("utf-8", "surrogatepass")
        # 256 bits against a few millions of offsets: the remainder favours none that one could tell.
        drawn = int.from_bytes(hmac.new(key, message, "sha256").digest()) % (2 * fuzz_seconds)
    return drawn - fuzz_seconds if drawn < fuzz_seconds else drawn - fuzz_seconds + 1


# --- one timestamp -----------------------------------------------------------------------------


def parse_stamp(text: str) -> Stamp:
    """Raises ValueError for what the reader would not have taken."""
    value = datetime.fromisoformat(text)
    local = value.replace(tzinfo=None)
    ticks = (local - datetime.min) // timedelta(microseconds=1)
    if (zone := value.utcoffset()) is not None:
        ticks -= zone // timedelta(microseconds=1)
    form = _TIMESTAMP_FORM.fullmatch(text)
    if form is None or _format_like(form, local) != text:
        return Stamp(text, local, ticks, SECOND, None)
    return Stamp(text, local, ticks, _detect_unit(form), form)


def _detect_unit(form: re.Match[str]) -> int:
    if form["week"] and not form["weekday"]:
        return WEEK  # a week with a time of day can only become another week
    if form["second"]:
        return SECOND
    if form["minute"]:
        return MINUTE
    return HOUR if form["hour"] else DAY


def move_stamp(stamp: Stamp, seconds: int) -> str:
    """The stamp in its form, moved by ``seconds`` as far as its precision can tell."""
    seconds = _truncate_to_unit(seconds, stamp.unit)
    if not seconds:
        return stamp.text
    local = stamp.local + timedelta(seconds=seconds)
    if stamp.form is not None:
        return _format_like(stamp.form, local)
    return local.replace(tzinfo=datetime.fromisoformat(stamp.text).tzinfo).isoformat()


def _format_like(form: re.Match[str], local: datetime) -> str:
    if form["hour"] is None:
        return _format_date(form, local)
    return f"{_format_date(form, local)}{form['between']}{_format_time(form, local)}{form['rest']}"


def _truncate_to_unit(seconds: int, unit: int) -> int:
    """The whole units in ``seconds``, towards 0."""
    return seconds - seconds % unit if seconds >= 0 else -(-seconds - -seconds % unit)


def _format_date(form: re.Match[str], moved_to: date) -> str:
    if form["year"]:
        dash = form["dash"]
        return f"{moved_to.year:04d}{dash}{moved_to.month:02d}{dash}{moved_to.day:02d}"
    year, week, weekday = moved_to.isocalendar()
    dash = form["week_dash"]
    return f"{year:04d}{dash}W{week:02d}" + (f"{dash}{weekday}" if form["weekday"] else "")


def _format_time(form: re.Match[str], moved_to: datetime) -> str:
    parts = [f"{moved_to.hour:02d}"]
    if form["minute"]:
        parts.append(f"{moved_to.minute:02d}")
    if form["second"]:
        parts.append(f"{moved_to.second:02d}")
    return (form["colon"] or "").join(parts)


# --- a session ---------------------------------------------------------------------------------


def fit_offset(stamps: Sequence[Stamp], offset: int) -> int:
    """The offset nearest to the one given under which order and gaps survive and no year overflows.

    Where it could only be 0, one in the other direction is taken, if there is any. ``stamps`` are those of
    one session, in the order of its turns.
    """
    if not stamps:
        return 0
    return _fit_in_direction(stamps, offset) or _fit_in_direction(stamps, -offset)


def _fit_in_direction(stamps: Sequence[Stamp], offset: int) -> int:
    size = min(abs(offset), _measure_room(stamps, forwards=offset > 0))
    units = sorted({stamp.unit for stamp in stamps}, reverse=True)
    if len(units) == 1:
        size -= size % units[0]
    else:
        # In the direction of the move the finer stamps run ahead of the coarser ones, by what is left of
        # the offset after whole units: less than the way to the next coarser stamp.
        ahead = _measure_leads(stamps, forwards=offset > 0)
        for unit in units:
            size -= max(0, size % unit - (ahead.get(unit, unit) - 1))
    return size if offset > 0 else -size


def _measure_room(stamps: Iterable[Stamp], *, forwards: bool) -> int:
    """Whole seconds until the first of ``stamps`` would leave the years 1 to 9999."""
    if forwards:
        room = min(datetime.max - stamp.local for stamp in stamps)
    else:
        room = min(stamp.local - datetime.min for stamp in stamps)
    return room // timedelta(seconds=1)


def _measure_leads(stamps: Sequence[Stamp], *, forwards: bool) -> dict[int, int]:
    """For each unit: how far, in seconds, finer stamps may run ahead of stamps of that unit, plus 1."""
    ways: dict[int, int] = {}
    for coarse, fine, way in _find_finer_neighbors(stamps, forwards=forwards):
        # A finer stamp moves in steps of its own unit as well: only the whole ones count.
        steps = max(1, -(-way // (fine * 1_000_000)))
        ways[coarse] = min(ways.get(coarse, coarse), steps * fine)
    return ways


def _find_finer_neighbors(stamps: Sequence[Stamp], *, forwards: bool) -> Iterator[tuple[int, int, int]]:
    """(unit, finer unit, microseconds between) for each stamp and the last of each finer unit behind it."""
    sign = 1 if forwards else -1
    in_order = sorted((sign * stamp.ticks, sign * turn, stamp.unit) for turn, stamp in enumerate(stamps))
    last: dict[int, int] = {}
    for ticks, _, unit in in_order:
        for finer, behind in last.items():
            if finer < unit:
                yield unit, finer, ticks - behind
        last[unit] = ticks
