"""Campaigns whose true rate is known: replies in sessions that are unlike each other, people and judges."""

import numpy as np

from annotations_app.domain.agreement.preference import Preference, measure_preference
from annotations_app.domain.estimates.rates import BoolArray, FloatArray, Replies
from annotations_app.domain.estimates.usefulness import Draws, draw_at_random, measure_usefulness
from datasets_app.domain.labels.preference import BOTH_BAD, SIDE_A, SIDE_B, TIE

TRUE_RATE = 0.7
# Of pairs: one in ten is a tie and one in twenty bad on both sides, which count half.
TRUE_WIN_RATE = 0.15 * 0.5 + 0.85 * 0.6


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


def draw_in_order(chance: np.random.Generator, replies: int) -> Draws:
    """Replies in an order of their own."""
    draws = draw_at_random(replies)
    return draws._replace(draw=chance.permutation(draws.draw))


def ask_most_useful(
    chance: np.random.Generator,
    replies: Replies,
    truth: FloatArray,
    *,
    labels: int = 200,
    first: int = 60,
    step: int = 40,
) -> tuple[Replies, Draws]:
    """People label the ``first`` replies in random order, then the most useful ones, which are found again
    after each ``step``."""
    draws = draw_in_order(chance, len(truth))
    label = np.full(len(truth), np.nan)
    while True:
        done = ~np.isnan(label)
        left = labels - int(done.sum())
        reached = draws.chances(done) if done.any() else draws.reached
        if left <= 0:
            return replies._replace(
                label=np.where(draws.draw < reached, label, np.nan), chance=reached
            ), draws
        if done.any():
            draws = Draws(draws.draw, measure_usefulness(label[None], replies.verdicts[None]), reached)
        order = draws.order()
        chosen = order[~done[order]][: min(left, step if done.any() else first)]
        label[chosen] = truth[chosen]


def simulate_pairs(
    chance: np.random.Generator, *, win: float = 0.6, bias: float = 0.0, sessions: int = 100
) -> Preference:
    """Sessions of one to six pairs with two annotators each; replies of a session win or lose together. In so
    many cases of 1 (``bias``) an annotator takes A without looking."""
    sizes = chance.integers(1, 7, size=sessions)
    pair_session = np.repeat(np.arange(sessions), sizes)
    # A session's own probability: its mean is the truth.
    own = chance.beta(3 * win, 3 * (1 - win), size=sessions)
    swapped = np.repeat(chance.random(len(pair_session)) < 0.5, 2)
    session = np.repeat(pair_session, 2)
    draw = chance.random(len(session))
    first_is_better = chance.random(len(session)) < own[session]
    code = np.where(first_is_better ^ swapped, SIDE_A, SIDE_B)
    code = np.where(draw < 0.1, TIE, np.where(draw < 0.15, BOTH_BAD, code))
    code = np.where(chance.random(len(code)) < bias, SIDE_A, code)
    return measure_preference(code, swapped, session, resamples=1000, seed=7)
