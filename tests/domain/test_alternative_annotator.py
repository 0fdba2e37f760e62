"""The alternative annotator test: equal to an independent implementation, and right in what it rejects."""

import numpy as np
import pytest

from annotations_app.domain.estimates.alternative import (
    AlternativeTest,
    Ratings,
    compare_with_people,
    reject_hypotheses,
)
from annotations_app.domain.estimates.quantiles import student_probability

pytestmark = pytest.mark.xdist_group("scipy")

NAMES = ("ana", "ben", "cleo", "dan")
LABELS = np.arange(4)
NOMINAL = (LABELS[:, None] != LABELS).astype(np.int64)
SQUARED = (LABELS[:, None] - LABELS) ** 2


def simulate(
    seed: int, judge: float, people: float = 0.75, replies: int = 90
) -> tuple[np.ndarray, np.ndarray]:
    """(labels by person and reply, -1 where there is none; verdicts)."""
    chance = np.random.default_rng(seed)
    truth = chance.integers(0, 4, replies)

    def say(right: float) -> np.ndarray:
        return np.where(chance.random(replies) < right, truth, chance.integers(0, 4, replies))

    labels = np.array([say(people) for _ in NAMES])
    labels[chance.random(labels.shape) < 0.2] = -1
    verdict = say(judge).astype(float)
    verdict[:3] = np.nan
    return labels, verdict


def run_test(
    labels: np.ndarray, verdict: np.ndarray, distance: np.ndarray, epsilon: float
) -> AlternativeTest:
    annotator, reply = np.nonzero(labels >= 0)
    ratings = Ratings(annotator, reply, labels[annotator, reply])
    return compare_with_people(ratings, NAMES, np.arange(len(verdict)), verdict, distance, epsilon)


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("epsilon", [0.1, 0.2])
@pytest.mark.parametrize("seed", range(5))
def test_of_single_replies_it_is_the_published_test(seed: int, epsilon: float, ordered: bool) -> None:
    """Step by step as the paper words it: leave one out, score, compare, test, correct."""
    from scipy.stats import false_discovery_control, ttest_1samp

    labels, verdict = simulate(seed, judge=0.5 + 0.1 * seed)
    found = run_test(labels, verdict, SQUARED if ordered else NOMINAL, epsilon)
    shares, p_values = [], []
    for person in range(len(NAMES)):
        wins, losses = [], []
        for reply in range(len(verdict)):
            others = [label for other, label in enumerate(labels[:, reply]) if other != person and label >= 0]
            if labels[person, reply] < 0 or not others or np.isnan(verdict[reply]):
                continue

            def score(answer: float, others: list[int] = others) -> float:
                if ordered:
                    return -float(np.sqrt(np.mean([(answer - other) ** 2 for other in others])))
                return float(np.mean([answer == other for other in others]))

            judge, own = score(verdict[reply]), score(labels[person, reply])
            wins.append(float(judge >= own))
            losses.append(float(own >= judge))
        shares.append(np.mean(wins))
        p_values.append(ttest_1samp(np.array(losses) - wins, epsilon, alternative="less").pvalue)
    assert [one.judge for one in found.advantages] == pytest.approx(shares, abs=1e-12)
    assert [one.p_value for one in found.advantages] == pytest.approx(p_values, abs=1e-9)
    beaten = false_discovery_control(p_values, method="by") <= 0.05
    assert [one.beaten for one in found.advantages] == list(beaten)
    assert found.winning_rate == pytest.approx(beaten.mean())


def test_probabilities_are_those_of_published_tables() -> None:
    # Quantiles of Student's t: NIST handbook 1.3.6.7.2.
    for freedom, ninety_five, ninety_nine in ((1, 6.314, 31.821), (10, 1.812, 2.764), (29, 1.699, 2.462)):
        assert student_probability(ninety_five, freedom) == pytest.approx(0.95, abs=1e-4)
        assert student_probability(-ninety_nine, freedom) == pytest.approx(0.01, abs=1e-4)
    assert student_probability(0.0, 7) == 0.5


def test_the_false_discovery_rate_is_that_of_benjamini_and_yekutieli() -> None:
    # Of 15 p-values of Benjamini & Hochberg (1995), their procedure rejects four; under any dependence three.
    values = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719,
              0.6528, 0.7590, 1.0]  # fmt: skip
    assert sum(reject_hypotheses(values, 0.05)) == 3
    assert reject_hypotheses([], 0.05) == []


def test_a_judge_as_good_as_people_passes_and_a_poor_one_does_not() -> None:
    assert run_test(*simulate(1, judge=0.9), NOMINAL, 0.15).passes
    poor = run_test(*simulate(1, judge=0.3), NOMINAL, 0.15)
    assert poor.passes is False
    assert poor.advantage is not None
    assert poor.advantage < 0.7


def test_replies_of_one_session_count_as_what_they_are_worth() -> None:
    labels, verdict = simulate(2, judge=0.8)
    five = (np.repeat(labels, 5, axis=1), np.repeat(verdict, 5))
    annotator, reply = np.nonzero(five[0] >= 0)
    ratings = Ratings(annotator, reply, five[0][annotator, reply])
    found = compare_with_people(ratings, NAMES, np.repeat(np.arange(len(verdict)), 5), five[1], NOMINAL, 0.15)
    once = run_test(labels, verdict, NOMINAL, 0.15)
    for one, five_fold in zip(once.advantages, found.advantages, strict=True):
        assert five_fold.p_value == pytest.approx(one.p_value, abs=1e-12)


def test_too_few_people_or_replies_give_no_verdict() -> None:
    labels, verdict = simulate(3, judge=0.9)
    labels[2, 25:] = labels[3, 25:] = -1
    found = run_test(labels, verdict, NOMINAL, 0.15)
    assert (found.left_out, len(found.advantages), found.passes) == (2, 2, None)
    nobody = run_test(np.full_like(labels, -1), verdict, NOMINAL, 0.15)
    assert (nobody.advantage, nobody.passes) == (None, None)
