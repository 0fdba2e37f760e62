"""Files beside texts are counted wherever a tool lists them; what isn't a file is not."""

import copy
from pathlib import Path
from typing import Any

import pytest

from datasets_app.domain.traces.attached import count_attached
from datasets_app.domain.traces.describe import describe_report, list_warnings
from datasets_app.domain.traces.documents import Document
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
    assert count_attached(Document(1, {"messages": [[message]]})) == files
