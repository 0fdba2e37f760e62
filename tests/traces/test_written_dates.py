"""Dates as people write them, in every format: --map dates= tells whether day or month is first."""

from pathlib import Path
from typing import Any

import pytest

from datasets_app.domain.conversations.lines import UnreadableFile
from datasets_app.domain.traces.describe import list_warnings
from datasets_app.domain.traces.reasons import UNREAD_TIMES
from tests.traces.exports import HELLO, HI
from tests.traces.reading import convert, write

FIRST, SECOND = "03/04/2026 08:00", "03/04/2026 08:05"


def pair(**keys: str) -> list[dict[str, Any]]:
    """A question and its answer, with these names for (role, text, time)."""
    role, text, time = keys["role"], keys["text"], keys["time"]
    return [{role: "user", text: HI, time: FIRST}, {role: "assistant", text: HELLO, time: SECOND}]


CHAT = pair(role="role", text="content", time="timestamp")
FORMATS: dict[str, tuple[str, Any]] = {
    "OpenAI": ("a.jsonl", [{"id": "q", "messages": CHAT}]),
    "OpenAI in one file": ("a.json", [{"id": "q", "messages": CHAT}]),
    "ShareGPT": ("a.jsonl", [{"id": "q", "conversations": pair(role="from", text="value", time="date")}]),
    "one by one": ("a.jsonl", [{"conversation_id": "q", **message} for message in CHAT]),
    "turns of a bot": ("a.json", {"turns": pair(role="speaker", text="text", time="time")}),
    "thread": ("a.json", {"thread": pair(role="sender", text="body", time="created_at")}),
    "stored chats": ("a.json", {"conversations": [{"id": "q", "messages": CHAT}]}),
    "Claude": ("a.json", [{"uuid": "q", "name": "", "chat_messages": [
        {"uuid": "1", "sender": "human", "text": HI, "created_at": FIRST},
        {"uuid": "2", "sender": "assistant", "text": HELLO, "created_at": SECOND}]}]),
    "Zendesk": ("a.json", {"ticket": {"id": 7, "requester_id": 1}, "comments": [
        {"author_id": 1, "body": HI, "public": True, "created_at": FIRST},
        {"author_id": 2, "body": HELLO, "public": True, "created_at": SECOND}]}),
    "Discord": ("a.json", {"guild": {"name": "g"}, "channel": {"name": "c"}, "messages": [
        {"id": "1", "type": "Default", "timestamp": FIRST, "content": HI,
         "author": {"name": "Jo", "isBot": False}},
        {"id": "2", "type": "Default", "timestamp": SECOND, "content": HELLO,
         "author": {"name": "Lumi", "isBot": True}}]}),
    "Telegram": ("a.json", {"name": "Jo", "type": "personal_chat", "id": 1, "messages": [
        {"id": 1, "type": "message", "date": FIRST, "from": "Jo", "from_id": "user1", "text": HI},
        {"id": 2, "type": "message", "date": SECOND, "from": "Lumi", "from_id": "user2", "text": HELLO}]}),
    "CSV": ("a.csv", f"session_id,timestamp,role,text\nq,{FIRST},user,{HI.replace(',', '')}\n"
                     f"q,{SECOND},assistant,{HELLO.replace(',', '')}\n"),
    "WhatsApp": ("a.txt", f"03/04/2026, 08:00 - Jo: {HI}\n03/04/2026, 08:05 - Lumi: {HELLO}\n"),
}  # fmt: skip


@pytest.mark.parametrize(("order", "day"), [("day-first", "2026-04-03"), ("month-first", "2026-03-04")])
@pytest.mark.parametrize("name", FORMATS)
def test_the_order_of_day_and_month_is_obeyed(name: str, order: str, day: str, tmp_path: Path) -> None:
    file, value = FORMATS[name]
    found, report = convert(write(tmp_path, value, file), mapping={"dates": order})
    [said] = found.values()
    assert [turn.timestamp for turn in said] == [f"{day}T08:00:00Z", f"{day}T08:05:00Z"]
    assert not report.problem_total


def test_a_number_that_counts_from_the_beginning_is_no_date(tmp_path: Path) -> None:
    said = [{"role": "user", "content": HI, "timestamp": 1.5}, {"role": "assistant", "content": HELLO}]
    found, report = convert(write(tmp_path, [{"id": "q", "messages": said}]))
    assert [(turn.timestamp, turn.metadata) for turn in found["q"]] == [
        (None, {"original_timestamp": "1.5"}),
        (None, None),
    ]
    assert report.remarks[UNREAD_TIMES].total == 1


JSON = {name: item for name, item in FORMATS.items() if item[0] == "a.json"}


@pytest.mark.parametrize("name", JSON)
def test_dates_of_an_unclear_order_are_counted(name: str, tmp_path: Path) -> None:
    found, report = convert(write(tmp_path, JSON[name][1], "a.json"))
    [said] = found.values()
    assert [turn.timestamp for turn in said] == [None, None]
    assert list_warnings(report)[0].startswith("2 dates that can't be read, could have the day or the month")


def test_another_date_of_the_file_tells_the_order(tmp_path: Path) -> None:
    late = [{"role": "user", "content": HI, "timestamp": "04/25/2026 08:00"}]
    value = [{"id": f"q{number}", "messages": CHAT} for number in range(30)] + [{"id": "z", "messages": late}]
    found, report = convert(write(tmp_path, value, "a.json"))
    assert found["q0"][0].timestamp == "2026-03-04T08:00:00Z"
    assert found["z"][0].timestamp == "2026-04-25T08:00:00Z"
    assert not list_warnings(report)


def test_what_is_said_and_other_facts_stay_as_they_are(tmp_path: Path) -> None:
    message = {"role": "user", "content": FIRST, "timestamp": FIRST}
    value = [{"id": "q", "messages": [message, *CHAT], "facts": {"date": FIRST}}]
    found, _ = convert(write(tmp_path, value, "a.json"), mapping={"dates": "day-first"})
    assert found["q"][0].text == FIRST
    assert FIRST in str(found["q"][0].metadata)


def test_a_file_of_turns_refuses_an_order_of_dates(tmp_path: Path) -> None:
    value = [{"session_id": "q", "turn_index": 1, "role": "user", "text": HI}]
    with pytest.raises(UnreadableFile, match="timestamps in ISO 8601"):
        convert(write(tmp_path, value, "a.jsonl"), mapping={"dates": "day-first"})
