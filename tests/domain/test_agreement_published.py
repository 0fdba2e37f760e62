"""Coefficients come out as they are printed in the papers that define them."""

import numpy as np

from annotations_app.domain.agreement.coefficients import cohen_kappa
from annotations_app.domain.scales import Measurement, Scale, linear_weights, quadratic_weights
from tests.domain.ratings import compute_from_counts, count_ratings, parse_matrix

# Krippendorff (2011), four observers and twelve units; Gwet (2014) takes the same ratings for AC1.
FOUR_RATERS = [
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . .",
    ". 3 3 3 2 3 4 2 2 5 1 3",
    "1 2 3 3 2 4 4 1 2 5 1 .",
]
# Fleiss (1971), table 1: how many of six psychiatrists gave each of five diagnoses to each of 30 patients.
FLEISS = """
00060 03003 01401 00006 03030 20400 00402 20310 20040 00006
10050 11040 03300 10050 02031 00501 30012 51000 02040 10203
00006 01050 02013 20040 10041 05010 40002 02040 10500 00006
"""
# Wikipedia's worked example, after Fleiss: fourteen raters, ten subjects.
FOURTEEN_RATERS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]


def test_krippendorffs_alpha_for_nominal_data_with_missing_values() -> None:
    assert (
        f"{compute_from_counts(count_ratings(parse_matrix(FOUR_RATERS))).krippendorff_alpha:.3f}" == "0.743"
    )


def test_krippendorffs_alpha_for_ordinal_and_interval_data() -> None:
    counts = count_ratings(parse_matrix(FOUR_RATERS))
    found = [
        compute_from_counts(counts, Scale(measurement)).krippendorff_alpha
        for measurement in (Measurement.NOMINAL, Measurement.ORDINAL, Measurement.INTERVAL)
    ]
    assert [f"{alpha:.3f}" for alpha in found] == ["0.743", "0.815", "0.849"]


def test_gwets_ac1_with_missing_values() -> None:
    assert f"{compute_from_counts(count_ratings(parse_matrix(FOUR_RATERS))).gwet_ac1:.3f}" == "0.775"


def test_fleiss_kappa_of_psychiatric_diagnoses() -> None:
    counts = np.array([[int(sign) for sign in patient] for patient in FLEISS.split()])
    assert counts.shape == (30, 5)
    assert (counts.sum(axis=1) == 6).all()
    found = compute_from_counts(counts)
    assert f"{found.fleiss_kappa:.3f}" == "0.430"
    # The paper's overall agreement, and its proportions of each diagnosis.
    assert f"{found.raw_agreement:.3f}" == "0.556"
    assert [f"{share:.3f}" for share in found.prevalence] == ["0.144", "0.144", "0.167", "0.306", "0.239"]


def test_fleiss_kappa_of_fourteen_raters() -> None:
    assert f"{compute_from_counts(np.array(FOURTEEN_RATERS)).fleiss_kappa:.3f}" == "0.210"


def test_cohens_kappa_of_two_readers() -> None:
    assert f"{cohen_kappa(np.array([[20, 5], [10, 15]])):.1f}" == "0.4"


def test_the_same_agreement_gives_other_kappas_by_chance_alone() -> None:
    """Cohen's kappa hangs on the margins: the two tables agree alike."""
    found = cohen_kappa(np.array([[[45, 15], [25, 15]], [[25, 35], [5, 35]]]))
    assert [f"{kappa:.4f}" for kappa in found] == ["0.1304", "0.2593"]


# Cohen (1968), table 1, as proportions of 200: two psychiatrists, and his weights of disagreement.
PERSONALITY = np.array([[88, 10, 2], [14, 40, 6], [18, 10, 12]])


def test_weighted_kappa_of_two_psychiatrists() -> None:
    disagreement = np.array([[0, 1, 3], [1, 0, 6], [3, 6, 0]])
    assert f"{cohen_kappa(PERSONALITY):.3f}" == "0.492"
    assert f"{cohen_kappa(PERSONALITY, 1 - disagreement / 6):.3f}" == "0.348"


def test_weights_of_equal_steps() -> None:
    positions = np.arange(3.0)
    assert linear_weights(positions).tolist() == [[1, 0.5, 0], [0.5, 1, 0.5], [0, 0.5, 1]]
    assert quadratic_weights(positions).tolist() == [[1, 0.75, 0], [0.75, 1, 0.75], [0, 0.75, 1]]
