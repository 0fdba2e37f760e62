"""Several judges as one: what each says, weighted by how it and the others did against people.

Of each judge is known how often it gives which answer where people give which: a confusion matrix, as in
Dawid & Skene 1979 (Applied Statistics 28, 20-28), but from labels of people. Their log-likelihoods are added
up with a weight for each judge, learned by a regularized logistic regression (stacking, Wolpert 1992, Neural
Networks 5, 241-259): judges that make the same mistakes share the weight of one. Without evidence the weights
are 1, which is Dawid and Skene's rule for judges that err independently.

A reply is combined with weights that its conversation took no part in: conversations are dealt into folds,
and each fold has weights learned from the others.
"""

from typing import NamedTuple

import numpy as np

from annotations_app.domain.arrays import FloatArray, IntArray
from annotations_app.domain.judging.jury_document import FoldWeights

MISSING = -1
# Added to each count of a confusion matrix, and to each answer's share.
_SMOOTHING = 1.0
# Of a normal distribution about 1 that weights come from: its variance is the inverse.
_PENALTY = 1.0
_STEPS, _TOLERANCE, _DECIMALS = 50, 1e-8, 4


class JuryWeights(NamedTuple):
    """Of one criterion. ``likelihood`` (members, answers of people, answers of the member) has logarithms;
    row j - 1 of ``weight`` (members, members) and ``bias`` (members, answers) is for replies about which only
    the first j members were asked."""

    likelihood: FloatArray
    weight: FloatArray
    bias: FloatArray

    def as_stored(self) -> FoldWeights:
        return FoldWeights(*(array.round(_DECIMALS).tolist() for array in self))


def load_weights(stored: FoldWeights) -> JuryWeights:
    return JuryWeights(*map(np.array, stored))


def learn_weights(verdicts: IntArray, label: IntArray, answers: int) -> JuryWeights:
    """``verdicts`` (members, replies) are codes of answers, MISSING where there is none; ``label`` (replies)
    is what most people say, and ``answers`` how many there are."""
    members = len(verdicts)
    shares = np.bincount(label, minlength=answers) + _SMOOTHING
    likelihood = np.zeros((members, answers, answers))
    for member, said in enumerate(verdicts):
        there = said != MISSING
        counts = np.bincount(label[there] * answers + said[there], minlength=answers**2)
        smooth = counts.reshape(answers, answers) + _SMOOTHING
        likelihood[member] = np.log(smooth / smooth.sum(axis=1, keepdims=True))
    prior = np.log(shares / shares.sum())
    weight, bias = np.zeros((members, members)), np.zeros((members, answers))
    evidence = _look_up(likelihood, verdicts)
    for asked in range(1, members + 1):
        weight[asked - 1, :asked], bias[asked - 1] = _fit(evidence[:asked], label, prior)
    return JuryWeights(likelihood, weight, bias)


def combine_verdicts(weights: JuryWeights, verdicts: IntArray, asked: int) -> FloatArray:
    """(replies, answers): how likely people give each answer, if the first ``asked`` members were asked.
    Members without a verdict say nothing; NaN where nobody has one."""
    said = verdicts[:asked]
    evidence = _look_up(weights.likelihood[:asked], said)
    logits = weights.bias[asked - 1] + np.tensordot(weights.weight[asked - 1, :asked], evidence, 1)
    chances = _softmax(logits)
    chances[(said == MISSING).all(axis=0)] = np.nan
    return chances


def _look_up(likelihood: FloatArray, verdicts: IntArray) -> FloatArray:
    """(members, replies, answers of people): the logarithm of how likely each verdict is; 0 without one."""
    found = np.zeros((*verdicts.shape, likelihood.shape[1]))
    for member, said in enumerate(verdicts):
        there = said != MISSING
        found[member, there] = likelihood[member].T[said[there]]
    return found


def _softmax(logits: FloatArray) -> FloatArray:
    raised = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=-1, keepdims=True))


def _fit(evidence: FloatArray, label: IntArray, prior: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The weight of each member and the bias of each answer, by Newton's method from 1 and ``prior``, towards
    which both are penalized: the loss is convex, and a step that doesn't lower it is halved."""
    members, replies, answers = evidence.shape
    # (replies, answers, parameters): the logits are linear in weights and biases.
    rows = np.concatenate(
        [np.moveaxis(evidence, 0, -1), np.broadcast_to(np.eye(answers), (replies, answers, answers))], axis=-1
    )
    center = np.concatenate([np.ones(members), prior])
    truth = rows[np.arange(replies), label]

    def measure(values: FloatArray) -> tuple[float, FloatArray]:
        chances = _softmax(rows @ values)
        right = chances[np.arange(replies), label]
        off = values - center
        return float(_PENALTY / 2 * off @ off - np.log(right).sum()), chances

    values = center.copy()
    loss, chances = measure(values)
    for _ in range(_STEPS):
        expected = np.einsum("nc,ncp->np", chances, rows)
        slope = (expected - truth).sum(axis=0) + _PENALTY * (values - center)
        curve = np.einsum("nc,ncp,ncq->pq", chances, rows, rows, optimize=True) - expected.T @ expected
        step = np.linalg.solve(curve + _PENALTY * np.eye(len(values)), slope)
        following, chances_then = measure(values - step)
        while following > loss and np.abs(step).max() > _TOLERANCE:
            step = step / 2
            following, chances_then = measure(values - step)
        if following > loss:
            break
        values, loss, chances = values - step, following, chances_then
        if np.abs(step).max() < _TOLERANCE:
            break
    return values[:members], values[members:]
