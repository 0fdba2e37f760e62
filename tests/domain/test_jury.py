"""Several judges as one: weights from labels of people, on planted judges."""

import numpy as np
import pytest

from annotations_app.domain.judging.jury import (
    MISSING,
    JuryWeights,
    combine_verdicts,
    learn_weights,
    load_weights,
)
from annotations_app.domain.judging.jury_document import read_weights
from annotations_app.domain.label_table import FloatArray, IntArray


def simulate(chance: np.random.Generator, replies: int, *accuracies: float) -> tuple[IntArray, IntArray]:
    """(what each judge says, what people say): judges that err independently."""
    label = (chance.random(replies) < 0.6).astype(np.int64)
    right = chance.random((len(accuracies), replies)) < np.array(accuracies)[:, None]
    return np.where(right, label, 1 - label), label


def answer(weights: JuryWeights, verdicts: IntArray, asked: int | None = None) -> FloatArray:
    return combine_verdicts(weights, verdicts, asked or len(verdicts))


def test_a_jury_is_better_than_its_best_member_and_as_sure_as_it_is_right() -> None:
    chance = np.random.default_rng(1)
    weights = learn_weights(*simulate(chance, 600, 0.75, 0.8, 0.7), 2)
    verdicts, label = simulate(chance, 20_000, 0.75, 0.8, 0.7)
    chances = answer(weights, verdicts)
    right = chances.argmax(axis=1) == label
    # By independent errors: at least two right, or the best one against two.
    assert right.mean() > 0.82
    certainty = chances.max(axis=1)
    for low in (0.5, 0.7, 0.9):
        some = (certainty >= low) & (certainty < low + 0.2)
        if some.sum() > 500:
            assert right[some].mean() == pytest.approx(certainty[some].mean(), abs=0.05)


def test_copies_of_one_judge_share_its_weight_and_dont_outvote_a_better_one() -> None:
    chance = np.random.default_rng(2)
    verdicts, label = simulate(chance, 2000, 0.7, 0.85)
    copied = np.concatenate([np.repeat(verdicts[:1], 4, axis=0), verdicts[1:]])
    weights = learn_weights(copied, label, 2)
    assert weights.weight[-1, :4].sum() == pytest.approx(1, abs=0.3)
    assert weights.weight[-1, 4] == pytest.approx(1, abs=0.3)
    differ = verdicts[0] != verdicts[1]
    assert (answer(weights, copied[:, differ]).argmax(axis=1) == verdicts[1, differ]).all()


def test_a_judge_that_is_always_wrong_is_as_good_as_one_that_is_always_right() -> None:
    verdicts, label = simulate(np.random.default_rng(3), 500, 0.1, 0.5)
    weights = learn_weights(verdicts, label, 2)
    assert (answer(weights, verdicts).argmax(axis=1) == label).mean() > 0.85


def test_who_says_nothing_counts_for_nothing_and_nobody_makes_no_answer() -> None:
    chance = np.random.default_rng(4)
    verdicts, label = simulate(chance, 1000, 0.8, 0.9)
    verdicts[1, ::2] = MISSING
    weights = learn_weights(verdicts, label, 2)
    one = np.array([[1, MISSING, MISSING], [MISSING, 0, MISSING]])
    chances = answer(weights, one)
    assert chances[:2].argmax(axis=1).tolist() == [1, 0]
    assert np.isnan(chances[2]).all()
    assert chances[:2].sum(axis=1) == pytest.approx([1, 1])
    # Of the first member alone, as sure as it was right: how often is in its confusion matrix.
    [first] = answer(weights, np.array([[1], [0]]), 1)
    said = verdicts[0] == 1
    assert first[1] == pytest.approx(label[said].mean(), abs=0.02)


def test_three_answers_and_weights_that_are_stored() -> None:
    chance = np.random.default_rng(5)
    label = chance.integers(0, 3, 900)
    verdicts = np.stack(
        [np.where(chance.random(900) < share, label, (label + 1) % 3) for share in (0.7, 0.6)]
    )
    weights = learn_weights(verdicts, label, 3)
    stored = load_weights(read_weights(weights.as_stored()._asdict(), 2, 3))
    assert answer(stored, verdicts) == pytest.approx(answer(weights, verdicts), abs=1e-3)
    assert (answer(stored, verdicts).argmax(axis=1) == label).mean() > 0.7
    right = weights.as_stored()._asdict()
    for wrong in (None, {}, right | {"bias": [[1, "x", 1]] * 2}, right | {"bias": [[1.0]]}):
        with pytest.raises(ValueError, match="expected"):
            read_weights(wrong, 2, 3)


def test_weights_are_the_minimum_of_the_penalized_loss() -> None:
    verdicts, label = simulate(np.random.default_rng(6), 80, 0.8, 0.7, 0.8)
    weights = learn_weights(verdicts, label, 2)
    prior = np.log((np.bincount(label) + 1) / (len(label) + 2))

    def loss(weight: FloatArray, bias: FloatArray) -> float:
        tried = weights._replace(weight=np.tile(weight, (3, 1)), bias=np.tile(bias, (3, 1)))
        right = answer(tried, verdicts)[np.arange(80), label]
        penalty = ((weight - 1) ** 2).sum() + ((bias - prior) ** 2).sum()
        return float(penalty / 2 - np.log(right).sum())

    best = loss(weights.weight[-1], weights.bias[-1])
    for step in np.eye(5) * 0.01:
        for sign in (-1, 1):
            moved = sign * step
            assert loss(weights.weight[-1] + moved[:3], weights.bias[-1] + moved[3:]) > best
