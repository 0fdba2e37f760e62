"""Dates of tables: how people's tools write them, and what must not be taken for one."""

from datetime import UTC, datetime

import pytest

from datasets_app.domain.traces.dates import AmbiguousDate, DateReader, describe_shape
from datasets_app.domain.traces.time_zones import UnknownZone

SEPTEMBER_1 = "2026-09-01T08:00:00"
WRITTEN = {
    "01.09.2026 08:00": SEPTEMBER_1,
    "1.9.2026, 8:00:00": SEPTEMBER_1,
    "01.09.26 08:00 Uhr": SEPTEMBER_1,
    "2026-09-01 08:00": SEPTEMBER_1,
    "2026-09-01 10:00:00 +0200": SEPTEMBER_1,
    "2026-09-01 08:00:00 Z": SEPTEMBER_1,
    "2026-09-01 08:00:00 UTC": SEPTEMBER_1,
    "2026/09/01 08:00": SEPTEMBER_1,
    "1 Sep 2026 08:00": SEPTEMBER_1,
    "Tue, 01 Sep 2026 10:00:00 +0200": SEPTEMBER_1,
    "September 1st, 2026 at 8:00 AM": SEPTEMBER_1,
    "1. Mai 2026 20:15": "2026-05-01T20:15:00",
    "Sep 1, 2026 12:30 a.m.": "2026-09-01T00:30:00",
    "20260901": "2026-09-01T00:00:00",
    "20260901080000": SEPTEMBER_1,
    "1788249600": SEPTEMBER_1,
    "1788249600000": SEPTEMBER_1,
    1788249600.0: SEPTEMBER_1,
    1788249600000: SEPTEMBER_1,
}
NO_DATES = (
    "31.02.2026", "14.09.2026 11:0", "yesterday", "", "5", 17, 46000.33, "46000", True, "25.09.2026 25:00",
    "13 PM", "1.9.2026 13:00 PM", "2026", "1/2", [1], "08:00",
)  # fmt: skip


def read(value: object, column: list[object] | None = None, order: str = "") -> str | None:
    seconds = DateReader(lambda: column or [value], order).read(value)
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()[:19]


def test_dates_are_read_as_tools_write_them() -> None:
    wrong = {value: found for value, date in WRITTEN.items() if (found := read(value)) != date}
    assert not wrong


def test_what_is_no_date_is_not_taken_for_one() -> None:
    assert [value for value in NO_DATES if read(value) is not None] == []


@pytest.mark.parametrize(
    ("column", "date"),
    [
        (["03/04/2026", "25/04/2026"], "2026-04-03"),
        (["03/04/2026", "04/25/2026 8:00 PM"], "2026-03-04"),
        (["03-04-26", "25-04-26"], "2026-04-03"),
        (["03/04/2026", "05/04/2026"], None),
        (["03/04/2026", "25/04/2026", "04/25/2026"], None),
    ],
)
def test_the_whole_column_decides_whether_the_day_comes_first(column: list[object], date: str | None) -> None:
    if date is None:
        with pytest.raises(AmbiguousDate):
            read(column[0], column)
    else:
        assert (read(column[0], column) or "")[:10] == date


def test_a_stated_order_is_taken_and_the_column_is_not_read() -> None:
    assert read("03/04/2026", order="month-first") == "2026-03-04T00:00:00"
    assert read("03/04/2026", order="day-first") == "2026-04-03T00:00:00"
    assert read("25/04/2026", order="month-first") is None


def test_the_shape_of_a_value_says_nothing_of_it() -> None:
    assert describe_shape("Anna Meier, 3. Stock (links)") == "A A, 9. A ?A?"
    assert describe_shape("jan 5th @ noon\n" * 2) == "A 9A ? A A 9A ? A"
    assert len(describe_shape("a-" * 99)) == 31


ZONED = {
    "2024-01-02 10:00 CET": "09:00",
    "2024-01-02 10:00 MEZ": "09:00",
    "2024-01-02 10:00 (CET)": "09:00",
    "2024-07-02 10:00 CEST": "08:00",
    "2024-01-02 10:00:00 EST": "15:00",
    "2024-01-02 10:00:00 +0100": "09:00",
    "2024-01-02 10:00:00+0100": "09:00",
    "2024-01-02T10:00:00+01": "09:00",
    "2024-01-02 10:00 +01:00": "09:00",
    "2024-01-02 10:00Z": "10:00",
    "2024-01-02 10:00 Z": "10:00",
    "2024-01-02 10:00 utc": "10:00",
    "2024-01-02 10:00 UTC+2": "08:00",
    "2024-01-02 10:00 GMT-05:30": "15:30",
    "2024-01-02 10:00 \u221205:00": "15:00",
    "2024-07-02 10:00 Europe/Berlin": "08:00",
    "2024-01-02T10:00+01:00[Europe/Berlin]": "09:00",
    "02.01.2024 10:00 MEZ": "09:00",
    "02.01.2024 10:00 Uhr MEZ": "09:00",
    "1/13/2024 10:00 PM EDT": "02:00",
    "1/13/2024 10:00 p.m. EDT": "02:00",
    "Jan 2, 2024 10:00 AM JST": "01:00",
    "2 Jan 2024 10:00 HKT": "02:00",
    "Tue, 02 Jan 2024 10:00:00 +0100": "09:00",
    "Tue Jan 02 2024 10:00:00 GMT+0100 (Central European Standard Time)": "09:00",
    "Tue Jan  2 10:00:00 CET 2024": "09:00",
    "Tue Jan 02 10:00:00 +0000 2024": "10:00",
    "2024-01-02 10:00": "10:00",
    "2024-01-02 10:00 PM": "22:00",
}
NO_ZONE = ("CST", "IST", "PST", "BST", "XYZ", "(Pacific Standard Time)", "Mars/Base", "+99:00")


def test_time_zones_are_obeyed_or_unknown() -> None:
    found = {text: (read(text) or "T")[11:16] for text in ZONED}
    assert {text: time for text, time in found.items() if time != ZONED[text]} == {}
    for zone in NO_ZONE:
        with pytest.raises(UnknownZone):
            read(f"2024-01-02 10:00 {zone}")


@pytest.mark.parametrize(
    ("column", "time"),
    [
        ("Created (CET)", "09:00"),
        ("Created [UTC+2]", "08:00"),
        ("created (Europe/Berlin)", "09:00"),
        ("Created (local)", "10:00"),
        ("Created (ISO)", "10:00"),
        ("Created (dd/mm/yyyy)", "10:00"),
        ("Created", "10:00"),
    ],
)
def test_a_column_may_name_the_zone_of_its_times(column: str, time: str) -> None:
    dates = DateReader(list, name=column)
    assert datetime.fromtimestamp(dates.read("2024-01-02 10:00") or 0, UTC).strftime("%H:%M") == time
    assert dates.read("2024-01-02T10:00:00Z") == 1704189600
    with pytest.raises(UnknownZone):
        DateReader(list, name="Created (IST)").read("2024-01-02 10:00")
