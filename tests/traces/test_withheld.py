"""What nobody but the help desk saw, and what its sender took back, is no part of a conversation."""

from pathlib import Path
from typing import Any

import pytest

from datasets_app.domain.conversations.roles import find_withheld
from datasets_app.domain.traces.reasons import DELETED, PRIVATE_NOTES
from tests.traces.exports import HELLO, HI
from tests.traces.reading import convert, texts, write

NOTES: list[dict[str, Any]] = [
    {"internal": True}, {"isInternal": 1}, {"is_private": "true"}, {"private": True}, {"public": False},
    {"isPublic": "no"}, {"visibility": "internal"}, {"visibility": "agents"}, {"messageType": "private note"},
    {"customerVisible": 0}, {"part_type": "note"},
]  # fmt: skip
WITHDRAWN: list[dict[str, Any]] = [
    {"deleted": True}, {"isDeleted": "true"}, {"is_deleted": 1}, {"deletedAt": "2026-01-05T10:00:00Z"},
    {"deleted_at": 1767607200}, {"deletedDateTime": "2026-01-05"}, {"unsent": True},
    {"is_draft": True}, {"isRevoked": True}, {"deletedAt": {"$date": "2026-01-05T10:00:00Z"}},
    {"status": "deleted"}, {"messageStatus": "Unsent"},
]  # fmt: skip
PLAIN: list[dict[str, Any]] = [
    {"deleted": False}, {"deleted_at": None}, {"deletedAt": ""}, {"isDeleted": "0"}, {"private": "false"},
    {"public": True}, {"visibility": "all"}, {"type": "message"}, {"is_draft": 0}, {"deleted_at": "null"},
    {"status": "done"}, {"redacted": True}, {"removed": 2}, {"deletedAt": {}}, {"draft": "second"},
]  # fmt: skip


def say(role: str, text: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": text, **more}


def in_lines(flags: dict[str, Any]) -> Any:
    said = [say("user", HI), say("assistant", "not for you", **flags), say("assistant", HELLO)]
    return [{"conversation_id": "q", **message} for message in said]


def in_lists(flags: dict[str, Any]) -> Any:
    return [
        {"id": "q", "messages": [say("user", HI), say("assistant", "x", **flags), say("assistant", HELLO)]}
    ]


def in_shares(flags: dict[str, Any]) -> Any:
    said = [("human", HI, {}), ("gpt", "x", flags), ("gpt", HELLO, {})]
    return [
        {"id": "q", "conversations": [{"from": role, "value": text, **more} for role, text, more in said]}
    ]


def in_requests(flags: dict[str, Any]) -> Any:
    given = [say("user", HI), say("user", "x", **flags)]
    return [{"conversation_id": "q", "request": {"messages": given}, "response": say("assistant", HELLO)}]


def in_tickets(flags: dict[str, Any]) -> Any:
    times = [f"2026-01-05T10:0{minute}:00Z" for minute in range(3)]
    replies = [{"body_text": "x", "incoming": False, "created_at": times[1], **flags},
               {"body_text": HELLO, "incoming": False, "created_at": times[2]}]  # fmt: skip
    return {"id": "q", "description_text": HI, "created_at": times[0], "conversations": replies}


def in_telegram(flags: dict[str, Any]) -> Any:
    said = [("Ida", HI, {}), ("Shop", "x", flags), ("Shop", HELLO, {})]
    return {"id": "q", "name": "Club", "messages": [
        {"type": "message", "date_unixtime": "1767607200", "from": who, "from_id": who, "text": text, **more}
        for who, text, more in said if "type" not in more
    ]}  # fmt: skip


PLACES = [in_lines, in_lists, in_shares, in_requests, in_tickets, in_telegram]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("reason", [PRIVATE_NOTES, DELETED])
def test_messages_that_were_withheld_are_left_out_and_counted(
    place: Any, reason: str, tmp_path: Path
) -> None:
    for number, flags in enumerate(NOTES if reason == PRIVATE_NOTES else WITHDRAWN):
        found, report = convert(write(tmp_path, place(flags), f"{number}.json"))
        assert texts(found["q"]) == [("user", HI), ("assistant", HELLO)], flags
        assert {key: note.total for key, note in report.left_out.items()} == {reason: 1}, flags


@pytest.mark.parametrize("flags", PLAIN)
def test_messages_whose_flags_say_nothing_stay(flags: dict[str, Any], tmp_path: Path) -> None:
    assert not find_withheld(flags)
    found, report = convert(write(tmp_path, in_lines(flags), "a.json"))
    assert texts(found["q"])[1] == ("assistant", "not for you")
    assert not report.left_out


@pytest.mark.parametrize("place", [in_lists, in_shares])
def test_chat_files_count_them_too(place: Any, tmp_path: Path) -> None:
    found, report = convert(write(tmp_path, place({"deleted": True}), "a.jsonl"))
    assert texts(found["q"]) == [("user", HI), ("assistant", HELLO)]
    assert report.left_out[DELETED].total == 1


@pytest.mark.parametrize(
    ("column", "value"), [("private", "yes"), ("Deleted At", "2026-01-05"), ("deleted", "1")]
)
def test_columns_say_it_like_keys(column: str, value: str, tmp_path: Path) -> None:
    rows = f'ticket,role,body,{column}\n1,user,"{HI}",\n1,agent,x,{value}\n1,agent,"{HELLO}",\n'
    found, report = convert(write(tmp_path, rows, "a.csv"))
    assert texts(found["1"]) == [("user", HI), ("assistant", HELLO)]
    assert sum(note.total for note in report.left_out.values()) == 1
