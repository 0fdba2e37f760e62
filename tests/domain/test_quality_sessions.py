"""Sessions: counting, repetition, personas, roles, time."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_app.domain.conversations.records import Finding, LineError, TurnRecord
from datasets_app.domain.quality.checks import INTEGRITY_CHECKS, TURN_CHECKS
from datasets_app.domain.quality.e201_turn_numbers import TurnNumbers
from datasets_app.domain.quality.e202_repeated_turns import RepeatedTurns
from datasets_app.domain.quality.e204_personas_in_session import PersonasInSession
from datasets_app.domain.quality.e206_timestamps import TimestampOrder
from datasets_app.domain.quality.e211_cases import Cases
from datasets_app.domain.quality.e212_context import Context
from datasets_app.domain.quality.output import build_finding_object, format_text_line
from datasets_app.domain.quality.runner import run_checks
from datasets_app.domain.quality.w205_role_order import RoleOrder
from datasets_app.domain.quality.w213_rubrics import Rubrics
from datasets_app.domain.quality.w214_families import Families


def turn(session_id: str = "s1", turn_index: int = 1, **fields: Any) -> TurnRecord:
    role = "user" if turn_index % 2 else "assistant"
    return TurnRecord(
        **{
            "session_id": session_id,
            "turn_index": turn_index,
            "role": role,
            "text": f"Said as {turn_index} of {session_id}.",
            "tags": [],
            **fields,
        }
    )


def turns(*indexes: int, session_id: str = "s1", **fields: Any) -> list[TurnRecord]:
    return [turn(session_id, index, line=10 + at, **fields) for at, index in enumerate(indexes)]


def found(records: list[Any], *checks: Any) -> list[Finding]:
    return list(run_checks(records, checks or TURN_CHECKS))


CASES: list[tuple[list[dict[str, Any]], list[tuple[str, int]]]] = [
    ([{"extra": {"case_id": "a", "case_revision": 2}}, {"extra": {"case_id": "b"}}], []),
    ([{"extra": {"case_id": "a"}}, {"extra": {"case_id": "a"}}], [("E211", 4)]),
    ([{"extra": {"case_id": " "}}, {"extra": {"case_id": "a", "case_revision": {}}}],
     [("E211", 2), ("E211", 4)]),
    ([{"metadata": {"context": ["a"]}}, {"metadata": {"context": {"excerpts": ["a"]}}}], [("E212", 2)]),
    ([{"metadata": {"rubrics": [{"criterion": "x", "points": 2}]}}], []),
    ([{"metadata": {"rubrics": [{"criterion": "x"}, {"points": 2}]}}], [("W213", 2)]),
    ([{"metadata": {"rubrics": []}}], [("W213", 2)]),
    ([{"metadata": {"rubrics": [{"criterion": "x"}]}}, {"metadata": {"rubrics": [{"criterion": "y"}]}}],
     [("W213", 4)]),
    ([{"metadata": {"rubrics": [{"criterion": "x"}]}, "text": " "}], [("W213", 2)]),
]  # fmt: skip


@pytest.mark.parametrize(("replies", "expected"), CASES)
def test_what_alignmenter_takes_of_a_case_is_checked(replies: Any, expected: Any) -> None:
    records = [
        record
        for number, fields in enumerate(replies, 1)
        for record in (turn("s", 2 * number - 1), turn("s", 2 * number, **fields))
    ]
    checks = (Cases, Context, Rubrics)
    assert [(finding.code, finding.turn_index) for finding in found(records, *checks)] == expected


def make_variant(name: str, kind: str, *more: str, group: str = "case-a") -> list[Any]:
    tags = ["group:case-a", f"variant:{kind}", *more]
    return [turn(name, index, tags=tags, metadata={"split_group": group}) for index in (1, 2)]


def test_variants_of_a_case_form_a_family() -> None:
    original, typos = make_variant("a", "original"), make_variant("b", "typos", "answer:same")
    assert found([*original, *typos], Families) == []
    undecided = make_variant("c", "tone")
    apart = make_variant("d", "distraction", "answer:same", group="case-b")
    [no_answer, parted] = found([*original, *typos, *undecided, *apart], Families)
    assert (no_answer.session_id, no_answer.field) == ("c", "tags")
    assert (parted.session_id, parted.field) == ("d", "metadata")
    [alone] = found(original, Families)
    assert alone.message == "the family 'case-a' has one session"
    assert found([turn("e", 1, tags=["group:of-others"])], Families) == []
    assert found([turn("f", 1, metadata={"split_group": ["no", "name"]})], Families) == []


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text(min_size=1, max_size=5), st.integers(1, 6)))
def test_sessions_that_count_from_one_have_no_session_error(sessions: dict[str, int]):
    records = [turn(name, index) for name, count in sessions.items() for index in range(1, count + 1)]
    assert not [finding for finding in found(records) if finding.code.startswith(("E2", "W2"))]


@pytest.mark.parametrize(
    ("indexes", "line", "message"),
    [
        ((0, 1, 2), 10, "session 's1' must begin with turn 1, found 0"),
        ((3, 4), 10, "session 's1' must begin with turn 1, found 3"),
        (
            (1, 2, 5, 9),
            12,
            "session 's1' has a gap: expected turn 3 after turn 2, found 5",
        ),
    ],
)
def test_a_session_that_does_not_count_is_told_once_with_its_remedy(indexes: Any, line: int, message: str):
    [finding] = found(turns(*indexes), TurnNumbers)
    assert (finding.code, finding.line, finding.session_id, finding.message) == ("E201", line, "s1", message)


def test_every_session_is_counted_by_itself():
    records = turns(1, 3) + turns(1, 2, session_id="s2") + turns(2, session_id="s3")
    assert [(f.session_id, f.turn_index) for f in found(records, TurnNumbers)] == [("s1", 3), ("s3", 2)]


def test_the_gap_that_an_unreadable_line_leaves_is_not_told_again():
    bad = LineError(11, "E103", "role must be …", "s1", "role")
    assert [f.code for f in found([turn(), bad, turn(turn_index=3)], *INTEGRITY_CHECKS)] == ["E103"]
    first = LineError(9, "E103", "role must be …", "s2", "role")
    assert [f.code for f in found([turn(), first, turn("s2", 2)], *INTEGRITY_CHECKS)] == ["E103"]


def test_a_bad_line_excuses_only_its_own_session():
    bad = LineError(11, "E103", "role must be …", "s1", "role")
    assert [f.code for f in found([turn(), bad, turn("s2", 3)], TurnNumbers)] == ["E103", "E201"]


def test_a_repeated_turn_names_both_lines_and_is_no_gap():
    [finding] = found(turns(1, 2, 2, 3), *INTEGRITY_CHECKS)
    assert (finding.code, finding.line, finding.turn_index) == ("E202", 12, 2)
    assert "first in line 11" in finding.message
    assert "with the same content" in finding.message


def test_a_repeated_turn_with_another_text_says_so():
    records = [turn(), turn(text="Something else.")]
    [finding] = found(records, RepeatedTurns)
    assert "with different content" in finding.message
    assert "line" not in finding.message


def test_the_same_turn_three_times_is_two_too_many():
    assert len(found(turns(1, 1, 1), RepeatedTurns)) == 2


def test_one_persona_a_session_and_none_inherits():
    records = [turn(turn_index=1), turn(turn_index=2, persona_id="a"), turn(turn_index=3)]
    assert found(records, PersonasInSession) == []
    records += [turn(turn_index=4, persona_id="b"), turn(turn_index=5, persona_id="c")]
    [finding] = found(records, PersonasInSession)
    assert (finding.code, finding.turn_index) == ("E204", 4)
    assert "'b'" in finding.message
    assert "'a'" in finding.message
    assert found([turn(persona_id="a"), turn("s2", persona_id="b")], PersonasInSession) == []


def test_roles_that_do_not_alternate_are_one_warning_a_session():
    records = [turn(turn_index=1), *(turn(turn_index=n, role="assistant") for n in (2, 3, 4, 5))]
    [finding] = found(records, RoleOrder)
    assert (finding.code, finding.turn_index) == ("W205", 3)
    assert finding.message == "two assistant turns in a row in session 's1', and 2 more in this session"
    assert found([turn(), turn("s2")], RoleOrder) == []
    hashed = "4bf92f35" * 8
    [finding] = found([turn(hashed, 1), turn(hashed, 2, role="user")], RoleOrder)
    assert finding.message == "two user turns in a row in session '4bf92f35…'"
    line = format_text_line("support", finding._replace(line=0))
    assert line.startswith("support: W205 [4bf92f35… turn 2] ")
    assert build_finding_object(finding)["session_id"] == hashed


@pytest.mark.parametrize(
    ("times", "backwards_at"),
    [
        (["2025-11-03T14:25:00Z", "2025-11-03T14:25:00Z", "2025-11-03T14:26:00Z"], []),
        (["2025-11-03T14:25:00Z", "2025-11-03T14:24:15Z"], [2]),
        (["2025-11-03T14:25:00+02:00", "2025-11-03T12:26:00Z"], []),
        (["2025-11-03T14:25:00", "2025-11-03T13:00:00Z"], []),
        (["2025-11-03T14:25:00", "2025-11-03T15:00:00Z", "2025-11-03T14:00:00"], [3]),
        (["2025-11-03T14:25:00Z", None, "2025-11-03T14:00:00Z", "2025-11-03T14:01:00Z"], [3]),
        (["2025-11-04", "2025-11-03"], [2]),
    ],
)
def test_time_runs_forward_within_a_session(times: list[str | None], backwards_at: list[int]):
    records = [turn(turn_index=n, timestamp=time) for n, time in enumerate(times, 1)]
    assert [finding.turn_index for finding in found(records, TimestampOrder)] == backwards_at


def test_time_may_run_backwards_from_session_to_session():
    records = [turn(timestamp="2025-11-03"), turn("s2", timestamp="2025-11-02")]
    assert found(records, TimestampOrder) == []


def test_an_id_that_holds_personal_data_is_not_repeated():
    records = [turn("chat with ana@example.com", 2)]
    assert not [f for f in found(records, *INTEGRITY_CHECKS) if "ana" in f.message]


def test_bad_lines_come_out_as_findings_in_their_place():
    error = LineError(4, "E101", "not valid JSON", "s1", None)
    assert found([error], *INTEGRITY_CHECKS) == [Finding("E101", "not valid JSON", 4, "s1")]


def test_nothing_in_nothing_found():
    assert found([]) == []
