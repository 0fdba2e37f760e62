"""Two labels of the same item, set against each other: pairs of annotators, gold, repeats, all others.

What is counted is a 2 × 2 table for each group of comparisons: how often the one said i where the other said
j.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotations_app.domain.agreement.agreement_report import Comparison, Statistic
from annotations_app.domain.agreement.coefficients import cohen_kappa
from annotations_app.domain.agreement.intervals import jackknife_interval, sum_squared_influence

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Of groups times patterns: of more a table would be larger than what it saves.
MAX_PATTERN_CELLS = 1 << 18
ALL_AGREE_NOTE = "undefined: all labels agree"


class Observations(NamedTuple):
    """Labels and what they are compared with, sorted by session.

    ``said`` is a label, ``off`` and ``on`` say with how many off-brand and on-brand ones it is compared.
    """

    group: IntArray
    said: IntArray
    off: FloatArray
    on: FloatArray
    session: IntArray


def compare_observations(observations: Observations, groups: int, empty_note: str) -> list[Comparison]:
    """A comparison for each group; ``nothing`` says why there is none where there is none."""
    group, said, off, on, session = observations
    place = group * 2 + said
    tables: FloatArray = np.empty((groups, 2, 2))
    for column, weights in enumerate((off, on)):
        tables[:, :, column] = np.bincount(place, weights, 2 * groups).reshape(groups, 2)
    influence = np.empty((2, len(group)))
    for row, moves in zip(influence, influence_gradients(tables), strict=True):
        by_off, by_on = np.ascontiguousarray(moves.reshape(-1, 2).T)
        np.add(by_off[place] * off, by_on[place] * on, out=row)
    used = (off + on) > 0
    if not used.all():
        group, session, influence = group[used], session[used], influence[:, used]
    squares, sessions = sum_squared_influence(group, session, influence, groups)
    return build_comparisons(tables, squares, sessions, empty_note)


class LabelPatterns(NamedTuple):
    """How many labels of either kind items have: ``off`` and ``on`` for each pattern, ``of_item`` its
    number.
    """

    off: IntArray
    on: IntArray
    pattern_of_item: IntArray


def find_patterns(counts: IntArray) -> LabelPatterns:
    """(items, 2) counts → the different ones. There are few, however many items there are."""
    width = int(counts[:, 1].max(initial=0)) + 1
    found, of_item = np.unique(counts[:, 0] * width + counts[:, 1], return_inverse=True)
    return LabelPatterns(found // width, found % width, of_item)


def compare_with_others(
    group: IntArray,
    label: IntArray,
    item: IntArray,
    session: IntArray,
    patterns: LabelPatterns,
    groups: int,
    empty_note: str,
) -> list[Comparison]:
    """Labels against the other labels of their items, sorted by session; a faster
    :func:`compare_observations`.

    What a label adds hangs on its group, on what it says and on the pattern of its item: it is reckoned once
    for each of these, and looked up for each label.
    """
    number = len(patterns.off)
    if groups * number > MAX_PATTERN_CELLS:
        off = (patterns.off[patterns.pattern_of_item][item] - (1 - label)).astype(np.float64)
        on = (patterns.on[patterns.pattern_of_item][item] - label).astype(np.float64)
        return compare_observations(Observations(group, label, off, on, session), groups, empty_note)
    pattern = patterns.pattern_of_item[item]
    kind = (group * 2 + label) * number + pattern
    times = np.bincount(kind, minlength=groups * 2 * number).reshape(groups, 2, number)
    # (2, patterns): what is said is not one of the others.
    off = (patterns.off - np.array([[1], [0]])).astype(np.float64)
    on = (patterns.on - np.array([[0], [1]])).astype(np.float64)
    tables: FloatArray = np.stack([(times * off).sum(axis=2), (times * on).sum(axis=2)], axis=2)
    influence = np.empty((2, len(kind)))
    for row, moves in zip(influence, influence_gradients(tables), strict=True):
        np.take((moves[:, :, :1] * off + moves[:, :, 1:] * on).ravel(), kind, out=row)
    several = patterns.off + patterns.on > 1
    if not several.all():
        used = several[pattern]
        group, session, influence = group[used], session[used], influence[:, used]
    squares, sessions = sum_squared_influence(group, session, influence, groups)
    return build_comparisons(tables, squares, sessions, empty_note)


def pair_observations(
    group: IntArray, label: IntArray, other_label: NDArray[Any], session: IntArray
) -> Observations:
    """Labels that are compared with one other each."""
    on = other_label.astype(np.float64)
    return Observations(group, label, 1 - on, on, session)


def count_tables(group: IntArray, cell: IntArray, weight: FloatArray, groups: int) -> FloatArray:
    """(groups, 2, 2): how many comparisons fall into each cell."""
    counts: FloatArray = np.bincount(group * 4 + cell, weight, 4 * groups).astype(np.float64)
    return counts.reshape(groups, 2, 2)


def build_comparisons(
    tables: FloatArray, squares: FloatArray, sessions: IntArray, empty_note: str
) -> list[Comparison]:
    """(groups, 2, 2) tables, (2, groups) squared influences on agreement and kappa → a comparison each."""
    kappas = cohen_kappa(tables)
    return [
        _build_comparison(table, float(kappa), spread, int(count), empty_note)
        for table, kappa, spread, count in zip(tables, kappas, squares.T, sessions, strict=True)
    ]


def _build_comparison(
    table: FloatArray, kappa: float, squares: FloatArray, sessions: int, empty_note: str
) -> Comparison:
    number = int(table.sum())
    whole = ((int(table[0, 0]), int(table[0, 1])), (int(table[1, 0]), int(table[1, 1])))
    if not number:
        return Comparison(0, Statistic(None, note=empty_note), Statistic(None, note=empty_note), whole)
    raw = jackknife_interval(float(table.trace() / number), float(squares[0]), sessions, 0.0)
    if np.isnan(kappa):
        return Comparison(number, raw, Statistic(None, note=ALL_AGREE_NOTE), whole)
    return Comparison(number, raw, jackknife_interval(kappa, float(squares[1]), sessions, -1.0), whole)


def influence_gradients(tables: FloatArray) -> tuple[FloatArray, FloatArray]:
    """How much one more comparison in a cell moves agreement and kappa: the gradients of both, (groups, 2,
    2).
    """
    number = tables.sum(axis=(1, 2))[:, None, None]
    rows, columns = tables.sum(axis=2), tables.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = np.trace(tables, axis1=1, axis2=2)[:, None, None] / number
        by_chance = (rows * columns).sum(axis=1)[:, None, None] / number**2
        raw = (np.eye(2) - observed) / number
        # Of rows_i * columns_i summed: a comparison in cell (i, j) adds columns_i and rows_j.
        chance = (columns[:, :, None] + rows[:, None, :]) / number**2 - 2 * by_chance / number
        kappa = (raw * (1 - by_chance) - (1 - observed) * chance) / (1 - by_chance) ** 2
    return np.nan_to_num(raw), np.nan_to_num(kappa, posinf=0.0, neginf=0.0)
