"""Which conversations of production are kept."""

from typing import Any

from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.traces.sampling import Rule, choose, has_negative_feedback, is_sampled, matches_rule


def turn(role: str = "assistant", tags: list[str] | None = None, **metadata: Any) -> TurnRecord:
    return TurnRecord("s", 1, role, "text", tags or [], None, None, metadata or None)


def test_the_rate_is_kept_and_a_higher_one_keeps_more() -> None:
    names = [f"trace-{number}" for number in range(4000)]
    by_rate = {rate: {name for name in names if is_sampled(name, rate)} for rate in (0.0, 10.0, 50.0, 100.0)}
    assert by_rate[0.0] == set()
    assert by_rate[100.0] == set(names)
    assert by_rate[10.0] < by_rate[50.0]
    assert 320 < len(by_rate[10.0]) < 480
    # The same on every machine and in every version.
    assert [is_sampled(name, 50.0) for name in names[:6]] == [True, False, True, False, False, False]


def test_models_and_tags() -> None:
    cases = [
        (Rule(), [turn()], True),
        (Rule(models=("gpt-5",)), [turn(model="gpt-5")], True),
        (Rule(models=("gpt-*", "x")), [turn(model="small"), turn(model="gpt-5-mini")], True),
        (Rule(models=("gpt-5",)), [turn(model="gpt-5-mini")], False),
        (Rule(models=("gpt-5",)), [turn("user", model="gpt-5")], False),
        (Rule(models=("*",)), [turn()], True),
        (Rule(tags=("vip",)), [turn(tags=["vip"])], True),
        (Rule(tags=("vip", "x")), [turn("user"), turn(tags=["a", "vip"])], True),
        (Rule(tags=("a",)), [TurnRecord("s", 1, "user", "t", [], None, None, {"tags": ["a", 3]})], True),
        (Rule(tags=("a",)), [TurnRecord("s", 1, "user", "t", [], None, None, {"tags": "a"})], True),
        (Rule(tags=("vip",)), [turn()], False),
    ]
    wrong = [(rule, turns) for rule, turns, expected in cases if matches_rule(turns, rule) != expected]
    assert not wrong


def test_negative_feedback() -> None:
    negative: list[dict[str, Any]] = [
        {"scores": {"user-feedback": 0}},
        {"scores": {"thumbs": -1}},
        {"scores": {"rating": {"avg": 0.0, "n": 2}}},
        {"scores": {"user_feedback": "thumbs_down"}},
        {"scores": {"Helpfulness": False}},
        {"feedback": "negative"},
        {"feedback": {"rating": "bad"}},
        {"feedback": -1},
    ]
    other: list[dict[str, Any]] = [
        {},
        {"scores": {"toxicity": 0}},
        {"scores": {"user-feedback": 1}},
        {"scores": {"rating": {"avg": 0.5}}},
        {"scores": {"feedback": None}},
        {"scores": ["down"]},
        {"feedback": "good"},
        {"note": "down"},
    ]
    assert [case for case in negative if not has_negative_feedback([turn(**case)])] == []
    assert [case for case in other if has_negative_feedback([turn(**case)])] == []


def test_negative_ones_come_first_below_the_maximum_and_of_near_duplicates() -> None:
    said = ["a b c d e f g h", "a b c d e f g h", "i j k l m n", "o p q r s t", "i j k l m n"]
    negative = [False, True, False, True, False]

    def read(number: int) -> list[str]:
        return [said[number]]

    assert choose(negative, Rule(), read) == ([0, 1, 2, 3, 4], 0)
    assert choose(negative, Rule(maximum=3), read) == ([0, 1, 3], 0)
    assert choose(negative, Rule(skip_near_duplicates=True), read) == ([1, 2, 3], 2)
    assert choose(negative, Rule(skip_near_duplicates=True), read, [["o p q r s t"]]) == ([1, 2], 3)
    assert choose([], Rule(skip_near_duplicates=True), read) == ([], 0)
