"""Which replies another annotator is asked about: where more answers could change the result."""

import numpy as np

from annotations_app.domain.arrays import BoolArray, FloatArray, IntArray

MIN_POSTERIOR = 0.9


def find_unsure(counts: IntArray, posterior: FloatArray, left: IntArray) -> BoolArray:
    """``counts`` and ``posterior`` (items, categories): labels by answer, and the probability of each answer
    by the model of Dawid and Skene; ``left`` (items,): how many more may be asked. Unsure is a reply whose
    first answer the second could still reach, or whose likeliest is below 0.9."""
    ordered = np.sort(np.pad(counts, ((0, 0), (2, 0))), axis=1)
    is_open = ordered[:, -1] - ordered[:, -2] <= left
    return np.asarray(is_open | (posterior.max(axis=1, initial=0.0) < MIN_POSTERIOR))
