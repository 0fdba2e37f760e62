"""How many standard errors an interval is wide: looked at once, or after every label."""

from functools import cache
from math import atan, ceil, cos, exp, log2, pi, sin, sqrt

from datasets_app.domain.intervals import CONFIDENCE_LEVEL, NORMAL_QUANTILE

# Of the 5 % that may miss, this much up to the planned end; each time as many labels again get half of what
# is left.
_PLANNED_SHARE = 0.8


def student_quantile(freedom: int) -> float:
    """Between minus and plus this many standard errors lies 95 % of Student's t distribution.

    Abramowitz & Stegun (1964), 26.7.5; with four degrees of freedom too small by 0.001.
    """
    z = NORMAL_QUANTILE
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum((term / freedom**power for power, term in enumerate(terms, 1)), 0.0)


def student_probability(value: float, freedom: int) -> float:
    """Of being at most ``value`` in Student's t distribution: exact (Abramowitz & Stegun, 26.7.3, 26.7.4)."""
    angle = atan(value / sqrt(freedom))
    square, odd = cos(angle) ** 2, freedom % 2
    term, total = (cos(angle), 0.0) if odd else (1.0, 0.0)
    for step in range(freedom // 2):
        total += term
        down, up = (2 * step + 2, 2 * step + 3) if odd else (2 * step + 1, 2 * step + 2)
        term *= square * down / up
    between = 2 / pi * (angle + sin(angle) * total) if odd else sin(angle) * total
    return (1 + between) / 2


def repeated_quantile(labels: float, planned: int) -> float:
    """The same in place of a normal quantile for who looks after every label and may stop at any.

    A repeated confidence interval (Jennison & Turnbull 1989, JRSS B 51, 305-361) with the boundary of O'Brien
    and Fleming in continuous time: up to ``planned`` labels the estimate, as it goes on, leaves a band of
    constant width around its sum with a probability of 4 % (of the 5 %); beyond it the same
    for twice as many, with a tenth of them, and so on. At the planned end 1.19 times as wide as an interval
    looked at once.
    """
    # Rounding of weights makes nobody look beyond the plan.
    epoch = max(0, ceil(log2(labels / planned) - 1e-9))
    miss = 1 - CONFIDENCE_LEVEL
    spent = miss * (_PLANNED_SHARE if epoch == 0 else (1 - _PLANNED_SHARE) / 2**epoch)
    return brownian_boundary(spent) * sqrt(planned * 2.0**epoch / labels)


@cache
def brownian_boundary(miss: float) -> float:
    """A Brownian motion leaves the band of plus and minus this before time 1 with probability ``miss``."""
    low, high = 0.1, 20.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (middle, high) if _leaves(middle) > miss else (low, middle)
    return high


def _leaves(boundary: float) -> float:
    """Feller (1971), volume II, X.5: the probability of staying, as a series."""
    stays = sum(
        (-1.0) ** k / (2 * k + 1) * exp(-(((2 * k + 1) * pi) ** 2) / (8 * boundary**2)) for k in range(200)
    )
    return 1 - 4 / pi * stays
