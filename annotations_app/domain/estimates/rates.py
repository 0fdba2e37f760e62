"""The rate of a criterion from people's labels, alone or helped by judges.

A judge has read all replies, people some. Prediction-powered inference takes the judge's mean over all
replies and corrects it by how far people differ from the judge where both have judged, so that the estimate
is right however bad the judge is, and the interval shorter the better it is (Angelopoulos et al. 2023,
Science 382, 669-674). How much of the judge is taken is chosen by what the labels say of it (PPI++,
Angelopoulos, Duchi & Zrnic 2023, arXiv 2311.01453); several judges are combined by a regression that no reply
takes part in itself (cross-prediction, Zrnic & Candès 2024, PNAS 121).

Replies of one conversation are alike: all variances are sums over whole sessions.
"""

from typing import Any, NamedTuple

import numpy as np

from annotations_app.domain.arrays import BoolArray, FloatArray, IntArray
from annotations_app.domain.estimates.quantiles import repeated_quantile, student_quantile
from datasets_app.domain.wording import format_count

# With fewer labeled sessions an interval tells more of luck than of doubt.
MIN_SESSIONS = 5
# With fewer nobody knows how good a judge is: one that was right ten times looks as if it were always.
MIN_SESSIONS_WITH_JUDGES = 20
FOLDS = 5
# Where all replies are labeled, or a judge always says the same, it moves nothing: only rounding is left.
ROUNDING = 1e-20


class Replies(NamedTuple):
    """What is known of the replies of a dataset, one place each.

    ``label`` is what people say, from 0 to 1, NaN where nobody has; ``chance`` the probability with which the
    reply was chosen to be labeled. ``verdicts`` (judges, replies) has NaN where a judge gave none: failed,
    refused or unreadable.
    """

    session: IntArray
    label: FloatArray
    chance: FloatArray
    verdicts: FloatArray

    @property
    def has_label(self) -> BoolArray:
        return ~np.isnan(self.label)


class Estimate(NamedTuple):
    """A rate with its 95 % interval; None with a note that says why.

    ``labels`` and ``sessions`` are those of people; ``gain`` is how many more labels of people alone would
    have given the same interval. ``weight`` tells how much of the judges was taken: 0 nothing, 1 all.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    standard_error: float | None = None
    labels: int = 0
    sessions: int = 0
    gain: int = 0
    weight: float = 0.0
    shared_variance: float = 0.0
    note: str = ""

    def as_json(self) -> dict[str, Any]:
        values = {name: value for name, value in self._asdict().items() if name != "shared_variance"}
        return values | {"note": self.note or None}


def estimate_from_people(replies: Replies, *, planned: int | None = None) -> Estimate:
    """The mean of what people say. With ``planned`` labels the interval holds after every label (see
    :func:`repeated_quantile`), else for one look."""
    if refusal := _refuse(replies):
        return refusal
    value, influence = _people(replies)
    return _conclude(replies, value, influence, used=0, planned=planned)


def estimate_with_judges(
    replies: Replies, *, planned: int | None = None, weight: float | None = None
) -> Estimate:
    """As :func:`estimate_from_people`, helped by what judges say of all replies.

    ``weight`` sets how much of the judge counts, 1 being the plain estimate of 2023; None chooses it.
    """
    if refusal := _refuse(replies):
        return refusal
    value, people = _people(replies)
    alone = _conclude(replies, value, people, used=0, planned=planned)
    if alone.sessions < MIN_SESSIONS_WITH_JUDGES:
        note = (
            f"people alone: labels in only {format_count(alone.sessions, 'session')}; judges count from "
            f"{MIN_SESSIONS_WITH_JUDGES} on"
        )
        return alone._replace(note=note)
    predictions = _combine(replies)
    correction, judges = _correct(replies, predictions)
    everywhere, without = len(replies.label), int((~replies.has_label).sum())
    if weight is None:
        by_session = _sum_by_session(replies, judges)
        spread = float(by_session @ by_session)
        share = float(_sum_by_session(replies, people) @ by_session) / spread if spread > ROUNDING else 0.0
    else:
        # As the paper has it: of the replies without a label instead of all.
        share = weight * everywhere / without if without else 0.0
    combined = people - share * judges
    estimate = _conclude(replies, value - share * correction, combined, used=1, planned=planned)
    taken = share * without / everywhere
    return estimate._replace(weight=taken, gain=_count_gain(alone, estimate))


def _refuse(replies: Replies) -> Estimate | None:
    labels = int(replies.has_label.sum())
    sessions = len(np.unique(replies.session[replies.has_label]))
    if not labels:
        return Estimate(None, note="undefined: there are no labels of people")
    if sessions < MIN_SESSIONS:
        value = float(np.average(replies.label[replies.has_label], weights=_weights(replies)))
        note = f"no interval: labels in only {format_count(sessions, 'session')}, {MIN_SESSIONS} are needed"
        return Estimate(value, labels=labels, sessions=sessions, note=note)
    return None


def _weights(replies: Replies) -> FloatArray:
    """Of the labeled replies: how many of the dataset each stands for, as a share."""
    weights = 1 / replies.chance[replies.has_label]
    return np.asarray(weights / weights.sum())


def _people(replies: Replies) -> tuple[float, FloatArray]:
    """The weighted mean (Hájek), and the influence of each reply on it."""
    chosen, weights = replies.has_label, _weights(replies)
    value = float(weights @ replies.label[chosen])
    influence = np.zeros(len(chosen))
    influence[chosen] = weights * (replies.label[chosen] - value)
    return value, influence


def _correct(replies: Replies, predictions: FloatArray) -> tuple[float, FloatArray]:
    """How much higher the labeled replies are judged than all, and the influence of each reply on that."""
    chosen, weights = replies.has_label, _weights(replies)
    labeled_mean = float(weights @ predictions[chosen])
    difference = labeled_mean - float(predictions.mean())
    influence = np.zeros(len(chosen))
    influence[chosen] = weights * (predictions[chosen] - labeled_mean)
    # Which replies have labels is given: each kind varies about its own mean, if both are of the same sort.
    is_equal = np.ptp(replies.chance[chosen]) == 0
    for kind in (chosen, ~chosen) if is_equal else (np.ones(len(chosen), bool),):
        if kind.any():
            influence[kind] -= (predictions[kind] - predictions[kind].mean()) / len(predictions)
    return difference, influence


def _sum_by_session(replies: Replies, values: FloatArray) -> FloatArray:
    return np.asarray(np.bincount(replies.session, values), np.float64)


def _combine(replies: Replies) -> FloatArray:
    """One prediction for each reply. Of replies that a judge didn't judge it says no more than its mean."""
    verdicts = replies.verdicts.copy()
    for row in verdicts:
        missing = np.isnan(row)
        row[missing] = 0.0 if missing.all() else row[~missing].mean()
    if len(verdicts) == 1:
        return np.asarray(verdicts[0])
    return _cross_predict(replies, verdicts)


