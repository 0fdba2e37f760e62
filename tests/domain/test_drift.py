"""A drop in a person's checks is found, and people who stay as they were are left alone."""

import numpy as np
import pytest

from annotations_app.domain.drift import BASELINE, HORIZON, find_drift
from tests.domain.simulated_checks import find_drops


@pytest.mark.parametrize("rate", [0.95, 0.9, 0.8])
def test_of_people_who_stay_as_good_no_more_than_one_in_twenty_is_named(rate: float) -> None:
    false = find_drops(rate, 0.0, others=rate, people=400, checks=HORIZON, seed=1)
    # Two standard errors of 400 draws.
    assert np.isfinite(false).mean() <= 0.05 + 2 * 0.011


@pytest.mark.parametrize(("rate", "median", "within_60"), [(0.95, 75, 0.4), (0.9, 105, 0.2), (0.8, 130, 0.1)])
def test_a_drop_of_ten_points_is_found(rate: float, median: float, within_60: float) -> None:
    found = find_drops(rate, 0.1, others=rate, people=200, checks=400, seed=2)
    assert np.median(found) <= median
    assert (found <= 60).mean() >= within_60


def test_the_start_of_a_drift_is_told_and_few_checks_tell_nothing() -> None:
    checks = [True] * (BASELINE + 20) + [False, True, True, False, True, True] * 10
    drift = find_drift(checks, None)
    assert drift is not None
    assert abs(drift.start - BASELINE - 20) <= 1
    assert (drift.before, round(drift.after, 1)) == (1.0, 0.6)
    assert find_drift(checks[:BASELINE], 0.9) is None
    assert find_drift([True] * 200, 0.9) is None
