"""Messages as Python prints them, which tables hold; ids in the types of databases; what models think."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from datasets_app.domain.conversations.roles import split_thoughts
from datasets_app.domain.traces.values import as_name, decode_json
from tests.traces.exports import HELLO, HI
from tests.traces.reading import convert, texts, write

PAIR = [("user", HI), ("assistant", HELLO)]
SAID = [{"role": role, "content": text} for role, text in PAIR]
WORDS = [
    'It\'s "here"',
    "a\nb\tc\\d",
    "é \x07 \u200b \U0001f600",
    "None, True, array([1], dtype=object)",
    "}\n {",
]


def in_table(cell: str) -> str:
    held = io.StringIO()
    csv.writer(held).writerows([("id", "messages"), ("q", cell)])
    return held.getvalue()


PRINTED = [
    str(SAID),
    repr([{**message, "name": None, "seen": True, "score": float("nan")} for message in SAID]),
    "[" + "\n ".join(map(str, SAID)) + "]",
    f"array([{SAID[0]}, {SAID[1]}], dtype=object)",
    f"[{{'content': '{HI}', 'role': 'user', 'at': datetime.datetime(2026, 1, 5, 10, 0)}}, {SAID[1]}]",
    f"[{{'content': '{HI}', 'role': 'user', 'at': Timestamp('2026-01-05 10:00:00', tz='UTC')}}, {SAID[1]}]",
    str([{"from": "human", "value": HI}, {"from": "gpt", "value": HELLO}]),
    str([{"role": "user", "content": [{"type": "text", "text": HI}]}, SAID[1]]),
    json.dumps(str(SAID)),
]


@pytest.mark.parametrize("cell", PRINTED, ids=range(len(PRINTED)))
def test_a_cell_of_printed_messages_is_a_conversation(cell: str, tmp_path: Path) -> None:
    assert texts(convert(write(tmp_path, in_table(cell), "a.csv"))[0]["q"]) == PAIR
    found, _ = convert(write(tmp_path, [{"id": "q", "messages": cell}], "a.jsonl"))
    assert texts(found["q"]) == PAIR


@pytest.mark.parametrize("text", WORDS)
def test_what_was_said_is_read_as_it_was_printed(text: str) -> None:
    value = [{"role": "user", "content": text}, {"role": "assistant", "content": f"{text}'s \""}]
    assert decode_json(str(value)) == value


@pytest.mark.parametrize(
    "text", ["[{'role': user, 'content': Hi}]", "[{'role': 'user', ...", "{'role': (1, 2)}"]
)
def test_what_python_prints_otherwise_stays_a_text(text: str) -> None:
    assert decode_json(text) == text


IDS: list[tuple[Any, str]] = [
    ({"S": "d1"}, "d1"), ({"N": "12"}, "12"), ({"stringValue": "a"}, "a"), ({"$uuid": "u-1"}, "u-1"),
    ({"$oid": "65a0f1"}, "65a0f1"), ({"$numberLong": "7"}, "7"), ({"value": 7.0}, "7"), (["x"], ""),
    ({"$binary": {"base64": "AQID", "subType": "04"}}, "010203"),
    ({"$binary": {"base64": "?", "subType": "04"}}, ""),
    (["x", 1], ""), ({"a": 1, "b": 2}, ""), ({}, ""), ([], ""),
]  # fmt: skip


@pytest.mark.parametrize(("value", "name"), IDS)
def test_ids_in_the_types_of_databases(value: Any, name: str) -> None:
    assert as_name(value) == name


@pytest.mark.parametrize("other", [["x", 2], {"a": 1, "b": 3}])
def test_ids_that_cant_be_read_are_errors_and_merge_nothing(other: Any, tmp_path: Path) -> None:
    rows = [{"conversation_id": ["x", 1], **SAID[0]}, {"conversation_id": other, **SAID[1]}]
    found, report = convert(write(tmp_path, rows, "a.jsonl"))
    assert not found
    assert [problem.code for problem in report.problems] == ["E110", "E110"]


THOUGHT = [
    ("<think>hm</think>\nYes.", "Yes.", "hm"),
    ("<thinking>\nhm\n</thinking>\n\nYes.", "Yes.", "hm"),
    ("hm, a long one</think>Yes.", "Yes.", "hm, a long one"),
    ("<think>never ends", "", "never ends"),
    ("Yes, write <think> first.", "Yes, write <think> first.", ""),
    ("```\n<think>a</think>\n```", "```\n<think>a</think>\n```", ""),
    ("<thinker>Yes.", "<thinker>Yes.", ""),
]


@pytest.mark.parametrize(("text", "answer", "reasoning"), THOUGHT)
@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_what_a_model_thinks_is_no_answer(
    text: str, answer: str, reasoning: str, name: str, tmp_path: Path
) -> None:
    assert split_thoughts(text) == (answer, reasoning)
    for keys in (("messages", "role", "content"), ("conversations", "from", "value")):
        said = [{keys[1]: role, keys[2]: words} for role, words in (PAIR[0], ("assistant", text))]
        found, _ = convert(write(tmp_path, [{"id": "q", keys[0]: said}], name))
        assert texts(found["q"]) == [PAIR[0], *([("assistant", answer)] if answer else [])]


def test_what_a_person_thinks_stays(tmp_path: Path) -> None:
    said = [{"role": "user", "content": "<think>Is this a tag?</think>"}, SAID[1]]
    for name in ("a.json", "a.jsonl"):
        found, _ = convert(write(tmp_path, [{"id": "q", "messages": said}], name))
        assert texts(found["q"])[0] == ("user", said[0]["content"])


@pytest.mark.parametrize("end", ["", "\\", "'", "\\'", '"'])
def test_quotes_that_are_not_closed_are_read_once(end: str) -> None:
    """Each quote tried anew would take hours."""
    text = "[{'role': " + "\\'" * 500_000 + end
    assert decode_json(text) == text