def _cross_predict(replies: Replies, verdicts: FloatArray) -> FloatArray:
    """A least-squares combination of the judges, for labeled replies by the sessions of the other folds."""
    rows = np.vstack([np.ones(verdicts.shape[1]), verdicts]).T
    sessions = np.unique(replies.session[replies.has_label])
    fold = np.full(int(replies.session.max()) + 1, -1)
    fold[np.random.default_rng(0).permutation(sessions)] = np.arange(len(sessions)) % FOLDS
    fold = fold[replies.session]
    predictions = np.zeros(len(rows))
    shares = np.bincount(fold[replies.has_label], minlength=FOLDS) / int(replies.has_label.sum())
    for number, share in enumerate(shares):
        others = replies.has_label & (fold != number)
        factors, *_ = np.linalg.lstsq(rows[others], replies.label[others], rcond=None)
        predicted = rows @ factors
        own = replies.has_label & (fold == number)
        predictions[own] = predicted[own]
        predictions[~replies.has_label] += share * predicted[~replies.has_label]
    return predictions


def _conclude(
    replies: Replies, value: float, influence: FloatArray, *, used: int, planned: int | None
) -> Estimate:
    labels = int(replies.has_label.sum())
    sessions = len(np.unique(replies.session[replies.has_label]))
    by_session = _sum_by_session(replies, influence)
    variance = float(by_session @ by_session)
    error = float(np.sqrt(variance))
    freedom = sessions - 1 - used
    wide = student_quantile(freedom)
    if planned is not None:
        # As many labels of equal weight as tell as much (Kish 1965).
        effective = 1 / float(_weights(replies) @ _weights(replies))
        wide *= repeated_quantile(effective, planned) / student_quantile(10**9)
    low, high = score_interval(value, error * np.sqrt(sessions / freedom), wide, sessions)
    shared = max(0.0, variance - float(influence @ influence))
    return Estimate(value, low, high, error, labels, sessions, shared_variance=shared)


def score_interval(value: float, error: float, wide: float, sessions: int) -> tuple[float, float]:
    """Wilson's interval of a share with this standard error; never beyond 0 and 1, and wider than nothing
    where all labels are the same. As many independent labels as would have the error stand for n."""
    middle = min(max(value, 0.0), 1.0)
    spread = middle * (1 - middle)
    # Nothing but rounding: all labels are the same.
    n = spread / error**2 if error > 1e-9 and spread > 1e-9 else float(sessions)
    scale = 1 + wide**2 / n
    center = (middle + wide**2 / (2 * n)) / scale
    half = wide / scale * np.sqrt(spread / n + wide**2 / (4 * n**2))
    return max(0.0, float(center - half)), min(1.0, float(center + half))


def _count_gain(people: Estimate, helped: Estimate) -> int:
    if not people.standard_error or not helped.standard_error:
        return 0
    return max(0, round(people.labels * ((people.standard_error / helped.standard_error) ** 2 - 1)))
