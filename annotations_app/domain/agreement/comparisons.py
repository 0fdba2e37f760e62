"""Two labels of the same item, set against each other: pairs of annotators, gold, repeats, all others.

What is counted is a 2 × 2 table for each group of comparisons: how often the one said i where the other said
j.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotations_app.domain.agreement.agreement_report import Comparison, Statistic
from annotations_app.domain.agreement.coefficients import cohen_kappa
from annotations_app.domain.agreement.intervals import influence_squares, linear_interval

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Of groups times patterns: of more a table would be larger than what it saves.
MOST_KINDS = 1 << 18
ONE_ANSWER = "undefined: all labels agree"


class Observations(NamedTuple):
    """Labels and what they are compared with, sorted by session.

    ``said`` is a label, ``off`` and ``on`` say with how many off-brand and on-brand ones it is compared.
    """

    group: Ints
    said: Ints
    off: Floats
    on: Floats
    session: Ints


def compared(observations: Observations, groups: int, nothing: str) -> list[Comparison]:
    """A comparison for each group; ``nothing`` says why there is none where there is none."""
    group, said, off, on, session = observations
    place = group * 2 + said
    tables: Floats = np.empty((groups, 2, 2))
    for column, weights in enumerate((off, on)):
        tables[:, :, column] = np.bincount(place, weights, 2 * groups).reshape(groups, 2)
    influence = np.empty((2, len(group)))
    for row, moves in zip(influence, influences(tables), strict=True):
        by_off, by_on = np.ascontiguousarray(moves.reshape(-1, 2).T)
        np.add(by_off[place] * off, by_on[place] * on, out=row)
    used = (off + on) > 0
    if not used.all():
        group, session, influence = group[used], session[used], influence[:, used]
    squares, sessions = influence_squares(group, session, influence, groups)
    return comparisons(tables, squares, sessions, nothing)


class Patterns(NamedTuple):
    """How many labels of either kind items have: ``off`` and ``on`` for each pattern, ``of_item`` its
    number.
    """

    off: Ints
    on: Ints
    of_item: Ints


def patterns_of(counts: Ints) -> Patterns:
    """(items, 2) counts → the different ones. There are few, however many items there are."""
    width = int(counts[:, 1].max(initial=0)) + 1
    found, of_item = np.unique(counts[:, 0] * width + counts[:, 1], return_inverse=True)
    return Patterns(found // width, found % width, of_item)


def compared_with_others(
    group: Ints, said: Ints, item: Ints, session: Ints, patterns: Patterns, groups: int, nothing: str
) -> list[Comparison]:
    """Labels against the other labels of their items, sorted by session: :func:`compared`, with less to do.

    What a label adds hangs on its group, on what it says and on the pattern of its item: it is reckoned once
    for each of these, and looked up for each label.
    """
    number = len(patterns.off)
    if groups * number > MOST_KINDS:
        off = (patterns.off[patterns.of_item][item] - (1 - said)).astype(np.float64)
        on = (patterns.on[patterns.of_item][item] - said).astype(np.float64)
        return compared(Observations(group, said, off, on, session), groups, nothing)
    pattern = patterns.of_item[item]
    kind = (group * 2 + said) * number + pattern
    times = np.bincount(kind, minlength=groups * 2 * number).reshape(groups, 2, number)
    # (2, patterns): what is said is not one of the others.
    off = (patterns.off - np.array([[1], [0]])).astype(np.float64)
    on = (patterns.on - np.array([[0], [1]])).astype(np.float64)
    tables: Floats = np.stack([(times * off).sum(axis=2), (times * on).sum(axis=2)], axis=2)
    influence = np.empty((2, len(kind)))
    for row, moves in zip(influence, influences(tables), strict=True):
        np.take((moves[:, :, :1] * off + moves[:, :, 1:] * on).ravel(), kind, out=row)
    several = patterns.off + patterns.on > 1
    if not several.all():
        used = several[pattern]
        group, session, influence = group[used], session[used], influence[:, used]
    squares, sessions = influence_squares(group, session, influence, groups)
    return comparisons(tables, squares, sessions, nothing)


def one_each(group: Ints, said: Ints, other: NDArray[Any], session: Ints) -> Observations:
    """Labels that are compared with one other each."""
    on = other.astype(np.float64)
    return Observations(group, said, 1 - on, on, session)


def table_counts(group: Ints, cell: Ints, weight: Floats, groups: int) -> Floats:
    """(groups, 2, 2): how many comparisons fall into each cell."""
    counts: Floats = np.bincount(group * 4 + cell, weight, 4 * groups).astype(np.float64)
    return counts.reshape(groups, 2, 2)


def comparisons(tables: Floats, squares: Floats, sessions: Ints, nothing: str) -> list[Comparison]:
    """(groups, 2, 2) tables, (2, groups) squared influences on agreement and kappa → a comparison each."""
    kappas = cohen_kappa(tables)
    return [
        _comparison(table, float(kappa), spread, int(count), nothing)
        for table, kappa, spread, count in zip(tables, kappas, squares.T, sessions, strict=True)
    ]


def _comparison(table: Floats, kappa: float, squares: Floats, sessions: int, nothing: str) -> Comparison:
    number = int(table.sum())
    whole = ((int(table[0, 0]), int(table[0, 1])), (int(table[1, 0]), int(table[1, 1])))
    if not number:
        return Comparison(0, Statistic(None, note=nothing), Statistic(None, note=nothing), whole)
    raw = linear_interval(float(table.trace() / number), float(squares[0]), sessions, 0.0)
    if np.isnan(kappa):
        return Comparison(number, raw, Statistic(None, note=ONE_ANSWER), whole)
    return Comparison(number, raw, linear_interval(kappa, float(squares[1]), sessions, -1.0), whole)


def influences(tables: Floats) -> tuple[Floats, Floats]:
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
