"""Is a version of a judge right more often than another, on the same replies?"""

from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from annotations_app.domain.agreement.agreement_report import Statistic
from annotations_app.domain.agreement.intervals import MIN_SESSIONS, jackknife_interval, sum_squared_influence
from annotations_app.domain.arrays import BoolArray, IntArray

# How often a version that is no better may seem so: the tail of a 95 % interval.
RISK = 0.025


class Gain(NamedTuple):
    """``difference`` has an interval by sessions; ``bound`` is too high with a probability of at most the
    risk, None with too few sessions."""

    difference: Statistic
    bound: float | None


def share_risk(number: int) -> float:
    """Of all the risk the part of the ``number``-th try, from 1: together never more than the whole, however
    many there will be."""
    return RISK / (number * (number + 1))


def measure_gain(was: BoolArray, is_right: BoolArray, session: IntArray, risk: float = RISK) -> Gain:
    """By reply, sorted by session: whether each version was right."""
    change = is_right.astype(np.float64) - was
    mean = float(change.mean())
    group = np.zeros(len(change), np.int64)
    squares, sessions = sum_squared_influence(group, session, ((change - mean) / len(change))[None], 1)
    error = float(np.sqrt(squares[0][0] * sessions[0] / max(1, sessions[0] - 1)))
    bound = mean - NormalDist().inv_cdf(1 - risk) * error
    interval = jackknife_interval(mean, float(squares[0][0]), int(sessions[0]), -1.0)
    return Gain(interval, bound if sessions[0] >= MIN_SESSIONS else None)
