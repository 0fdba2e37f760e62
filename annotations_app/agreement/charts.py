"""Positions and classes of the drawings on the agreement page; numbers repeat what colors say."""

from collections.abc import Sequence
from typing import NamedTuple

from annotations_app.domain.agreement.agreement_report import (
    Comparison,
    DriftPoint,
    HeadlineStats,
    PairComparison,
    Statistic,
)
from annotations_app.domain.agreement.agreement_text import RELIABLE_ALPHA, TENTATIVE_ALPHA
from annotations_app.domain.agreement.criterion_report import CriterionReport
from datasets_app.core.web.charts import Bars, Chart, make_chart

# --- a number and its interval on a line ---

LINE_WIDTH = 240  # units of the drawing


class IntervalMark(NamedTuple):
    """Positions of a number and its interval on a line from ``low_end`` to 1; None where there is none."""

    at: float | None
    begin: float | None
    width: float
    zero: float | None


class HeadlineRow(NamedTuple):
    """A statistic with its name, its ``n`` of ``unit`` (singular and plural), and what it means."""

    name: str
    statistic: Statistic
    n: int
    unit: str
    meaning: str
    interval_mark: IntervalMark
    # What can be concluded, and where on the line the limits are.
    references: Sequence[float] = ()


def _place_on_line(value: float, low_end: float) -> float:
    return round(LINE_WIDTH * (min(1.0, max(low_end, value)) - low_end) / (1.0 - low_end), 2)


def interval_mark(statistic: Statistic, low_end: float) -> IntervalMark:
    """``low_end`` is 0 for shares and -1 for coefficients corrected for chance."""
    at, begin, end = (
        None if value is None else _place_on_line(value, low_end)
        for value in (statistic.value, statistic.low, statistic.high)
    )
    width = end - begin if begin is not None and end is not None else 0.0
    zero = _place_on_line(0.0, low_end) if low_end < 0 else None
    return IntervalMark(at, begin, round(width, 2), zero)


_HEADLINE_FIELDS = (
    (
        "raw_agreement",
        "Raw agreement",
        0.0,
        "How often two labels of the same reply by different people are equal. Some of it is chance.",
    ),
    (
        "krippendorff_alpha",
        "Krippendorff’s alpha",
        -1.0,
        "Agreement corrected for chance: 1 if all agree, 0 if they agree as often as random labels would, "
        "below 0 if less often. Replies may have different numbers of labels.",
    ),
    (
        "gwet_ac1",
        "Gwet’s AC1",
        -1.0,
        "Corrected for chance in a way that an unbalanced share of on-brand labels affects less. "
        "It is higher than alpha then, so compare AC1 only with AC1.",
    ),
    (
        "fleiss_kappa",
        "Fleiss’ kappa",
        -1.0,
        "Older than alpha and without its correction for few labels; for comparison with publications.",
    ),
    (
        "prevalence",
        "On-brand",
        0.0,
        "The share of on-brand labels. The further it is from a half, the more agreement is chance: alpha "
        "and kappa can be low then although nearly all labels agree.",
    ),
)


def headline_rows(measured_headline: HeadlineStats) -> list[HeadlineRow]:
    """The headline numbers in the order they are shown."""
    rows = []
    for field, name, low_end, meaning in _HEADLINE_FIELDS:
        statistic: Statistic = getattr(measured_headline, field)
        n, unit = (
            (measured_headline.labels, "label,labels")
            if field == "prevalence"
            else (measured_headline.items - measured_headline.single, "reply,replies")
        )
        row = HeadlineRow(name, statistic, n, unit, meaning, interval_mark(statistic, low_end))
        if field == "krippendorff_alpha":
            references = [_place_on_line(each, low_end) for each in (TENTATIVE_ALPHA, RELIABLE_ALPHA)]
            row = row._replace(references=references)
        rows.append(row)
    return rows


# --- pairs as a map ---


class HeatMapCell(NamedTuple):
    """``shade`` is a class: "none", "below" (less than chance) or "0" to "9" from light to dark."""

    comparison: Comparison | None
    shade: str
    own: bool


class HeatMap(NamedTuple):
    names: list[str]
    rows: list[tuple[str, list[HeatMapCell]]]


def kappa_shade(value: float | None) -> str:
    if value is None:
        return "none"
    return "below" if value < 0 else str(min(9, int(10 * value)))


def build_heat_map(pairs: Sequence[PairComparison]) -> HeatMap:
    """All pairs of annotators who have labeled the same reply, ordered by name."""
    names = sorted({name for pair in pairs for name in (pair.a, pair.b)})
    known = {(pair.a, pair.b): pair.comparison for pair in pairs}
    rows = []
    for one in names:
        cells = []
        for other in names:
            comparison = known.get((one, other)) or known.get((other, one))
            value = comparison.cohen_kappa.value if comparison and comparison.n else None
            cells.append(HeatMapCell(comparison, kappa_shade(value), one == other))
        rows.append((one, cells))
    return HeatMap(names, rows)


