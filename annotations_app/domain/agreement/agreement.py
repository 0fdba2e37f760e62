"""How far annotators agree: a table of labels → an :class:`AgreementReport`.

What each number is and how to read it: docs/agreement.md.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from annotations_app.domain.agreement.agreement_plan import plan_agreement
from annotations_app.domain.agreement.agreement_report import (
    ALL_AGREE_NOTE,
    NO_LABELS_NOTE,
    NO_OVERLAP_NOTE,
    WEIGHTED_KAPPAS,
    AgreementReport,
    AnnotatorReport,
    Comparison,
    ConsensusReport,
    DriftPoint,
    HeadlineStats,
    Statistic,
)
from annotations_app.domain.agreement.coefficients import Coefficients, compute_coefficients, item_sums
from annotations_app.domain.agreement.comparisons import (
    compare_observations,
    compare_with_others,
    find_patterns,
    pair_observations,
)
from annotations_app.domain.agreement.consensus import TIE, fit_consensus, majority_labels
from annotations_app.domain.agreement.intervals import (
    jackknife_interval,
    percentile_interval,
    resample_sums,
    sum_squared_influence,
)
from annotations_app.domain.agreement.pairs import MAX_PAIRS, compare_pairs
from annotations_app.domain.arrays import BoolArray, FloatArray, IntArray
from annotations_app.domain.label_table import NO_GOLD, LabelTable, find_starts
from annotations_app.domain.scales import Weighting
from datasets_app.domain.wording import format_count

DEFAULT_RESAMPLES = 1000
DEFAULT_SEED = 42
# So many counts at once, of whole sessions.
BLOCK_CELLS = 1 << 18
# Of a part with more values only so many are measured, those with most replies.
MAX_VALUES = 100

UNNAMED_LABEL = "(no name)"
NO_OTHER_ANNOTATORS_NOTE = "undefined: no reply was labeled by another annotator too"
NO_GOLD_NOTE = "undefined: no gold reply was labeled"
NO_REPEATS_NOTE = "undefined: no reply was shown to an annotator again"


def build_agreement_report(
    table: LabelTable,
    *,
    by: Iterable[str] = (),
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
    gold_basis: str = "",
    consensus: bool = True,
    width: float | None = None,
    available: int | None = None,
) -> AgreementReport:
    """All that is to be said of the labels. ``by`` may name "annotator", "month", and the table's parts.
    ``width`` asks how many more bring alpha's interval to it, of ``available`` replies.

    ``consensus`` says whether the Dawid-Skene model is to be fitted as well.
    """
    by = list(by)
    notes: list[str] = []
    counts = table.counts()
    everything = measure_headline(table, counts, resamples=resamples, seed=seed)
    pairs, left_out = compare_pairs(table)
    if left_out:
        notes.append(f"{left_out:,} pairs are left out: only the {MAX_PAIRS:,} with most replies in common")
    if table.replaced:
        replaced = format_count(table.replaced, "earlier label")
        notes.append(f"{replaced} not counted, as the annotator labeled the same reply again")
    return AgreementReport(
        headline=everything,
        pairs=pairs,
        annotators=_measure_annotators(table, counts),
        by={kind: _measure_parts(table, counts, kind, resamples, seed, notes) for kind in by},
        drift=_measure_drift(table, counts) if "month" in by else [],
        gold=_compare_with_gold(table, np.zeros_like(table.annotator), 1)[0],
        repeats=_compare_repeats(table, by_annotator=False)[0],
        gold_basis=gold_basis,
        consensus=_measure_consensus(table, counts) if consensus and table.items else None,
        resamples=resamples,
        seed=seed,
        notes=notes + list_similar_names(table.names),
        plan=None if width is None else plan_agreement(table, width, available=available),
    )


def list_similar_names(names: Iterable[str]) -> list[str]:
    """A warning for names of annotators that differ by case or blanks only: perhaps one person, who would
    agree with nobody but themselves. Without the names."""
    groups = Counter(" ".join(unicodedata.normalize("NFKC", name).casefold().split()) for name in names)
    alike = sum(count for count in groups.values() if count > 1)
    if not alike:
        return []
    return [
        f"the names of {alike} annotators differ from another's by case or blanks only; "
        "if they are one person, give them one name, as their labels are compared with each other"
    ]


# --- headline ------------------------------------------------------------------------------------


def measure_headline(
    table: LabelTable, counts: IntArray, *, label_mask: Any = None, resamples: int, seed: int
) -> HeadlineStats:
    """The numbers of all labels, or of those that ``of`` (a mask) picks, whose ``counts`` are given."""
    given = counts.sum(axis=1)
    there = np.flatnonzero(given)
    annotators = table.annotator if label_mask is None else table.annotator[label_mask]
    weighting = table.scale.weigh(counts[given >= 2].sum(axis=0, dtype=np.float64))
    sums = _sum_by_session(counts[there], table.session[there], weighting)
    found = compute_coefficients(sums.sum(axis=0), weighting)
    drawn = compute_coefficients(resample_sums(sums, resamples, seed), weighting) if len(sums) > 1 else found
    times = np.bincount(annotators + 1, minlength=len(table.names) + 1)
    nothing_twice = not (given >= 2).any()

    def estimate(name: str, undefined: str) -> Statistic:
        value, sample = _select_value(found, name), np.atleast_1d(_select_value(drawn, name))
        if np.isnan(value):
            return Statistic(None, note=undefined)
        return percentile_interval(float(value), sample, len(sums))

    names = ["raw_agreement", "krippendorff_alpha", "gwet_ac1", "fleiss_kappa"]
    names += WEIGHTED_KAPPAS if weighting.kappas else ()
    why = NO_LABELS_NOTE if not len(there) else NO_OVERLAP_NOTE if nothing_twice else ALL_AGREE_NOTE
    return HeadlineStats(
        labels=len(annotators),
        items=len(there),
        single=int((given == 1).sum()),
        annotators=int((times[1:] > 0).sum()),
        unnamed=int(times[0]),
        sessions=len(sums),
        prevalence=estimate("prevalence", NO_LABELS_NOTE),
        **{name: estimate(name, why) for name in names},
    )


def _select_value(measured: Coefficients, name: str) -> FloatArray:
    """Of the prevalences that of the highest level; every other number as it is."""
    values: FloatArray = getattr(measured, name)
    return values[..., -1] if name == "prevalence" else values


def _sum_by_session(counts: IntArray, session: IntArray, weighting: Weighting) -> FloatArray:
    """(items, categories), sorted by session → (sessions, columns) of :func:`item_sums`."""
    step = max(1, BLOCK_CELLS // counts.shape[1])
    starts = np.unique(np.searchsorted(session, session[::step]))
    return np.concatenate(
        [
            np.add.reduceat(
                _sum_by_item(counts[start:end], weighting), find_starts(session[start:end]), axis=0
            )
            for start, end in pairwise([*starts, len(session)])
        ]
        or [item_sums(counts, weighting)]
    )


def _sum_by_item(counts: IntArray, weighting: Weighting) -> FloatArray:
    """:func:`item_sums` of each, computed once for those that are alike."""
    patterns = find_patterns(counts)
    return item_sums(patterns.counts.T, weighting)[patterns.pattern_of_item]


# --- parts ---------------------------------------------------------------------------------------


def _measure_parts(
    table: LabelTable, counts: IntArray, kind: str, resamples: int, seed: int, notes: list[str]
) -> dict[str, HeadlineStats]:
    if kind == "month":
        return _measure_months(table, resamples, seed)
    members = _items_by_value(table, kind)
    kept = sorted(members, key=lambda value: (-len(members[value]), value))[:MAX_VALUES]
    if len(kept) < len(members):
        notes.append(f"by {kind}: only the {MAX_VALUES} of {len(members):,} values with most replies")
    result = {}
    for value in sorted(kept):
        inside = np.zeros(table.items, bool)
        inside[members[value]] = True
        picked = np.where(inside[:, None], counts, 0)
        result[value] = measure_headline(
            table, picked, label_mask=inside[table.item], resamples=resamples, seed=seed
        )
    return result


def _items_by_value(table: LabelTable, kind: str) -> dict[str, IntArray]:
    if kind == "annotator":
        return {name: table.item[table.annotator == number] for number, name in enumerate(table.names)}
    for part in table.parts:
        if part.kind == kind:
            return part.members
    raise ValueError(f"the table is not divided by {kind}")


def _measure_months(table: LabelTable, resamples: int, seed: int) -> dict[str, HeadlineStats]:
    """The labels made in each month, set against each other only."""
    assert table.month is not None
    result = {}
    for number, month in enumerate(table.months):
        inside = table.month == number
        counts = table.counts(inside)
        result[month] = measure_headline(table, counts, label_mask=inside, resamples=resamples, seed=seed)
    return result


# --- annotators ----------------------------------------------------------------------------------


def _measure_annotators(table: LabelTable, counts: IntArray) -> list[AnnotatorReport]:
    number = len(table.names)
    if not number:
        return []
    said = np.bincount(table.annotator[table.has_annotator], minlength=number)
    rates = _top_rates(table, table.annotator, number)
    others = _compare_with_others(table, counts, table.annotator, number)
    gold = _compare_with_gold(table, table.annotator, number)
    again = _compare_repeats(table, by_annotator=True)
    return [
        AnnotatorReport(name, int(said[index]), rates[index], others[index], gold[index], again[index])
        for index, name in enumerate(table.names)
    ]


def _top_rates(table: LabelTable, group: IntArray, groups: int) -> list[Statistic]:
    """The share of the highest level among the labels of each group; labels with a group below 0 don't
    count."""
    picked = _as_index(group >= 0)
    group, session = group[picked], table.session[table.item[picked]]
    label = (table.label[picked] == table.categories - 1).astype(np.int8)
    number = np.bincount(group, minlength=groups).astype(np.float64)
    rate = np.bincount(group, label, groups) / np.maximum(number, 1)
    squares, sessions = sum_squared_influence(
        group, session, ((label - rate[group]) / number[group])[None, :], groups
    )
    return [
        jackknife_interval(float(rate[index]), float(squares[0, index]), int(sessions[index]), 0.0)
        if number[index]
        else Statistic(None, note=NO_LABELS_NOTE)
        for index in range(groups)
    ]


def _as_index(mask: BoolArray) -> Any:
    """What to index with: a slice where all are picked, which copies nothing."""
    return slice(None) if mask.all() else mask


def _compare_with_others(
    table: LabelTable, counts: IntArray, group: IntArray, groups: int
) -> list[Comparison]:
    """Each group's labels against the other annotators' labels of the same items, pooled.

    Labels without a name must be in no group.
    """
    named = counts if table.has_annotator.all() else table.counts(table.has_annotator)
    picked = _as_index(group >= 0)
    item, label = table.item[picked], table.label[picked]
    session = table.session[item]
    return compare_with_others(
        group[picked],
        label,
        item,
        session,
        find_patterns(named),
        groups,
        table.weights,
        NO_OTHER_ANNOTATORS_NOTE,
    )


def _compare_with_gold(table: LabelTable, group: IntArray, groups: int) -> list[Comparison]:
    """Columns of the tables are the gold labels."""
    gold = table.gold[table.item]
    picked = np.flatnonzero((gold != NO_GOLD) & table.has_annotator)
    said = table.label[picked].astype(np.int64)
    session = table.session[table.item[picked]]
    return compare_observations(
        pair_observations(group[picked], said, gold[picked], session, table.categories),
        groups,
        table.weights,
        NO_GOLD_NOTE,
    )


def _compare_repeats(table: LabelTable, *, by_annotator: bool) -> list[Comparison]:
    """Rows of the tables are the first labels, columns the repeats: of ``each`` annotator, or of all."""
    again = table.repeats
    order = np.argsort(table.session[again.item], kind="stable")
    order = order[again.annotator[order] >= 0]
    whose = again.annotator[order]
    first = again.first[order].astype(np.int64)
    session = table.session[again.item[order]]
    observations = pair_observations(
        whose if by_annotator else np.zeros_like(whose), first, again.label[order], session, table.categories
    )
    return compare_observations(
        observations, len(table.names) if by_annotator else 1, table.weights, NO_REPEATS_NOTE
    )


# --- consensus ----------------------------------------------------------------------------------


def _read_row(said: FloatArray, is_known: bool) -> tuple[float | None, ...]:
    return tuple(said.tolist()) if is_known else (None,) * len(said)


def _measure_consensus(table: LabelTable, counts: IntArray) -> ConsensusReport:
    found, by_count = fit_consensus(table), majority_labels(counts)
    names = [*table.names, UNNAMED_LABEL][: len(found.confusion)]
    by_model = found.labels(table.scale)
    decided = (by_count != TIE) & (by_model != TIE)
    given = counts.sum(axis=0) > 0  # of a class that no reply was given nothing is known
    return ConsensusReport(
        prior=float(found.priors[-1]),
        confusion={
            name: tuple(_read_row(row, bool(known)) for row, known in zip(said, given, strict=True))
            for name, said in zip(names, found.confusion, strict=True)
        },
        iterations=found.iterations,
        converged=found.converged,
        log_likelihood=found.log_likelihood[-1],
        majority_ties=int((by_count == TIE).sum()),
        changed=int((by_count != by_model)[decided].sum()),
        replies=tuple(np.bincount(by_model[by_model != TIE], minlength=table.categories).tolist()),
    )


# --- drift ---------------------------------------------------------------------------------------


def _measure_drift(table: LabelTable, counts: IntArray) -> list[DriftPoint]:
    """Each month's labels against all others' labels of the same items, whenever those were made."""
    assert table.month is not None
    months, names = len(table.months), len(table.names)
    of_all = np.where(table.has_annotator, table.month, -1)
    points = _drift_points(table, counts, of_all, [(month, None) for month in table.months])
    group = np.where(table.has_annotator, table.annotator * months + table.month, -1)
    whose: list[tuple[str, str | None]] = [(month, name) for name in table.names for month in table.months]
    points += _drift_points(table, counts, group, whose) if names else []
    return [point for point in points if point.labels]


def _drift_points(
    table: LabelTable, counts: IntArray, group: IntArray, groups: list[tuple[str, str | None]]
) -> list[DriftPoint]:
    number = np.bincount(group[group >= 0], minlength=len(groups))
    rates = _top_rates(table, group, len(groups))
    others = _compare_with_others(table, counts, group, len(groups))
    return [
        DriftPoint(month, annotator, int(number[index]), rates[index], others[index])
        for index, (month, annotator) in enumerate(groups)
    ]
