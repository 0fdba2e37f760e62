"""Which of two replies is better: how often one wins, and whether the side it is shown on decides."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotations_app.domain.agreement.agreement_report import NO_LABELS_NOTE, Statistic
from annotations_app.domain.agreement.intervals import MIN_SESSIONS, percentile_interval, resample_sums
from annotations_app.domain.arrays import BoolArray, FloatArray, IntArray
from annotations_app.domain.estimates.rates import Replies, estimate_from_people
from annotations_app.domain.to_json import to_json
from datasets_app.domain.labels.preference import SIDE_A, SIDE_B, TIE

SIGNIFICANT_BELOW = 0.05
ONE_WAY_NOTE = "undefined: all labels are of pairs shown the same way round"


class Preference(NamedTuple):
    """``wins`` are labels that prefer the reply of the campaign's dataset, ``losses`` the other one's.

    In ``win_rate`` a tie is half a win, and so is a pair of which both are bad. ``side_a`` is the same for
    the reply shown as A, whichever it was: 0.5 where sides don't matter. ``side_p`` is the probability of a
    share as far from 0.5 by chance. The interval of ``win_rate`` is for one look, that of
    ``win_rate_any_time`` holds however often one looks.
    """

    wins: int
    losses: int
    ties: int
    both_bad: int
    win_rate: Statistic
    side_a: Statistic
    side_p: float | None
    win_rate_any_time: Statistic = Statistic(None, note=NO_LABELS_NOTE)

    @property
    def is_side_biased(self) -> bool:
        return self.side_p is not None and self.side_p < SIGNIFICANT_BELOW

    def as_json(self) -> dict[str, Any]:
        return {**to_json(self._asdict()), "side_biased": self.is_side_biased}


def measure_preference(
    code: IntArray,
    swapped: BoolArray,
    session: IntArray,
    *,
    resamples: int,
    seed: int,
    planned: int | None = None,
) -> Preference:
    """Labels as three arrays: the answer, whether A was the reply of the other dataset, and the session;
    sessions are numbered from 0. At ``planned`` labels (default: those at hand) the interval for any number
    of looks is shortest."""
    side_a = score_side_a(code)
    won = np.where(swapped, 1 - side_a, side_a)
    wins, losses, ties = (int((won == score).sum()) for score in (1.0, 0.0, 0.5))
    even = int((code == TIE).sum())
    if not len(code):
        none = Statistic(None, note=NO_LABELS_NOTE)
        return Preference(0, 0, 0, 0, none, none, None)
    # By session: the score of the side shown as A, and labels, of pairs as they are; then of swapped ones.
    columns: list[NDArray[Any]] = [side_a * ~swapped, ~swapped, side_a * swapped, swapped]
    sums = np.stack([np.bincount(session, column) for column in columns], axis=1).astype(np.float64)
    sums = sums[sums[:, 1] + sums[:, 3] > 0]
    drawn = resample_sums(sums, resamples, seed) if len(sums) > 1 else sums
    total = sums.sum(axis=0)
    share, probability = _measure_side(sums, total, drawn)
    win_rate = percentile_interval(float(_win_rate(total)), _win_rate(drawn), len(sums))
    any_time = _measure_at_any_time(won, session, planned or len(code))
    return Preference(wins, losses, even, ties - even, win_rate, share, probability, any_time)


def score_side_a(code: IntArray) -> FloatArray:
    """1 where A is better, 0 where B is, and half for ties and pairs of which both are bad."""
    return np.asarray(np.select([code == SIDE_A, code == SIDE_B], [1.0, 0.0], 0.5))


def _measure_at_any_time(won: FloatArray, session: IntArray, planned: int) -> Statistic:
    """As estimates of rates have it: see :mod:`annotations_app.domain.estimates.quantiles`."""
    replies = Replies(session, won, np.ones(len(won)), np.zeros((0, len(won))))
    found = estimate_from_people(replies, planned=planned)
    return Statistic(found.value, found.low, found.high, found.note)


def describe_preference(found: Preference) -> list[str]:
    """Sentences: who wins, and whether the side matters."""
    times = f"{found.wins:,} times, the other one {found.losses:,} times"
    sentences = [
        f"The reply of this dataset is preferred {times}; {found.ties:,} ties, "
        f"{found.both_bad:,} times both are bad."
    ]
    win_rate, side = found.win_rate, found.side_a
    if win_rate.value is None:
        return sentences
    if win_rate.low is not None and win_rate.high is not None:
        verdict = (
            "This dataset wins"
            if win_rate.low > 0.5
            else "The other dataset wins"
            if win_rate.high < 0.5
            else "Neither wins"
        )
        between = f"{100 * win_rate.low:.1f} to {100 * win_rate.high:.1f} %"
        sentences.insert(0, f"{verdict}: a win rate of {100 * win_rate.value:.1f} % ({between}).")
    else:
        sentences.insert(0, f"A win rate of {100 * win_rate.value:.1f} %; {win_rate.note}.")
    any_time = found.win_rate_any_time
    if any_time.low is not None and any_time.high is not None:
        between = f"{100 * any_time.low:.1f} to {100 * any_time.high:.1f} %"
        sentences.insert(1, f"However often you look while labels come in: {between}.")
    if found.is_side_biased and side.value is not None:
        shown = "A" if side.value > 0.5 else "B"
        sentences.append(
            f"Side bias: annotators prefer the reply shown as {shown}, whichever it is "
            f"(share of A {100 * side.value:.1f} %, p {_format_p(found.side_p)})."
        )
    elif found.side_p is not None:
        sentences.append(f"No side bias found (p {_format_p(found.side_p)}).")
    else:
        sentences.append(f"Side bias: {side.note or 'too few sessions to test'}.")
    return sentences


def _format_p(probability: float | None) -> str:
    return "–" if probability is None else "< 0.001" if probability < 0.001 else f"= {probability:.3f}"


def _win_rate(sums: FloatArray) -> FloatArray:
    kept, kept_labels, swapped, swapped_labels = np.moveaxis(sums, -1, 0)
    return np.asarray((kept + swapped_labels - swapped) / (kept_labels + swapped_labels))


def _side_share(sums: FloatArray) -> FloatArray:
    """Both ways round weigh the same, so that the better reply cancels out."""
    kept, kept_labels, swapped, swapped_labels = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((kept / kept_labels + swapped / swapped_labels) / 2)


def _measure_side(sums: FloatArray, total: FloatArray, drawn: FloatArray) -> tuple[Statistic, float | None]:
    """The share with its interval, and the two-sided probability of a normal test whose error is that of
    whole sessions."""
    if not (total[1] and total[3]):
        return Statistic(None, note=ONE_WAY_NOTE), None
    value = float(_side_share(total))
    statistic = percentile_interval(value, _side_share(drawn), len(sums))
    if len(sums) < MIN_SESSIONS:
        return statistic, None
    moved = (sums[:, 0] - total[0] / total[1] * sums[:, 1]) / total[1]
    moved += (sums[:, 2] - total[2] / total[3] * sums[:, 3]) / total[3]
    error = math.sqrt(float((moved**2).sum()) * len(sums) / (len(sums) - 1)) / 2
    if error < 1e-9:
        return statistic, None if value == 0.5 else 0.0
    return statistic, math.erfc(abs(value - 0.5) / error / math.sqrt(2))
