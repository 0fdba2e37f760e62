"""Retention rules: the first that matches wins, in the order of the file."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_app.domain.retention import (
    Duration,
    RetentionFileError,
    RetentionRule,
    dump_retention_rules,
    find_rules_still_active,
    get_due_date,
    matches_rule,
    parse_retention,
    parse_retention_rules,
)

FILE = """\
policies:
  - pattern: "*_prod_*.jsonl"
    retention: "90 days"
    reason: "Production data, delete after analysis"
  - pattern: "demo_*.jsonl"
    retention: indefinite
  - pattern: "*.jsonl"
    retention: P1Y
"""


@pytest.mark.parametrize(
    ("text", "duration"),
    [
        ("90 days", Duration(90, "day")),
        ("1 day", Duration(1, "day")),
        (" 18 Months ", Duration(18, "month")),
        ("1 year", Duration(1, "year")),
        ("P90D", Duration(90, "day")),
        ("p2w", Duration(2, "week")),
        ("indefinite", None),
    ],
)
def test_durations_are_read_in_words_and_in_iso_8601(text: str, duration: Duration | None) -> None:
    assert parse_retention(text) == duration


@pytest.mark.parametrize("text", ["", "soon", "90", "-1 days", "0 days", "1.5 years", "P1Y2M", "99999 days"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="retention must be"):
        parse_retention(text)


def test_a_file_is_read_in_its_order() -> None:
    rules = parse_retention_rules(FILE)
    assert rules[0] == RetentionRule("*_prod_*.jsonl", "90 days", "Production data, delete after analysis")
    assert [rule.duration for rule in rules] == [Duration(90, "day"), None, Duration(1, "year")]


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("chat_prod_2025", "*_prod_*.jsonl"),
        ("demo_conversations", "demo_*.jsonl"),
        ("demo_prod_x", "*_prod_*.jsonl"),
        ("Demo_x", "*.jsonl"),
    ],
)
def test_the_first_matching_rule_wins_and_letter_case_counts(name: str, pattern: str) -> None:
    matching = [rule for rule in parse_retention_rules(FILE) if matches_rule(name, rule)]
    assert matching[0].pattern == pattern


def test_a_dataset_no_rule_matches_has_none() -> None:
    assert not any(matches_rule("other", rule) for rule in parse_retention_rules(FILE)[:2])


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "policies"),
        ("policies: x", "policies"),
        ("policies: []\nversion: 2", "unknown key 'version'"),
        ("policies: [x]", "policy 1"),
        ("policies: [{pattern: a}]", "policy 1: retention"),
        ("policies: [{pattern: '', retention: 1 day}]", "policy 1: pattern"),
        ("policies: [{pattern: a, retention: 90}]", "in quotes"),
        (
            "policies: [{pattern: a, retention: 1 day}, {pattern: b, retention: soon}]",
            "policy 2: retention must be",
        ),
        ("policies: [{pattern: a, retention: 1 day, unless: hold}]", "unknown key 'unless'"),
        ("policies: [{pattern: a, retention: 1 day", "line 2"),
        ("a: &x [1]\npolicies: *x", "aliases"),
    ],
)
def test_a_file_that_is_not_wholly_understood_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(RetentionFileError, match=complaint):
        parse_retention_rules(text)


words = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
rules = st.builds(
    RetentionRule,
    pattern=words.filter(str.strip),
    retention=st.sampled_from(["90 days", "indefinite", "P18M", "1 year"]),
    reason=words,
)


@given(st.lists(rules, max_size=5))
def test_rules_written_to_a_file_are_read_back_unchanged(given_rules: list[RetentionRule]) -> None:
    assert parse_retention_rules(dump_retention_rules(given_rules)) == given_rules


@pytest.mark.parametrize(
    ("day", "retention", "end"),
    [
        (date(2025, 12, 1), "90 days", date(2026, 3, 1)),
        (date(2025, 12, 1), "2 weeks", date(2025, 12, 15)),
        (date(2025, 8, 31), "1 month", date(2025, 9, 30)),
        (date(2025, 12, 31), "2 months", date(2026, 2, 28)),
        (date(2024, 2, 29), "1 year", date(2025, 2, 28)),
        (date(2024, 2, 29), "4 years", date(2028, 2, 29)),
        (date(2025, 1, 31), "18 months", date(2026, 7, 31)),
        (date(2025, 1, 1), "9999 years", None),
        (date(2025, 1, 1), "indefinite", None),
    ],
)
def test_a_time_ends_by_the_calendar(day: date, retention: str, end: date | None) -> None:
    assert get_due_date(day, RetentionRule("*", retention)) == end


@given(
    st.dates(max_value=date(9000, 1, 1)),
    st.integers(1, 900),
    st.sampled_from(["day", "week", "month", "year"]),
)
def test_longer_is_never_sooner(day: date, amount: int, unit: str) -> None:
    end, later = Duration(amount, unit).add_to(day), Duration(amount + 1, unit).add_to(day)
    assert end is not None
    assert later is not None
    assert day < end < later


RULES = st.lists(
    st.builds(
        RetentionRule, st.sampled_from(["a*", "*b*", "ab*", "*"]), st.sampled_from(["1 day", "indefinite"])
    ),
    max_size=4,
)


@given(RULES, st.lists(st.booleans(), min_size=4, max_size=4), RULES)
def test_a_change_of_rules_deletes_nothing_that_was_not_deleted_before(
    rules: list[RetentionRule], active: list[bool], changed: list[RetentionRule]
) -> None:
    before = list(zip(rules, active, strict=False))
    after = list(zip(changed, find_rules_still_active(before, changed), strict=True))
    for name in ("a", "ab", "cb", "c"):
        assert not _deletes(name, after) or _deletes(name, before), name


def _deletes(name: str, rules: list[tuple[RetentionRule, bool]]) -> bool:
    """By the rule: the first that matches decides, and deletes if it is active."""
    first = next((pair for pair in rules if matches_rule(name, pair[0])), None)
    return first is not None and first[1] and first[0].duration is not None
