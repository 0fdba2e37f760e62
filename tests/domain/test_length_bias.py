"""Whether a judge prefers long replies: found if it is so, and not if its errors are those of everybody."""

import numpy as np

from annotations_app.domain.agreement.agreement_report import Statistic
from annotations_app.domain.agreement.length_bias import measure_length_bias


def _simulate(chance: np.random.Generator, extra: float) -> Statistic:
    """A judge that errs in 20 %, and passes what people fail in so many more cases of long replies."""
    session = np.repeat(np.arange(60), 5)
    length = chance.integers(20, 2000, 300)
    # People find long replies better themselves: no bias of the judge.
    people = chance.random(300) < np.where(length > 1000, 0.7, 0.4)
    judge = np.where(chance.random(300) < 0.2, ~people, people)
    judge |= (length > 1000) & (chance.random(300) < extra)
    return measure_length_bias(session, length, judge.astype(float), people.astype(np.int64))


def test_a_planted_bias_is_found_and_none_is_seldom_reported() -> None:
    chance = np.random.default_rng(51)
    biased = [_simulate(chance, 0.5) for _ in range(100)]
    assert np.mean([(one.low or 0) > 0 for one in biased]) > 0.8
    fair = [_simulate(chance, 0.0) for _ in range(300)]
    assert np.mean([(one.low or 0) > 0 or (one.high or 0) < 0 for one in fair]) < 0.09


def test_what_people_prefer_themselves_is_no_bias_of_a_judge_that_is_always_right() -> None:
    length = np.arange(100)
    people = (length % 10 < np.where(length < 50, 3, 7)).astype(np.int64)
    found = measure_length_bias(np.arange(100), length, people.astype(float), people)
    assert (found.value, found.low) == (0.0, None)
    same = measure_length_bias(np.arange(100), np.full(100, 7), people.astype(float), people)
    assert same.note.startswith("undefined")
