"""Which replies to ask people about next, drawn so that rates can still be estimated.

Each reply has a number from 0 to 1 drawn once and for all: its place in the random order. A reply is asked
about once its number is below its chance, and the chance of all grows as labels come in: in proportion to
how useful a label of the reply would be (sequential Poisson sampling with permanent random numbers, Ohlsson
1995). So the chance of every reply is known at any moment, and estimates weigh each label by it.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from annotations_app.domain.arrays import BoolArray, FloatArray, IntArray

# The least useful reply has a quarter of the average chance: that part of the labels is a random sample.
RANDOM_SHARE = 0.25
MAX_USEFULNESS = 4.0
# Until a group of replies has as many labels, the errors of judges in all others count as much.
_PRIOR_LABELS = 10
_PRIOR_ERROR = 0.1
_MAX_BOOST = 2.0


class Draws(NamedTuple):
    """One place for each reply: its drawn number, how useful a label of it is (1 on average), and the chance
    that it had when usefulness was last measured."""

    draw: FloatArray
    usefulness: FloatArray
    reached: FloatArray

    def order(self) -> IntArray:
        """The order in which to ask: what has been drawn already comes first."""
        return np.lexsort((self.draw / self.usefulness, self.draw >= self.reached)).astype(np.int64)

    def chances(self, done: BoolArray) -> FloatArray:
        """The probability of each reply to have been drawn by now, where people have ``done`` these. Drawn
        are those whose number is below it; what was done beyond the first that is still open isn't."""
        waiting = ~done & (self.draw >= self.reached)
        reach = (self.draw / self.usefulness)[waiting].min(initial=np.inf)
        return np.asarray(np.minimum(1.0, np.maximum(self.reached, self.usefulness * reach)))


def draw_at_random(replies: int) -> Draws:
    """Of replies that are in random order: each is as useful as the others."""
    return Draws((np.arange(replies) + 0.5) / max(1, replies), np.ones(replies), np.zeros(replies))


def measure_usefulness(
    labels: FloatArray, verdicts: FloatArray, strata: Sequence[IntArray] = ()
) -> FloatArray:
    """How useful a label of each reply would be, 1 on average, from :data:`RANDOM_SHARE` on.

    ``labels`` (answers, replies) are what people say, ``verdicts`` (answers, judges, replies) what each judge
    does, both from 0 to 1 and NaN where they don't. As useful as the error that remains (Neyman 1934): where
    people differed from judges of the same opinion, where judges differ among or from themselves, and, up to
    twice, in ``strata`` (places of their replies) that are smaller than the average.
    """
    replies = labels.shape[1]
    errors = [_expect_error(label, said) for label, said in zip(labels, verdicts, strict=True)]
    error = np.mean(errors, axis=0) if errors else np.ones(replies)
    return _limit(np.sqrt(error) * _boost_short_strata(strata, replies))


def _expect_error(label: FloatArray, verdicts: FloatArray) -> FloatArray:
    """The expected squared difference of people and judges on each reply, by groups of equal verdicts."""
    judged = ~np.isnan(verdicts)
    count = judged.sum(axis=0)
    mean = np.where(judged, verdicts, 0.0).sum(axis=0) / np.maximum(1, count)
    mean = np.where(count > 0, mean, 0.5)
    known = ~np.isnan(label)
    squares = (label[known] - mean[known]) ** 2
    overall = (squares.sum() + _PRIOR_LABELS * _PRIOR_ERROR) / (len(squares) + _PRIOR_LABELS)
    group = np.zeros(len(label), np.int64)
    for said in np.where(judged, 1 + np.rint(100 * np.nan_to_num(verdicts)), 0).astype(np.int64):
        _, group = np.unique(group * 102 + said, return_inverse=True)
    sums = np.bincount(group[known], squares, group.max(initial=0) + 1)
    counts = np.bincount(group[known], minlength=len(sums))
    # Judges that differ are as wrong as they differ, at least.
    prior = np.maximum(overall, mean * (1 - mean))
    return np.asarray((sums[group] + _PRIOR_LABELS * prior) / (counts[group] + _PRIOR_LABELS))


def _boost_short_strata(strata: Sequence[IntArray], replies: int) -> FloatArray:
    boost = np.ones(replies)
    average = np.mean([len(places) for places in strata]) if strata else 0.0
    for places in strata:
        if len(places):
            own = min(_MAX_BOOST, float(np.sqrt(average / len(places))))
            boost[places] = np.maximum(boost[places], own)
    return boost


def _limit(usefulness: FloatArray) -> FloatArray:
    """From the random share to a maximum, 1 on average."""
    if not usefulness.size:
        return usefulness
    scaled = usefulness / usefulness.mean()
    for _ in range(20):
        scaled = np.clip(scaled, RANDOM_SHARE, MAX_USEFULNESS)
        scaled = scaled / scaled.mean()
    return np.asarray(np.clip(scaled, RANDOM_SHARE, MAX_USEFULNESS))
