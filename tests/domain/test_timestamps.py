"""Timestamps moved by one offset a session: order and gaps survive, and so does the form."""

import re
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_app.domain.conversations.jsonl import check_timestamp
from datasets_app.domain.pii.timestamps import (
    DAY,
    choose_offset,
    fit_offset,
    fuzz_timestamps,
    move_stamp,
    parse_stamp,
)

KEY = b"a key of thirty-two characters.."
MOST = 400 * DAY

DATES = ["%Y-%m-%d", "%Y%m%d", "%G-W%V-%u", "%GW%V%u"]
TIMES = ["%H:%M:%S", "%H%M%S", "%H:%M", "%H%M", "%H"]
FRACTIONS = ["", ".5", ",25", ".123456", ".123456789"]
ZONES = ["", "Z", "+02:00", "-0330", "+05", "+05:30:15"]


@st.composite
def fine(draw: st.DrawFn) -> str:
    """A date with a time to the second."""
    when = draw(st.datetimes(datetime(2024, 12, 20), datetime(2025, 1, 10)))
    separator = draw(st.sampled_from(["T", "t", " "]))
    form = f"{draw(st.sampled_from(DATES))}{separator}{draw(st.sampled_from(TIMES[:2]))}"
    return f"{when:{form}}{draw(st.sampled_from(FRACTIONS))}{draw(st.sampled_from(ZONES))}"


@st.composite
def any_form(draw: st.DrawFn) -> str:
    when = draw(st.datetimes(datetime(2024, 12, 20), datetime(2025, 1, 10)))
    date = when.strftime(draw(st.sampled_from([*DATES, "%G-W%V", "%GW%V"])))
    if draw(st.booleans()):
        return date
    return f"{date}T{when.strftime(draw(st.sampled_from(TIMES)))}{draw(st.sampled_from(ZONES))}"


def at(text: str) -> datetime:
    value = datetime.fromisoformat(text)
    return value if value.tzinfo else value.replace(tzinfo=UTC)


def form_of(text: str) -> str:
    return re.sub(r"\d", "0", text)


# --- the offset --------------------------------------------------------------------------------


def test_the_offset_is_within_bounds_never_zero_and_every_one_comes() -> None:
    drawn = Counter(choose_offset("s", 3, None, KEY) for _ in range(3000))
    assert set(drawn) == {-3, -2, -1, 1, 2, 3}
    assert min(drawn.values()) > 350
    seeded = Counter(choose_offset(f"s{number}", 3, 7, KEY) for number in range(3000))
    assert set(seeded) == set(drawn)
    assert min(seeded.values()) > 350
    assert choose_offset("s", 0, None, KEY) == choose_offset("s", 0, 7, KEY) == 0


def test_a_seed_gives_the_same_offset_again_and_only_with_the_key() -> None:
    assert choose_offset("s", MOST, 7, KEY) == choose_offset("s", MOST, 7, KEY) == -32_948_773
    others = [("t", 7, KEY), ("s", 8, KEY), ("s", 7, KEY + b".")]
    assert choose_offset("s", MOST, 7, KEY) not in [
        choose_offset(name, MOST, seed, key) for name, seed, key in others
    ]
    assert choose_offset("s", MOST, None, KEY) != choose_offset("s", MOST, None, KEY)


# --- one timestamp -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "seconds", "expected"),
    [
        ("2025-11-03T14:25:00Z", 3661, "2025-11-03T15:26:01Z"),
        ("2025-11-03t14:25:00.1234567+02:00", -1, "2025-11-03t14:24:59.1234567+02:00"),
        ("2025-12-31 23:59:59,5", 1, "2026-01-01 00:00:00,5"),
        ("20251103T142500-0330", 60, "20251103T142600-0330"),
        ('20251103"142500', 1, '20251103"142501'),
        ("2025-11-03T14:25Z", 119, "2025-11-03T14:26Z"),
        ("2025-11-03T14:25Z", -119, "2025-11-03T14:24Z"),
        ("2025-11-03T14", 3599, "2025-11-03T14"),
        ("2025-11-03T14-05:00", 3600, "2025-11-03T15-05:00"),
        ("2025-11-03", DAY - 1, "2025-11-03"),
        ("2025-11-03", -DAY, "2025-11-02"),
        ("2025-W45-1T10:00:00", -10 * 3600 - 1, "2025-W44-7T23:59:59"),
        ("2025-W45-10:00", -7 * DAY, "2025-W44-10:00"),
        ("2025W451", DAY, "2025W452"),
        ("2025-W01", -7 * DAY, "2024-W52"),
        ("2024-02-28T23:59:59Z", 1, "2024-02-29T00:00:00Z"),
        ("0001-01-01T00:00:01Z", -1, "0001-01-01T00:00:00Z"),
    ],
)
def test_examples(text: str, seconds: int, expected: str) -> None:
    check_timestamp(text)
    check_timestamp(expected)
    assert move_stamp(parse_stamp(text), seconds) == expected


