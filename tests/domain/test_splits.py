"""Who goes where: shares, groups, and that nobody ever moves."""

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_app.domain.splits.decision import Conversation, SplitDecision, decide_splits
from datasets_app.domain.splits.report import format_report
from datasets_app.domain.splits.splits import (
    SPLITS,
    TOTAL_PARTS,
    Candidate,
    SplitError,
    SplitSettings,
    UnionFind,
    get_split_group,
    place_sessions,
)
from tests.domain.test_near_duplicates import talk

RATIOS = ["60,20,20", "80,20", "80,10,10", "33.33,33.33,33.34", "50,50", "97,2,1"]


def asked(ratios: str = "60,20,20", seed: int = 42, stratify: str = "scenario") -> SplitSettings:
    return SplitSettings.parse(ratios, seed, stratify, 0.65)


@given(
    st.sampled_from(RATIOS),
    st.integers(0, 1000),
    st.lists(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=30), min_size=1, max_size=6),
)
def test_in_any_batches_nobody_moves_and_no_stratum_is_off_by_a_session(
    ratios: str, seed: int, batches: list[list[str]]
) -> None:
    how = asked(ratios, seed)
    there: list[Candidate] = []
    for batch in batches:
        start = len(there)
        new = [Candidate(f"s{start + at}", stratum, start + at) for at, stratum in enumerate(batch)]
        placed = place_sessions([*there, *new], how)
        assert placed[:start] == [session.current_split for session in there]
        there = [
            session._replace(current_split=split)
            for session, split in zip([*there, *new], placed, strict=True)
        ]
        assert all(off < 1 for off in _off(there, how).values())


def _off(sessions: list[Candidate], how: SplitSettings) -> dict[tuple[str, str], float]:
    """By stratum and split, how many sessions too many or too few."""
    total = Counter(session.stratum for session in sessions)
    found = Counter((session.stratum, session.current_split) for session in sessions)
    return {
        (stratum, split): abs(found[stratum, split] - share * count / TOTAL_PARTS)
        for stratum, count in total.items()
        for split, share in how.target_shares().items()
    }


@given(
    st.integers(0, 1000),
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 30)), min_size=1, max_size=80),
    st.randoms(use_true_random=False),
)
def test_groups_stay_together_and_the_order_does_not_matter(
    seed: int, given_sessions: list[tuple[str, int]], chance: random.Random
) -> None:
    sessions = [Candidate(f"s{at}", stratum, group) for at, (stratum, group) in enumerate(given_sessions)]
    by_id = dict(
        zip([one.session_id for one in sessions], place_sessions(sessions, asked(seed=seed)), strict=True)
    )
    splits_of_group: dict[int, set[str]] = {}
    for session in sessions:
        splits_of_group.setdefault(session.group, set()).add(by_id[session.session_id])
    assert all(len(found) == 1 for found in splits_of_group.values())
    chance.shuffle(sessions)
    again = place_sessions(sessions, asked(seed=seed))
    assert by_id == dict(zip([one.session_id for one in sessions], again, strict=True))


def test_another_seed_is_another_split_and_hashes_of_ids_decide() -> None:
    sessions = [Candidate(f"s{at}", "x", at) for at in range(200)]
    assert place_sessions(sessions, asked(seed=1)) != place_sessions(sessions, asked(seed=2))
    # Nothing of the order of the ids is left: each half has its share of the test split.
    assert (
        10
        <= place_sessions(sessions, asked()).count("test")
        - place_sessions(sessions, asked())[:100].count("test")
        <= 30
    )


def test_a_group_goes_with_the_most_of_those_placed() -> None:
    sessions = [
        Candidate("a", "x", 0, "train"),
        Candidate("b", "x", 0, "test"),
        Candidate("c", "x", 0, "test"),
        Candidate("d", "x", 0),
    ]
    assert place_sessions(sessions, asked()) == ["train", "test", "test", "test"]


@pytest.mark.parametrize(
    "ratios", ["", "100", "60,20", "60,20,20,0", "60,-20,60", "a,b", "60,40,0", "nan,100", "33.333,66.667"]
)
def test_ratios_that_are_none_are_refused_in_a_sentence(ratios: str) -> None:
    with pytest.raises(SplitError, match="add up to 100"):
        asked(ratios)


def test_settings_come_back_from_json() -> None:
    how = asked("80,20", stratify="persona")
    assert SplitSettings.from_json(how.as_json()) == how
    assert how.target_shares() == {"train": 8000, "test": 2000}
    for wrong in ({"stratify": "tag"}, {"similarity": 0.2}, {"similarity": 1.01}, {"seed": 2**60}):
        with pytest.raises(SplitError):
            SplitSettings.parse(
                **{"ratios": "80,20", "seed": 1, "stratify": "none", "similarity": 0.7, **wrong}
            )


# --- with texts --------------------------------------------------------------------------------


def conversation(number: int, scenario: str = "scenario:a", **fields: object) -> Conversation:
    given_fields = {"persona_id": "p", "tags": [scenario], "texts": talk(number), **fields}
    return Conversation(f"s{number:04d}", **given_fields)  # type: ignore[arg-type]


