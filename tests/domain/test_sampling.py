"""Which sessions a sample takes: evenly, and the same ones again."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from datasets_app.domain.conversations.sampling import (
    SAMPLE_GROUPINGS,
    TaggedSession,
    allocate_shares,
    choose_sessions,
    merge_session_tags,
)

SESSIONS: list[TaggedSession] = [
    (
        f"s{number}",
        [
            "scenario:billing" if number % 10 else "scenario:support",
            *(["trap:privacy"] if number < 3 else []),
        ],
    )
    for number in range(100)
]


@given(st.dictionaries(st.text(max_size=3), st.integers(1, 50), min_size=1, max_size=8), st.integers(1, 300))
def test_shares_are_as_equal_as_the_groups_allow(sizes: dict[str, int], size: int) -> None:
    given_out = allocate_shares(Counter(sizes), size)
    assert sum(given_out.values()) == min(size, sum(sizes.values()))
    assert all(given_out[group] <= sizes[group] for group in sizes)
    unfilled = [given_out[group] for group in sizes if given_out[group] < sizes[group]]
    if unfilled:
        # Who could still give gives as many as anyone, or one fewer.
        assert max(given_out.values()) - min(unfilled) <= 1


def test_a_sample_is_balanced_by_what_was_asked() -> None:
    chosen = choose_sessions(lambda: SESSIONS, 12, "scenario", 1)
    assert Counter(chosen.values()) == {"scenario:billing": 6, "scenario:support": 6}
    chosen = choose_sessions(lambda: SESSIONS, 12, "trap", 1)
    assert Counter(chosen.values()) == {"trap:privacy": 3, "no trap": 9}
    assert {"s0", "s1", "s2"} <= chosen.keys()
    # A session stands for its rarest tag.
    chosen = choose_sessions(lambda: SESSIONS, 9, "tag", 1)
    assert Counter(chosen.values()) == {"scenario:billing": 3, "scenario:support": 3, "trap:privacy": 3}


def test_the_same_seed_takes_the_same_sessions_in_whatever_order_they_come() -> None:
    for by in SAMPLE_GROUPINGS:
        first = choose_sessions(lambda: SESSIONS, 20, by, 7)
        assert first == choose_sessions(lambda: SESSIONS[::-1], 20, by, 7)
        assert first.keys() != choose_sessions(lambda: SESSIONS, 20, by, 8).keys()
        assert len(first) == 20


def test_every_session_is_as_likely_as_any_other() -> None:
    taken = Counter(
        session for seed in range(400) for session in choose_sessions(lambda: SESSIONS, 25, "session", seed)
    )
    assert len(taken) == 100
    assert all(60 < count < 145 for count in taken.values())


def test_more_than_there_are_is_all() -> None:
    assert len(choose_sessions(lambda: SESSIONS, 500, "trap", 1)) == 100
    assert choose_sessions(list, 5, "tag", 1) == {}


def test_tags_of_a_session_are_those_of_its_turns() -> None:
    turns = [("a", ["x"]), ("a", ["y", "x"]), ("b", [])]
    assert list(merge_session_tags(turns)) == [("a", ["x", "y"]), ("b", [])]
