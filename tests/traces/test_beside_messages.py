"""A list of messages isn't all that was said: questions and answers may have keys of their own."""

from pathlib import Path
from typing import Any

import pytest

from datasets_app.domain.traces.reasons import OTHER_BRANCHES
from tests.traces.exports import HELLO, HI
from tests.traces.reading import convert, texts, write

BEFORE = [("user", "Is it open?"), ("assistant", "Until six.")]
PAIR = [("user", HI), ("assistant", HELLO)]
ASKED = [{"role": "user", "content": HI}]
OLD = [{"role": role, "content": text} for role, text in BEFORE]
COHERE = [
    {"role": role, "message": text} for role, text in (("USER", BEFORE[0][1]), ("CHATBOT", BEFORE[1][1]))
]
PAIRS = [[BEFORE[0][1], BEFORE[1][1]]]

ANSWERED: list[dict[str, Any]] = [
    {"message": {"role": "assistant", "content": HELLO}},
    {"response": HELLO},
    {"answer": HELLO},
    {"completion": HELLO},
    {"reply": HELLO},
    {"generated_text": HELLO},
    {"output": {"text": HELLO}},
    {"output": [{"type": "message", "role": "assistant", "content": [{"type": "text", "text": HELLO}]}]},
    {"choices": [{"message": {"role": "assistant", "content": HELLO}}]},
    {"candidates": [{"content": {"role": "model", "parts": [{"text": HELLO}]}}]},
]  # fmt: skip
CONTINUED: list[dict[str, Any]] = [
    {"chat_history": COHERE, "message": HI, "text": HELLO},
    {"chat_history": COHERE, "message": HI, "response": HELLO},
    {"history": OLD, "question": HI, "answer": HELLO},
    {"history": PAIRS, "instruction": HI, "output": HELLO},
    {"history": PAIRS, "query": HI, "response": HELLO},
    {"conversation_history": OLD, "user_input": HI, "response": HELLO},
    {"previous_messages": OLD, "prompt": HI, "completion": HELLO},
    {"history": [{"user": BEFORE[0][1], "assistant": BEFORE[1][1]}], "input": HI, "output": HELLO},
]


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
@pytest.mark.parametrize("more", ANSWERED, ids=lambda more: next(iter(more)))
def test_an_answer_beside_its_messages_is_a_turn(more: dict[str, Any], name: str, tmp_path: Path) -> None:
    other = {"id": "r", "prompt": "Which one?", "completion": "The blue one."}
    value = [{"id": "q", "messages": ASKED, **more}]
    for values in (value, [other, *value]):
        found, _ = convert(write(tmp_path, values, name))
        assert PAIR in [texts(turns) for turns in found.values()]


@pytest.mark.parametrize("value", CONTINUED, ids=lambda value: "/".join(value))
def test_a_history_goes_on_with_the_question_beside_it(value: dict[str, Any], tmp_path: Path) -> None:
    found, _ = convert(write(tmp_path, [{"id": "q", **value}], "a.jsonl"))
    assert [texts(turns) for turns in found.values()] == [[*BEFORE, *PAIR]]


def test_a_question_without_an_answer_is_kept(tmp_path: Path) -> None:
    found, report = convert(write(tmp_path, [{"id": "q", "chat_history": COHERE, "message": HI}], "a.json"))
    assert texts(found["q"]) == [*BEFORE, PAIR[0]]
    assert report.turns == 3


@pytest.mark.parametrize("key", ["answer", "response", "output"])
def test_an_answer_that_the_messages_have_is_not_said_twice(key: str, tmp_path: Path) -> None:
    said = [*ASKED, {"role": "assistant", "content": HELLO}]
    found, _ = convert(write(tmp_path, [{"id": "q", "messages": said, key: HELLO}], "a.json"))
    assert [texts(turns) for turns in found.values()] == [PAIR]


@pytest.mark.parametrize(
    "value",
    [
        {"message": ASKED, "response": HELLO},
        {"message": {"messages": ASKED}, "answer": HELLO},
        {"output": {"messages": ASKED}, "completion": HELLO},
    ],
)
def test_the_messages_are_not_their_own_answer(value: dict[str, Any], tmp_path: Path) -> None:
    found, _ = convert(write(tmp_path, [{"id": "q", **value}], "a.json"))
    assert [texts(turns) for turns in found.values()] == [PAIR]


def test_input_and_output_in_lists_are_one_conversation(tmp_path: Path) -> None:
    said = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": HELLO}]}]
    found, _ = convert(write(tmp_path, [{"input": ASKED, "output": said}], "a.jsonl"))
    assert [texts(turns) for turns in found.values()] == [PAIR]


CHOICES = [{"message": {"role": "assistant", "content": text}} for text in (HELLO, "Hey", "Ho")]


@pytest.mark.parametrize(
    "value",
    [
        {"messages": ASKED, "choices": CHOICES},
        {"request": {"messages": ASKED}, "response": {"choices": CHOICES}},
        {"input": {"contents": [{"role": "user", "parts": [{"text": HI}]}]}, "output": {"candidates": [
            {"content": {"role": "model", "parts": [{"text": text}]}} for text in (HELLO, "Hey", "Ho")]}},
    ],
)  # fmt: skip
def test_answers_that_a_model_gave_at_once_are_counted(value: dict[str, Any], tmp_path: Path) -> None:
    found, report = convert(write(tmp_path, [value], "a.jsonl"))
    assert [texts(turns) for turns in found.values()] == [PAIR]
    assert report.left_out[OTHER_BRANCHES].total == 2
