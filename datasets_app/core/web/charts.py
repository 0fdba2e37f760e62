"""Charts: tables whose rows draw their numbers as bars, so that everybody reads the same.

Several series are drawn below each other, in the order of the columns with their numbers.
"""

from collections.abc import Sequence
from typing import NamedTuple

# A longer chart shows fewer rows at first.
MAX_ROWS, FIRST_ROWS = 12, 8
BAR_HEIGHT = 10


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
    count: int
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
    longest = max((share for row in shares for share in row), default=0) or 1
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


def _format_width(part: float) -> str:
    """Large enough to be visible unless it is zero."""
    return f"{max(100 * part, 0.8 if part else 0):.2f}"
