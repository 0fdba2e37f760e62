"""Fits the weights: logistic regression over hashed features, one for each sort of candidate."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from datasets_app.domain.pii.learned.candidates import DATE, NUMBER
from datasets_app.domain.pii.learned.features import BUCKETS, hash_feature, list_features
from scripts.detection_model.examples import Example

# The inverse of the penalty of large weights.
STRENGTHS = {NUMBER: 0.3, DATE: 0.3}
_KNOWN: dict[tuple[str, tuple[str, str]], list[int]] = {}


def list_buckets(example: Example) -> list[int]:
    buckets: list[int] = []
    sort = example.candidate.sort
    for feature in list_features(example.row.text, example.candidate, example.row.question):
        known = _KNOWN.get((sort, feature))
        if known is None:
            known = _KNOWN[sort, feature] = hash_feature(sort, feature)
        buckets += known
    return buckets


def make_matrix(examples: Sequence[Example], buckets: int = BUCKETS) -> Any:
    indices: list[Any] = []
    starts = [0]
    for example in examples:
        row = np.unique(np.array(list_buckets(example), dtype=np.int32) % buckets)
        indices.append(row)
        starts.append(starts[-1] + len(row))
    flat = np.concatenate(indices)
    return csr_matrix(
        (np.ones(len(flat), dtype=np.float64), flat, np.array(starts)), shape=(len(examples), buckets)
    )


def weigh(examples: Sequence[Example]) -> Any:
    """A group counts by the root of its examples, so that long texts don't outweigh short ones."""
    sizes: dict[tuple[str, bool], int] = defaultdict(int)
    for example in examples:
        sizes[example.row.group, bool(example.kind)] += 1
    weights = np.array([sizes[example.row.group, bool(example.kind)] ** -0.5 for example in examples])
    weights *= np.array([0.5 if not example.row.is_reliable else 1.0 for example in examples])
    return weights / weights.mean()


def fit(matrix: Any, labels: Any, weights: Any, strength: float = STRENGTHS[NUMBER]) -> Any:
    """The weight of each bucket, for the logarithm of the odds that a candidate is personal."""
    model = LogisticRegression(
        C=strength, solver="liblinear", fit_intercept=False, random_state=1, max_iter=60
    )
    model.fit(matrix, labels, sample_weight=weights)
    return model.coef_[0]
