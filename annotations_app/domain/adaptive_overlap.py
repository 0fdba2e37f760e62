"""Which replies another annotator is asked about: where those so far differ, or are likely to be wrong."""

import numpy as np
from numpy.typing import NDArray

from annotations_app.domain.label_table import FloatArray, IntArray

MIN_POSTERIOR = 0.9


def find_unsure(counts: IntArray, posterior: FloatArray) -> NDArray[np.bool_]:
    """Both (items, categories): labels by answer, and the probability of each answer by the model of Dawid
    and Skene. Unsure is a reply without an answer that most gave, or whose likeliest is below 0.9."""
    most = counts.max(axis=1, initial=0)
    return np.asarray((2 * most <= counts.sum(axis=1)) | (posterior.max(axis=1, initial=0.0) < MIN_POSTERIOR))
