"""How many texts still hold something personal, estimated from a stratified sample that people read."""

from collections.abc import Callable, Iterable
from functools import lru_cache
from math import exp, lgamma, log, log1p, sqrt
from typing import NamedTuple

CONFIDENCE = 0.95
_STEPS = 60  # halvings: more than a float can tell


class StratumCount(NamedTuple):
    """Of ``size`` texts, ``read`` were read by people, and something personal was left in ``leaking``."""

    size: float
    read: int
    leaking: int


class LeakEstimate(NamedTuple):
    """Texts with something personal in them, and a 95 % interval of their number."""

    texts: float
    low: float
    high: float


def estimate_leaks(strata: Iterable[StratumCount]) -> LeakEstimate:
    """The number of leaking texts in all strata.

    Exact limits of each stratum (Clopper and Pearson 1934) are combined by the squares of their distances
    from the estimate (method of variance estimates recovery: Zou and Donner, Statistics in Medicine 27,
    2008). They hold for rare events, where a normal approximation would promise too much. A stratum that
    nobody has read may leak anywhere: all of it is added to the upper limit.
    """
    texts = below = above = size = unread = 0.0
    seen = 0
    for stratum in strata:
        size, seen = size + stratum.size, seen + stratum.leaking
        if not stratum.read:
            unread += stratum.size
            continue
        share = stratum.leaking / stratum.read
        low, high = (
            (share, share) if stratum.read >= stratum.size else find_limits(stratum.leaking, stratum.read)
        )
        texts += stratum.size * share
        below += (stratum.size * (share - low)) ** 2
        above += (stratum.size * (high - share)) ** 2
    return LeakEstimate(texts, max(float(seen), texts - sqrt(below)), min(size, texts + sqrt(above) + unread))


@lru_cache(maxsize=4096)
def find_limits(hits: int, tries: int) -> tuple[float, float]:
    """The exact two-sided limits of a share, after Clopper and Pearson; (0, 1) without a try."""
    if not tries:
        return 0.0, 1.0
    tail = (1 - CONFIDENCE) / 2
    low = 0.0 if not hits else _solve(lambda p: 1 - _cumulate(hits - 1, tries, p), tail)
    high = 1.0 if hits == tries else _solve(lambda p: 1 - _cumulate(hits, tries, p), 1 - tail)
    return low, high


def _solve(rising: Callable[[float], float], wanted: float) -> float:
    """Where a rising function reaches a value, between 0 and 1."""
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < wanted else (low, middle)
    return (low + high) / 2


def _cumulate(hits: int, tries: int, share: float) -> float:
    """The probability of at most so many hits."""
    if share <= 0:
        return 1.0
    if share >= 1:
        return float(hits >= tries)
    logs = log(share), log1p(-share)
    return sum(
        exp(lgamma(tries + 1) - lgamma(n + 1) - lgamma(tries - n + 1) + n * logs[0] + (tries - n) * logs[1])
        for n in range(hits + 1)
    )
