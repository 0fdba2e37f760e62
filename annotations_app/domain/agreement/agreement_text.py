"""A report of agreement in words and tables that a person likes to read."""

from collections.abc import Iterator, Sequence

from annotations_app.domain.agreement.agreement_report import AgreementReport, Comparison, Headline, Statistic

# More are in the JSON; a longer table is not read.
PAIRS_SHOWN = 60

_NAMES = {
    "raw_agreement": "raw agreement",
    "krippendorff_alpha": "Krippendorff's alpha",
    "gwet_ac1": "Gwet's AC1",
    "fleiss_kappa": "Fleiss' kappa",
}


def meaning(headline: Headline) -> str:
    """One or two sentences on what the numbers say: agreement beside what chance alone would give."""
    raw, rate, alpha = headline.raw_agreement, headline.prevalence, headline.krippendorff_alpha
    if raw.value is None or rate.value is None:
        return "Nothing can be said of agreement before some replies have been labelled by two annotators."
    chance = rate.value**2 + (1 - rate.value) ** 2
    said = (
        f"Two annotators of the same reply say the same in {_percent(raw.value)} of cases. If they labelled "
        f"blindly, {_percent(rate.value)} on-brand, it would be {_percent(chance)}"
    )
    if alpha.value is None:
        return f"{said}. Nobody has disagreed, so that there is nothing to tell agreement from chance by."
    if alpha.value < 0:
        return f"{said}: they agree less than by chance (alpha {alpha.value:.2f})."
    way = f"{said}; alpha says they have come {_percent(alpha.value)} of the way from there to full agreement"
    if alpha.low is None or alpha.high is None:
        return f"{way}."
    return f"{way}. With other sessions of the same kind it would hardly be outside {_interval(alpha)}."


def as_text(report: AgreementReport) -> str:
    """The whole report as lines of text."""
    return "\n".join(_lines(report))


def _lines(report: AgreementReport) -> Iterator[str]:
    head = report.headline
    yield (
        f"{_counted(head.labels, 'label')} of {_counted(head.items, 'reply')} in "
        f"{_counted(head.sessions, 'session')} by {_counted(head.annotators, 'annotator')}"
        + (f", {_counted(head.unnamed, 'label')} without a name" if head.unnamed else "")
        + "."
    )
    if head.single:
        yield f"{_counted(head.single, 'reply')} with only one label: left out of agreement, alpha and kappa."
    yield ""
    rows = [["on-brand labels", *_cells(head.prevalence)]]
    rows += [[words, *_cells(getattr(head, name))] for name, words in _NAMES.items()]
    yield from _table(["", "value", "95 % interval", ""], rows)
    yield ""
    yield meaning(head)
    yield from _pairs(report)
    yield from _annotators(report)
    yield from _parts(report)
    yield from _drift(report)
    yield from _consensus(report)
    for note in report.notes:
        yield f"Note: {note}."
    yield f"Intervals: {report.resamples:,} resamples of whole sessions, seed {report.seed}."


def _pairs(report: AgreementReport) -> Iterator[str]:
    if not report.pairs:
        return
    yield ""
    shown = report.pairs[:PAIRS_SHOWN]
    rows = [[f"{pair.a} – {pair.b}", *_compared(pair.comparison)] for pair in shown]
    yield from _table(["pair", "n", "Cohen's kappa", "raw agreement"], rows)
    if len(report.pairs) > PAIRS_SHOWN:
        yield f"… and {len(report.pairs) - PAIRS_SHOWN:,} more; --format json has them all."


def _annotators(report: AgreementReport) -> Iterator[str]:
    if not report.annotators:
        return
    yield ""
    heads = ["annotator", "labels", "on-brand", "n", "kappa with the others", "raw agreement"]
    rows = [
        [one.annotator, f"{one.labels:,}", _short(one.on_brand), *_compared(one.others)]
        for one in report.annotators
    ]
    yield from _table(heads, rows)
    for title, name in (("against gold", "gold"), ("against themselves", "repeats")):
        rows = [
            [one.annotator, *_compared(getattr(one, name))]
            for one in report.annotators
            if getattr(one, name).n
        ]
        if rows:
            yield ""
            last = "accuracy" if name == "gold" else "raw agreement"
            yield from _table([title, "n", "Cohen's kappa", last], rows)


def _parts(report: AgreementReport) -> Iterator[str]:
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
                _short(part.prevalence),
                *(_short(getattr(part, name)) for name in _NAMES),
            ]
            for value, part in parts.items()
        ]
        yield from _table(
            [f"by {kind}", "labels", "replies", "single", "on-brand", "raw", "alpha", "AC1", "Fleiss"], rows
        )


def _drift(report: AgreementReport) -> Iterator[str]:
    if not report.drift:
        return
    yield ""
    rows = [
        [point.month, point.annotator or "all", f"{point.labels:,}", _short(point.on_brand)]
        + _compared(point.others)
        for point in report.drift
    ]
    yield from _table(
        ["month", "annotator", "labels", "on-brand", "n", "kappa with the others", "raw agreement"], rows
    )


def _consensus(report: AgreementReport) -> Iterator[str]:
    found = report.consensus
    if found is None:
        return
    yield ""
    ended = f"{_counted(found.iterations, 'iteration')}{'' if found.converged else ', not at rest yet'}"
    yield (
        f"Consensus (Dawid-Skene, {ended}): {_percent(found.prior)} truly on-brand; it differs from the "
        f"majority on {_counted(found.changed, 'reply')}; "
        f"{_counted(found.majority_ties, 'reply')} without a majority."
    )
    rows = [
        [annotator, _percent(on[1]), _percent(off[0])] for annotator, (off, on) in found.confusion.items()
    ]
    yield from _table(["annotator", "says on-brand of on-brand", "off-brand of off-brand"], rows)


# --- cells ---------------------------------------------------------------------------------------


def _cells(statistic: Statistic) -> list[str]:
    if statistic.value is None:
        return ["–", "", statistic.note]
    return [f"{statistic.value:.3f}", _interval(statistic), statistic.note]


def _compared(comparison: Comparison) -> list[str]:
    kappa, raw = _with_interval(comparison.cohen_kappa), _with_interval(comparison.raw_agreement)
    return [f"{comparison.n:,}", kappa, raw]


def _with_interval(statistic: Statistic) -> str:
    between = _interval(statistic)
    return f"{_short(statistic)} ({between})" if between else _short(statistic)


def _short(statistic: Statistic) -> str:
    return "–" if statistic.value is None else f"{statistic.value:.2f}"


def _interval(statistic: Statistic) -> str:
    if statistic.low is None or statistic.high is None:
        return ""
    return f"{statistic.low:.2f} to {statistic.high:.2f}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _counted(number: int, unit: str) -> str:
    several = "replies" if unit == "reply" else f"{unit}s"
    return f"{number:,} {unit if number == 1 else several}"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Columns as wide as they must be; the first begins at the left, numbers end at the right."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    for row in (heads, *rows):
        cells = [
            cell.ljust(width) if number == 0 or not _is_number(rows, number) else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()


def _is_number(rows: Sequence[Sequence[str]], column: int) -> bool:
    return all(not row[column] or row[column][0].isdigit() or row[column][0] in "-–" for row in rows)
