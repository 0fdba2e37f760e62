"""How many more labels bring the interval of alpha to a width."""

import numpy as np
import pytest

from annotations_app.domain.agreement.agreement_plan import plan_agreement
from annotations_app.domain.agreement.agreement_text import say_agreement_plan
from annotations_app.domain.label_table import IntArray, LabelTable
from tests.domain.crowds import Matrix, measure_width, simulate_labels
from tests.domain.ratings import make_label_table


def _take(matrix: Matrix, session: IntArray, items: IntArray, raters: int = 2) -> LabelTable:
    kept = np.sort(items)
    return make_label_table(matrix[:raters, kept], session[kept])


def test_a_plan_gives_the_width_that_it_promises_within_a_fifth() -> None:
    chance = np.random.default_rng(31)
    widths = []
    for _ in range(20):
        matrix, session = simulate_labels(chance, items=1200, sessions=300)
        order = chance.permutation(1200)
        first = _take(matrix, session, order[:150])
        width = 0.6 * measure_width(first)
        plan = plan_agreement(first, width, available=1200)
        assert plan.replies is not None
        widths.append(measure_width(_take(matrix, session, order[: plan.replies])) / width)
    assert np.mean(np.abs(np.array(widths) - 1) <= 0.2) >= 0.8


def test_a_plan_by_overlap_gives_at_most_the_width() -> None:
    chance = np.random.default_rng(32)
    widths = []
    for _ in range(10):
        matrix, session = simulate_labels(chance, items=200, sessions=100, raters=5)
        width = 0.85 * measure_width(_take(matrix, session, np.arange(200)))
        plan = plan_agreement(_take(matrix, session, np.arange(200)), width)
        assert plan.overlap is not None
        assert plan.labels == 200 * (plan.overlap - 2)
        widths.append(measure_width(_take(matrix, session, np.arange(200), plan.overlap)) / width)
    assert np.mean(widths) == pytest.approx(0.95, abs=0.1)


def test_a_plan_says_why_no_number_of_labels_is_enough() -> None:
    chance = np.random.default_rng(33)
    matrix, session = simulate_labels(chance, items=200, sessions=100)
    table = _take(matrix, np.arange(200), np.arange(200))
    assert "not even with two labels of all 210 replies" in plan_agreement(table, 0.02, available=210).note
    assert plan_agreement(table, 1.0).more == 0
    reached = plan_agreement(table, 1.0)
    assert say_agreement_plan(reached) == "an interval of alpha of 1: reached"
    assert (reached.more, reached.overlap, reached.labels) == (0, None, None)
    few = plan_agreement(_take(matrix, session, np.arange(3)), 0.1)
    assert "5 sessions" in few.note
    agreed = make_label_table(np.ones((2, 30)))
    assert plan_agreement(agreed, 0.1).note == "undefined while all labels agree"
