"""How many more labels bring an interval to a width."""

from math import sqrt
from typing import NamedTuple

from annotations_app.domain.estimates.quantiles import student_quantile
from annotations_app.domain.estimates.rates import Estimate, score_interval


class Plan(NamedTuple):
    """``labels`` is how many replies need a label in all, those at hand included; None with a note that says
    why no number of them is enough or nothing can be said."""

    width: float
    labels: int | None
    more: int | None = None
    note: str = ""


def plan_labels(people: Estimate, helped: Estimate, replies: int, width: float) -> Plan:
    """For an interval from its low to its high end of ``width``, of a dataset with ``replies``.

    ``people`` is the estimate without, ``helped`` that with judges (or the first again). Assumes that further
    labels are like those at hand and of the same sessions: what sessions have in common stays, the rest of
    the variance shrinks with their number.
    """
    value, error = helped.value, helped.standard_error
    if value is None or error is None:
        return Plan(width, None, note=helped.note)
    explained = _explained_share(people, helped, replies)
    own = error**2 - helped.shared_variance

    def width_with(labels: int) -> float:
        kept = _unexplained(explained, labels, replies) / _unexplained(explained, helped.labels, replies)
        variance = own * helped.labels / labels * kept + helped.shared_variance
        sessions = max(3, min(helped.sessions, labels))
        low, high = score_interval(value, sqrt(variance), student_quantile(sessions - 1), sessions)
        return high - low

    if width_with(replies) > width:
        best = width_with(replies)
        note = f"not even with labels of all {replies:,} replies, which give {100 * best:.1f} points"
        return Plan(width, None, note=note)
    few, enough = 0, replies
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if width_with(middle) <= width else (middle, enough)
    return Plan(width, enough, max(0, enough - people.labels))


def _explained_share(people: Estimate, helped: Estimate, replies: int) -> float:
    """r² of the judges with the labels, from how much they shortened the interval."""
    if not people.standard_error or helped.standard_error is None or people.labels >= replies:
        return 0.0
    left = (helped.standard_error / people.standard_error) ** 2
    return min(max(0.0, (1 - left) * replies / (replies - people.labels)), 0.999)


def _unexplained(explained: float, labels: int, replies: int) -> float:
    """The variance with a judge as a share of that without (Angelopoulos et al. 2023)."""
    return 1 - explained * (replies - labels) / replies
