"""Of rows with a question and several answers, the mapping says which answer is the conversation's."""

from pathlib import Path
from typing import Any

import pytest

from datasets_app.domain.conversations.lines import UnreadableFile
from datasets_app.domain.traces.reasons import EACH_A_CONVERSATION, ONE_CONVERSATION_OF_PAIRS, OTHER_BRANCHES
from tests.traces.exports import HELLO, HI
from tests.traces.reading import convert, texts, write

OTHER = "Good day to you."
QUESTION = {"role": "user", "content": HI}
CSV = f"""id,prompt,response_a,response_b,winner
q1,"{HI}","{HELLO}","{OTHER}",a
q2,"{HI}","{OTHER}","{HELLO}",b
"""


def said(answer: str) -> list[tuple[str, str]]:
    return [("user", HI), ("assistant", answer)]


@pytest.mark.parametrize(("name", "answer"), [("response_a", HELLO), ("response_b", OTHER)])
def test_either_answer_of_a_table_is_read(name: str, answer: str, tmp_path: Path) -> None:
    mapping = {"question": "prompt", "answer": name}
    sessions, report = convert(write(tmp_path, CSV, "pairs.csv"), mapping=mapping)
    assert list(sessions) == ["q1", "q2"]
    assert texts(sessions["q1"]) == said(answer)
    kept = (sessions["q1"][0].metadata or {})["attributes"]
    assert kept["winner"] == "a"
    assert {HELLO, OTHER} - {answer} <= set(kept.values())
    assert report.mapping == mapping


ROWS: list[tuple[dict[str, Any], dict[str, str]]] = [
    ({"prompt": HI, "chosen": HELLO, "rejected": OTHER}, {"question": "prompt"}),
    ({"input": HI, "preferred": HELLO, "rejected": OTHER}, {"question": "input"}),
    ({"prompt": [QUESTION], "chosen": HELLO, "rejected": OTHER}, {"question": "prompt"}),
    (
        {"prompt": HI, **{key: [QUESTION, {"role": "assistant", "content": text}]
                          for key, text in (("chosen", HELLO), ("rejected", OTHER))}},
        {"question": "prompt"},
    ),
    (
        {key: [QUESTION, {"role": "assistant", "content": text}]
         for key, text in (("chosen", HELLO), ("rejected", OTHER))},
        {},
    ),
    (
        {key: f"\n\nHuman: {HI}\n\nAssistant: {text}"
         for key, text in (("chosen", HELLO), ("rejected", OTHER))},
        {},
    ),
    ({"messages": [QUESTION], "answers": HELLO, "rejected": OTHER}, {"question": "messages"}),
]  # fmt: skip


@pytest.mark.parametrize(("row", "mapping"), ROWS)
@pytest.mark.parametrize("ending", ["json", "jsonl"])
def test_either_answer_of_a_record_is_read(
    row: dict[str, Any], mapping: dict[str, str], ending: str, tmp_path: Path
) -> None:
    path = write(tmp_path, [{"id": 7, **row}, {"id": 8, **row}], f"pairs.{ending}")
    better = next(key for key in row if key in ("chosen", "preferred", "answers"))
    for key, answer in ((better, HELLO), ("rejected", OTHER)):
        sessions, _ = convert(path, mapping={**mapping, "answer": key})
        assert {name: texts(turns) for name, turns in sessions.items()} == {
            "7": said(answer),
            "8": said(answer),
        }


def test_a_column_may_name_the_session(tmp_path: Path) -> None:
    path = write(tmp_path, CSV.replace("id,", "item,", 1), "pairs.csv")
    sessions, _ = convert(path, mapping={"session_id": "item", "question": "prompt", "answer": "response_b"})
    assert list(sessions) == ["q1", "q2"]


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({"answer": "reply"}, "has no column 'reply'"),
        ({"question": "prompt"}, "question without answer"),
        ({"question": "prompt", "answer": "response_a", "text": "winner"}, "leave text out"),
        ({}, "or question=COLUMN, answer=COLUMN"),
    ],
)
def test_what_is_not_possible_is_said(mapping: dict[str, str], message: str, tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match=message):
        convert(write(tmp_path, CSV, "pairs.csv"), mapping=mapping)


def test_the_better_of_two_conversations_is_read_by_itself(tmp_path: Path) -> None:
    row = {
        key: [QUESTION, {"role": "assistant", "content": text}]
        for key, text in (("chosen", HELLO), ("rejected", OTHER))
    }
    sessions, _ = convert(write(tmp_path, [{"id": 7, **row}], "pairs.jsonl"))
    assert texts(sessions["7"]) == said(HELLO)


def test_columns_of_messages_are_not_ignored(tmp_path: Path) -> None:
    path = write(tmp_path, [{"prompt": HI, "chosen": HELLO}], "pairs.jsonl")
    with pytest.raises(UnreadableFile, match="has no column 'reply'"):
        convert(path, mapping={"text": "reply", "role": "prompt"})


ROWS = [
    {"id": "1", "conversation_id": "c", "query": "How?", "answer": "Press it.", "created_at": 1714557600},
    {"id": "2", "conversation_id": "d", "query": "Hello", "answer": "Hi.", "created_at": 1714557650},
    {"id": "3", "conversation_id": "c", "query": "And then?", "answer": "Wait.", "created_at": 1714557700},
]


@pytest.mark.parametrize(
    ("content", "name"),
    [(ROWS, "rows.jsonl"), (ROWS, "rows.json"), ({"data": ROWS, "has_more": False}, "page.json")],
)
def test_questions_with_an_answer_join_their_conversation(tmp_path: Path, content: Any, name: str) -> None:
    sessions, _ = convert(write(tmp_path, content, name))
    assert {name: [turn.text for turn in turns] for name, turns in sessions.items()} == {
        "c": ["How?", "Press it.", "And then?", "Wait."],
        "d": ["Hello", "Hi."],
    }


def test_an_answer_that_was_made_again_replaces_the_one_before(tmp_path: Path) -> None:
    again = {**ROWS[2], "id": "4", "answer": "Wait a minute.", "created_at": 1714557800}
    rows = [{**ROWS[0], "parent_message_id": ""}] + [
        {**row, "parent_message_id": "1"} for row in (ROWS[2], again)
    ]
    sessions, report = convert(write(tmp_path, rows, "rows.jsonl"))
    assert [turn.text for turn in sessions["c"]][-1] == "Wait a minute."
    assert report.left_out[OTHER_BRANCHES].total == 2


def test_questions_without_a_conversation_are_counted(tmp_path: Path) -> None:
    rows = [{key: value for key, value in row.items() if key != "conversation_id"} for row in ROWS]
    _, report = convert(write(tmp_path, rows, "rows.jsonl"))
    assert report.remarks[EACH_A_CONVERSATION].total == 3
    _, report = convert(write(tmp_path, {"data": rows}, "page.json"))
    assert report.remarks[ONE_CONVERSATION_OF_PAIRS].total == 3
