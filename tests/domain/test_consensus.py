"""One label out of several: by majority, and by a model of who errs how."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from annotations_app.domain.agreement.consensus import (
    TIE,
    Consensus,
    fit_consensus,
    fit_dawid_skene,
    majority_labels,
)
from annotations_app.domain.scales import Measurement, Scale
from tests.domain.ratings import Matrix, make_label_table, rating_matrices

pytestmark = pytest.mark.xdist_group("peers")

few = settings(max_examples=25, deadline=None)


def fitted(matrix: Matrix, categories: int, **limits: float) -> Consensus:
    item, annotator = np.nonzero(~np.isnan(matrix.T))
    label = matrix[annotator, item].astype(np.int64) - 1
    return fit_dawid_skene(item, annotator, label, categories=categories, **limits)  # type: ignore[arg-type]


def test_the_most_frequent_label_wins_and_ties_are_told() -> None:
    counts = np.array([[2, 1], [1, 1], [0, 1], [0, 3], [2, 2]])
    assert majority_labels(counts).tolist() == [0, TIE, 1, 1, TIE]


@given(rating_matrices(categories=3, raters=5, items=15), st.sampled_from([1, 4, 12]))
@few
def test_it_is_what_crowd_kit_finds_after_as_many_iterations(matrix: Matrix, iterations: int) -> None:
    import pandas as pd
    from crowdkit.aggregation import DawidSkene

    item, annotator = np.nonzero(~np.isnan(matrix.T))
    frame = pd.DataFrame({"task": item, "worker": annotator, "label": matrix[annotator, item].astype(int)})
    used = sorted(frame["label"].unique())
    theirs = DawidSkene(n_iter=iterations, tol=-1).fit(frame)
    renamed = np.searchsorted(used, matrix) + 1.0
    renamed[np.isnan(matrix)] = np.nan
    ours = fitted(renamed, len(used), max_iterations=iterations, tolerance=-1)
    assert ours.iterations == iterations
    probabilities: NDArray[np.float64] = theirs.probas_.sort_index()[used].to_numpy()  # type: ignore[union-attr]
    assert ours.posterior == pytest.approx(probabilities, abs=1e-5)
    assert ours.priors == pytest.approx(theirs.priors_[used].to_numpy(), abs=1e-5)  # type: ignore[index]


@given(rating_matrices(categories=2))
@few
def test_the_likelihood_never_falls_and_the_result_is_always_the_same(matrix: Matrix) -> None:
    found = fitted(matrix, 2)
    steps = np.diff(found.log_likelihood)
    assert (steps > -1e-6).all()
    assert np.array_equal(found.posterior, fitted(matrix, 2).posterior)
    assert found.posterior.sum(axis=1) == pytest.approx(1)
    assert found.confusion.sum(axis=2) == pytest.approx(1)


def simulated(chance: np.random.Generator, items: int) -> tuple[NDArray[np.bool_], Matrix, Matrix]:
    """Truth, labels by five annotators with 30 % missing, and how often each says on-brand of each truth."""
    right = np.array([[0.95, 0.9], [0.9, 0.95], [0.85, 0.8], [0.6, 0.7], [0.3, 0.2]])
    truth = chance.random(items) < 0.7
    says = np.where(truth, right[:, 1:], 1 - right[:, :1])
    matrix = (chance.random((5, items)) < says).astype(float)
    matrix[chance.random(matrix.shape) < 0.3] = np.nan
    matrix[0, np.isnan(matrix).all(axis=0)] = 1
    return truth, matrix, right


def test_it_finds_out_who_errs_how_and_does_better_than_the_majority() -> None:
    truth, matrix, right = simulated(np.random.default_rng(6), 6000)
    table = make_label_table(matrix)
    found = fit_consensus(table)
    assert found.converged
    assert found.priors[1] == pytest.approx(0.7, abs=0.03)
    assert np.diagonal(found.confusion, axis1=1, axis2=2) == pytest.approx(right, abs=0.06)
    by_count = majority_labels(table.counts())
    assert (found.labels() == truth).mean() > (by_count == truth).mean() + 0.05


def test_labels_that_all_agree_and_no_labels_at_all() -> None:
    found = fit_consensus(make_label_table(np.ones((3, 4))))
    assert found.labels().tolist() == [1] * 4
    assert found.converged
    assert np.isfinite(found.log_likelihood).all()
    nothing = fit_consensus(make_label_table(np.zeros((0, 0))))
    assert nothing.iterations == 0
    assert len(nothing.labels()) == 0


def test_it_says_so_if_it_has_not_come_to_rest() -> None:
    _, matrix, _ = simulated(np.random.default_rng(8), 300)
    found = fitted(matrix + 1, 2, max_iterations=2)
    assert (found.iterations, found.converged) == (2, False)


def test_on_a_scale_the_median_is_the_consensus() -> None:
    posterior = np.array([[0.3, 0.3, 0.4], [0.5, 0.1, 0.4], [0.6, 0.0, 0.4], [0.1, 0.45, 0.45]])
    found = Consensus(posterior, posterior.mean(axis=0), np.zeros((0, 3, 3)), [], True)
    assert found.labels().tolist() == [2, 0, 0, TIE]
    assert found.labels(Scale(Measurement.ORDINAL)).tolist() == [1, TIE, 0, 1]
