"""What comes next hangs on seed, name and number alone, at about the shares asked for."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from annotations_app.domain.assignment import NextKind, choose_next_kind, gold_item_target, seeded_draw


def kinds(seed: int, user: str, count: int, gold: float, repeat: float) -> list[NextKind]:
    return [
        choose_next_kind(seed, user, number, gold_share=gold, repeat_share=repeat) for number in range(count)
    ]


def test_the_shares_are_about_those_asked_for() -> None:
    found = Counter(kinds(42, "ana", 20_000, 0.1, 0.05))
    assert abs(found[NextKind.GOLD] / 20_000 - 0.1) < 0.01
    assert abs(found[NextKind.REPEAT] / 20_000 - 0.05) < 0.01


def test_another_seed_or_person_gives_another_order() -> None:
    orders = [kinds(seed, user, 200, 0.2, 0.2) for seed, user in ((1, "ana"), (2, "ana"), (1, "ben"))]
    assert orders[0] == kinds(1, "ana", 200, 0.2, 0.2)
    assert orders[0] != orders[1] != orders[2] != orders[0]


def test_without_shares_there_are_only_items() -> None:
    assert set(kinds(42, "ana", 500, 0, 0)) == {NextKind.ITEM}


@given(st.integers(), st.text(max_size=5), st.integers(0, 10**6))
def test_a_draw_lies_from_0_up_to_1(seed: int, user: str, ordinal: int) -> None:
    assert 0 <= seeded_draw(seed, user, ordinal, "kind") < 1
    assert seeded_draw(seed, user, ordinal, "kind") != seeded_draw(seed, user, ordinal, "repeat")


@given(st.integers(1, 10_000), st.integers(0, 10_000), st.floats(0, 0.5))
def test_there_are_never_more_gold_items_than_known_replies(replies: int, known: int, share: float) -> None:
    wanted = gold_item_target(replies, min(known, replies), share)
    assert 0 <= wanted <= min(known, replies)
    assert (wanted > 0) == (share > 0 and known > 0)
