"""Campaigns whose true rate is known: replies in sessions that are unlike each other, people and judges."""

import numpy as np

from annotations_app.domain.estimates.rates import BoolArray, FloatArray, Replies

TRUE_RATE = 0.7


def simulate_replies(
    chance: np.random.Generator,
    *,
    sessions: int = 100,
    replies: int = 2000,
    labels: int = 200,
    rate: float = TRUE_RATE,
    alike: float = 0.2,
    judges: tuple[float, ...] = (0.85,),
) -> tuple[Replies, FloatArray]:
    """The replies of a campaign, of which ``labels`` at random have one, and what people would say of each.

    ``alike`` is how much replies of one session have in common (0 to 1); each judge agrees with people as
    often as its number says, 0.5 being one that knows nothing.
    """
    session = chance.integers(0, sessions, size=replies)
    own = chance.beta(rate * (1 / alike - 1), (1 - rate) * (1 / alike - 1), sessions)
    truth = (chance.random(replies) < own[session]).astype(np.float64)
    verdicts = np.stack([_judge(chance, truth, accuracy) for accuracy in judges])
    label = np.full(replies, np.nan)
    chosen = chance.permutation(replies)[:labels]
    label[chosen] = truth[chosen]
    _, session = np.unique(session, return_inverse=True)
    return Replies(session, label, np.full(replies, 0.5), verdicts), truth


def _judge(chance: np.random.Generator, truth: FloatArray, accuracy: float) -> FloatArray:
    right: BoolArray = chance.random(len(truth)) < accuracy
    return np.where(right, truth, 1 - truth)
