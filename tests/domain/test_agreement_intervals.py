"""Intervals: drawn by session, the same for the same seed, and wide enough to hold the truth."""

import numpy as np
import pytest
from numpy.typing import NDArray

from annotations_app.domain.agreement.agreement import build_agreement_report
from annotations_app.domain.agreement.agreement_report import Statistic
from annotations_app.domain.agreement.distance_alpha import measure_alpha
from annotations_app.domain.agreement.intervals import percentile_interval, resample_sums
from annotations_app.domain.scales import Measurement, Scale, squared_distances
from tests.domain.ratings import make_label_table

Labels = NDArray[np.float64]


def simulated(chance: np.random.Generator, sessions: int, replies: int = 3, raters: int = 3) -> Labels:
    """Replies of a session are alike: a reply has its session's truth four times in five."""
    of_session = np.repeat(chance.random(sessions) < 0.6, replies)
    truth = np.where(chance.random(sessions * replies) < 0.8, of_session, ~of_session)
    wrong = chance.random((raters, len(truth))) < np.array([0.1, 0.15, 0.2])[:raters, None]
    return np.where(wrong, ~truth, truth).astype(float)


def sessions_of(matrix: Labels, replies: int = 3) -> NDArray[np.int64]:
    return np.arange(matrix.shape[1]) // replies


def intervals(matrix: Labels, **more: int) -> list[Statistic]:
    found = build_agreement_report(
        make_label_table(matrix, sessions_of(matrix)), **({"resamples": 300} | more)
    )  # type: ignore[arg-type]
    head = found.headline
    named = [head.prevalence, head.raw_agreement, head.krippendorff_alpha, head.gwet_ac1, head.fleiss_kappa]
    return [*named, found.pairs[0].comparison.cohen_kappa, found.annotators[0].others.cohen_kappa]


def test_the_same_seed_gives_the_same_intervals_and_another_gives_others() -> None:
    matrix = simulated(np.random.default_rng(1), 60)
    assert intervals(matrix) == intervals(matrix)
    assert intervals(matrix)[2] != intervals(matrix, seed=43)[2]
    assert intervals(matrix)[2].value == intervals(matrix, seed=43)[2].value


def test_about_19_of_20_intervals_hold_the_truth() -> None:
    chance = np.random.default_rng(2)
    truth = [statistic.value for statistic in intervals(simulated(chance, 20_000), resamples=0)]
    rounds = 200
    held = np.zeros(len(truth))
    for _ in range(rounds):
        for number, statistic in enumerate(intervals(simulated(chance, 80), resamples=200)):
            assert statistic.low is not None
            assert statistic.high is not None
            held[number] += statistic.low <= truth[number] <= statistic.high
    # With 200 rounds the share of 95 % intervals strays by 1.5 points; few resamples take a little more.
    assert (held / rounds).min() > 0.90
    assert (held / rounds).max() < 0.99


def test_whole_sessions_are_drawn() -> None:
    """The same replies are worth less when they are of one conversation."""
    matrix = np.repeat(simulated(np.random.default_rng(3), 100, replies=1), 4, axis=1)
    apart = build_agreement_report(
        make_label_table(matrix, np.arange(400)), resamples=300
    ).headline.raw_agreement
    together = build_agreement_report(
        make_label_table(matrix, np.arange(400) // 4), resamples=300
    ).headline.raw_agreement
    assert apart.value == pytest.approx(together.value)
    assert width(together) > 1.6 * width(apart)


def width(statistic: Statistic) -> float:
    assert statistic.low is not None
    assert statistic.high is not None
    return statistic.high - statistic.low


def test_linear_and_drawn_intervals_come_to_the_same() -> None:
    """A pair's interval is linear, that of the whole is drawn: for two raters both are of one agreement."""
    matrix = simulated(np.random.default_rng(4), 400, raters=2)
    found = build_agreement_report(make_label_table(matrix, sessions_of(matrix)), resamples=2000)
    drawn, linear = found.headline.raw_agreement, found.pairs[0].comparison.raw_agreement
    assert drawn.value == pytest.approx(linear.value)
    assert width(drawn) == pytest.approx(width(linear), rel=0.08)
    assert width(found.headline.fleiss_kappa) == pytest.approx(
        width(found.pairs[0].comparison.cohen_kappa), rel=0.08
    )


def test_alpha_by_distance_has_the_interval_of_the_same_alpha_drawn() -> None:
    matrix = simulated(np.random.default_rng(5), 400, raters=3)
    matrix += np.random.default_rng(6).integers(0, 2, size=matrix.shape)
    table = make_label_table(matrix, sessions_of(matrix))._replace(scale=Scale(Measurement.INTERVAL))
    drawn = build_agreement_report(table, resamples=2000).headline.krippendorff_alpha
    linear = measure_alpha(table, squared_distances(np.arange(3.0)))
    assert linear.value == pytest.approx(drawn.value, abs=1e-9)
    assert width(linear) == pytest.approx(width(drawn), rel=0.08)


@pytest.mark.parametrize("kinds", [3, 400])
def test_drawing_sessions_and_drawing_kinds_of_sessions_have_one_distribution(kinds: int) -> None:
    """Few kinds are drawn as kinds, many as sessions; mean and spread of the sums are those of drawing."""
    sums = np.stack([np.ones(600), np.arange(600) % kinds], axis=1).astype(float)
    drawn = resample_sums(sums, 4000, seed=5)
    assert (drawn[:, 0] == 600).all()
    assert drawn[:, 1].mean() == pytest.approx(sums[:, 1].sum(), rel=0.01)
    assert drawn[:, 1].std() == pytest.approx(sums[:, 1].std() * np.sqrt(600), rel=0.06)


def test_what_differs_by_rounding_alone_has_no_interval() -> None:
    found = percentile_interval(0.4, np.array([0.4, np.nextafter(0.4, 1)] * 100), 12)
    assert (found.low, found.note) == (None, "no interval: all sessions are alike")


def test_a_number_that_most_resamples_lack_has_no_interval() -> None:
    sample = np.array([0.5, np.nan, np.nan, np.nan])
    told = percentile_interval(0.5, sample, sessions=30)
    assert told == Statistic(0.5, note="no interval: undefined in 3 of 4 resamples")
