# ruff: noqa: E501
"""Variants of inputs that people reported as lost, merged or on the wrong side, each with what is right."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from datasets_app.domain.conversations.lines import UnreadableFile
from datasets_app.domain.traces.reasons import PREVIEWS, READ_IN_TURN
from tests.traces.reading import convert, write

Q, A = "Is it open?", "Until six."
U, B = {"role": "user", "content": Q}, {"role": "assistant", "content": A}
QA = [f"u {Q}", f"a {A}"]


def chat(name: Any, *messages: Any) -> dict[str, Any]:
    return {"id": name, "messages": list(messages or (U, B))}


def lines(*values: Any) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def pack(members: dict[str, Any]) -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        for name, value in members.items():
            archive.writestr(name, value if isinstance(value, str | bytes) else json.dumps(value))
    return raw.getvalue()


def day(user: str, text: str, ts: int, **more: Any) -> dict[str, Any]:
    return {"type": "message", "user": user, "text": text, "ts": f"17676{ts:05}.000100", **more}


TREE = {"mapping": {
    "r": {"id": "r", "parent": None, "message": None},
    "1": {"id": "1", "parent": "r", "message": {"author": {"role": "user"}, "content": {"parts": [Q]}}},
    "2": {"id": "2", "parent": "1", "message": {"author": {"role": "assistant"}, "content": {"parts": [A]}}},
}, "current_node": "2"}  # fmt: skip
PAIR_DAY = [day("U1", Q, 1), day("U2", A, 2)]
ARCHIVES: dict[str, tuple[Any, list[list[str]]]] = {
    "four digits": ({f"conversations-{n:04}.json": [{**TREE, "id": f"c{n}"}] for n in range(12)}, [QA] * 12),
    "in a folder with other files": (
        {"export/conversations-1.json": [{**TREE, "id": "a"}], "export/conversations-2.json": [
            {**TREE, "id": "b"}], "export/chat.html": "<html>", "export/user.json": {"id": 1},
         "export/file-1.png": b"\x89PNG"}, [QA] * 2),
    "no ending": ({"b": [chat("b")], "LICENSE": "Be kind", "a": chat("a")}, [QA] * 2),
    "capital ending": ({"CONVERSATIONS.JSON": [chat("a")]}, [QA]),
    "names in another script": ({"разговоры-1.json": [chat("a")], "会話-2.json": [chat("b")]}, [QA] * 2),
    "one of them empty": ({"a.json": [chat("a")], "b.json": []}, [QA]),
    "JSON lines and JSON": ({"a.jsonl": lines(chat("a"), chat("b")), "b.json": [chat("c")]}, [QA] * 3),
    "with a byte-order mark": ({"a.json": "\ufeff" + json.dumps([chat("a")])}, [QA]),
    "the same id in two files": ({"a.json": [chat("x")], "b.json": [chat("x", B, U)]}, [QA, [QA[1], QA[0]]]),
    "Slack with a channel without days": (
        {"users.json": [], "help/2026-01-05.json": PAIR_DAY, "empty/2026-01-05.json": []}, [QA]),
    "Slack with a private group and a thread": (
        {"users.json": [], "groups.json": [], "mpdm-a--b-1/2026-01-05.json": PAIR_DAY,
         "help/2026-01-05.json": [day("U1", Q, 1), day("U2", A, 9, thread_ts="1767600001.000100")]},
        [QA, QA]),
    "Slack below a folder": (
        {"ws/users.json": [], "ws/help/2026-01-05.json": PAIR_DAY[:1], "ws/help/2026-01-06.json": PAIR_DAY[1:]},
        [QA]),
    "parts of Facebook's conversations": (
        {f"messages/inbox/{who}/message_{n}.json": {"participants": [], "thread_path": f"inbox/{who}", "messages": [
            {"sender_name": ("Shop", "Ann")[n - 1], "timestamp_ms": 3000 - n, "content": (A, Q)[n - 1]}]}
         for who in ("ann", "eve") for n in (1, 2)}, [QA] * 2),
    "transcripts as texts": ({"a.txt": f"[1/5/26, 10:00:00] Ann: {Q}\n[1/5/26, 10:01:00] Ben: {A}\n"}, [QA]),
}  # fmt: skip
NAMES: list[Any] = [7, 7.0, -3, "7", {"$oid": "65a0f1"}, {"$numberLong": "70"}, {"$numberInt": "7"},
                    {"$uuid": "0f14d0ab-9605-4a62-a9e4-5ed26688389b"}, "Ünï-7", 10**17, "a/b c"]  # fmt: skip
IDS: dict[str, tuple[Any, list[list[str]]]] = {
    **{f"id {name}": (lines(*({"conversation_id": one, **message} for one in (name, "other")
                              for message in (U, B))), [QA] * 2) for name in NAMES},
    "id null": (lines({"conversation_id": None, **U}, {"conversation_id": None, **B}), [QA]),
    "camel case": (lines({"threadId": 1, **U}, {"threadId": 2, **U}, {"threadId": 1, **B}), [QA, [QA[0]]]),
    "interleaved": (lines({"chat_id": 1, **U}, {"chat_id": 2, **U}, {"chat_id": 1, **B}, {"chat_id": 2, **B}),
                    [QA] * 2),
}  # fmt: skip
COLUMNS: dict[str, tuple[Any, list[list[str]]]] = {
    "nulls among them": ({"prompt": [Q, None, Q], "response": [A, None, A]}, [QA, QA]),
    "questions": ({"question": [Q], "answer": [A], "lang": ["en"]}, [QA]),
    "three columns": ({"id": [4, 5], "instruction": [Q, Q], "output": [A, A]}, [QA] * 2),
    "by index": ({"instruction": {"10": Q, "20": Q}, "output": {"10": A, "20": A}}, [QA] * 2),
    "an answer that nobody gave": ([{"question": Q, "answer": A}, {"question": Q, "answer": "", "contexts": []}],
                                   [QA, QA[:1]]),
    "as many senders as messages": ({"participants": [{"name": "Ann"}, {"name": "Ben"}], "messages": [
        {"sender_name": "Ann", "timestamp_ms": 1, "content": Q},
        {"sender_name": "Ben", "timestamp_ms": 2, "content": A}]}, [QA]),
    "archived ones apart": ({"conversations": [chat("a")], "archived_conversations": [chat("b")]}, [QA] * 2),
    "messages in a column": ({"id": ["a"], "messages": [[U, B]]}, [QA]),
    "header and rows": ([["question", "answer"], [Q, A], [Q, A]], [QA] * 2),
    "roles and texts": ({"session_id": [1, 1], "role": ["user", "assistant"], "text": [Q, A]}, [QA]),
    "split": ({"columns": ["prompt", "completion"], "data": [[Q, A]], "index": ["x"]}, [QA]),
    "one row": ({"prompt": [Q], "response": [A]}, [QA]),
}  # fmt: skip


def said(*messages: tuple[str, str]) -> str:
    return lines(
        {"id": "q", "messages": [{"role": role, "content": text} for role, text in messages]}, chat("z")
    )


CALLED = '{"name": "films", "arguments": {}}'
TOOLS: dict[str, tuple[Any, list[list[str]]]] = {
    **{f"role {role}": (said(("user", Q), (role, CALLED), ("assistant", A)), [QA] * 2)
       for role in ("function_call", "tool_calls", "toolUse", "tool-result", "function_response", "ipython",
                    "Observation", "code_interpreter", "api_response", "search_results", "retriever",
                    "developer")},
    "calls of Anthropic": (lines(chat("q", U, {"role": "assistant", "content": [
        {"type": "tool_use", "id": "t", "name": "films", "input": {}}]}, {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t", "content": "[]"}]}, B)), [QA]),
    "calls of the older API": (lines(chat("q", U, {"role": "assistant", "content": None, "function_call": {
        "name": "films", "arguments": "{}"}}, {"role": "function", "name": "films", "content": "[]"}, B)), [QA]),
    "Gemini": (lines({"contents": [
        {"role": "user", "parts": [{"text": Q}]}, {"role": "model", "parts": [{"functionCall": {"name": "f"}}]},
        {"role": "function", "parts": [{"functionResponse": {"name": "f", "response": {}}}]},
        {"role": "model", "parts": [{"text": A}]}]}), [QA]),
    "ShareGPT": (lines({"conversations": [
        {"from": "human", "value": Q}, {"from": "function_call", "value": CALLED},
        {"from": "observation", "value": "[]"}, {"from": "gpt", "value": A}]}), [QA]),
    "parts of the Responses API": (lines({"id": "q", "messages": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": Q}]},
        {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "c"},
        {"type": "function_call_output", "call_id": "c", "output": "[]"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": A}]}]}), [QA]),
    "a transcript of what was spoken": (lines({"id": "q", "messages": [
        {"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": "aGk="}, "transcript": Q}]},
        {"role": "assistant", "content": None, "audio": {"id": "x", "transcript": A}}]}), [QA]),
    "a transcript of ChatGPT": (lines({"id": "q", "mapping": {
        str(n): {"id": str(n), "parent": str(n - 1) if n else None, "message": {
            "author": {"role": role}, "content": {"content_type": "multimodal_text", "parts": [
                {"content_type": "audio_transcription", "text": text, "direction": "in"}]}}}
        for n, (role, text) in enumerate((("user", Q), ("assistant", A)))}}), [QA]),
    "an image and a text": (lines(*(chat(n) for n in range(6)), chat("x", {"role": "user", "content": [
        {"type": "text", "text": Q}, {"type": "image_url", "image_url": {"url": "https://a.example/1.png"}}]},
        B)), [QA] * 6 + [[f"u {Q}\n[image]", QA[1]]]),
}  # fmt: skip
WHATSAPP: dict[str, tuple[Any, list[list[str]]]] = {
    name: (first.format(q=Q, a=A), [QA]) for name, first in {
        "American": "1/13/23, 9:03 AM - Ann: {q}\n1/13/23, 9:04 AM - Ben: {a}\n",
        "iPhone": "[13/01/2023, 09:03:11] Ann: {q}\n[13/01/2023, 09:04:11] Ben: {a}\n",
        "narrow blank": "1/13/23, 9:03\u202fAM - Ann: {q}\n1/13/23, 9:04\u202fAM - Ben: {a}\n",
        "marks of direction": "\u200e[13/01/2023, 09:03:11] Ann: {q}\n\u200e[13/01/2023, 09:04:11] Ben: {a}\n",
        "byte-order mark": "\ufeff13.01.23, 09:03 - Ann: {q}\n13.01.23, 09:04 - Ben: {a}\n",
        "Dutch": "13-01-2023 09:03 - Ann: {q}\n13-01-2023 09:04 - Ben: {a}\n",
        "ISO": "2023-01-13, 09:03 - Ann: {q}\n2023-01-13, 09:04 - Ben: {a}\n",
        "Hungarian": "2023. 01. 13. 9:03 - Ann: {q}\n2023. 01. 13. 9:04 - Ben: {a}\n",
        "Finnish": "13.1.2023 klo 9.03 - Ann: {q}\n13.1.2023 klo 9.04 - Ben: {a}\n",
        "Traditional Chinese": "2023/1/13 上午9:03 - Ann: {q}\n2023/1/13 上午9:04 - Ben: {a}\n",
        "Persian digits": "۱۳/۱/۲۰۲۳، ۹:۰۳ - Ann: {q}\n۱۳/۱/۲۰۲۳، ۹:۰۴ - Ben: {a}\n",
        "notice first": "1/13/23, 9:00 AM - Messages and calls are end-to-end encrypted. Tap to learn more.\n"
                        "1/13/23, 9:03 AM - Ann: {q}\n1/13/23, 9:04 AM - Ben: {a}\n",
        "joins and names with signs": "1/13/23, 9:00 AM - Ann added Ben\n1/13/23, 9:03 AM - ~ Ann: {q}\n"
                                      "1/13/23, 9:04 AM - +44 20 7946 0000: {a}\n",
        "line ends of Windows": "1/13/23, 9:03 AM - Ann: {q}\r\n1/13/23, 9:04 AM - Ben: {a}\r\n",
    }.items()
} | {
    "media first": (f"1/13/23, 9:02 AM - Ann: <Media omitted>\n1/13/23, 9:03 AM - Ben: {Q}\n"
                    f"1/13/23, 9:04 AM - Ann: {A}\n", [[f"a {Q}", f"u {A}"]]),
}  # fmt: skip


def slack(*messages: dict[str, Any]) -> list[dict[str, Any]]:
    return [day("U1", Q, 1), *(
        {"type": "message", "ts": f"176760{n + 100:04}.0", **message} for n, message in enumerate(messages)),
        day("U2", A, 9000)]  # fmt: skip


def telegram(*messages: dict[str, Any]) -> dict[str, Any]:
    listed = [{"from": "Ann", "from_id": "user1", "text": Q}, *messages,
              {"from": "Ben", "from_id": "user2", "text": A}]  # fmt: skip
    return {"id": 1, "name": "x", "type": "personal_chat", "messages": [
        {"id": n, "type": "message", "date": "2026-01-05T10:00:00", "date_unixtime": str(1767600000 + n),
         **message} for n, message in enumerate(listed)]}  # fmt: skip


MESSENGERS: dict[str, tuple[Any, list[list[str]]]] = {
    **{f"Slack {kind}": (slack({"user": "U1", "subtype": kind, "text": "It did something"}), [QA])
       for kind in ("channel_join", "channel_leave", "channel_topic", "channel_purpose", "channel_name",
                    "channel_archive", "bot_add", "pinned_item", "group_join", "tombstone", "reminder_add")},
    "Slack attachment": ([day("U1", Q, 1), {"type": "message", "subtype": "bot_message", "bot_id": "B", "text": "",
        "attachments": [{"pretext": "Build", "text": "<!date^1^at {time}|at noon>", "fallback": "x"}],
        "ts": "1767607300.1"}], [[QA[0], "a Build\nat noon"]]),
    "Slack blocks and attachments beside a text": ([{**day("U1", f"{Q} <@U2>", 1), "blocks": [
        {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [
            {"type": "text", "text": f"{Q} ", "style": {"bold": True}}, {"type": "user", "user_id": "U2"}]}]},
        {"type": "section", "text": {"type": "mrkdwn", "text": "*Today*?"}}],
        "attachments": [{"title": "Shop 7", "text": "Main street", "fields": [{"title": "Phone", "value": "none"}]}]},
        day("U2", A, 2)], [[f"u {Q} @U2\n*Today*?\nShop 7\nMain street\nPhone: none", QA[1]]]),
    "Slack call": (slack({"user": "U1", "subtype": "huddle_thread", "text": ""}), [QA]),
    **{f"Telegram {action}": (telegram({"type": "service", "actor": "Ann", "actor_id": "user1",
                                        "action": action, "text": ""}), [QA])
       for action in ("invite_members", "pin_message", "phone_call", "create_group", "edit_group_title")},
    "Telegram sticker": (telegram({"from": "Ann", "from_id": "user1", "media_type": "sticker", "text": ""}), [QA]),
    "Telegram media first": ({**telegram(), "messages": [
        {"id": 0, "type": "message", "from": "Ben", "from_id": "user2", "photo": "1.jpg", "text": ""},
        *telegram()["messages"]]}, [[f"a {Q}", f"u {A}"]]),
    "Telegram buttons": (telegram({"from": "Ben", "from_id": "user2", "text": "Choose", "inline_bot_buttons": [
        [{"type": "callback", "text": "Yes"}, {"type": "callback", "text": "No"}]]}),
        [[QA[0], "a Choose\nYes\nNo", QA[1]]]),
    "Telegram poll": (telegram({"from": "Ann", "from_id": "user1", "text": "", "poll": {
        "question": "When?", "answers": [{"text": "Now", "voters": 1}, {"text": "Later"}]}}),
        [[QA[0], "u When?\nNow\nLater", QA[1]]]),
    "Telegram entities": (telegram()["messages"] and {**telegram(), "messages": [
        {**message, "text": [{"type": "bold", "text": message["text"][:4]}, message["text"][4:]]}
        for message in telegram()["messages"]]}, [QA]),
    "Facebook": ({"participants": [{"name": "Ann"}, {"name": "Ben"}], "thread_path": "inbox/x", "messages": [
        {"sender_name": "Ben", "timestamp_ms": 3, "content": A},
        {"sender_name": "Ann", "timestamp_ms": 2, "type": "Call", "call_duration": 0, "content": "Ann called."},
        {"sender_name": "Ann", "timestamp_ms": 1, "content": Q}]}, [QA]),
    "Discord": ({"guild": {}, "channel": {"id": "2"}, "messages": [
        {"type": kind, "timestamp": f"2026-01-05T10:00:0{n}Z", "content": text, "author": {
            "name": name, "isBot": name == "bot"}} for n, (kind, name, text) in enumerate((
                ("Default", "ann", Q), ("ChannelPinnedMessage", "ann", "Pinned a message."),
                ("GuildMemberJoin", "eve", "Joined the server."), ("Reply", "bot", A)))]}, [QA]),
    "Discord embed beside a text": ({"guild": {}, "channel": {"id": "2"}, "messages": [
        {"type": "Default", "timestamp": "2026-01-05T10:00:00Z", "content": Q, "author": {"name": "ann", "isBot": False}},
        {"type": "Reply", "timestamp": "2026-01-05T10:00:01Z", "content": A, "author": {"name": "bot", "isBot": True},
         "embeds": [{"title": A, "description": "Not on Sundays."}]}]}, [[QA[0], f"a {A}\nNot on Sundays."]]),
}  # fmt: skip


def test_previews_of_links_are_nobodys_words_and_counted(tmp_path: Path) -> None:
    url = "https://a.example/hours"
    slack_message = {**day("U1", f"See <{url}>", 1), "attachments": [{"from_url": url, "text": "A page"}]}
    embed = {"url": url, "title": "Hours", "description": "A page"}
    discord = {"channel": {"id": "2"}, "messages": [{"type": "Default", "author": {"name": "a", "isBot": False},
        "timestamp": "2026-01-05T10:00:00Z", "content": f"See {url}", "embeds": [embed]}]}  # fmt: skip
    facebook = {"participants": [{"name": "a"}], "messages": [{"sender_name": "a", "timestamp_ms": 1,
        "content": f"See {url}", "share": {"link": url}}]}  # fmt: skip
    for export in ([slack_message], discord, facebook):
        found, report = convert(write(tmp_path, export))
        assert [turn.text for turns in found.values() for turn in turns] == [f"See {url}"]
        assert report.left_out[PREVIEWS].total == 1


# (content, file name, what is raised)
DAMAGED: dict[str, tuple[str, str, str]] = {
    "cut in a list": ('[{"messages": [', "a.json", "not valid JSON"),
    "cut in a text": ('[{"messages": [{"role": "user", "content": "Is it', "a.json", "not valid JSON"),
    "single quotes": ("[{'messages': []}]", "a.json", "not valid JSON"),
    "a comma too many": ('{"messages": [{"role": "user", "content": "x",,}]}', "a.json", "not valid JSON"),
    "bad escape": (
        '[{"messages": [{"role": "user", "content": "a\\x41"}]}]',
        "a.json",
        r"line 1, column \d+",
    ),
    "bad escape of Unicode": (
        '[{"messages": [{"role": "user", "content": "\\u12"}]}]',
        "a.json",
        "not valid JSON",
    ),
    "control character": (
        '[{"messages": [{"role": "user", "content": "a\tb"}]}]',
        "a.json",
        "not valid JSON",
    ),
    "Python's None": ('[{"messages": None}]', "a.json", "not valid JSON"),
    "a key without quotes": ("[\n {messages: []}\n]", "a.json", r"line 2, column 3"),
    "another JSON": ('{"name": "x",\n "version": 3}', "a.json", "in no known format"),
    "lines of another JSON": ('{"name": "x"}\n{"name": "y"}\n', "a.jsonl", "in no known format"),
    "nothing, then another JSON": ('null\n{"name": "x"}\n', "a.jsonl", "in no known format"),
    "a list of numbers": ("[1, 2, 3]", "a.json", "in no known format"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_files_say_where(name: str, tmp_path: Path) -> None:
    content, file, said = DAMAGED[name]
    with pytest.raises(UnreadableFile, match=said):
        convert(write(tmp_path, content, file))


def test_texts_that_name_nobody_are_read_in_turn_and_said(tmp_path: Path) -> None:
    found, report = convert(write(tmp_path, [{"turns": [Q, A]}]))
    assert [[f"{turn.role[0]} {turn.text}" for turn in turns] for turns in found.values()] == [QA]
    assert report.remarks[READ_IN_TURN].total == 1


ALL = {**{f"archive: {k}": (pack(m), t, "a.zip") for k, (m, t) in ARCHIVES.items()},
       **{f"ids: {k}": (v, t, "a.jsonl") for k, (v, t) in IDS.items()},
       **{f"columns: {k}": (v, t, "a.json") for k, (v, t) in COLUMNS.items()},
       **{f"tools: {k}": (v, t, "a.jsonl") for k, (v, t) in TOOLS.items()},
       **{f"WhatsApp: {k}": (v, t, "a.txt") for k, (v, t) in WHATSAPP.items()},
       **{f"messengers: {k}": (v, t, "a.json") for k, (v, t) in MESSENGERS.items()}}  # fmt: skip


@pytest.mark.parametrize("name", ALL)
def test_what_a_file_holds_is_read(name: str, tmp_path: Path) -> None:
    content, expected, file = ALL[name]
    path = tmp_path / file
    if isinstance(content, str):
        path.write_bytes(content.encode())
    else:
        write(tmp_path, content, file)
    found, report = convert(path)
    assert [[f"{turn.role[0]} {turn.text}" for turn in turns] for turns in found.values()] == expected
    assert not report.problem_total
