"""Charts: tables whose rows draw their numbers as bars, or as dots with intervals, so that everybody reads
the same. Pages show them by ``_chart.html`` and ``_dots.html``, packages as images
(``packages/card_charts.py``).

Several series are drawn below each other, in the order of the columns with their numbers.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

# A longer chart shows fewer rows at first.
MAX_ROWS, FIRST_ROWS = 12, 8
BAR_HEIGHT = 10
MINUS_SIGN = "\N{MINUS SIGN}"


class Bars(NamedTuple):
    """A row: a count for each series, with the address of what it counts, or "". ``total`` is what its
    shares are of, if not of the whole series."""

    label: str
    counts: Sequence[int]
    urls: Sequence[str] = ()
    note: str = ""
    is_current: bool = False
    total: int | None = None


class Cell(NamedTuple):
    """``share`` is from 0 to 1; ``width`` in percent of the longest bar of the chart."""

    series: str
    number: int
    is_estimate: bool
    share: float
    width: str
    top: int
    url: str


class Row(NamedTuple):
    label: str
    note: str
    is_current: bool
    cells: list[Cell]


class Chart(NamedTuple):
    """``head`` names what the rows are. ``left_out`` is the number of rows that are too many."""

    title: str
    head: str
    series: Sequence[str]
    rows: list[Row]
    left_out: int = 0

    @property
    def parts(self) -> list[list[Row]]:
        """The rows to show, and those to show on demand."""
        first = len(self.rows) if len(self.rows) <= MAX_ROWS else FIRST_ROWS
        return [part for part in (self.rows[:first], self.rows[first:]) if part]

    @property
    def height(self) -> int:
        return BAR_HEIGHT * len(self.series) - 1


def make_chart(
    title: str,
    head: str,
    bars: Sequence[Bars],
    *,
    series: Sequence[str],
    totals: Sequence[int] = (),
    estimates: Sequence[bool] = (),
    left_out: int = 0,
) -> Chart:
    """``totals`` are what the shares of each series are of; without them, the sums of its counts."""
    sums = totals or [sum(bar.counts[place] for bar in bars) for place in range(len(series))]
    shares = [
        [count / (bar.total or total or 1) for count, total in zip(bar.counts, sums, strict=True)]
        for bar in bars
    ]
    # A single row has nothing to be compared with but the whole.
    longest = max((share for row in shares for share in row), default=0) if len(bars) > 1 else 1
    longest = longest or 1
    rows = [
        Row(
            bar.label,
            bar.note,
            bar.is_current,
            [
                Cell(
                    name,
                    bar.counts[place],
                    bool(estimates) and estimates[place],
                    row[place],
                    _format_width(row[place] / longest),
                    place * BAR_HEIGHT,
                    bar.urls[place] if bar.urls else "",
                )
                for place, name in enumerate(series)
            ],
        )
        for bar, row in zip(bars, shares, strict=True)
    ]
    return Chart(title, head, series, rows, left_out)


# --- numbers with intervals ---------------------------------------------------------------------------------


class Measured(Protocol):
    """A number with its interval; ``note`` says why there is none."""

    @property
    def value(self) -> float | None: ...
    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...
    @property
    def note(self) -> str: ...


class Estimate(NamedTuple):
    """A :class:`Measured` number."""

    value: float | None
    low: float | None = None
    high: float | None = None
    note: str = ""


class Dots(NamedTuple):
    """A row: a number for each series. ``marks`` are values to compare it with; it leads to ``address``."""

    label: str
    numbers: Sequence[Measured]
    n: int
    note: str = ""
    marks: Sequence[float] = ()
    address: str = ""


class Dot(NamedTuple):
    """Positions in percent of the axis, "" where there is nothing to draw."""

    series: str
    text: str
    interval: str
    at: str
    begin: str
    width: str
    middle: int


class DotRow(NamedTuple):
    label: str
    note: str
    n: int
    marks: list[str]
    cells: list[Dot]
    address: str


class DotChart(NamedTuple):
    """``unit`` is what the n of each row counts. ``zero`` is the position of 0, "" at the beginning."""

    title: str
    head: str
    series: Sequence[str]
    unit: str
    rows: list[DotRow]
    low_end: float
    zero: str

    @property
    def height(self) -> int:
        return BAR_HEIGHT * len(self.series)


def make_dots(
    title: str, head: str, dots: Sequence[Dots], *, series: Sequence[str], unit: str, low_end: float = 0.0
) -> DotChart:
    """On an axis from ``low_end`` to 1: 0 for shares, -1 for coefficients corrected for chance."""

    def place(value: float) -> float:
        return 100 * (min(1.0, max(low_end, value)) - low_end) / (1.0 - low_end)

    def make_dot(name: str, number: Measured, order: int) -> Dot:
        at, begin, end = (
            None if value is None else place(value) for value in (number.value, number.low, number.high)
        )
        is_bounded = begin is not None and end is not None
        return Dot(
            name,
            number.note or "undefined" if number.value is None else format_number(number.value),
            f"{format_number(number.low)} to {format_number(number.high)}"
            if number.low is not None and number.high is not None
            else "",
            "" if at is None else f"{at:.2f}",
            f"{begin:.2f}" if is_bounded else "",
            f"{(end or 0) - (begin or 0):.2f}" if is_bounded else "",
            order * BAR_HEIGHT + BAR_HEIGHT // 2,
        )

    rows = [
        DotRow(
            row.label,
            row.note,
            row.n,
            [f"{place(mark):.2f}" for mark in row.marks],
            [
                make_dot(name, number, order)
                for order, (name, number) in enumerate(zip(series, row.numbers, strict=True))
            ],
            row.address,
        )
        for row in dots
    ]
    return DotChart(title, head, series, unit, rows, low_end, f"{place(0):.2f}" if low_end < 0 else "")


def format_number(value: float) -> str:
    """0.4567 → 0.457, with a true minus."""
    return f"{value:.3f}".replace("-", MINUS_SIGN)


# --- numbers in a row of columns ----------------------------------------------------------------------------

COLUMN_WIDTH, COLUMN_STEP, COLUMN_HEIGHT = 9, 12, 32


class Column(NamedTuple):
    label: str
    number: int
    x: int
    y: str
    height: str


def make_columns(counts: Sequence[tuple[str, int]]) -> list[Column]:
    """A small picture of how a number changes. 0 has a line, so that it isn't taken for a missing number."""
    highest = max((count for _, count in counts), default=0) or 1
    heights = [max(1.0, COLUMN_HEIGHT * count / highest) for _, count in counts]
    return [
        Column(label, count, place * COLUMN_STEP, f"{COLUMN_HEIGHT - height:.1f}", f"{height:.1f}")
        for place, ((label, count), height) in enumerate(zip(counts, heights, strict=True))
    ]


def _format_width(part: float) -> str:
    """Large enough to be visible unless it is zero."""
    return f"{max(100 * part, 0.8 if part else 0):.2f}"
