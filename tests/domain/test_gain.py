"""Which prompts are accepted: better ones, of planted judges with a known accuracy on a locked test."""

import numpy as np

from annotations_app.domain.agreement.gain import RISK, measure_gain, share_risk
from tests.domain.simulated_proposals import try_prompts


def test_all_tries_together_have_the_whole_risk() -> None:
    assert sum(map(share_risk, range(1, 10_000))) <= RISK


def test_prompts_that_fix_nothing_never_lower_the_accuracy_on_the_locked_test() -> None:
    chance = np.random.default_rng(1)
    tried = [try_prompts(chance, fixing=0.0) for _ in range(200)]
    # 2.5 % of all that are tried may be accepted by chance; four standard errors more.
    assert np.mean([one.is_significantly_lower for one in tried]) <= 0.07
    assert np.mean([one.accepted > 0 for one in tried]) <= 0.07


def test_prompts_that_fix_a_fault_are_accepted_and_raise_it() -> None:
    chance = np.random.default_rng(2)
    tried = [try_prompts(chance, fixing=0.3, sessions=120) for _ in range(100)]
    assert np.mean([one.is_significantly_lower for one in tried]) <= 0.05
    assert np.mean([one.accepted > 0 for one in tried]) >= 0.5
    assert np.mean([one.gain for one in tried]) > 0.03


def test_too_few_sessions_tell_nothing() -> None:
    ones = np.ones(4, bool)
    assert measure_gain(~ones, ones, np.arange(4)).bound is None
