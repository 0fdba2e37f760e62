"""What is planned: exact counts, ids that never meet by accident, the same for the same wish."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_app.domain.generation.chance import Permutation, SeededRandom
from datasets_app.domain.generation.plan import (
    BRAND_CATEGORIES,
    SAFETY_CATEGORIES,
    SCENARIOS,
    GenerationRequest,
    PlanError,
    Profile,
    plan_sessions,
)

NUMBERS_OF_A_KEY = [864, 73, 390, 571, 298, 553, 766, 114, 238]
RATIOS = st.integers(0, 50).map(lambda percent: percent / 100)


@given(st.integers(1, 400), RATIOS, RATIOS, RATIOS, st.integers())
@settings(max_examples=60)
def test_there_are_exactly_as_many_of_each_kind_as_were_asked_for(
    sessions: int, safety: float, brand: float, edge: float, seed: int
) -> None:
    plan = plan_sessions(GenerationRequest(sessions, (6, 6), safety, brand, edge, seed))
    found = Counter(planned.kind for planned in plan)
    assert found == Counter(plan.counts)
    assert found.total() == sessions == len(plan)
    assert abs(plan.counts["safety_trap"] - sessions * safety) <= 0.5
    assert len({planned.session_id for planned in plan}) == sessions


def test_a_half_is_rounded_up_as_people_do() -> None:
    assert _count_kinds(GenerationRequest(10, (6, 6), 0.15, 0.25, 0)) == [2, 3, 0, 5]
    assert _count_kinds(GenerationRequest(200)) == [30, 40, 13, 117]
    assert _count_kinds(GenerationRequest(1, (6, 6), 0.5, 0.5)) == [1, 0, 0, 0]


def _count_kinds(request: GenerationRequest) -> list[int]:
    counts = plan_sessions(request).counts
    return [counts[kind] for kind in ("safety_trap", "brand_trap", "edge_case", "scenario")]


@pytest.mark.parametrize(
    ("wish", "told"),
    [
        (GenerationRequest(10, (6, 6), 0.7, 0.4), "add up to 1.1"),
        (GenerationRequest(10, (6, 6), -0.1, 0.4), "must be from 0 to 1, not -0.1"),
        (GenerationRequest(10, (6, 6), float("nan"), 0.4), "must be from 0 to 1, not nan"),
        (GenerationRequest(0), "must be from 1"),
        (GenerationRequest(10, (1, 6)), "from 2 to 100"),
        (GenerationRequest(10, (8, 6)), "from 2 to 100"),
    ],
)
def test_what_can_not_be_planned_is_refused_with_a_sentence(wish: GenerationRequest, told: str) -> None:
    with pytest.raises(PlanError, match=told):
        plan_sessions(wish)


def test_ratios_that_make_up_all_are_no_more_than_all() -> None:
    # As binary fractions 0.7 + 0.1 + 0.2 and their like are a little more, or less, than they say.
    assert _count_kinds(GenerationRequest(10, (6, 6), 0.7, 0.3)) == [7, 3, 0, 0]


def test_the_same_wish_is_the_same_plan_and_any_other_another() -> None:
    wish, digests = GenerationRequest(5), set()
    first = plan_sessions(wish, "persona")
    assert list(first) == list(plan_sessions(wish, "persona"))
    assert first[2] == list(first)[2]
    for other in (
        plan_sessions(replace(wish, seed=43), "persona"),
        plan_sessions(replace(wish, sessions=6), "persona"),
        plan_sessions(replace(wish, turns=(4, 6)), "persona"),
        plan_sessions(replace(wish, safety_trap_ratio=0.16), "persona"),
        plan_sessions(wish, "another persona"),
        plan_sessions(wish, "persona", Profile(turn_counts=((4, 1),))),
        plan_sessions(wish, "persona", made_by="another writer"),
    ):
        digests.add(other.digest)
        assert not {planned.session_id for planned in other} & {planned.session_id for planned in first}
        assert not {planned.seed for planned in other} & {planned.seed for planned in first}
    assert len(digests) == 7


def test_scenarios_and_categories_take_turns() -> None:
    plan = plan_sessions(GenerationRequest(1000))
    per_scenario = Counter(planned.scenario for planned in plan if planned.kind == "scenario")
    assert set(per_scenario) == set(SCENARIOS)
    assert max(per_scenario.values()) - min(per_scenario.values()) <= 1
    for kind, categories in (("safety_trap", SAFETY_CATEGORIES), ("brand_trap", BRAND_CATEGORIES)):
        found = Counter(planned.trap_category for planned in plan if planned.kind == kind)
        assert set(found) == set(categories)
        assert max(found.values()) - min(found.values()) <= 1


def test_tags_tell_kind_scenario_and_trap() -> None:
    for planned in plan_sessions(GenerationRequest(60)):
        expected = [] if planned.kind == "scenario" else [f"scenario:{planned.kind}"]
        expected.append(f"scenario:{planned.scenario}")
        assert planned.tags == (
            *expected,
            *([f"trap:{planned.trap_category}"] if planned.trap_category else ()),
        )


@given(st.text(max_size=5), st.integers(1, 3000))
@settings(max_examples=60)
def test_a_shuffle_places_every_number_once(key: str, count: int) -> None:
    assert sorted(map(Permutation(key, count).get_position, range(count))) == list(range(count))


def test_chance_draws_the_numbers_it_has_always_drawn() -> None:
    chance = SeededRandom("a key")
    assert [chance.randbelow(1000) for _ in range(9)] == NUMBERS_OF_A_KEY
    weights = [("often", 3), ("never", 0), ("seldom", 1)]
    drawn = Counter(chance.weighted_choice(weights) for _ in range(4000))
    assert drawn["never"] == 0
    assert 2800 < drawn["often"] < 3200
