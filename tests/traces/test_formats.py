"""Every format that is read, from files as its tool writes them."""

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from datasets_app.domain.traces.converted_file import detect_any_format
from tests.traces.exports import EXPORTS, HELLO, HI
from tests.traces.more_exports import MORE_EXPORTS, STREAMS
from tests.traces.reading import convert, write


@pytest.mark.parametrize(
    ("name", "content", "format", "conversations"),
    [row[1:] for row in (*EXPORTS, *MORE_EXPORTS)],
    ids=[row[0] for row in (*EXPORTS, *MORE_EXPORTS)],
)
def test_exports(
    name: str, content: Any, format: str, conversations: list[list[str]], tmp_path: Path
) -> None:
    path = write(tmp_path, content, name)
    assert detect_any_format(path) == format
    sessions, _ = convert(path)
    assert [[turn.text for turn in turns] for turns in sessions.values()] == conversations
    for turns in sessions.values():
        assert (turns[0].role, turns[-1].role) == ("user", "assistant")


@pytest.mark.parametrize(("name", "events"), STREAMS, ids=[row[0] for row in STREAMS])
def test_streams_without_their_request(name: str, events: list[Any], tmp_path: Path) -> None:
    sessions, report = convert(write(tmp_path, events, "x.jsonl"))
    assert [[(turn.role, turn.text) for turn in turns] for turns in sessions.values()] == [
        [("assistant", HELLO)]
    ]
    assert report.calls == 1


def test_tables_of_other_programs(tmp_path: Path) -> None:
    import openpyxl
    from datasets import Dataset

    book = openpyxl.Workbook()
    for row in (
        ["Ticket ID", "Created at", "Author", "Body"],
        [1, datetime(2024, 5, 1, 10, 1), "agent", HELLO],
        [1, datetime(2024, 5, 1, 10, 0), "customer", HI],
    ):
        book.active.append(row)
    book.save(tmp_path / "x.xlsx")
    sessions, report = convert(tmp_path / "x.xlsx")
    assert [(turn.role, turn.text) for turn in sessions["1"]] == [("user", HI), ("assistant", HELLO)]
    assert report.mapping["text"] == "Body"
    for split in ("test", "train"):
        messages = [[{"role": "user", "content": HI}, {"role": "assistant", "content": HELLO}]] * 2
        Dataset.from_dict({"messages": messages}).save_to_disk(tmp_path / "folder" / split)
    sessions, report = convert(tmp_path / "folder")
    assert (report.format, len(sessions)) == ("Parquet or Arrow table: Lists of messages", 4)
