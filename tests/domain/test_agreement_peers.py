"""On random ratings our coefficients are those of packages that others trust.

To import them takes seconds, so only the process that runs these tests does.
"""

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from annotations_app.domain.agreement.coefficients import cohen_kappa
from annotations_app.domain.agreement.distance_alpha import measure_alpha
from annotations_app.domain.scales import (
    NOMINAL,
    Measurement,
    Scale,
    jaccard_distances,
    linear_weights,
    masi_distances,
    quadratic_weights,
    ratio_distances,
    squared_distances,
)
from tests.domain.ratings import (
    Matrix,
    compute_from_counts,
    count_ratings,
    make_label_table,
    rating_matrices,
)

pytestmark = pytest.mark.xdist_group("peers")

EXACTNESS = 1e-9
often = settings(max_examples=60, deadline=None)


def close(ours: Any, theirs: Any) -> None:
    assert float(ours) == pytest.approx(float(theirs), abs=EXACTNESS)


@given(rating_matrices())
@often
def test_krippendorffs_alpha(matrix: Matrix) -> None:
    import krippendorff

    close(
        compute_from_counts(count_ratings(matrix)).krippendorff_alpha,
        krippendorff.alpha(reliability_data=matrix, level_of_measurement="nominal"),
    )


ORDINAL, INTERVAL = Scale(Measurement.ORDINAL), Scale(Measurement.INTERVAL, (1, 2, 5, 9))
scales = st.sampled_from([NOMINAL, ORDINAL, INTERVAL])


@given(rating_matrices(), scales)
@often
def test_krippendorffs_alpha_of_any_scale(matrix: Matrix, scale: Scale) -> None:
    import krippendorff

    positions = np.array([0, *(scale.positions or (1, 2, 3, 4))], float)
    values = np.where(np.isnan(matrix), np.nan, positions[np.nan_to_num(matrix).astype(int)])
    close(
        compute_from_counts(count_ratings(matrix, 4), scale).krippendorff_alpha,
        krippendorff.alpha(reliability_data=values, level_of_measurement=scale.measurement),
    )


POSITIONS = np.array([0, 1, 2.5, 9])


@given(rating_matrices(), st.sampled_from([(squared_distances, "interval"), (ratio_distances, "ratio")]))
@often
def test_alpha_of_numbers(matrix: Matrix, scale: Any) -> None:
    import krippendorff

    distances, name = scale
    values = np.where(np.isnan(matrix), np.nan, POSITIONS[np.nan_to_num(matrix, nan=1).astype(int) - 1])
    close(
        measure_alpha(make_label_table(matrix - 1), distances(POSITIONS)).value,
        krippendorff.alpha(reliability_data=values, level_of_measurement=name),
    )


@given(rating_matrices(categories=7), st.booleans())
@often
def test_alpha_of_sets(matrix: Matrix, is_masi: bool) -> None:
    """By the distances of NLTK, as two members or more; its alpha leaves no label out."""
    from nltk.metrics.agreement import AnnotationTask
    from nltk.metrics.distance import jaccard_distance, masi_distance

    sets = [frozenset(tag for tag in range(3) if code >> tag & 1) for code in range(8)]
    several = matrix[:, (~np.isnan(matrix)).sum(axis=0) >= 2]
    said = [
        (str(rater), str(item), sets[int(several[rater, item])])
        for rater, item in zip(*np.nonzero(~np.isnan(several)), strict=True)
    ]
    task = AnnotationTask(said, distance=masi_distance if is_masi else jaccard_distance)
    distances = (masi_distances if is_masi else jaccard_distances)(np.arange(8))
    close(measure_alpha(make_label_table(matrix), distances).value, task.alpha())


def by_irrcac(matrix: Matrix, name: str, **options: Any) -> float:
    import pandas as pd
    from irrCAC.raw import CAC

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = getattr(CAC(pd.DataFrame(matrix.T), digits=14, **options), name)()
    return float(found["est"]["coefficient_value"])


@given(rating_matrices())
@often
def test_gwets_ac1_with_singles_in_the_shares_of_the_categories(matrix: Matrix) -> None:
    used = np.unique(matrix[~np.isnan(matrix)])
    counts = np.stack([(matrix == value).sum(axis=0) for value in used], axis=1)
    close(compute_from_counts(counts).gwet_ac1, by_irrcac(matrix, "gwet"))


@given(rating_matrices())
@often
def test_generalised_fleiss_kappa_of_what_is_no_single(matrix: Matrix) -> None:
    several = matrix[:, (~np.isnan(matrix)).sum(axis=0) >= 2]
    close(compute_from_counts(count_ratings(matrix)).fleiss_kappa, by_irrcac(several, "fleiss"))


@given(rating_matrices(), st.sampled_from([(ORDINAL, "ordinal"), (Scale(Measurement.INTERVAL), "quadratic")]))
@often
def test_gwets_ac2_and_weighted_fleiss_kappa(matrix: Matrix, weighted: tuple[Scale, str]) -> None:
    scale, name = weighted
    options = {"weights": name, "categories": [1, 2, 3, 4]}
    ours = compute_from_counts(count_ratings(matrix, 4), scale)
    close(ours.gwet_ac1, by_irrcac(matrix, "gwet", **options))
    several = matrix[:, (~np.isnan(matrix)).sum(axis=0) >= 2]
    close(ours.fleiss_kappa, by_irrcac(several, "fleiss", **options))
    for weights, kappa in (("linear", ours.linear_kappa), ("quadratic", ours.quadratic_kappa)):
        close(kappa, by_irrcac(several, "fleiss", **{**options, "weights": weights}))


@given(rating_matrices())
@often
def test_fleiss_kappa_where_all_rated_all(matrix: Matrix) -> None:
    from statsmodels.stats.inter_rater import fleiss_kappa

    whole = count_ratings(np.where(np.isnan(matrix), 1, matrix))
    close(compute_from_counts(whole).fleiss_kappa, fleiss_kappa(whole))


@given(st.lists(st.lists(st.integers(0, 30), min_size=3, max_size=3), min_size=3, max_size=3))
@often
def test_cohens_kappa(rows: list[list[int]]) -> None:
    from sklearn.metrics import cohen_kappa_score
    from statsmodels.stats.inter_rater import cohens_kappa

    table: NDArray[np.int64] = np.array(rows)
    table[0, 1] += 1
    first, second = (
        np.repeat(np.arange(9) // 3, table.ravel()),
        np.repeat(np.arange(9) % 3, table.ravel()),
    )
    close(cohen_kappa(table), cohen_kappa_score(first, second))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its standard error
        close(cohen_kappa(table), cohens_kappa(table).kappa)
    for name, weights in (("linear", linear_weights), ("quadratic", quadratic_weights)):
        close(
            cohen_kappa(table, weights(np.arange(3.0))),
            cohen_kappa_score(first, second, weights=name, labels=[0, 1, 2]),
        )
