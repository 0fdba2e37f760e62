"""How sure a number is: 95 % intervals, with whole sessions as what is drawn anew.

Replies of one conversation are alike, so that intervals from single replies would be too narrow.

Two ways that come to the same for many sessions: the percentile bootstrap (Efron & Tibshirani 1993, An
Introduction to the Bootstrap, chapter 13) for the numbers of the whole; and its linear approximation, the
infinitesimal jackknife (Efron 1981, Biometrika 68, 589-599), for each of many pairs and annotators.
"""

import numpy as np

from annotations_app.domain.agreement.agreement_report import Statistic
from annotations_app.domain.arrays import FloatArray, IntArray
from datasets_app.domain.intervals import CONFIDENCE_LEVEL

# Of a normal distribution, between the 2.5th and the 97.5th percentile.
NORMAL_QUANTILE = 1.959963984540054
ROUGH_BELOW_SESSIONS = 10
# With fewer the linear approximation tells more of luck than of doubt.
MIN_SESSIONS = 5
BLOCK_SIZE = 1 << 19
# What is nought but for rounding.
ROUNDING = 1e-9
# So much dearer is one number drawn from a multinomial than one session drawn.
MULTINOMIAL_COST_FACTOR = 24


def resample_sums(sums: FloatArray, resamples: int, seed: int) -> FloatArray:
    """Per-session sums (sessions, columns) → sums over as many sessions drawn with replacement,
    ``resamples`` times.

    Depends on what the sessions hold, not on their order. One matrix product a block of resamples.
    """
    chance = np.random.Generator(np.random.PCG64(seed))
    distinct, times = _distinct_rows(sums)
    sessions = len(sums)
    by_kind = len(distinct) * MULTINOMIAL_COST_FACTOR < sessions
    drawn_from = distinct if by_kind else np.repeat(distinct, times, axis=0)
    result = np.empty((resamples, sums.shape[1]))
    step = min(resamples, max(1, BLOCK_SIZE // max(1, len(drawn_from))))
    # Filled again for each block: new memory is dearer than numbers.
    room = np.empty((0 if by_kind else step, sessions))
    for start in range(0, resamples, max(1, step)):
        size = min(step, resamples - start)
        if by_kind:
            drawn = chance.multinomial(sessions, times / sessions, size=size).astype(np.float64)
        else:
            drawn = _fill_draw_counts(chance, room[:size])
        result[start : start + size] = drawn @ drawn_from
    return result


def _fill_draw_counts(generator: np.random.Generator, counts: FloatArray) -> FloatArray:
    """Fill (samples, sessions) with how often each session comes in a sample of as many; gives it back."""
    sessions = counts.shape[1]
    for row, drawn in zip(counts, generator.integers(sessions, size=counts.shape), strict=True):
        row[:] = np.bincount(drawn, minlength=sessions)
    return counts


def _distinct_rows(sums: FloatArray) -> tuple[FloatArray, IntArray]:
    """The different rows, in an order that their numbers alone decide, and how often each is there."""
    # Sums of the same numbers in another order differ in their last digits.
    rounded = np.round(sums * (1 << 24)).astype(np.int64)
    factors = np.random.Generator(np.random.PCG64(0)).integers(1, 1 << 62, size=sums.shape[1]) | 1
    mixed = (rounded * factors).sum(axis=1)
    _, first, times = np.unique(mixed, return_index=True, return_counts=True)
    return sums[first], times


def percentile_interval(value: float, sample: FloatArray, sessions: int) -> Statistic:
    """A number that is defined → with the middle 95 % of its bootstrap sample, where there is such a
    thing.
    """
    sound = sample[np.isfinite(sample)]
    undefined = len(sample) - len(sound)
    if sessions < 2:
        return Statistic(value, note="no interval: all labels are of one session")
    if not len(sample):
        return Statistic(value, note="no interval: no resamples were requested")
    if undefined > len(sample) // 2:
        return Statistic(value, note=f"no interval: undefined in {_undefined_share(undefined, sample)}")
    low, high = np.quantile(sound, [(1 - CONFIDENCE_LEVEL) / 2, (1 + CONFIDENCE_LEVEL) / 2])
    if high - low < ROUNDING:
        return Statistic(value, note="no interval: all sessions are alike")
    notes = [f"{_undefined_share(undefined, sample)} are undefined and left out"] if undefined else []
    if sessions < ROUGH_BELOW_SESSIONS:
        notes.append(f"only {sessions} sessions: the interval is rough")
    return Statistic(value, float(low), float(high), "; ".join(notes))


def _undefined_share(undefined: int, sample: FloatArray) -> str:
    return f"{undefined:,} of {len(sample):,} resamples"


def jackknife_interval(value: float, squares: float, sessions: int, minimum: float) -> Statistic:
    """A number with the interval of its linear approximation.

    ``squares`` is the sum over sessions of the squared influence of each; see :func:`sum_squared_influence`.
    """
    if sessions < MIN_SESSIONS:
        held = "all labels are of one session" if sessions < 2 else f"only {sessions} sessions"
        return Statistic(value, note=f"no interval: {held}")
    width = NORMAL_QUANTILE * float(np.sqrt(squares * sessions / (sessions - 1)))
    if width < ROUNDING:
        return Statistic(value, note="no interval: all sessions are alike")
    note = f"only {sessions} sessions: the interval is rough" if sessions < ROUGH_BELOW_SESSIONS else ""
    return Statistic(value, max(minimum, value - width), min(1.0, value + width), note)


def sum_squared_influence(
    group: IntArray,
    session: IntArray,
    influence: FloatArray,
    groups: int,
    kind: IntArray | None = None,
) -> tuple[FloatArray, IntArray]:
    """Observations sorted by session → for each group (sum over sessions of squared influence, sessions it
    is in).

    ``influence`` has a row for each statistic: (statistics, observations) → (statistics, groups). Where
    observations of a ``kind`` are alike: (statistics, kinds).
    """
    squares = np.zeros((len(influence), groups))
    seen = np.zeros(groups, np.int64)
    if not len(group):
        return squares, seen
    at_once = max(1, (1 << 21) // groups)
    cuts = np.searchsorted(session, np.arange(session[0], session[-1] + 1 + at_once, at_once))
    for start, end in zip(cuts[:-1], cuts[1:], strict=True):
        if start == end:
            continue
        cell = (session[start:end] - session[start]) * groups + group[start:end]
        size = (int(session[end - 1] - session[start]) + 1) * groups
        place = slice(start, end) if kind is None else kind[start:end]
        for row, values in enumerate(influence):
            sums = np.bincount(cell, values[place], size).reshape(-1, groups)
            squares[row] += np.einsum("sg,sg->g", sums, sums)
        seen += (np.bincount(cell, minlength=size) > 0).reshape(-1, groups).sum(axis=0)
    return squares, seen
