"""Labels of simulated people, whose truth is known, and how wide the interval of alpha is."""

import numpy as np
from numpy.typing import NDArray

from annotations_app.domain.agreement.agreement import measure_headline
from annotations_app.domain.label_table import IntArray, LabelTable

Matrix = NDArray[np.float64]


def simulate_labels(
    chance: np.random.Generator,
    *,
    items: int,
    sessions: int,
    raters: int = 2,
    accuracy: float = 0.9,
    alike: float = 0.05,
) -> tuple[Matrix, IntArray]:
    """(raters, items) of labels 0 and 1, and the session of each item. ``alike`` is how much replies of one
    session have in common, what is true of them and how hard they are."""
    session = np.sort(chance.integers(0, sessions, items))
    share, right = (
        chance.beta(mean * (1 / alike - 1), (1 - mean) * (1 / alike - 1), sessions)[session]
        for mean in (0.6, accuracy)
    )
    truth = chance.random(items) < share
    is_right = chance.random((raters, items)) < right
    return np.where(is_right, truth, ~truth).astype(np.float64), session


def measure_width(table: LabelTable) -> float:
    alpha = measure_headline(table, table.counts(), resamples=200, seed=1).krippendorff_alpha
    assert alpha.low is not None
    assert alpha.high is not None
    return alpha.high - alpha.low
