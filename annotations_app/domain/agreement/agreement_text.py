"""Formats an agreement report as readable text and tables."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from annotations_app.domain.agreement.agreement_report import (
    AgreementPlan,
    AgreementReport,
    Comparison,
    ConsensusReport,
    HeadlineStats,
    Statistic,
)
from annotations_app.domain.agreement.criterion_report import CriterionReport
from datasets_app.domain.wording import format_count

# Krippendorff (2004), Content Analysis, p. 241: rely on data with alpha of at least 0.800, and draw tentative
# conclusions down to 0.667.
TENTATIVE_ALPHA, RELIABLE_ALPHA = 0.667, 0.800

# More are in the JSON; a longer table is not read.
MAX_PAIRS_LISTED = 60

_COEFFICIENT_NAMES = {
    "raw_agreement": "raw agreement",
    "krippendorff_alpha": "Krippendorff's alpha",
    "gwet_ac1": "Gwet's AC1",
    "fleiss_kappa": "Fleiss' kappa",
}


def explain_headline(headline: HeadlineStats) -> str:
    """One or two sentences on what the numbers say: agreement beside what chance alone would give."""
    raw, rate, alpha = headline.raw_agreement, headline.prevalence, headline.krippendorff_alpha
    if raw.value is None or rate.value is None:
        return "Agreement is undefined until two annotators have labeled some of the same replies."
    chance = rate.value**2 + (1 - rate.value) ** 2
    said = (
        f"Two annotators of the same reply say the same in "
        f"{_format_percent(raw.value)} of cases. If they labeled "
        f"blindly, {_format_percent(rate.value)} on-brand, it would be {_format_percent(chance)}"
    )
    if alpha.value is None:
        return f"{said}. Nobody has disagreed, so that there is nothing to tell agreement from chance by."
    if alpha.value < 0:
        return f"{said}: they agree less than by chance (alpha {alpha.value:.2f})."
    way = (
        f"{said}; alpha says they have come {_format_percent(alpha.value)} "
        f"of the way from there to full agreement"
    )
    if alpha.low is None or alpha.high is None:
        return f"{way}."
    return (
        f"{way}. With other sessions of the same kind it would hardly be outside {_format_interval(alpha)}."
    )


def judge_alpha(alpha: Statistic) -> str:
    """What can be concluded from labels with this alpha; empty where it is undefined."""
    if alpha.value is None:
        return ""
    if alpha.value < TENTATIVE_ALPHA:
        return (
            "Too low to rely on these labels: discuss the most disputed replies, make the guidelines "
            "clearer, and label again."
        )
    if alpha.value < RELIABLE_ALPHA:
        return "Good enough for tentative conclusions only."
    if alpha.low is not None and alpha.low < RELIABLE_ALPHA:
        return "Good, but the interval reaches below 0.80: more labels would tell."
    return "Good: these labels can be relied on."


class Light(NamedTuple):
    """A traffic light that is told by its icon and word as well as by its color."""

    color: str
    icon: str
    word: str
    verdict: str

    @property
    def sentence(self) -> str:
        return f"{self.word} {self.verdict}".strip()


def light_alpha(alpha: Statistic) -> Light:
    verdict = judge_alpha(alpha)
    if alpha.value is None:
        return Light("none", "help", "Not known yet.", alpha.note or "")
    if alpha.value < TENTATIVE_ALPHA:
        return Light("bad", "cancel", "Low agreement.", verdict)
    if alpha.value < RELIABLE_ALPHA:
        return Light("warn", "warning", "Fair agreement.", verdict)
    return Light("good", "check_circle", "High agreement.", verdict)


def format_report(report: AgreementReport) -> str:
    """The whole report as lines of text."""
    return "\n".join(_report_lines(report))


def format_criterion(measured: CriterionReport) -> str:
    """A criterion of a schema: how often each answer was given, and the agreement on them."""
    answers = "; ".join(f"{answer.name}: {answer.labels:,}" for answer in measured.answers)
    return "\n".join([measured.title, answers, *_criterion_lines(measured), ""])


def _criterion_lines(measured: CriterionReport) -> Iterator[str]:
    yield from measured.preference_sentences
    if of_tags := measured.preference_by_tag:
        rows = [
            [tag, f"{one.wins:,}", f"{one.losses:,}", *_statistic_cells(one.win_rate)]
            for tag, one in of_tags.items()
        ]
        yield from _format_table(["tag", "wins", "losses", "win rate", "95 % interval", ""], rows)
    if measured.note:
        yield f"{measured.note}."
    if measured.alpha is not None:
        yield light_alpha(measured.alpha).sentence
        rows = [[one.name, *_statistic_cells(one.statistic)] for one in measured.statistics]
        yield from _format_table(["", "value", "95 % interval", ""], rows)
    report = measured.report
    if report is None:
        return
    head = report.headline
    yield (
        f"{format_count(head.labels, 'label')} of {format_count(head.items, 'reply', 'replies')} by "
        f"{format_count(head.annotators, 'annotator')}; {head.single:,} with only one label."
    )
    yield from _pair_lines(report)
    if report.annotators:
        yield ""
        rows = [
            [one.annotator, f"{one.labels:,}", *_comparison_cells(one.others)] for one in report.annotators
        ]
        yield from _format_table(["annotator", "labels", "n", "kappa with the others", "agreement"], rows)
    if report.consensus:
        yield ""
        replies = "; ".join(f"{answer.name}: {answer.replies:,}" for answer in measured.answers)
        yield f"Consensus of replies (Dawid-Skene, {_describe_end(report.consensus)}): {replies}."


def _report_lines(report: AgreementReport) -> Iterator[str]:
    head = report.headline
    yield (
        f"{format_count(head.labels, 'label')} of {format_count(head.items, 'reply', 'replies')} in "
        f"{format_count(head.sessions, 'session')} by {format_count(head.annotators, 'annotator')}"
        + (f", {format_count(head.unnamed, 'label')} without a name" if head.unnamed else "")
        + "."
    )
    if head.single:
        yield (
            f"{format_count(head.single, 'reply', 'replies')} with only one "
            f"label: left out of agreement, alpha and kappa."
        )
    yield ""
    rows = [["on-brand labels", *_statistic_cells(head.prevalence)]]
    rows += [[words, *_statistic_cells(getattr(head, name))] for name, words in _COEFFICIENT_NAMES.items()]
    yield from _format_table(["", "value", "95 % interval", ""], rows)
    yield ""
    yield explain_headline(head)
    if report.plan:
        yield f"{say_agreement_plan(report.plan)}."
    yield from _pair_lines(report)
    yield from _annotator_lines(report)
    yield from _part_lines(report)
    yield from _drift_lines(report)
    yield from _consensus_lines(report)
    for note in report.notes:
        yield f"Note: {note.removesuffix('.')}."
    yield f"Intervals: {report.resamples:,} resamples of whole sessions, seed {report.seed}."


def say_agreement_plan(plan: AgreementPlan) -> str:
    width = f"an interval of alpha of {plan.width:g}"
    if plan.more == 0:
        return f"{width}: reached"
    ways = []
    if plan.more is not None:
        ways.append(f"labels of about {format_count(plan.more, 'more reply', 'more replies')}")
    if plan.overlap is not None and plan.labels is not None:
        labels = format_count(plan.labels, "more label")
        ways.append(f"{plan.overlap} annotators for each reply labeled so far ({labels})")
    return f"{width}: {', or '.join(ways) or plan.note}" + (f"; {plan.note}" if ways and plan.note else "")


def _pair_lines(report: AgreementReport) -> Iterator[str]:
    if not report.pairs:
        return
    yield ""
    shown = report.pairs[:MAX_PAIRS_LISTED]
    rows = [[f"{pair.a} – {pair.b}", *_comparison_cells(pair.comparison)] for pair in shown]
    yield from _format_table(["pair", "n", "Cohen's kappa", "raw agreement"], rows)
    if len(report.pairs) > MAX_PAIRS_LISTED:
        yield f"… and {len(report.pairs) - MAX_PAIRS_LISTED:,} more; --format json has them all."


def _annotator_lines(report: AgreementReport) -> Iterator[str]:
    if not report.annotators:
        return
    yield ""
    heads = ["annotator", "labels", "on-brand", "n", "kappa with the others", "raw agreement"]
    rows = [
        [one.annotator, f"{one.labels:,}", _format_short(one.on_brand), *_comparison_cells(one.others)]
        for one in report.annotators
    ]
    yield from _format_table(heads, rows)
    for title, name in (("against gold", "gold"), ("against themselves", "repeats")):
        rows = [
            [one.annotator, *_comparison_cells(getattr(one, name))]
            for one in report.annotators
            if getattr(one, name).n
        ]
        if rows:
            yield ""
            last = "accuracy" if name == "gold" else "raw agreement"
            yield from _format_table([title, "n", "Cohen's kappa", last], rows)


def _part_lines(report: AgreementReport) -> Iterator[str]:
    for kind, parts in report.by.items():
        if not parts:
            continue
        yield ""
        rows = [
            [
                value,
                f"{part.labels:,}",
                f"{part.items:,}",
                f"{part.single:,}",
                _format_short(part.prevalence),
                *(_format_short(getattr(part, name)) for name in _COEFFICIENT_NAMES),
            ]
            for value, part in parts.items()
        ]
        yield from _format_table(
            [f"by {kind}", "labels", "replies", "single", "on-brand", "raw", "alpha", "AC1", "Fleiss"], rows
        )


def _drift_lines(report: AgreementReport) -> Iterator[str]:
    if not report.drift:
        return
    yield ""
    rows = [
        [point.month, point.annotator or "all", f"{point.labels:,}", _format_short(point.on_brand)]
        + _comparison_cells(point.others)
        for point in report.drift
    ]
    yield from _format_table(
        ["month", "annotator", "labels", "on-brand", "n", "kappa with the others", "raw agreement"], rows
    )


def _consensus_lines(report: AgreementReport) -> Iterator[str]:
    found = report.consensus
    if found is None:
        return
    yield ""
    yield (
        f"Consensus (Dawid-Skene, {_describe_end(found)}): {_format_percent(found.prior)} "
        f"truly on-brand; it differs from the "
        f"majority on {format_count(found.changed, 'reply', 'replies')}; "
        f"{format_count(found.majority_ties, 'reply', 'replies')} without a majority."
    )
    rows = [
        [annotator, *("–" if said is None else _format_percent(said) for said in (on[1], off[0]))]
        for annotator, (off, on) in found.confusion.items()
    ]
    yield from _format_table(["annotator", "says on-brand of on-brand", "off-brand of off-brand"], rows)


def _describe_end(found: ConsensusReport) -> str:
    return f"{format_count(found.iterations, 'iteration')}{'' if found.converged else ', not at rest yet'}"


# --- cells ---------------------------------------------------------------------------------------


def _statistic_cells(statistic: Statistic) -> list[str]:
    if statistic.value is None:
        return ["–", "", statistic.note]
    return [f"{statistic.value:.3f}", _format_interval(statistic), statistic.note]


def _comparison_cells(comparison: Comparison) -> list[str]:
    kappa, raw = (
        _format_with_interval(comparison.cohen_kappa),
        _format_with_interval(comparison.raw_agreement),
    )
    return [f"{comparison.n:,}", kappa, raw]


def _format_with_interval(statistic: Statistic) -> str:
    between = _format_interval(statistic)
    return f"{_format_short(statistic)} ({between})" if between else _format_short(statistic)


def _format_short(statistic: Statistic) -> str:
    return "–" if statistic.value is None else f"{statistic.value:.2f}"


def _format_interval(statistic: Statistic) -> str:
    if statistic.low is None or statistic.high is None:
        return ""
    return f"{statistic.low:.2f} to {statistic.high:.2f}"


def _format_percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _format_table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Columns as wide as they must be; the first begins at the left, numbers end at the right."""
    widths = [max(map(len, column)) for column in zip(headers, *rows, strict=True)]
    for row in (headers, *rows):
        cells = [
            cell.ljust(width) if number == 0 or not _is_numeric_column(rows, number) else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()


def _is_numeric_column(rows: Sequence[Sequence[str]], column: int) -> bool:
    return all(not row[column] or row[column][0].isdigit() or row[column][0] in "-–" for row in rows)
