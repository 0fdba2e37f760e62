"""How far annotators agree: a table of labels → an :class:`AgreementReport`.

What each number is and how to read it: docs/agreement.md.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotations_app.domain.agreement.agreement_report import (
    AgreementReport,
    AnnotatorReport,
    Comparison,
    ConsensusReport,
    DriftPoint,
    Headline,
    Statistic,
)
from annotations_app.domain.agreement.coefficients import Coefficients, coefficients, item_sums
from annotations_app.domain.agreement.comparisons import (
    ONE_ANSWER,
    compared,
    compared_with_others,
    one_each,
    patterns_of,
)
from annotations_app.domain.agreement.consensus import TIE, consensus_of, majority
from annotations_app.domain.agreement.intervals import (
    bootstrap_sums,
    influence_squares,
    linear_interval,
    percentile_interval,
)
from annotations_app.domain.agreement.pairs import MOST_PAIRS, pairs_of
from annotations_app.domain.label_table import NO_GOLD, LabelTable

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

RESAMPLES = 1000
SEED = 42
# Of a part with more values only so many are measured, those with most replies.
MOST_VALUES = 100

UNNAMED_ANNOTATORS = "(no name)"
NO_LABELS = "undefined: there are no labels"
ALL_SINGLE = "undefined: no reply was labelled twice"
NO_OTHERS = "undefined: no reply was labelled by another annotator too"
NO_GOLD_LABELS = "undefined: no reply of known label was labelled"
NO_REPEATED = "undefined: no reply was shown to an annotator again"


def agreement(
    table: LabelTable,
    *,
    by: Iterable[str] = (),
    resamples: int = RESAMPLES,
    seed: int = SEED,
    gold_basis: str = "",
    consensus: bool = True,
) -> AgreementReport:
    """All that is to be said of the labels. ``by`` may name "annotator", "month", and the table's parts.

    ``consensus`` says whether the Dawid-Skene model is to be fitted as well.
    """
    by = list(by)
    notes: list[str] = []
    counts = table.counts()
    everything = headline(table, counts, resamples=resamples, seed=seed)
    pairs, left_out = pairs_of(table)
    if left_out:
        notes.append(f"{left_out:,} pairs are left out: only the {MOST_PAIRS:,} with most replies in common")
    return AgreementReport(
        headline=everything,
        pairs=pairs,
        annotators=_annotators(table, counts),
        by={kind: _by(table, counts, kind, resamples, seed, notes) for kind in by},
        drift=_drift(table, counts) if "month" in by else [],
        gold=_against_gold(table, np.zeros_like(table.annotator), 1)[0],
        repeats=_against_themselves(table, each=False)[0],
        gold_basis=gold_basis,
        consensus=_consensus(table, counts) if consensus and table.items else None,
        resamples=resamples,
        seed=seed,
        notes=notes,
    )


# --- headline ------------------------------------------------------------------------------------


def headline(table: LabelTable, counts: Ints, *, of: Any = None, resamples: int, seed: int) -> Headline:
    """The numbers of all labels, or of those that ``of`` (a mask) picks, whose ``counts`` are given."""
    given = counts.sum(axis=1)
    there = np.flatnonzero(given)
    annotators = table.annotator if of is None else table.annotator[of]
    sums = _by_session(item_sums(counts[there]), table.session[there])
    found = coefficients(sums.sum(axis=0))
    drawn = coefficients(bootstrap_sums(sums, resamples, seed)) if len(sums) > 1 else found
    times = np.bincount(annotators + 1, minlength=len(table.names) + 1)
    nothing_twice = not (given >= 2).any()

    def told(name: str, undefined: str) -> Statistic:
        value, sample = _of_category(found, name), np.atleast_1d(_of_category(drawn, name))
        if np.isnan(value):
            return Statistic(None, note=undefined)
        return percentile_interval(float(value), sample, len(sums))

    why = NO_LABELS if not len(there) else ALL_SINGLE if nothing_twice else ONE_ANSWER
    return Headline(
        labels=len(annotators),
        items=len(there),
        single=int((given == 1).sum()),
        annotators=int((times[1:] > 0).sum()),
        unnamed=int(times[0]),
        sessions=len(sums),
        prevalence=told("prevalence", NO_LABELS),
        raw_agreement=told("raw_agreement", why),
        krippendorff_alpha=told("krippendorff_alpha", why),
        gwet_ac1=told("gwet_ac1", why),
        fleiss_kappa=told("fleiss_kappa", why),
    )


def _of_category(found: Coefficients, name: str) -> Floats:
    """Of the prevalences that of on-brand; every other number as it is."""
    values: Floats = getattr(found, name)
    return values[..., 1] if name == "prevalence" else values


def _by_session(sums: Floats, session: Ints) -> Floats:
    """(items, columns), sorted by session → (sessions, columns)."""
    if not len(session):
        return sums
    begins = np.flatnonzero(np.concatenate([np.ones(1, bool), session[1:] != session[:-1]]))
    return np.add.reduceat(sums, begins, axis=0)


# --- parts ---------------------------------------------------------------------------------------


def _by(
    table: LabelTable, counts: Ints, kind: str, resamples: int, seed: int, notes: list[str]
) -> dict[str, Headline]:
    if kind == "month":
        return _by_month(table, resamples, seed)
    members = _members(table, kind)
    kept = sorted(members, key=lambda value: (-len(members[value]), value))[:MOST_VALUES]
    if len(kept) < len(members):
        notes.append(f"by {kind}: only the {MOST_VALUES} of {len(members):,} values with most replies")
    result = {}
    for value in sorted(kept):
        inside = np.zeros(table.items, bool)
        inside[members[value]] = True
        picked = np.where(inside[:, None], counts, 0)
        result[value] = headline(table, picked, of=inside[table.item], resamples=resamples, seed=seed)
    return result


def _members(table: LabelTable, kind: str) -> dict[str, Ints]:
    if kind == "annotator":
        return {name: table.item[table.annotator == number] for number, name in enumerate(table.names)}
    for part in table.parts:
        if part.kind == kind:
            return part.members
    raise ValueError(f"the table is not divided by {kind}")


def _by_month(table: LabelTable, resamples: int, seed: int) -> dict[str, Headline]:
    """The labels made in each month, set against each other only."""
    assert table.month is not None
    result = {}
    for number, month in enumerate(table.months):
        inside = table.month == number
        counts = table.counts(inside)
        result[month] = headline(table, counts, of=inside, resamples=resamples, seed=seed)
    return result


# --- annotators ----------------------------------------------------------------------------------


def _annotators(table: LabelTable, counts: Ints) -> list[AnnotatorReport]:
    number = len(table.names)
    if not number:
        return []
    said = np.bincount(table.annotator[table.named], minlength=number)
    rates = _on_brand(table, table.annotator, number)
    others = _against_others(table, counts, table.annotator, number)
    gold = _against_gold(table, table.annotator, number)
    again = _against_themselves(table, each=True)
    return [
        AnnotatorReport(name, int(said[index]), rates[index], others[index], gold[index], again[index])
        for index, name in enumerate(table.names)
    ]


def _on_brand(table: LabelTable, group: Ints, groups: int) -> list[Statistic]:
    """The share of on-brand labels of each group of labels; a group below 0 is nobody's."""
    picked = _mask(group >= 0)
    group, label, session = group[picked], table.label[picked], table.session[table.item[picked]]
    number = np.bincount(group, minlength=groups).astype(np.float64)
    rate = np.bincount(group, label, groups) / np.maximum(number, 1)
    squares, sessions = influence_squares(
        group, session, ((label - rate[group]) / number[group])[None, :], groups
    )
    return [
        linear_interval(float(rate[index]), float(squares[0, index]), int(sessions[index]), 0.0)
        if number[index]
        else Statistic(None, note=NO_LABELS)
        for index in range(groups)
    ]


