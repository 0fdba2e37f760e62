"""What the agreement page draws, as places and classes: no colour says what a number does not."""

from collections.abc import Sequence
from typing import NamedTuple

from annotations_app.domain.agreement.agreement_report import (
    Comparison,
    DriftPoint,
    Headline,
    Pair,
    Statistic,
)

# --- a number and its interval on a line ---

LINE = 240  # units of the drawing


class Whisker(NamedTuple):
    """Where a number and its interval stand on a line from ``low end`` to 1; None where there is nothing."""

    at: float | None
    begin: float | None
    width: float
    zero: float | None


class Told(NamedTuple):
    """A statistic with its name, how many things it is about, and a sentence on what it says."""

    name: str
    statistic: Statistic
    n: int
    unit: str
    meaning: str
    whisker: Whisker


def whisker(statistic: Statistic, least: float) -> Whisker:
    """``least`` is the left end: 0 for shares, -1 for what is corrected for chance."""

    def place(value: float | None) -> float | None:
        if value is None:
            return None
        return round(LINE * (min(1.0, max(least, value)) - least) / (1.0 - least), 2)

    begin, end = place(statistic.low), place(statistic.high)
    width = end - begin if begin is not None and end is not None else 0.0
    return Whisker(place(statistic.value), begin, round(width, 2), place(0.0) if least < 0 else None)


_MEANINGS = (
    (
        "raw_agreement",
        "Raw agreement",
        0.0,
        "Of two labels of the same reply by different people, the share that say the same. "
        "Part of it comes about by chance.",
    ),
    (
        "krippendorff_alpha",
        "Krippendorff’s alpha",
        -1.0,
        "Agreement with chance taken off: 1 if all agree, 0 if they agree as often as labels dealt out at "
        "random would, below 0 if less often. Replies may have different numbers of labels.",
    ),
    (
        "gwet_ac1",
        "Gwet’s AC1",
        -1.0,
        "Chance taken off in another way, which a lopsided share of on-brand labels moves less. "
        "Its numbers come out higher than alpha’s then, so compare AC1 only with AC1.",
    ),
    (
        "fleiss_kappa",
        "Fleiss’ kappa",
        -1.0,
        "The older relative of alpha, without its correction for small numbers of labels; "
        "for comparison with what others have published.",
    ),
    (
        "prevalence",
        "On-brand",
        0.0,
        "The share of labels that say on-brand. The further it is from a half, the more agreement chance "
        "alone brings: alpha and kappa can be low then while nearly all labels agree.",
    ),
)


def headline(measured: Headline) -> list[Told]:
    """The headline numbers in the order they are shown."""
    told = []
    for field, name, least, meaning in _MEANINGS:
        statistic: Statistic = getattr(measured, field)
        n, unit = (
            (measured.labels, "label")
            if field == "prevalence"
            else (measured.items - measured.single, "reply")
        )
        told.append(Told(name, statistic, n, unit, meaning, whisker(statistic, least)))
    return told


# --- pairs as a map ---


class Cell(NamedTuple):
    """``shade`` is a class: "none", "below" (less than chance) or "0" to "9" from light to dark."""

    comparison: Comparison | None
    shade: str
    own: bool


class HeatMap(NamedTuple):
    names: list[str]
    rows: list[tuple[str, list[Cell]]]


def shade(value: float | None) -> str:
    if value is None:
        return "none"
    return "below" if value < 0 else str(min(9, int(10 * value)))


def heat_map(pairs: Sequence[Pair]) -> HeatMap:
    """Every two annotators that have labelled the same reply, in the order of their names."""
    names = sorted({name for pair in pairs for name in (pair.a, pair.b)})
    known = {(pair.a, pair.b): pair.comparison for pair in pairs}
    rows = []
    for one in names:
        cells = []
        for other in names:
            comparison = known.get((one, other)) or known.get((other, one))
            value = comparison.cohen_kappa.value if comparison and comparison.n else None
            cells.append(Cell(comparison, shade(value), one == other))
        rows.append((one, cells))
    return HeatMap(names, rows)


# --- drift over months ---

WIDTH, HEIGHT, EDGE, FOOT = 900, 240, 48, 30
# Room for half of a month's name at both ends.
INDENT = 36
MOST_MONTHS_NAMED = 12


class Mark(NamedTuple):
    """A month in the drawing: across and down, with the interval's ends; None where there is no number."""

    month: str
    across: float
    agreement: float | None
    low: float | None
    high: float | None
    on_brand: float | None
    named: bool


class Drift(NamedTuple):
    """``agreement`` and ``on_brand`` are the points of two lines, as SVG has them."""

    marks: list[Mark]
    agreement: str
    on_brand: str
    grid: list[tuple[float, str]]
    width: int
    height: int
    edge: int
    right: int


def _down(value: float | None) -> float | None:
    if value is None:
        return None
    return round(8 + (HEIGHT - FOOT - 8) * (1.0 - max(0.0, min(1.0, value))), 2)


def drift(points: Sequence[DriftPoint]) -> Drift | None:
    """The months of all annotators together; None if there are fewer than two to compare."""
    months = [point for point in points if point.annotator is None]
    if len(months) < 2:
        return None
    step = (WIDTH - EDGE - 2 * INDENT) / (len(months) - 1)
    every = -(-len(months) // MOST_MONTHS_NAMED)
    marks = []
    for number, point in enumerate(months):
        agreement = point.others.raw_agreement
        marks.append(
            Mark(
                point.month,
                round(EDGE + INDENT + number * step, 2),
                _down(agreement.value),
                _down(agreement.low),
                _down(agreement.high),
                _down(point.on_brand.value),
                number % every == 0,
            )
        )
    grid = [(_down(share / 4) or 0.0, f"{25 * share} %") for share in range(5)]
    agreement_line, on_brand_line = (
        _line([(mark.across, down) for mark in marks if (down := getattr(mark, field)) is not None])
        for field in ("agreement", "on_brand")
    )
    return Drift(marks, agreement_line, on_brand_line, grid, WIDTH, HEIGHT, EDGE, WIDTH)


def _line(places: list[tuple[float, float]]) -> str:
    return " ".join(f"{across:g},{down:g}" for across, down in places)


def drift_table(
    points: Sequence[DriftPoint],
) -> tuple[list[str], list[tuple[str | None, list[DriftPoint | None]]]]:
    """Months as columns, annotators as rows; everybody together (None) comes first."""
    months = sorted({point.month for point in points})
    known = {(point.annotator, point.month): point for point in points}
    names = sorted({point.annotator for point in points if point.annotator is not None})
    return months, [(name, [known.get((name, month)) for month in months]) for name in (None, *names)]
