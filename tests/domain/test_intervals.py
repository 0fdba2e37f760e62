"""Wilson's interval: published values, and how often it covers the truth."""

import random

import pytest

from datasets_app.domain.intervals import count_needed, wilson_interval

# Newcombe, Two-sided confidence intervals for the single proportion, Statistics in Medicine 17 (1998),
# table I, method 3.
NEWCOMBE = [
    (81, 263, 0.2553, 0.3662),
    (15, 148, 0.0624, 0.1605),
    (0, 20, 0.0000, 0.1611),
    (1, 29, 0.0061, 0.1718),
]


@pytest.mark.parametrize(("count", "total", "low", "high"), NEWCOMBE)
def test_published_values(count: int, total: int, low: float, high: float) -> None:
    found = wilson_interval(count, total)
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)
    mirrored = wilson_interval(total - count, total)
    assert mirrored == pytest.approx((1 - found.high, 1 - found.low))


def test_edges() -> None:
    assert wilson_interval(0, 0) == (0, 1)
    assert wilson_interval(20, 20)[1] == 1
    assert wilson_interval(0, 600).high == pytest.approx(0.00636, abs=1e-5)


@pytest.mark.parametrize("limit", [0.001, 0.01, 0.05, 0.5])
def test_the_fewest_values_that_can_show_a_limit(limit: float) -> None:
    fewest = count_needed(limit)
    assert wilson_interval(0, fewest).high <= limit < wilson_interval(0, fewest - 1).high
    for wrong in ((-1, 5), (6, 5)):
        with pytest.raises(ValueError, match="count must be"):
            wilson_interval(*wrong)


@pytest.mark.parametrize(("share", "total"), [(0.004, 600), (0.02, 600), (0.1, 33), (0.5, 60)])
def test_it_covers_the_truth_as_often_as_it_says(share: float, total: int) -> None:
    chance = random.Random(total)
    intervals = [
        wilson_interval(sum(chance.random() < share for _ in range(total)), total) for _ in range(500)
    ]
    assert sum(low <= share <= high for low, high in intervals) >= 0.93 * 500
    assert sum(share <= high for _, high in intervals) >= 0.95 * 500
