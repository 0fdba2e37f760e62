"""Does a person label as well as they did? A CUSUM on gold replies and on hidden repeats.

Page (1954), Biometrika 41, 100-115: each check adds how much likelier it is after a drop of ten points than
before, and the sum starts over where it would be negative. The limit is computed: a person who stays as good
as they were crosses it within HORIZON checks with a probability of 5 %, averaged over how good that may be,
as the first checks leave that open. Those of the others count as prior knowledge.
"""

from collections.abc import Sequence
from functools import cache
from math import ceil, log
from typing import NamedTuple

import numpy as np

from annotations_app.domain.arrays import FloatArray

BASELINE, HORIZON = 50, 120
DROP = 0.1
FALSE_ALARMS = 0.05
# So many checks the others' rate is worth.
PRIOR = 100
MIN_RATE, MAX_RATE = 0.6, 0.98


class Drift(NamedTuple):
    """``start`` and ``found`` are places in the checks: the first since the sum last was 0, and the one that
    crossed the limit. ``before`` is the rate of the baseline, ``after`` that since the start."""

    start: int
    found: int
    before: float
    after: float


def find_drift(
    checks: Sequence[bool], others: float | None, *, false_alarms: float = FALSE_ALARMS
) -> Drift | None:
    """``checks`` in their order, True where right; ``others`` is the rate of the other people, if known. None
    as long as the limit isn't crossed."""
    if len(checks) <= BASELINE:
        return None
    right = sum(checks[:BASELINE])
    baseline = estimate_baseline(right, others)
    worse, better = score_checks(baseline)
    limit = compute_limit(right, round(others, 2) if others is not None else None, false_alarms)
    total, start = 0.0, BASELINE
    for place in range(BASELINE, len(checks)):
        total += better if checks[place] else worse
        if total <= 0:
            total, start = 0.0, place + 1
        elif total >= limit:
            since = checks[start : place + 1]
            return Drift(start, place, right / BASELINE, sum(since) / len(since))
    return None


def estimate_baseline(right: int, others: float | None) -> float:
    prior = PRIOR if others is not None else 0
    rate = (right + 0.5 + prior * (others or 0.0)) / (BASELINE + 1 + prior)
    return min(max(rate, MIN_RATE), MAX_RATE)


def score_checks(rate: float) -> tuple[float, float]:
    """Of a check that is wrong, and of one that is right."""
    return log((1 - rate + DROP) / (1 - rate)), log((rate - DROP) / rate)


@cache
def compute_limit(right: int, others: float | None, false_alarms: float) -> float:
    """Of the sum, after ``right`` of the first checks."""
    baseline = estimate_baseline(right, others)
    rates = np.arange(0.4, 1.0, 0.01) + 0.005
    prior = PRIOR if others is not None else 0
    good = right + 0.5 + prior * (others or 0.0)
    bad = BASELINE + 1 + prior - good
    weights = good * np.log(rates) + bad * np.log(1 - rates)
    weights = np.exp(weights - weights.max())
    kept = weights > 1e-3
    rates, weights = rates[kept], weights[kept] / weights[kept].sum()
    low, high = 0.2, 20.0
    while high - low > 0.02:
        middle = (low + high) / 2
        alarms = float(weights @ _chance_of_alarm(baseline, rates, middle))
        low, high = (middle, high) if alarms > false_alarms else (low, middle)
    return high


def _chance_of_alarm(baseline: float, rates: FloatArray, limit: float) -> FloatArray:
    """Of each true rate, within HORIZON checks. The sum is kept on a grid of half a right check; what falls
    between two places is shared among them, so that its mean is right."""
    worse, better = score_checks(baseline)
    width = -better / 2
    end = ceil(limit / width)
    moves = [_make_moves(score / width, end) for score in (worse, better)]
    chance = np.zeros((len(rates), end + 1))
    chance[:, 0] = 1.0
    wrong, right = (1 - rates)[:, None], rates[:, None]
    for _ in range(HORIZON):
        chance = wrong * (chance @ moves[0]) + right * (chance @ moves[1])
    return np.asarray(chance[:, -1])


def _make_moves(score: float, end: int) -> FloatArray:
    """From each place to each; the last is the alarm, which nobody leaves."""
    moves = np.zeros((end + 1, end + 1))
    for place in range(end):
        target = min(max(place + score, 0.0), float(end))
        below = int(target)
        moves[place, below] += 1 - (target - below)
        if target > below:
            moves[place, below + 1] += target - below
    moves[end, end] = 1.0
    return moves
