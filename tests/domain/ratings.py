"""Ratings as the papers print them, and at random, for tests of agreement."""

from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from annotations_app.domain.agreement.coefficients import Coefficients, compute_coefficients, item_sums
from annotations_app.domain.label_table import LabelTable, build_label_table, order_by_session
from annotations_app.domain.scales import NOMINAL, Scale

Matrix = NDArray[np.float64]


def parse_matrix(rows: list[str]) -> Matrix:
    """One line a rater, one sign an item, a dot for none → (raters, items), NaN for none."""
    return np.array([[np.nan if sign == "." else float(sign) for sign in row.split()] for row in rows])


def count_ratings(matrix: Matrix, categories: int = 0) -> NDArray[np.int64]:
    """(raters, items) with values from 1 → (items, categories)."""
    values = range(1, (categories or int(np.nanmax(matrix))) + 1)
    return np.stack([(matrix == value).sum(axis=0) for value in values], axis=1)


@st.composite
def rating_matrices(draw: st.DrawFn, categories: int = 4, raters: int = 6, items: int = 12) -> Matrix:
    """Ratings from 1, some missing; every item has one, and two items have two of different value."""
    seed = draw(st.integers(0, 2**32 - 1))
    chance = np.random.default_rng(seed)
    shape = (draw(st.integers(2, raters)), draw(st.integers(2, items)))
    truth = chance.integers(1, categories + 1, size=shape[1])
    matrix = np.where(
        chance.random(shape) < draw(st.sampled_from([0.3, 0.6, 0.9])),
        truth,
        chance.integers(1, categories + 1, size=shape),
    ).astype(float)
    matrix[chance.random(shape) < draw(st.sampled_from([0.0, 0.1, 0.4]))] = np.nan
    empty = np.isnan(matrix).all(axis=0)
    matrix[0, empty] = 1
    matrix[:2, :2] = [[1, 1], [2, 2]]
    return matrix


def make_label_table(matrix: Matrix, session: Any = None, names: list[str] | None = None) -> LabelTable:
    """(raters, items) of codes and NaN → the table; without sessions each item is its own."""
    raters, items = matrix.shape
    given = np.arange(items) if session is None else np.asarray(session)
    order, place, sessions = order_by_session(given)
    rater, item = np.nonzero(~np.isnan(matrix))
    names = names or [f"rater {number:02}" for number in range(raters)]
    label = matrix[rater, item].astype(np.int8)
    categories = max(2, int(label.max(initial=0)) + 1)
    return build_label_table(names, place[item], rater, label, sessions, categories=categories)


def compute_from_counts(counts: Any, scale: Scale = NOMINAL) -> Coefficients:
    """The coefficients of all items of a count matrix (items, categories)."""
    weighting = scale.weigh(counts[counts.sum(axis=1) >= 2].sum(axis=0, dtype=float))
    return compute_coefficients(item_sums(counts, weighting).sum(axis=0), weighting)