def in_batches(batches: list[list[Conversation]], how: SplitSettings) -> list[SplitDecision]:
    placed: dict[str, str] = {}
    every: list[Conversation] = []
    decisions = []
    for batch in batches:
        every += batch
        decision = decide_splits(
            (one._replace(current_split=placed.get(one.session_id)) for one in every), how
        )
        now = dict(zip(decision.ids, decision.splits, strict=True))
        assert {key: now[key] for key in placed} == placed
        placed = now
        decisions.append(decision)
    return decisions


def test_500_sessions_in_five_batches() -> None:
    """No session ever changes split, shares are within a point per stratum, a twin lands with its twin."""
    scenarios = ["scenario:billing", "scenario:support"]
    batches = [[conversation(100 * batch + at, scenarios[at % 2]) for at in range(100)] for batch in range(5)]
    # Twins of sessions of earlier batches, under other ids.
    for batch, twin_of in ((1, 17), (2, 116), (4, 301)):
        texts = [f"{text.title()} (order {batch})" for text in talk(twin_of)]
        batches[batch][twin_of % 100] = conversation(100 * batch + twin_of % 100)._replace(
            texts=texts, tags=[scenarios[twin_of % 2]]
        )
    decisions = in_batches(batches, asked())
    for decision in decisions:
        assert decision.report["leaking_pairs"] == 0
        assert all(row["sessions_off"] < 1.01 for row in decision.report["strata"])
    last = decisions[-1]
    assert all(row["points_off"] <= 1 for row in last.report["strata"])
    assert {name: row["sessions"] for name, row in last.report["splits"].items()} == {
        "train": 300,
        "validation": 100,
        "test": 100,
    }
    split_of = dict(zip(last.ids, last.splits, strict=True))
    for twin, original in ((117, 17), (216, 116), (401, 301)):
        assert split_of[f"s{twin:04d}"] == split_of[f"s{original:04d}"]


def test_siblings_stay_together_whatever_they_say() -> None:
    sessions = [conversation(at, sibling=f"case {at % 20}") for at in range(60)]
    decision = decide_splits(sessions, asked())
    assert decision.report["groups"] == 20
    for at in range(20):
        assert len({decision.splits[at], decision.splits[at + 20], decision.splits[at + 40]}) == 1
    assert get_split_group({"split_group": "a"}) == "a"
    assert get_split_group({"split_group": 7}) == "7"
    for none in (None, {}, {"split_group": " "}, {"split_group": ["a"]}, {"split_group": None}):
        assert get_split_group(none) is None


def test_a_leak_is_named() -> None:
    sessions = [conversation(at) for at in range(10)]
    sessions[0] = sessions[0]._replace(current_split="train")
    sessions[1] = conversation(0)._replace(session_id="s0001", current_split="test")
    sessions[2] = sessions[2]._replace(current_split="test", sibling="x")
    sessions[3] = sessions[3]._replace(current_split="train", sibling="x")
    decision = decide_splits(sessions, asked())
    assert decision.report["leaking_pairs"] == 2
    assert decision.describe_leaks() == [
        {"sessions": ["s0002", "s0003"], "splits": ["test", "train"], "similarity": None},
        {"sessions": ["s0000", "s0001"], "splits": ["train", "test"], "similarity": 1.0},
    ]
    lines = list(format_report(decision.report, decision.describe_leaks()))
    assert "  s0002 (test) and s0003 (train): siblings" in lines
    assert "  s0000 (train) and s0001 (test): similarity 1.00" in lines
    assert "s0001" not in str(decision.report)


def test_a_group_too_large_for_a_split_is_told() -> None:
    sessions = [conversation(0)._replace(session_id=f"same{at}") for at in range(40)]
    decision = decide_splits([*sessions, *(conversation(at) for at in range(1, 20))], asked())
    assert decision.report["largest_group"] == 40
    told = "\n".join(format_report(decision.report, []))
    assert "40 sessions belong together, more than the smallest split is to have" in told
    assert "1 of 1 strata deviate" in told


def test_strata_by_persona_or_none() -> None:
    sessions = [conversation(at, persona_id=["ana", None][at % 2]) for at in range(50)]
    by_persona = decide_splits(sessions, asked(stratify="persona"))
    assert {row["stratum"]: row["train"] for row in by_persona.report["strata"]} == {
        "ana": 15,
        "no persona": 15,
    }
    assert decide_splits(sessions, asked(stratify="none")).report["strata_count"] == 1
    assert decide_splits([], asked()).report["sessions"] == 0


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50))))
def test_links_are_groups(joined: list[tuple[int, int]]) -> None:
    links = UnionFind()
    for _ in range(51):
        links.add()
    for one, other in joined:
        links.union(one, other)
        assert links.find(one) == links.find(other)
    assert all(links.find(number) <= number for number in range(51))
    assert set(SPLITS) == {"train", "validation", "test"}
