"""Labels of simulated people, whose truth is known, and how wide the interval of alpha is."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotations_app.domain.agreement.agreement import measure_headline
from annotations_app.domain.agreement.consensus import find_unsure, fit_consensus
from annotations_app.domain.label_table import IntArray, LabelTable
from tests.domain.ratings import make_label_table

Matrix = NDArray[np.float64]


def simulate_labels(
    chance: np.random.Generator,
    *,
    items: int,
    sessions: int,
    raters: int = 2,
    accuracy: float = 0.9,
    alike: float = 0.05,
) -> tuple[Matrix, IntArray]:
    """(raters, items) of labels 0 and 1, and the session of each item. ``alike`` is how much replies of one
    session have in common, what is true of them and how hard they are."""
    session = np.sort(chance.integers(0, sessions, items))
    share, right = (
        chance.beta(mean * (1 / alike - 1), (1 - mean) * (1 / alike - 1), sessions)[session]
        for mean in (0.6, accuracy)
    )
    truth = chance.random(items) < share
    is_right = chance.random((raters, items)) < right
    return np.where(is_right, truth, ~truth).astype(np.float64), session


class Crowd(NamedTuple):
    """``labels`` (workers, items) is NaN where a worker wasn't asked; ``asked`` (places, items) are the
    workers of each item in their order."""

    labels: Matrix
    truth: NDArray[np.int64]
    asked: NDArray[np.int64]

    def keep(self, places: NDArray[np.int64]) -> Matrix:
        """Of each item so many labels, the first ones."""
        kept = np.full_like(self.labels, np.nan)
        for place, workers in enumerate(self.asked):
            some = np.flatnonzero(place < places)
            kept[workers[some], some] = self.labels[workers[some], some]
        return kept

    def is_right(self, posterior: Matrix) -> float:
        return float((posterior.argmax(axis=1) == self.truth).mean())


def simulate_crowd(
    chance: np.random.Generator, *, items: int = 800, workers: int = 164, each: int = 10, task: int = 20
) -> Crowd:
    """As the crowd that labeled textual entailment (RTE) for Snow et al. (2008) is described: 164 workers,
    most with one task of 20 items and few with most of them, right in 84 % on average, on items of which some
    are harder for all."""
    skill, ease = chance.normal(2.05, 0.8, workers), chance.normal(0, 0.8, items)
    truth, weight = chance.integers(0, 2, items), chance.lognormal(0, 1.5, workers)
    labels, asked = np.full((workers, items), np.nan), np.zeros((each, items), np.int64)
    tasks = np.arange(items).reshape(-1, task)
    # Everybody has one; nobody has the same twice.
    more = chance.multinomial(each * len(tasks) - workers, weight / weight.sum())
    left = np.minimum(1 + more, len(tasks))
    for of_task, tasks_left in zip(tasks, range(len(tasks), 0, -1), strict=True):
        chosen = np.argsort(left / tasks_left + chance.random(workers))[-each:]
        left[chosen] -= 1
        right = chance.random((each, task)) < 1 / (1 + np.exp(-skill[chosen, None] - ease[of_task]))
        labels[chosen[:, None], of_task] = np.where(right, truth[of_task], 1 - truth[of_task])
        asked[:, of_task] = chance.permuted(np.repeat(chosen[:, None], task, axis=1), axis=0)
    return Crowd(labels, truth, asked)


def find_posterior(labels: Matrix) -> tuple[Matrix, Matrix]:
    """(counts, posterior) of items in their order: each is a session of its own."""
    table = make_label_table(labels)
    return table.counts(), fit_consensus(table).posterior


def ask_adaptively(crowd: Crowd, first: int, most: int) -> NDArray[np.int64]:
    """How many labels each item gets: the ``first``, then one more at a time while they leave it unsure."""
    places = np.full(len(crowd.truth), first)
    for have in range(first, most):
        places += (places == have) & find_unsure(*find_posterior(crowd.keep(places)), most - places)
    return places


class Overlap(NamedTuple):
    """Of a crowd, with ``most`` people of each item and adaptively: the share of items that consensus has
    right, and of labels that were asked for; ``kept`` are both sets of labels."""

    right_of_all: float
    right: float
    labels: float
    kept: tuple[Matrix, Matrix]


def compare_overlap(crowd: Crowd, most: int) -> Overlap:
    places = ask_adaptively(crowd, 2, most)
    kept = crowd.keep(np.full(len(places), most)), crowd.keep(places)
    of_all, right = (crowd.is_right(find_posterior(one)[1]) for one in kept)
    return Overlap(of_all, right, float(places.mean()) / most, kept)


def measure_width(table: LabelTable) -> float:
    alpha = measure_headline(table, table.counts(), resamples=200, seed=1).krippendorff_alpha
    assert alpha.low is not None
    assert alpha.high is not None
    return alpha.high - alpha.low
