"""One label for each item out of several: by majority, or by a model of who errs how.

Dawid, A. P. & Skene, A. M. (1979). Maximum likelihood estimation of observer error-rates using the EM
algorithm. Applied Statistics 28, 20-28. Each annotator has a confusion matrix: how often they say what of an
item that is truly so. The truth is not known; labels, matrices and the share of each truth are estimated
together, beginning with the shares of the labels. The likelihood of the labels never falls; the same labels
give the same result.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotations_app.domain.arrays import BoolArray, ByteArray, FloatArray, IntArray
from annotations_app.domain.label_table import LabelTable, find_starts
from annotations_app.domain.scales import NOMINAL, Measurement, Scale

MAX_ITERATIONS = 200
# Of the mean log-likelihood of an item from one iteration to the next.
TOLERANCE = 1e-7
# What never happened is given this count: no label may make a truth impossible for ever.
MIN_PROBABILITY = 1e-10
# Below it another annotator is asked.
MIN_POSTERIOR = 0.9
TIE = -1
_ROUNDING = 1e-12


class Consensus(NamedTuple):
    """What the model found. ``posterior`` (items, categories) is the probability of each truth of each item.

    ``confusion[a, t, l]`` is the probability that annotator a says l where t is true; labels without a name
    share the last annotator. ``log_likelihood`` is that of all labels, after each iteration.
    """

    posterior: FloatArray
    priors: FloatArray
    confusion: FloatArray
    log_likelihood: list[float]
    converged: bool

    @property
    def iterations(self) -> int:
        return len(self.log_likelihood)

    def labels(self, scale: Scale = NOMINAL) -> ByteArray:
        """The likeliest truth of each item, on a scale with an order the median; TIE where two are as
        likely, or the median lies between two."""
        if scale.measurement == Measurement.NOMINAL:
            return _most_frequent(self.posterior)
        below = self.posterior.cumsum(axis=1)
        lower, upper = ((below > 0.5 + by).argmax(axis=1) for by in (-_ROUNDING, _ROUNDING))
        return np.where(lower == upper, lower, TIE).astype(np.int8)


def majority_labels(counts: IntArray) -> ByteArray:
    """(items, categories) → the category given most often to each; TIE where two were given as often."""
    return _most_frequent(counts)


def fit_consensus(table: LabelTable, **options: Any) -> Consensus:
    """:func:`fit_dawid_skene` of a table of labels; its annotators by the table's names."""
    annotator = np.where(table.has_annotator, table.annotator, len(table.names))
    return fit_dawid_skene(table.item, annotator, table.label, categories=table.categories, **options)


def fit_dawid_skene(
    item: IntArray,
    annotator: IntArray,
    label: NDArray[Any],
    *,
    categories: int,
    max_iterations: int = MAX_ITERATIONS,
    tolerance: float = TOLERANCE,
) -> Consensus:
    """Labels as three arrays, sorted by item, every item with a label → what the model makes of them."""
    if not len(item):
        return Consensus(
            np.zeros((0, categories)), np.zeros(categories), np.zeros((0, categories, categories)), [], True
        )
    said = annotator * categories + label
    times = np.bincount(said, minlength=(int(annotator.max()) + 1) * categories).astype(np.float64)
    begins = find_starts(item)
    shares = np.stack(
        [np.add.reduceat(label == truth, begins, dtype=np.float64) for truth in range(categories)]
    )
    # (truths, items): whole rows are worked on.
    posterior = shares / shares.sum(axis=0)
    likelihoods: list[float] = []
    converged = False
    while not converged and len(likelihoods) < max_iterations:
        priors, confusion = _maximize(posterior, item, said, times)
        posterior, likelihood = _estimate_posterior(priors, confusion, said, times, begins)
        likelihoods.append(likelihood)
        converged = len(likelihoods) > 1 and likelihood - likelihoods[-2] < tolerance * len(begins)
    priors, confusion = _maximize(posterior, item, said, times)
    return Consensus(posterior.T, priors, confusion, likelihoods, converged)


def find_unsure(counts: IntArray, posterior: FloatArray, left: IntArray) -> BoolArray:
    """``counts`` and ``posterior`` (items, categories): labels by answer, and the probability of each answer
    by the model of Dawid and Skene; ``left`` (items,): how many more may be asked. Unsure is a reply whose
    first answer the second could still reach, or whose likeliest is below 0.9."""
    ordered = np.sort(np.pad(counts, ((0, 0), (2, 0))), axis=1)
    is_open = ordered[:, -1] - ordered[:, -2] <= left
    return np.asarray(is_open | (posterior.max(axis=1, initial=0.0) < MIN_POSTERIOR))


def _maximize(
    posterior: FloatArray, item: IntArray, cell: IntArray, cell_counts: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Shares of each truth, and (annotators, truths, labels) of what each says of it, given the posterior.

    ``times`` is how often each annotator says each thing.
    """
    categories = len(posterior)
    counted = np.empty((categories, len(cell_counts)))
    counted[0] = cell_counts
    for truth in range(1, categories):
        counted[truth] = np.bincount(cell, posterior[truth][item], len(cell_counts))
        # The probabilities of an item's truths add up to one: what is left is the first's.
        counted[0] -= counted[truth]
    # What an annotator never says is too unlikely to count.
    counted = np.where(cell_counts > 0, counted.clip(min=MIN_PROBABILITY), 0)
    confusion = counted.reshape(categories, -1, categories).transpose(1, 0, 2)
    sums = confusion.sum(axis=2, keepdims=True)
    # Of an annotator without labels nothing is known.
    confusion = np.where(sums > 0, confusion / np.where(sums > 0, sums, 1), 1 / categories)
    return posterior.mean(axis=1).clip(min=MIN_PROBABILITY), confusion


def _estimate_posterior(
    priors: FloatArray, confusion: FloatArray, cell: IntArray, cell_counts: FloatArray, item_starts: IntArray
) -> tuple[FloatArray, float]:
    """The posterior given the parameters, and the log-likelihood of all labels under them.

    Evidence is reckoned against the first truth, whose own is added to the likelihood in one sum.
    """
    evidence = np.log(np.where(confusion > 0, confusion, 1)).transpose(1, 0, 2).reshape(len(priors), -1)
    log_priors = np.log(priors)
    odds = np.zeros((len(priors), len(item_starts)))
    for truth in range(1, len(priors)):
        of_labels = (evidence[truth] - evidence[0])[cell]
        np.add.reduceat(of_labels, item_starts, out=odds[truth])
        odds[truth] += log_priors[truth] - log_priors[0]
    highest = odds.max(axis=0)
    odds -= highest
    scaled = np.exp(odds, out=odds)
    sums = scaled.sum(axis=0)
    scaled /= sums
    of_first = len(item_starts) * log_priors[0] + cell_counts @ evidence[0]
    return scaled, float(np.log(sums, out=sums).sum() + highest.sum() + of_first)


def _most_frequent(values: NDArray[Any]) -> ByteArray:
    if not len(values):
        return np.zeros(0, np.int8)
    highest = values.max(axis=1, keepdims=True)
    tied = (values == highest).sum(axis=1) > 1
    return np.where(tied, TIE, values.argmax(axis=1)).astype(np.int8)
