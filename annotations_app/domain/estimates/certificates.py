"""May a judge's verdicts be trusted: how often it passes what people pass, and fails what they fail."""

from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from annotations_app.domain.arrays import BoolArray, FloatArray, IntArray
from annotations_app.domain.estimates.rates import score_interval
from datasets_app.domain.wording import format_count

DEFAULT_THRESHOLD = 0.8
CERTAINTY = 0.95
MIN_REPLIES = 30


class BoundedRate(NamedTuple):
    """How many of ``replies`` in ``sessions`` a judge got right; ``bound`` is below the true rate with a
    probability of 95 %."""

    rate: float | None
    bound: float | None
    replies: int
    sessions: int


class Certification(NamedTuple):
    """``reasons`` say why a judge isn't certified; without any it is. ``not_judged`` replies count in no
    rate."""

    threshold: float
    true_positive: BoundedRate
    true_negative: BoundedRate
    not_judged: int
    replies: int
    reasons: tuple[str, ...]

    @property
    def certified(self) -> bool:
        return not self.reasons


def certify(
    session: IntArray, label: IntArray, verdict: FloatArray, threshold: float = DEFAULT_THRESHOLD
) -> Certification:
    """Replies with ``label`` 0 or 1 of people and ``verdict`` 0 or 1 of a judge, NaN where it gave none.

    Both lower bounds must reach the threshold, each for itself: a judge with either rate below it is
    certified in at most 5 % of all cases.
    """
    judged = ~np.isnan(verdict)
    right = judged & (verdict == label)
    positive = _bound(session, right, judged & (label == 1))
    negative = _bound(session, right, judged & (label == 0))
    reasons = []
    for name, rate in (("true-positive", positive), ("true-negative", negative)):
        if rate.replies < MIN_REPLIES:
            counted = format_count(rate.replies, "reply", "replies")
            reasons.append(f"{name} rate: only {counted}, {MIN_REPLIES} are needed")
        elif rate.bound is None or rate.bound < threshold:
            low = 100 * (rate.bound or 0.0)
            reasons.append(
                f"{name} rate: it may be as low as {low:.1f} %; {100 * threshold:.0f} % are required"
            )
    missing = int((~judged).sum())
    return Certification(threshold, positive, negative, missing, len(label), tuple(reasons))


def _bound(session: IntArray, right: BoolArray, chosen: BoolArray) -> BoundedRate:
    """One-sided, by Wilson's interval with the number of independent replies that would have the error of
    these, which come in sessions."""
    replies = int(chosen.sum())
    if not replies:
        return BoundedRate(None, None, 0, 0)
    values = right[chosen].astype(np.float64)
    rate = float(values.mean())
    _, places = np.unique(session[chosen], return_inverse=True)
    sums = np.bincount(places, values - rate)
    sessions = len(sums)
    independent = rate * (1 - rate) / replies
    error = float(sums @ sums) * sessions / (max(1, sessions - 1) * replies**2)
    quantile = NormalDist().inv_cdf(CERTAINTY)
    low, _ = score_interval(rate, max(error, independent) ** 0.5, quantile, sessions)
    return BoundedRate(rate, low, replies, sessions)