@given(fine(), st.integers(-MOST, MOST))
def test_a_timestamp_to_the_second_moves_by_exactly_that_and_keeps_its_form(text: str, seconds: int) -> None:
    result = move_stamp(parse_stamp(text), seconds)
    check_timestamp(result)
    assert at(result) - at(text) == timedelta(seconds=seconds)
    assert form_of(result) == form_of(text)
    assert move_stamp(parse_stamp(result), -seconds) == text


@given(any_form(), st.integers(-MOST, MOST))
def test_every_form_stays_and_moves_by_its_own_precision(text: str, seconds: int) -> None:
    result = move_stamp(parse_stamp(text), seconds)
    check_timestamp(result)
    assert form_of(result) == form_of(text)
    assert abs(timedelta(seconds=seconds) - (at(result) - at(text))) < timedelta(
        seconds=parse_stamp(text).unit
    )
    assert move_stamp(parse_stamp(text), 0) == text


@given(st.text("0123456789-:TtW Z+.,", max_size=25))
def test_whatever_the_reader_takes_can_be_moved(text: str) -> None:
    try:
        value = datetime.fromisoformat(text)
    except ValueError:
        return
    if 2 < value.year < 9998:
        assert move_stamp(parse_stamp(text), 0) == text
        assert abs(at(move_stamp(parse_stamp(text), 7 * DAY)) - at(text) - timedelta(days=7)) < timedelta(
            seconds=1
        )


# --- a session ---------------------------------------------------------------------------------


@given(st.lists(fine(), min_size=1, max_size=8), st.integers(1, MOST), st.integers())
def test_gaps_of_a_session_survive_to_the_microsecond(texts: list[str], seconds: int, seed: int) -> None:
    result = fuzz_timestamps(texts, session_id="s", seconds=seconds, seed=seed, key=KEY)
    assert None not in result
    [offset] = {at(str(new)) - at(old) for new, old in zip(result, texts, strict=True)}
    assert timedelta() < abs(offset) <= timedelta(seconds=seconds)


@given(st.lists(any_form(), min_size=2, max_size=8), st.integers(-MOST, MOST))
def test_the_order_survives_whatever_forms_a_session_mixes(texts: list[str], seconds: int) -> None:
    stamps = [parse_stamp(text) for text in texts]
    offset = fit_offset(stamps, seconds)
    assert abs(offset) <= abs(seconds)
    new = [at(move_stamp(stamp, offset)) for stamp in stamps]
    old = [at(text) for text in texts]
    for first in range(len(texts)):
        for second in range(first + 1, len(texts)):
            if old[first] < old[second]:
                assert new[first] < new[second]
            elif old[first] > old[second]:
                assert new[first] > new[second]
            else:
                assert new[first] <= new[second]
            if stamps[first].unit == stamps[second].unit:
                assert new[second] - new[first] == old[second] - old[first]


def test_dates_among_times_cut_the_offset_no_more_than_they_must() -> None:
    stamps = [parse_stamp(text) for text in ("2025-11-03T22:30:00", "2025-11-04", "2025-11-04T09:00:00")]
    assert fit_offset(stamps, 3600) == 3600
    assert fit_offset(stamps, 7200) == 5399  # a second before midnight
    assert fit_offset(stamps, -7200) == -7200
    assert fit_offset(stamps, DAY + 7200) == DAY + 5399
    # None of the two could move forwards: backwards both can.
    assert fit_offset([parse_stamp("2025-11-03T23:59:59"), parse_stamp("2025-11-04")], 60) == -60


def test_dates_alone_move_by_days_or_not_at_all() -> None:
    stamps = [parse_stamp("2025-11-03"), parse_stamp("2025-11-04")]
    assert fit_offset(stamps, 3600) == 0
    assert fit_offset(stamps, 3 * DAY + 3600) == 3 * DAY


@pytest.mark.parametrize(
    ("texts", "offset", "expected"),
    [
        (["9999-12-31T23:59:50Z", "9999-12-31T23:59:00Z"], 3600, 9),
        (["9999-12-31T23:59:59Z"], 3600, -3600),
        (["0001-01-01T00:00:05+05:00", "2025-01-01T00:00:00Z"], -3600, -5),
        (["0001-01-01T00:00:00", "9999-12-31T23:59:59"], 3600, 0),
        (["9999-12-31"], 2 * DAY, -2 * DAY),
        (["9999-W52"], 7 * DAY, -7 * DAY),
    ],
)
def test_the_first_and_the_last_year_hold_the_whole_session_back(
    texts: list[str], offset: int, expected: int
) -> None:
    stamps = [parse_stamp(text) for text in texts]
    assert fit_offset(stamps, offset) == expected
    for stamp in stamps:
        check_timestamp(move_stamp(stamp, expected))


def test_turns_without_a_timestamp_stay_without() -> None:
    assert fuzz_timestamps([None, None], session_id="s", seconds=60, seed=1, key=KEY) == [None, None]
    result = fuzz_timestamps([None, "2025-11-03T14:25:00Z"], session_id="s", seconds=60, seed=1, key=KEY)
    assert result[0] is None
    assert result[1] != "2025-11-03T14:25:00Z"
