"""Two labels of the same item, set against each other: pairs of annotators, gold, repeats, all others.

What is counted is a square table for each group of comparisons: how often the one said i where the other said
j.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotations_app.domain.agreement.agreement_report import ALL_AGREE_NOTE, Comparison, Statistic
from annotations_app.domain.agreement.coefficients import cohen_kappa
from annotations_app.domain.agreement.intervals import jackknife_interval, sum_squared_influence
from annotations_app.domain.arrays import FloatArray, IntArray
from annotations_app.domain.label_table import number_keys

# Of groups times patterns: of more a table would be larger than what it saves.
MAX_PATTERN_CELLS = 1 << 18


class Observations(NamedTuple):
    """Labels and what they are compared with, sorted by session.

    ``said`` is a label, ``others`` (categories, labels) with how many of each kind it is compared.
    """

    group: IntArray
    said: IntArray
    others: FloatArray
    session: IntArray


def compare_observations(
    observations: Observations, groups: int, weights: FloatArray, empty_note: str
) -> list[Comparison]:
    """A comparison for each group; ``empty_note`` says why there is none where there is none."""
    group, said, others, session = observations
    categories = len(others)
    place = group * categories + said
    tables: FloatArray = np.empty((groups, categories, categories))
    for column, times in enumerate(others):
        tables[:, :, column] = np.bincount(place, times, categories * groups).reshape(groups, -1)
    influence = np.zeros((2, len(group)))
    for row, moves in zip(influence, influence_gradients(tables, weights), strict=True):
        by_other = np.ascontiguousarray(moves.reshape(-1, categories).T)
        for column, times in enumerate(others):
            row += by_other[column][place] * times
    used = others.sum(axis=0) > 0
    if not used.all():
        group, session, influence = group[used], session[used], influence[:, used]
    squares, sessions = sum_squared_influence(group, session, influence, groups)
    return build_comparisons(tables, squares, sessions, weights, empty_note)


class LabelPatterns(NamedTuple):
    """How many labels of each kind items have: ``counts`` (categories, patterns), and the pattern of each
    item.
    """

    counts: IntArray
    pattern_of_item: IntArray


def find_patterns(counts: IntArray) -> LabelPatterns:
    """(items, categories) counts → the different ones. There are few, however many items there are."""
    of_item = np.zeros(len(counts), np.int64)
    found = np.zeros((1, 0), np.int64)
    for column in counts.T:
        width = int(column.max(initial=0)) + 1
        keys, of_item = number_keys(of_item * width + column)
        found = np.column_stack([found[keys // width], keys % width])
    return LabelPatterns(found.T, of_item)


def compare_with_others(
    group: IntArray,
    label: IntArray,
    item: IntArray,
    session: IntArray,
    patterns: LabelPatterns,
    groups: int,
    weights: FloatArray,
    empty_note: str,
) -> list[Comparison]:
    """Labels against the other labels of their items, sorted by session; a faster
    :func:`compare_observations`.

    What a label adds hangs on its group, on what it says and on the pattern of its item: it is reckoned once
    for each of these, and looked up for each label.
    """
    categories, number = patterns.counts.shape
    pattern = patterns.pattern_of_item[item]
    # (said, categories, patterns): what is said is not one of the others.
    others = (patterns.counts - np.eye(categories, dtype=np.int64)[:, :, None]).astype(np.float64)
    if groups * number > MAX_PATTERN_CELLS:
        compared = Observations(group, label, np.ascontiguousarray(others[label, :, pattern].T), session)
        return compare_observations(compared, groups, weights, empty_note)
    kind = (group * categories + label) * number + pattern
    times = np.bincount(kind, minlength=groups * categories * number).reshape(groups, categories, number)
    tables = np.stack([(times * others[:, column]).sum(axis=2) for column in range(categories)], axis=2)
    influence = np.zeros((2, *times.shape))
    for row, moves in zip(influence, influence_gradients(tables, weights), strict=True):
        for column in range(categories):
            row += moves[:, :, column, None] * others[:, column]
    several = patterns.counts.sum(axis=0) > 1
    if not several.all():
        used = several[pattern]
        group, session, kind = group[used], session[used], kind[used]
    squares, sessions = sum_squared_influence(group, session, influence.reshape(2, -1), groups, kind)
    return build_comparisons(tables, squares, sessions, weights, empty_note)


def pair_observations(
    group: IntArray, label: IntArray, other_label: NDArray[Any], session: IntArray, categories: int
) -> Observations:
    """Labels that are compared with one other each."""
    others = (other_label == np.arange(categories)[:, None]).astype(np.float64)
    return Observations(group, label, others, session)


def compare_two(
    label: IntArray, other_label: IntArray, session: IntArray, weights: FloatArray, empty_note: str
) -> Comparison:
    """Labels that are compared with one other each, all together; sorted by session."""
    group = np.zeros(len(label), np.int64)
    observations = pair_observations(group, label, other_label, session, len(weights))
    [comparison] = compare_observations(observations, 1, weights, empty_note)
    return comparison


def count_tables(
    group: IntArray, cell: IntArray, weight: FloatArray, groups: int, categories: int
) -> FloatArray:
    """(groups, categories, categories): how many comparisons fall into each cell."""
    cells = categories**2
    counts: FloatArray = np.bincount(group * cells + cell, weight, cells * groups).astype(np.float64)
    return counts.reshape(groups, categories, categories)


def build_comparisons(
    tables: FloatArray, squares: FloatArray, sessions: IntArray, weights: FloatArray, empty_note: str
) -> list[Comparison]:
    """(groups, categories, categories) tables, (2, groups) squared influences on agreement and kappa → a
    comparison each."""
    agreeing, kappas = (tables * weights).sum(axis=(1, 2)), cohen_kappa(tables, weights)
    return [
        _build_comparison(table, float(agreed), float(kappa), spread, int(count), empty_note)
        for table, agreed, kappa, spread, count in zip(
            tables, agreeing, kappas, squares.T, sessions, strict=True
        )
    ]


def _build_comparison(
    table: FloatArray, agreeing: float, kappa: float, squares: FloatArray, sessions: int, empty_note: str
) -> Comparison:
    number = int(table.sum())
    whole = tuple(tuple(row) for row in table.astype(np.int64).tolist())
    if not number:
        return Comparison(0, Statistic(None, note=empty_note), Statistic(None, note=empty_note), whole)
    raw = jackknife_interval(agreeing / number, float(squares[0]), sessions, 0.0)
    if np.isnan(kappa):
        return Comparison(number, raw, Statistic(None, note=ALL_AGREE_NOTE), whole)
    return Comparison(number, raw, jackknife_interval(kappa, float(squares[1]), sessions, -1.0), whole)


def influence_gradients(tables: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """How much one more comparison in a cell moves agreement and kappa: the gradients of both, (groups,
    categories, categories).
    """
    number = tables.sum(axis=(1, 2))[:, None, None]
    rows, columns = tables.sum(axis=2), tables.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = (tables * weights).sum(axis=(1, 2))[:, None, None] / number
        by_chance = (rows @ weights * columns).sum(axis=1)[:, None, None] / number**2
        raw = (weights - observed) / number
        # Of rows_i * columns_j by their weight, summed: a comparison in cell (i, j) adds the weighted columns
        # of i and rows of j.
        moved = (columns @ weights)[:, :, None] + (rows @ weights)[:, None, :]
        chance = moved / number**2 - 2 * by_chance / number
        kappa = (raw * (1 - by_chance) - (1 - observed) * chance) / (1 - by_chance) ** 2
    return np.nan_to_num(raw), np.nan_to_num(kappa, posinf=0.0, neginf=0.0)
