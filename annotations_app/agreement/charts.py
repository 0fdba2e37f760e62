"""The charts of the agreement page; numbers repeat what colors say."""

from collections.abc import Iterable, Sequence
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
from datasets_app.domain.charts import Bars, Chart, DotChart, Dots, make_chart, make_dots
from datasets_app.domain.labels.on_brand import YES_NAME

# --- numbers with their intervals ---

_HEADLINE_FIELDS = (
    (
        "raw_agreement",
        "Raw agreement",
        "How often two labels of the same reply by different people are equal. Some of it is chance.",
    ),
    (
        "krippendorff_alpha",
        "Krippendorff’s alpha",
        "Agreement corrected for chance: 1 if all agree, 0 if they agree as often as random labels would, "
        "below 0 if less often. Replies may have different numbers of labels.",
    ),
    (
        "gwet_ac1",
        "Gwet’s AC1",
        "Corrected for chance in a way that an unbalanced share of on-brand labels affects less. "
        "It is higher than alpha then, so compare AC1 only with AC1.",
    ),
    (
        "fleiss_kappa",
        "Fleiss’ kappa",
        "Older than alpha and without its correction for few labels; for comparison with publications.",
    ),
    (
        "prevalence",
        YES_NAME,
        "The share of on-brand labels, of which n is the number. The further it is from a half, the more "
        "agreement is chance: alpha and kappa can be low then although nearly all labels agree.",
    ),
)


def chart_headline(measured: HeadlineStats) -> DotChart:
    """All statistics of all labels; marks say what can be concluded from alpha."""
    dots = [
        Dots(
            name,
            [getattr(measured, field)],
            measured.labels if field == "prevalence" else measured.items - measured.single,
            meaning,
            (TENTATIVE_ALPHA, RELIABLE_ALPHA) if field == "krippendorff_alpha" else (),
        )
        for field, name, meaning in _HEADLINE_FIELDS
    ]
    return make_dots("All statistics", "Statistic", dots, series=["Value"], unit="n", low_end=-1.0)


def chart_parts(kind: str, parts: Iterable[tuple[str, HeadlineStats]]) -> DotChart:
    """Alpha of each part, those with the most disagreement first; undefined ones last."""
    limits = (TENTATIVE_ALPHA, RELIABLE_ALPHA)
    rows = [
        Dots(value, [part.krippendorff_alpha], part.items - part.single, marks=limits)
        for value, part in sorted(parts, key=lambda item: _rank(item[1].krippendorff_alpha))
    ]
    title = f"Agreement by {kind}"
    return make_dots(title, kind.capitalize(), rows, series=["Alpha"], unit="Replies", low_end=-1.0)


def _rank(alpha: Statistic) -> float:
    return 2.0 if alpha.value is None else alpha.value


def chart_drift(points: Sequence[DriftPoint]) -> DotChart | None:
    """The months of all annotators together; None if there are fewer than two."""
    months = [point for point in points if point.annotator is None]
    if len(months) < 2:
        return None
    rows = [
        Dots(point.month, [point.others.raw_agreement, point.on_brand], point.others.n) for point in months
    ]
    return make_dots("Drift by month", "Month", rows, series=["Raw agreement", YES_NAME], unit="n")


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
    return shade_rows([answer.name for answer in measured.answers], counts)


def shade_rows(
    names: Sequence[str], counts: Sequence[Sequence[int]]
) -> list[tuple[str, list[ConfusionCell]]]:
    """A row of counts for each name, shaded by what share of the row they are."""
    return [
        (
            name,
            [
                ConfusionCell(count, share, kappa_shade(share) if any(row) else "none")
                for count in row
                for share in [count / (sum(row) or 1)]
            ],
        )
        for name, row in zip(names, counts, strict=True)
    ]


# --- drift over months ---


def build_drift_table(
    points: Sequence[DriftPoint],
) -> tuple[list[str], list[tuple[str | None, list[DriftPoint | None]]]]:
    """Months as columns, annotators as rows; all annotators together (None) come first."""
    months = sorted({point.month for point in points})
    known = {(point.annotator, point.month): point for point in points}
    names = sorted({point.annotator for point in points if point.annotator is not None})
    return months, [(name, [known.get((name, month)) for month in months]) for name in (None, *names)]
