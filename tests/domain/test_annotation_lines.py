"""Label lines: what is read, what is refused and why, what is written."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_app.domain.annotation_lines import encode_label, parse_label
from datasets_app.domain.conversations.records import Answer, LabelRecord, LineError
from tests.strategies import names, texts, timestamps

BASE = {"text": "Happy to help!", "label": 1, "persona_id": "default_v1"}


def parse(value: Any) -> LabelRecord | LineError:
    return parse_label(3, json.dumps(value).encode())


def test_the_three_required_fields_are_enough():
    assert parse(BASE) == LabelRecord("Happy to help!", 1, "default_v1", line=3)


def test_all_fields_are_read_and_unknown_ones_kept():
    record = parse(
        BASE
        | {
            "session_id": "s",
            "turn_index": 2,
            "annotator": "ann",
            "notes": "",
            "confidence": 1,
            "timestamp": "2025-11-03T14:25:00Z",
            "round": [1],
        }
    )
    assert record == LabelRecord(
        "Happy to help!", 1, "default_v1", "s", 2, "ann", "", "2025-11-03T14:25:00Z", 1.0, {"round": [1]}, 3
    )


@pytest.mark.parametrize(
    ("given_names", "annotator", "extra"),
    [
        ({"annotator": "a"}, "a", None),
        ({"labeler": "b"}, "b", None),
        ({"annotator": "a", "labeler": "a"}, "a", None),
        ({"annotator": "a", "labeler": "b"}, "a", {"labeler": "b"}),
        ({"annotator": None, "labeler": "b"}, "b", None),
        ({"annotator": "", "labeler": "b"}, "b", None),
    ],
)
def test_annotator_and_labeler_are_two_names_of_one_field(given_names: Any, annotator: str, extra: Any):
    record = parse(BASE | given_names)
    assert isinstance(record, LabelRecord)
    assert (record.annotator, record.extra) == (annotator, extra)
    written = json.loads(encode_label(record))
    assert written["annotator"] == annotator
    assert written["labeler"] == (extra or {}).get("labeler", annotator)


@pytest.mark.parametrize(
    ("change", "code", "field"),
    [
        ({"label": None}, "E102", "label"),
        ({"label": True}, "E102", "label"),
        ({"label": 1.0}, "E102", "label"),
        ({"label": 2}, "E102", "label"),
        ({"label": "1"}, "E102", "label"),
        ({"text": None}, "E102", "text"),
        ({"persona_id": " "}, "E102", "persona_id"),
        ({"persona_id": "x" * 501}, "E102", "persona_id"),
        ({"session_id": 7}, "E102", "session_id"),
        ({"turn_index": "2"}, "E102", "turn_index"),
        ({"turn_index": True}, "E102", "turn_index"),
        ({"annotator": ["a"]}, "E102", "annotator"),
        ({"notes": 3}, "E102", "notes"),
        ({"confidence": "high"}, "E102", "confidence"),
        ({"confidence": False}, "E102", "confidence"),
        ({"timestamp": "yesterday"}, "E105", "timestamp"),
    ],
)
def test_wrong_fields_are_refused_by_name(change: Any, code: str, field: str):
    error = parse(BASE | change)
    assert isinstance(error, LineError)
    assert (error.line, error.code, error.field) == (3, code, field)


def test_a_label_of_true_is_told_what_is_wanted():
    error = parse(BASE | {"label": True})
    assert isinstance(error, LineError)
    assert error.message == "label must be 0 (off-brand) or 1 (on-brand), got true"


def test_a_confidence_beyond_all_numbers_is_refused():
    line = b'{"text": "x", "label": 1, "persona_id": "p", "confidence": 1' + b"0" * 400 + b"}"
    error = parse_label(1, line)
    assert isinstance(error, LineError)


def test_a_line_that_is_no_json_is_an_error_of_that_line():
    error = parse_label(9, b'{"session_id": "s", "text": ')
    assert isinstance(error, LineError)
    assert (error.line, error.code, error.session_id) == (9, "E101", "s")


@settings(max_examples=60, deadline=None)
@given(
    record=st.builds(
        LabelRecord,
        text=texts,
        label=st.sampled_from([0, 1]),
        persona_id=names,
        session_id=st.none() | names,
        turn_index=st.none() | st.integers(0, 1000),
        annotator=st.none() | names,
        notes=st.none() | texts,
        timestamp=st.none() | timestamps,
        confidence=st.none() | st.floats(allow_nan=False, allow_infinity=False),
        extra=st.none() | st.just({"round": [1, {"a": None}]}),
        line=st.just(0),
        answer=st.none(),
        rater=st.none(),
    ),
    answer=st.none()
    | st.builds(Answer, names, st.integers() | names | st.lists(names), st.just("q@1"), st.just("")),
)
def test_a_written_label_is_one_line_and_reads_back_the_same(record: LabelRecord, answer: Answer | None):
    record = record._replace(answer=answer, label=None) if answer else record
    written = encode_label(record)
    assert written.endswith(b"\n")
    assert len(written.decode().splitlines()) == 1
    assert parse_label(0, written) == record
