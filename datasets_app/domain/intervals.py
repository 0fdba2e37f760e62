"""How far a share counted in a sample may be from the truth."""

from math import ceil, sqrt
from statistics import NormalDist
from typing import NamedTuple

CONFIDENCE_LEVEL = 0.95
# Between minus and plus this many standard errors lie 95 % of a normal distribution.
NORMAL_QUANTILE = NormalDist().inv_cdf((1 + CONFIDENCE_LEVEL) / 2)


class Interval(NamedTuple):
    low: float
    high: float


def count_needed(limit: float) -> int:
    """Of how many at least nothing must be counted for Wilson's interval to end at ``limit`` or below."""
    return ceil(NORMAL_QUANTILE * NORMAL_QUANTILE * (1 - limit) / limit)


def wilson_interval(count: int, total: int) -> Interval:
    """Wilson's score interval for a share, ``count`` of ``total``; between 0 and 1.

    Unlike the usual approximation it says something where nothing was counted: 0 of 100 are at most 3.7 %.
    Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927).
    """
    if not 0 <= count <= total:
        raise ValueError("count must be from 0 to total")
    if total == 0:
        return Interval(0.0, 1.0)
    z = NORMAL_QUANTILE
    share = count / total
    center = share + z * z / (2 * total)
    half = z * sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    scale = 1 + z * z / total
    # Rounding must not exclude what was observed.
    low = 0.0 if count == 0 else (center - half) / scale
    high = 1.0 if count == total else (center + half) / scale
    return Interval(low, high)
