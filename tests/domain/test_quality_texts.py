"""Blank texts, repeated texts, and personal data wherever it stands."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_app.domain.conversations.records import Finding, LabelRecord, TurnRecord
from datasets_app.domain.pii.detector import PATTERN_KINDS
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.pii.scrubber import Scrubber
from datasets_app.domain.pii.session_scrub import SessionInput
from datasets_app.domain.quality.checks import TURN_CHECKS
from datasets_app.domain.quality.e301_empty_text import EmptyText
from datasets_app.domain.quality.personal_data import PERSONAL_DATA_CHECKS
from datasets_app.domain.quality.personal_data_only import PersonalDataScan
from datasets_app.domain.quality.runner import run_checks
from datasets_app.domain.quality.text_tally import TextTally
from datasets_app.domain.quality.w302_repeated_text import RepeatedText


def turn(text: str = "Fine.", **fields: Any) -> TurnRecord:
    return TurnRecord(
        **{"session_id": "s1", "turn_index": 1, "role": "assistant", "tags": [], "text": text, **fields}
    )


def found(records: list[Any], *checks: Any) -> list[Finding]:
    return list(run_checks(records, checks or TURN_CHECKS))


BLANK = ["", " ", "\n\t", "\u00a0", "\u200b\u200d", "\ufeff", "\u2028 \u3000", "\u00ad"]


@pytest.mark.parametrize("text", BLANK)
def test_a_text_with_nothing_to_be_seen_is_blank(text: str):
    assert [finding.code for finding in found([turn(text)], EmptyText)] == ["E301"]


@pytest.mark.parametrize("text", ["a", " a", "?", "\u200ba", "é", "🙂", "…", "ا", "\x7fa", "\n\n.", "漢"])
def test_a_text_with_anything_to_be_seen_is_not(text: str):
    assert found([turn(text)], EmptyText) == []


LONG = "I am sorry to hear that your order is late."


def test_a_repeated_answer_is_told_once_at_its_second_place():
    records = [
        turn(LONG, line=12),
        turn("Something quite different is said here.", turn_index=2, line=13),
        turn(f" {LONG}\n", session_id="s2", line=40),
        turn(LONG, session_id="s3", line=50),
    ]
    [finding] = found(records, RepeatedText)
    assert (finding.code, finding.line, finding.session_id, finding.turn_index) == ("W302", 40, "s2", 1)
    assert finding.message == "repeats the assistant text of line 12 word for word (3 times in all)"


def test_without_lines_the_first_place_is_told_by_session_and_turn():
    other = turn("Only here, and nowhere else at all.")
    records = [other, turn(LONG, turn_index=4), turn(LONG, session_id="é2")]
    [finding] = found(records, RepeatedText)
    assert "session 's1' turn 4" in finding.message
    assert finding.session_id == "é2"


def test_short_answers_and_what_people_ask_may_repeat():
    records = [turn("Sure, one moment!"), turn("Sure, one moment!", turn_index=2)]
    records += [turn(LONG, role="user", session_id="s2"), turn(LONG, role="user", session_id="s3")]
    assert found(records, RepeatedText) == []


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from([f"This is the answer with number {n}." for n in range(5)]), max_size=20))
def test_each_repeated_text_is_told_with_its_count(texts: list[str]):
    records = [turn(text, session_id=f"s{n // 3}", turn_index=n, line=n + 1) for n, text in enumerate(texts)]
    expected = {}
    for text in texts:
        if texts.count(text) > 1:
            second = [n for n, other in enumerate(texts) if other == text][1]
            expected[second + 1] = f"({texts.count(text)} times in all)"
    told = {f.line: f.message for f in found(records, RepeatedText)}
    assert told.keys() == expected.keys()
    assert all(told[line].endswith(ending) for line, ending in expected.items())


def test_the_message_tells_class_place_and_length_and_never_the_value():
    [finding] = found([turn("write to 🙂 ana.silva@example.com please", line=7)], *PERSONAL_DATA_CHECKS)
    assert finding == Finding(
        "E401",
        "e-mail address in text at column 12 (21 characters); scrub it before sharing",
        7,
        "s1",
        1,
        "text",
    )


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"tags": ["lang:en", "by:ana@example.com"]}, "tags[1]"),
        ({"session_id": "chat-ana@example.com"}, "session_id"),
        ({"persona_id": "ana@example.com"}, "persona_id"),
        ({"metadata": {"user": {"email": "ana@example.com"}}}, "metadata.user.email"),
        ({"metadata": {"users": ["x", {"ana@example.com": 1}]}}, "a key of metadata.users[1]"),
        ({"metadata": {"ana@example.com": {"note": "bob@example.com"}}}, "a key of metadata"),
        ({"extra": {"notes": "from ana@example.com"}}, "notes"),
        ({"extra": {"ana@example.com": True}}, "a key"),
        ({"extra": {"cc": [["ana@example.com"]]}}, "cc[0][0]"),
    ],
)
def test_personal_data_is_found_wherever_a_string_can_stand(fields: dict[str, Any], field: str):
    findings = found([turn(**fields)], *PERSONAL_DATA_CHECKS)
    assert {f.code for f in findings} == {"E401"}
    assert findings[0].field == field
    assert f" in {field} at column " in findings[0].message
    assert not any("ana" in f"{f.message}{f.field}" for f in findings)


@pytest.mark.parametrize(
    ("metadata", "codes"),
    [
        ({"phone": "5551234567"}, ["E402"]),
        ({"contact_phone": 5551234567}, ["E402"]),
        ({"ssn": "565060447"}, ["E403"]),
        ({"order": "5551234567"}, []),
        ({"id": 5551234567, "epoch": 1755650524412}, []),
        ({"card": 4111111111111111}, ["E404"]),
        ({"cards": [[4111111111111111], 4111111111111111.0]}, ["E404", "E404"]),
        ({"contact_phone": 5551234567.0}, ["E402"]),
        ({"id": 5551234567.0, "score": 4111111111111111.5, "huge": 1e300}, []),
        ({"flag": True, "share": 0.123456789, "none": None, "deep": [[{"n": 5}]]}, []),
    ],
)
def test_a_key_may_say_what_a_bare_number_is(metadata: dict[str, Any], codes: list[str]):
    for _ in range(2):
        assert [f.code for f in found([turn(metadata=metadata)], *PERSONAL_DATA_CHECKS)] == codes


def test_the_same_value_is_told_on_every_line_but_a_session_id_once():
    records = [turn(turn_index=n, session_id="ana@example.com", tags=["bob@example.com"]) for n in (1, 2)]
    fields = [f.field for f in found(records, *PERSONAL_DATA_CHECKS)]
    assert fields == ["tags[0]", "session_id", "tags[0]"]


def test_a_single_class_can_be_searched_for():
    text = "ana@example.com, 555-123-4567, 285-13-3885, 4111 1111 1111 1111, 10.1.2.3"
    assert [f.code for f in found([turn(text)], PERSONAL_DATA_CHECKS[0])] == ["E401"]
    assert [f.code for f in found([turn(text)])] == ["E401", "E402", "E403", "E404", "E405"]


@settings(max_examples=40, deadline=None)
@given(
    st.recursive(
        st.text(max_size=8) | st.integers() | st.none(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=8,
    )
)
def test_a_value_hidden_anywhere_in_metadata_is_found(inner: Any):
    for metadata in ({"a": inner, "b": [inner, {"c": "ana@example.com"}]}, {"ana@example.com": inner}):
        findings = found([turn(metadata=metadata)], *PERSONAL_DATA_CHECKS)
        assert "E401" in {f.code for f in findings}
        assert "ana@" not in json.dumps(findings)


def test_labels_are_searched_too():
    record = LabelRecord(
        "Call 555-123-4567", 1, "p", "s", 1, "ann@example.com", "see 10.1.2.3", extra={"by": "x@y.org"}
    )
    findings = list(run_checks([record], PERSONAL_DATA_CHECKS))
    assert [(f.code, f.field) for f in findings] == [
        ("E402", "text"),
        ("E401", "annotator"),
        ("E405", "notes"),
        ("E401", "by"),
    ]


# --- hashed session ids ------------------------------------------------------------------------

HASHED = "4b1d9127d97c3248f1602460aa7767d2304314e1aa01b8a1161c59a7c6a5b9e5"
REPEATED = {"text": f"token: {HASHED}", "metadata": {"session_id": HASHED, "auth key": [f"key={HASHED}"]}}


def test_checks_do_not_report_the_hashed_id_of_the_session():
    assert found([turn(session_id=HASHED, **REPEATED)], *PERSONAL_DATA_CHECKS) == []
    label = LabelRecord(text="Fine.", label=1, persona_id="", session_id=HASHED, extra=REPEATED)
    assert list(run_checks([label], PERSONAL_DATA_CHECKS)) == []


def test_checks_report_a_hash_of_anything_else_under_a_telling_key():
    findings = found([turn(session_id=f"{HASHED[::-1]}", **REPEATED)], *PERSONAL_DATA_CHECKS)
    assert [(finding.code, finding.field) for finding in findings] == [
        ("E407", "text"),
        ("E407", "metadata.session_id"),
        ("E407", "metadata.*[0]"),
    ]


@pytest.mark.parametrize(("session_id", "expected"), [(HASHED, 0), (HASHED[::-1], 3)])
def test_a_file_of_any_kind_may_repeat_its_hashed_session_id(tmp_path: Path, session_id: str, expected: int):
    path = tmp_path / "any.jsonl"
    path.write_text(json.dumps({"session_id": session_id} | REPEATED) + "\n")
    findings = list(PersonalDataScan(path, name_models=()).findings())
    assert [finding.code for finding in findings] == ["E407"] * expected


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"text": "write to ana dot silva at example dot com"}, "EMAIL"),
        ({"text": "my password is letmein"}, "CREDENTIAL"),
        ({"metadata": {"phones": ["4155552671"]}}, "PHONE"),
        ({"metadata": {"phones": [[4155552671]]}}, "PHONE"),
        ({"metadata": {"phone": 4155552671.0}}, "PHONE"),
        ({"metadata": {"api_key": ["Zq8Lr93kfQx1"]}}, "CREDENTIAL"),
        ({"extra": {"contact": [{"phone": "4155552671"}]}}, "PHONE"),
    ],
)
def test_a_gate_looks_as_closely_as_a_scrub(fields: dict[str, Any], kind: str):
    """What a verification would not let pass must not be called clear, nor stay in the text."""
    tally, record = TextTally(), turn(**fields)
    tally.add([record])
    scrubber = Scrubber(Policy(kinds=PATTERN_KINDS), key=b"k" * 32)
    assert dict(tally.found) == dict(scrubber.count_remaining([SessionInput([record])])) == {kind: 1}
    [scrubbed] = scrubber.scrub([SessionInput([record])])
    assert not scrubber.count_remaining([SessionInput(scrubbed.turns)])


@pytest.mark.parametrize(
    ("harmless", "key"), [("4155552671", "phone"), ("letmein22", "password"), ("Zq8Lr93kfQx", "api_key")]
)
@pytest.mark.parametrize("field", ["tags", "metadata"])
def test_a_string_that_was_harmless_elsewhere_is_none_behind_a_telling_key(
    harmless: str, key: str, field: str
):
    before = turn(**{field: [harmless] if field == "tags" else {"reference": harmless}})
    again = turn(turn_index=2, metadata={key: harmless})
    assert (
        len(found([before, again], *PERSONAL_DATA_CHECKS)) == len(found([again], *PERSONAL_DATA_CHECKS)) == 1
    )
