"""Judges with planted faults, and prompts that fix one, add one or only change which replies are unlucky."""

from typing import NamedTuple

import numpy as np

from annotations_app.domain.agreement.gain import measure_gain, share_risk
from annotations_app.domain.estimates.rates import BoolArray, IntArray

FAULTS, TRIES, TEST_SESSIONS, REPLIES_OF_SESSION = 6, 10, 500, 3
# How many replies a fault is about, and how many a prompt gets wrong by chance.
_SHARE, _UNLUCKY = 0.08, 0.05


class Tried(NamedTuple):
    """``gain`` is that of accuracy on the locked test, with its standard ``error`` by sessions, after
    ``accepted`` of all tries."""

    gain: float
    error: float
    accepted: int

    @property
    def is_significantly_lower(self) -> bool:
        return self.gain < -1.645 * self.error


class _Replies(NamedTuple):
    """``topic`` is the fault that each is about; of the last number none."""

    session: IntArray
    topic: IntArray
    is_right: BoolArray


def try_prompts(chance: np.random.Generator, *, fixing: float, sessions: int = 60) -> Tried:
    """A prompt fixes a fault with the probability ``fixing``, adds one with half of the rest."""
    validation, test = (_make_replies(chance, number) for number in (sessions, TEST_SESSIONS))
    has_fault = np.arange(FAULTS) < FAULTS // 2
    parts = tuple(part._replace(is_right=_judge(chance, part, has_fault)) for part in (validation, test))
    first, accepted = parts[1], 0
    for number in range(1, TRIES + 1):
        changed, drawn = has_fault.copy(), chance.random()
        if drawn < fixing:
            changed[chance.integers(FAULTS // 2)] = False
        elif drawn < (1 + fixing) / 2:
            changed[chance.integers(FAULTS)] = True
        tried = tuple(part._replace(is_right=_judge(chance, part, changed)) for part in parts)
        before, now = parts[0], tried[0]
        bound = measure_gain(before.is_right, now.is_right, now.session, share_risk(number)).bound
        if bound is not None and bound > 0:
            parts, has_fault, accepted = tried, changed, accepted + 1
    gain = parts[1].is_right.astype(np.float64) - first.is_right
    by_session = np.bincount(first.session, gain - gain.mean())
    return Tried(float(gain.mean()), float(np.sqrt(by_session @ by_session)) / len(gain), accepted)


def _make_replies(chance: np.random.Generator, sessions: int) -> _Replies:
    """Two in three replies of a session are about the same."""
    session = np.repeat(np.arange(sessions), REPLIES_OF_SESSION)
    weights = [*[_SHARE] * FAULTS, 1 - FAULTS * _SHARE]
    own, shared = (chance.choice(FAULTS + 1, size, p=weights) for size in (len(session), sessions))
    topic = np.where(chance.random(len(session)) < 2 / 3, shared[session], own)
    return _Replies(session, topic, np.ones(len(session), bool))


def _judge(chance: np.random.Generator, replies: _Replies, has_fault: BoolArray) -> BoolArray:
    faulty = np.append(has_fault, False)[replies.topic]
    return np.asarray(~faulty & (chance.random(len(faulty)) >= _UNLUCKY))
