"""Checks of simulated people who stay as good as they were, or get worse, and when that is found."""

import numpy as np
from numpy.typing import NDArray

from annotations_app.domain.drift import BASELINE, DROP, FALSE_ALARMS, HORIZON, find_drift, score_checks

Found = NDArray[np.float64]


def find_drops(
    rate: float, drop: float, *, others: float | None, people: int, checks: int, seed: int
) -> Found:
    """By person: after how many checks the change is found; infinity if it isn't. Everybody has a rate of
    their own, two or three points around the common one."""
    chance = np.random.default_rng(seed)
    found = np.full(people, np.inf)
    for person in range(people):
        own = min(max(rate + 0.025 * chance.standard_normal(), 0.65), 0.99)
        first = chance.random(BASELINE) < own
        later = chance.random(checks) < own - drop
        drift = find_drift([*first, *later], others)
        if drift is not None:
            found[person] = drift.found - BASELINE + 1
    return found


def find_drops_of_known(rate: float, people: int, seed: int = 9) -> list[Found]:
    """The best that is possible, of people whose rate before is known: as above, after no drop and after one.
    The limit is the one that the same checks leave in 5 % of people."""
    chance = np.random.default_rng(seed)
    worse, better = score_checks(rate)
    limit = np.quantile(
        _add_up(chance.random((4000, HORIZON)) < rate, worse, better).max(1), 1 - FALSE_ALARMS
    )
    rows = []
    for own, checks in ((rate, HORIZON), (rate - DROP, 1000)):
        alarms = _add_up(chance.random((people, checks)) < own, worse, better) > limit
        rows.append(np.where(alarms.any(1), alarms.argmax(1) + 1.0, np.inf))
    return rows


def _add_up(right: NDArray[np.bool_], worse: float, better: float) -> Found:
    """The sum after each check, which starts over where it would be negative."""
    sums = np.zeros(right.shape)
    for place in range(right.shape[1]):
        before = sums[:, place - 1] if place else 0.0
        sums[:, place] = np.maximum(before + np.where(right[:, place], better, worse), 0)
    return sums