def _mask(picked: NDArray[np.bool_]) -> Any:
    """What to index with: a slice where all are picked, which copies nothing."""
    return slice(None) if picked.all() else picked


def _against_others(table: LabelTable, counts: Ints, group: Ints, groups: int) -> list[Comparison]:
    """Each group's labels against the other annotators' labels of the same items, pooled.

    Labels without a name must be in no group.
    """
    named = counts if table.named.all() else table.counts(table.named)
    picked = _mask(group >= 0)
    item, label = table.item[picked], table.label[picked].astype(np.int64)
    session = table.session[item]
    return compared_with_others(group[picked], label, item, session, patterns_of(named), groups, NO_OTHERS)


def _against_gold(table: LabelTable, group: Ints, groups: int) -> list[Comparison]:
    """Columns of the tables are the gold labels."""
    gold = table.gold[table.item]
    picked = np.flatnonzero((gold != NO_GOLD) & table.named)
    said = table.label[picked].astype(np.int64)
    session = table.session[table.item[picked]]
    return compared(one_each(group[picked], said, gold[picked], session), groups, NO_GOLD_LABELS)


def _against_themselves(table: LabelTable, *, each: bool) -> list[Comparison]:
    """Rows of the tables are the first labels, columns the repeats: of ``each`` annotator, or of all."""
    again = table.repeats
    order = np.argsort(table.session[again.item], kind="stable")
    order = order[again.annotator[order] >= 0]
    whose = again.annotator[order]
    first = again.first[order].astype(np.int64)
    session = table.session[again.item[order]]
    observations = one_each(whose if each else np.zeros_like(whose), first, again.label[order], session)
    return compared(observations, len(table.names) if each else 1, NO_REPEATED)


# --- consensus ----------------------------------------------------------------------------------


def _consensus(table: LabelTable, counts: Ints) -> ConsensusReport:
    found, by_count = consensus_of(table), majority(counts)
    names = [*table.names, UNNAMED_ANNOTATORS][: len(found.confusion)]
    decided = (by_count != TIE) & (found.labels != TIE)
    return ConsensusReport(
        prior=float(found.priors[1]),
        confusion={
            name: ((float(off[0]), float(off[1])), (float(on[0]), float(on[1])))
            for name, (off, on) in zip(names, found.confusion, strict=True)
        },
        iterations=found.iterations,
        converged=found.converged,
        log_likelihood=found.log_likelihood[-1],
        majority_ties=int((by_count == TIE).sum()),
        changed=int((by_count != found.labels)[decided].sum()),
    )


# --- drift ---------------------------------------------------------------------------------------


def _drift(table: LabelTable, counts: Ints) -> list[DriftPoint]:
    """Each month's labels against all others' labels of the same items, whenever those were made."""
    assert table.month is not None
    months, names = len(table.months), len(table.names)
    of_all = np.where(table.named, table.month, -1)
    points = _points(table, counts, of_all, [(month, None) for month in table.months])
    group = np.where(table.named, table.annotator * months + table.month, -1)
    whose: list[tuple[str, str | None]] = [(month, name) for name in table.names for month in table.months]
    points += _points(table, counts, group, whose) if names else []
    return [point for point in points if point.labels]


def _points(
    table: LabelTable, counts: Ints, group: Ints, whose: list[tuple[str, str | None]]
) -> list[DriftPoint]:
    number = np.bincount(group[group >= 0], minlength=len(whose))
    rates = _on_brand(table, group, len(whose))
    others = _against_others(table, counts, group, len(whose))
    return [
        DriftPoint(month, annotator, int(number[index]), rates[index], others[index])
        for index, (month, annotator) in enumerate(whose)
    ]