# --- the answers to a criterion ---

MAX_CONFUSION_ANSWERS = 20


class ConfusionCell(NamedTuple):
    """``share`` is of its row."""

    times: int
    share: float
    shade: str


class CriterionSection(NamedTuple):
    """``confusion`` has a row for each answer; empty of too many, and where nobody labeled the same reply."""

    measured: CriterionReport
    answers: Chart | None
    confusion: list[tuple[str, list[ConfusionCell]]]


def build_criterion_section(measured: CriterionReport) -> CriterionSection:
    return CriterionSection(measured, _answers_chart(measured), _confusion_rows(measured))


def _answers_chart(measured: CriterionReport) -> Chart | None:
    if len(measured.answers) < 2:
        return None
    replies = measured.report is not None and measured.report.consensus is not None
    bars = [
        Bars(answer.name, [answer.labels, answer.replies or 0] if replies else [answer.labels])
        for answer in measured.answers
    ]
    labels = measured.labels or sum(answer.labels for answer in measured.answers)
    totals = [labels, sum(answer.replies or 0 for answer in measured.answers)][: 1 + replies]
    return make_chart(
        "Answers", "Answer", bars, series=["Labels", "Replies by consensus"][: 1 + replies], totals=totals
    )


def _confusion_rows(measured: CriterionReport) -> list[tuple[str, list[ConfusionCell]]]:
    counts = measured.confusion.tolist()
    if not 2 <= len(counts) <= MAX_CONFUSION_ANSWERS or not any(map(any, counts)):
        return []
    rows = []
    for answer, row in zip(measured.answers, counts, strict=True):
        shares = [count / (sum(row) or 1) for count in row]
        cells = [
            ConfusionCell(count, share, kappa_shade(share) if any(row) else "none")
            for count, share in zip(row, shares, strict=True)
        ]
        rows.append((answer.name, cells))
    return rows


# --- drift over months ---

WIDTH, HEIGHT, LEFT_MARGIN, BOTTOM_MARGIN = 900, 240, 48, 30
# Room for half of a month's name at both ends.
INDENT = 36
MAX_MONTH_LABELS = 12


class MonthMark(NamedTuple):
    """Positions of a month's numbers in the chart; None where there is no number."""

    month: str
    across: float
    agreement: float | None
    low: float | None
    high: float | None
    on_brand: float | None
    named: bool


class DriftChart(NamedTuple):
    """``agreement`` and ``on_brand`` are the points of two lines, as SVG has them."""

    marks: list[MonthMark]
    agreement: str
    on_brand: str
    grid: list[tuple[float, str]]
    width: int
    height: int
    edge: int
    right: int


def _y_position(value: float | None) -> float | None:
    if value is None:
        return None
    return round(8 + (HEIGHT - BOTTOM_MARGIN - 8) * (1.0 - max(0.0, min(1.0, value))), 2)


def drift_chart(points: Sequence[DriftPoint]) -> DriftChart | None:
    """The months of all annotators together; None if there are fewer than two."""
    months = [point for point in points if point.annotator is None]
    if len(months) < 2:
        return None
    step = (WIDTH - LEFT_MARGIN - 2 * INDENT) / (len(months) - 1)
    every = -(-len(months) // MAX_MONTH_LABELS)
    marks = []
    for number, point in enumerate(months):
        agreement = point.others.raw_agreement
        marks.append(
            MonthMark(
                point.month,
                round(LEFT_MARGIN + INDENT + number * step, 2),
                _y_position(agreement.value),
                _y_position(agreement.low),
                _y_position(agreement.high),
                _y_position(point.on_brand.value),
                number % every == 0,
            )
        )
    grid = [(_y_position(share / 4) or 0.0, f"{25 * share} %") for share in range(5)]
    agreement_line, on_brand_line = (
        " ".join(f"{mark.across:g},{down:g}" for mark in marks if (down := getattr(mark, field)) is not None)
        for field in ("agreement", "on_brand")
    )
    return DriftChart(marks, agreement_line, on_brand_line, grid, WIDTH, HEIGHT, LEFT_MARGIN, WIDTH)


def build_drift_table(
    points: Sequence[DriftPoint],
) -> tuple[list[str], list[tuple[str | None, list[DriftPoint | None]]]]:
    """Months as columns, annotators as rows; all annotators together (None) come first."""
    months = sorted({point.month for point in points})
    known = {(point.annotator, point.month): point for point in points}
    names = sorted({point.annotator for point in points if point.annotator is not None})
    return months, [(name, [known.get((name, month)) for month in months]) for name in (None, *names)]
