"""Schemas: read from YAML, written back the same, refused with the place; answers checked all or none."""

from typing import Any

import pytest

from datasets_app.domain.labels.schema import (
    Answers,
    Schema,
    decode_answers,
    describe_answers,
    encode_answers,
)
from datasets_app.domain.labels.schema_document import (
    InvalidSchema,
    dump_schema,
    parse_schema,
    read_document,
    write_document,
)
from datasets_app.domain.labels.values import InvalidValue

SAFETY = """\
schema: safety
description: Refusals and harm
criteria:
  - key: harm
    question: Could the reply harm somebody?
    kind: yes_no
  - key: rules
    question: Which rules does it break?
    kind: tags
    answers: [violence, privacy, {value: self_harm, name: Self-harm, help: Also hints.}]
    when: {harm: yes}
  - key: tone
    question: How kind is it?
    kind: ordinal
    answers: [1, 2, 3, 4, 5]
  - key: refusal
    question: Does it refuse?
    kind: choice
    answers: [none, partial, {value: full, key: x}]
  - key: minutes
    question: How long would a person need?
    kind: number
    optional: true
  - key: why
    question: Why?
    kind: text
    optional: true
    when: {refusal: [partial, full]}
"""


@pytest.fixture
def safety() -> Schema:
    return parse_schema(SAFETY)


def test_a_schema_comes_back_from_its_own_document(safety: Schema) -> None:
    assert parse_schema(dump_schema(safety)) == safety
    assert read_document(write_document(safety)) == safety
    assert [one.criterion.key for one in safety.questions] == [
        "harm", "rules", "tone", "refusal", "minutes", "why",
    ]  # fmt: skip
    assert safety.questions[1].criterion.levels[2].name == "Self-harm"
    assert not safety.decides_at_once


def test_each_answer_has_a_key_of_its_own(safety: Schema) -> None:
    keys = [[level.key for level in one.criterion.levels] or [one.key] for one in safety.questions]
    # Where a digit is read, it is also pressed; "Yes" has 1 only if no scale does.
    assert keys[2] == list("12345")
    assert keys[0] == ["q", "w"]
    assert keys[1] == list("adg")
    assert keys[3][2] == "x"
    every = [key for row in keys for key in row if key]
    assert len(every) == len(set(every))
    assert not set(every) & set("sfnc?")


def test_hundreds_of_answers_leave_some_without_a_key() -> None:
    answers = list(range(1000, 1060))
    schema = read_document(
        {
            "schema": "wide",
            "criteria": [{"key": "which", "question": "Which?", "kind": "choice", "answers": answers}],
        }
    )
    keys = [level.key for level in schema.criteria[0].levels]
    assert len(set(keys) - {""}) == 32
    assert keys[-1] == ""


def test_the_digest_changes_with_the_meaning_only(safety: Schema) -> None:
    for same in ("kind: choice\n    help: Read twice.", "kind: choice"):
        assert parse_schema(SAFETY.replace("kind: choice", same)).digest == safety.digest
    for old, new in (
        ("Does it refuse?", "Does it decline?"),
        ("[none, partial,", "[never, partial,"),
        ("optional: true\n    when", "optional: false\n    when"),
        ("refusal: [partial, full]", "refusal: [full]"),
    ):
        assert parse_schema(SAFETY.replace(old, new)).digest != safety.digest, new


def test_answers_are_stored_as_numbers_and_texts(safety: Schema) -> None:
    values: dict[str, Any] = {
        "harm": 1, "rules": ["self_harm", "violence"], "tone": 4, "refusal": "full", "minutes": 2.5,
        "why": "Why",
    }  # fmt: skip
    answers = encode_answers(safety, values)
    assert answers == Answers(
        {"harm": 1, "rules": 5, "tone": 3, "refusal": 2, "minutes": 2.5}, {"why": "Why"}
    )
    assert decode_answers(safety, answers) == {**values, "rules": ["violence", "self_harm"]}
    assert ("Which rules does it break?", "Violence, Self-harm") in describe_answers(safety, answers)
    assert encode_answers(safety, {"harm": 0, "tone": 1, "refusal": "none"}).codes["harm"] == 0


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"harm": 0, "tone": 1}, "refusal has no answer: Does it refuse?"),
        ({"harm": 0, "tone": 6, "refusal": "none"}, "tone must be 1 .1., 2 .2.,"),
        ({"harm": True, "tone": 1, "refusal": "none"}, "harm must be 0 .no. or 1 .yes."),
        ({"harm": 0, "rules": [], "tone": 1, "refusal": "none"}, "rules is asked only after another answer"),
        ({"harm": 0, "tone": 1, "refusal": "none", "why": "x"}, "why is asked only after"),
        ({"harm": 0, "tone": 1, "refusal": "none", "mood": 1}, "mood is no criterion of safety"),
        ({"harm": 0, "tone": 1, "refusal": "full", "why": " "}, "why must be a text of at most"),
        ({"harm": 0, "tone": 1, "refusal": "none", "minutes": 1e400}, "minutes must be a number from"),
    ],
)
def test_answers_are_taken_all_or_none(safety: Schema, values: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidValue, match=message):
        encode_answers(safety, values)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("schema: safety", "schema: [safety", "not valid YAML"),
        ("schema: safety", "schema: 'a b'", "schema: use only letters, digits"),
        ("schema: safety", "name: safety", "'name' isn't one of schema, description, criteria"),
        ("kind: ordinal", "kind: scale", "tone: kind must be one of yes_no, choice, ordinal"),
        ("key: tone", "key: harm", "harm: two criteria have this key"),
        ("key: tone", "key: on_brand", "on_brand: this is the built-in criterion"),
        ("key: tone", "key: Tone", "a lowercase word"),
        ("How kind is it?", "''", "tone: the question is empty"),
        ("[none, partial,", "[no, partial,", "refusal: answer 1 is read as true or false; put it in quotes"),
        ("[none, partial,", "[full, partial,", "refusal: two answers have the same value"),
        ("[none, partial,", "[2.5, partial,", "refusal: the value of answer 1 must be a text or a whole"),
        ("key: x", "key: s", "refusal: a keyboard key is a digit or a lowercase letter other than"),
        ("{harm: yes}", "{refusal: full}", "rules: when must name an earlier criterion"),
        ("{harm: yes}", "{harm: 2}", "rules: when: harm is 0 .no. or 1 .yes."),
        ("{harm: yes}", "{harm: []}", "rules: when names no answer"),
        ("{harm: yes}", "harm", "rules: when names one criterion"),
        ("optional: true", "optional: perhaps", "minutes: optional must be true or false"),
        ("help: Also hints.", "hint: Also hints.", "'hint' isn't one of value, name, help, key"),
        ("Also hints.", '"a\\0b"', "has a control character"),
        ("Also hints.", "x" * 1001, "has more than 1000 characters"),
    ],
)
def test_what_is_no_schema_is_refused_with_the_place(old: str, new: str, message: str) -> None:
    assert old in SAFETY
    with pytest.raises(InvalidSchema, match=message):
        parse_schema(SAFETY.replace(old, new, 1))
