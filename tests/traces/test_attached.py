"""Files beside texts are counted wherever a tool lists them; what isn't a file is not."""

import copy
from pathlib import Path
from typing import Any

import pytest

from datasets_app.domain.traces.attached import count_files, find_texts
from datasets_app.domain.traces.describe import describe_report, list_warnings
from datasets_app.domain.traces.reasons import UNREAD_VALUES
from tests.traces.exports import EXPORTS, HI
from tests.traces.reading import convert, write

TOOLS = ("Claude", "Discord", "Freshdesk", "Intercom", "Messenger", "Open WebUI", "Slack", "Zendesk")
FILE = {"file_name": "invoice.png", "content_url": "https://shop.example/1"}


def attach(value: Any, files: list[Any]) -> bool:
    """To the first message that says HI."""
    if type(value) is dict:
        if any(type(text) is str and HI in text for text in value.values()):
            value["attachments"] = files
            return True
        return any(attach(item, files) for item in value.values())
    return type(value) is list and any(attach(item, files) for item in value)


@pytest.mark.parametrize("tool", TOOLS)
def test_files_beside_a_text_are_counted_and_said(tmp_path: Path, tool: str) -> None:
    _, name, export, *_ = next(item for item in EXPORTS if item[0] == tool)
    export = copy.deepcopy(export)
    before, plain = convert(write(tmp_path, export, name))
    assert attach(export, [FILE, {**FILE, "file_name": "receipt.pdf"}])
    sessions, report = convert(write(tmp_path, export, f"with-{name}"))
    assert "2 files attached to a text, whose content isn't read" in "".join(list_warnings(report))
    assert not any("attached" in warning for warning in list_warnings(plain))
    assert [turn.text for turns in sessions.values() for turn in turns] == [
        turn.text for turns in before.values() for turn in turns
    ]
    assert "invoice" not in describe_report(report) + "".join(list_warnings(report))


TOLD: dict[str, Any] = {
    "Telegram": {"type": "personal_chat", "id": 1, "messages": [
        {"id": 1, "type": "message", "date_unixtime": "1767607200", "from": "Ida", "from_id": "user1",
         "text": HI, "forwarded_from": "Ole Moe", "reactions": [{"emoji": "+", "count": 2}]},
        {"id": 2, "type": "message", "date_unixtime": "1767607260", "from": "Shop", "from_id": "user2",
         "text": "Yes", "edited": "2026-01-05T10:02:00", "reply_to_message_id": 1}]},
    "OpenAI": [{"role": "developer", "parts": ["Be kind."]},
               {"role": "user", "name": "Ole Moe", "content": HI, "reactions": None, "jane@x.example": "1"},
               {"role": "assistant",
                "content": [{"type": "output_text", "text": "Yes", "annotations": ["x"]}]}],
    "Slack": [{"type": "message", "user": "U1", "text": HI, "ts": "1767607200.1", "client_msg_id": "7",
               "reactions": [{"name": "+1", "users": ["Ole Moe"]}], "edited": {"user": "U1"}}],
    "ChatGPT": [{"mapping": {"n": {"message": {"author": {"role": "user"}, "content": {"parts": [HI]},
                                               "metadata": {"citations": [{"title": "Ole Moe"}]}}}}}],
}  # fmt: skip


@pytest.mark.parametrize(
    ("tool", "keys"),
    [
        ("Telegram", "forwarded_from, reactions, edited, reply_to_message_id"),
        ("OpenAI", "name, others, annotations"),
        ("Slack", "reactions, edited"),
        ("ChatGPT", "citations"),
    ],
)
def test_what_a_message_says_beside_its_text_is_counted(tmp_path: Path, tool: str, keys: str) -> None:
    said = "".join(list_warnings(convert(write(tmp_path, TOLD[tool]))[1]))
    count = len(keys.split(","))
    assert f"{count} value{'s' * (count > 1)} (like " in said
    assert set(said.partition("(like ")[2].partition(")")[0].split(", ")) == set(keys.split(", "))
    assert "beside the text of a message, not kept" in said
    assert "Ole" not in said


def test_nothing_that_is_kept_counts_as_lost(tmp_path: Path) -> None:
    for _, name, export, *_ in EXPORTS:
        report = convert(write(tmp_path, export, name))[1]
        assert not report.remarks[UNREAD_VALUES].kinds


@pytest.mark.parametrize(
    ("message", "files"),
    [
        ({"text": HI, "files": [{"url_private": "https://s.example/1"}, {"name": "b.pdf"}]}, 2),
        ({"content": HI, "photos": [{"uri": "photos/1.jpg"}], "videos": [{"uri": "v.mp4"}]}, 2),
        ({"content": {"parts": [HI]}, "metadata": {"attachments": [{"id": "f", "name": "a.csv"}]}}, 1),
        ({"date": "2026-01-05", "from": "Ann", "text": HI, "photo": "photos/1.jpg"}, 1),
        ({"content": HI, "images": ["aGVsbG8="]}, 1),
        ({"text": "", "files": [{"name": "a.png"}]}, 0),  # left out, and counted by the reader
        ({"text": HI, "attachments": [{"fallback": "Build passed", "title": "Build"}]}, 0),
        ({"body": HI, "attachments": [{"contentType": "messageReference", "contentUrl": None}]}, 0),
        ({"text": HI, "attachments": []}, 0),
        (
            {
                "body": HI,
                "attachments": [{"contentType": "application/vnd.x.card.adaptive", "content": "{}"}],
            },
            1,
        ),
        ({"text": HI, "photo": {"url": "https://me.example/face.png"}}, 0),
        ({"text": HI, "file": "chat.log"}, 0),
        ({"content": HI, "tool_calls": [{"arguments": {"text": HI, "files": ["a.csv"]}}]}, 0),
    ],
)
def test_only_files_beside_a_text_are_counted(message: dict[str, Any], files: int) -> None:
    assert sum(map(count_files, find_texts({"messages": [[message]]}))) == files
