"""Whether a judge prefers long replies: its answers to the longer half against those to the shorter one."""

import numpy as np

from annotations_app.domain.agreement.agreement_report import Statistic
from annotations_app.domain.agreement.intervals import jackknife_interval
from annotations_app.domain.arrays import FloatArray, IntArray

ONE_LENGTH_NOTE = "undefined: too few replies of different length"
MIN_REPLIES = 10


def measure_length_bias(
    session: IntArray,
    length: IntArray,
    judge: FloatArray,
    people: IntArray,
    middle: float | None = None,
) -> Statistic:
    """How much higher ``judge`` (a share of the scale) answers for longer replies than for shorter ones of
    which people say the same; longer than the ``middle``, which is the median unless given. So neither what
    people prefer themselves nor errors that have nothing to do with length count."""
    if middle is None:
        middle = float(np.median(length)) if len(length) else 0.0
    is_long = length > middle
    differences, weights, moved = [], [], np.zeros(len(judge))
    for answer in np.unique(people):
        halves = [(people == answer) & half for half in (is_long, ~is_long)]
        sizes = [int(half.sum()) for half in halves]
        if min(sizes) < MIN_REPLIES:
            continue
        differences.append(judge[halves[0]].mean() - judge[halves[1]].mean())
        # As precise as the smaller half lets it be.
        weights.append(sizes[0] * sizes[1] / sum(sizes))
        for half, size, sign in zip(halves, sizes, (1.0, -1.0), strict=True):
            moved[half] = sign * weights[-1] * (judge[half] - judge[half].mean()) / size
    if not differences:
        return Statistic(None, note=ONE_LENGTH_NOTE)
    sums = np.bincount(np.unique(session, return_inverse=True)[1], moved / sum(weights))
    value = float(np.average(differences, weights=weights))
    return jackknife_interval(value, float(sums @ sums), len(sums), -1.0)
