# ruff: noqa: E501
"""Variants in traces, labels and texts of what was reported as cut, lost, made up or on the wrong side."""

import json
from pathlib import Path
from typing import Any

import pytest

from datasets_app.domain.conversations.lines import UnreadableFile
from datasets_app.domain.traces.describe import list_left_out, list_warnings
from datasets_app.domain.traces.sides import UnknownSender
from tests.traces.reading import convert, otlp, write

Q, A = "What grows well in a shady garden?", "Ferns."
SYSTEM = {"role": "system", "content": "Be kind."}
U, B = {"role": "user", "content": Q}, {"role": "assistant", "content": A}
LONG = json.dumps([SYSTEM, {"role": "user", "content": f"{Q} {'and ' * 60}"}])


def trace(given: Any, answer: Any = A, **attributes: Any) -> Any:
    spoken = {"gen_ai.prompt": given, "gen_ai.completion": answer} if answer else {"gen_ai.prompt": given}
    return otlp({"attributes": {"gen_ai.operation.name": "chat", **spoken, **attributes}})


def generation(given: Any, answer: Any) -> Any:
    return [{"id": "o", "traceId": "t", "type": "GENERATION", "startTime": "2026-01-05T10:00:00Z",
             "input": given, "output": answer}]  # fmt: skip


CUT = [LONG[:120], LONG[:200], LONG[:-1], LONG[:-3], json.dumps({"messages": json.loads(LONG)})[:150],
       json.dumps([SYSTEM, {"role": "user", "content": [{"type": "text", "text": Q + " and" * 50}]}])[:180],
       json.dumps([SYSTEM, {"role": "user", "parts": [{"text": Q + " und ö" * 50}]}])[:170],
       json.dumps([SYSTEM, {"content": Q + " and" * 50, "role": "user"}])[:160],
       json.dumps([{"role": "system", "content": "Be kind."}, U, B, {"role": "user", "content": "So " * 90}])[:260],
       LONG[:130] + "\\", LONG[:130] + "\\u00"]  # fmt: skip


@pytest.mark.parametrize("given", CUT)
@pytest.mark.parametrize("make", [generation, trace])
def test_a_cut_prompt_says_what_it_says_as_far_as_it_goes(make: Any, given: str, tmp_path: Path) -> None:
    found, report = convert(write(tmp_path, make(given, A)))
    (turns,) = found.values()
    assert turns[-1].text == A
    said = [turn for turn in turns if turn.role == "user"]
    assert all("role" not in turn.text and "Be kind" not in turn.text for turn in turns)
    if said:  # what names its role behind its words is cut before it says whose they are
        assert Q.startswith(said[0].text[:10])
        assert any((turn.metadata or {}).get("truncated") for turn in turns)
    assert list_warnings(report) or list_left_out(report)


@pytest.mark.parametrize("key", ["messages", "conversation", "history"])
def test_a_cut_list_of_messages_is_read_as_far_as_it_goes(key: str, tmp_path: Path) -> None:
    found, report = convert(write(tmp_path, [{"id": "q", key: LONG[:120]}]))
    (turn,) = found["q"]
    assert (turn.role, turn.text[:20]) == ("user", Q[:20])
    assert (turn.metadata or {})["truncated"]
    assert len(list_warnings(report)) == 1


def test_columns_of_different_lengths_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="different lengths"):
        convert(write(tmp_path, {"prompt": [Q, Q], "response": [A]}))


ODD = "The answer to all of it"
KEYED: dict[str, tuple[Any, list[str]]] = {
    "user": ([{"user": Q}], [f"u {Q}", f"a {A}"]),
    "human": ([{"human": Q}], [f"u {Q}", f"a {A}"]),
    "customer": ([{"customer": Q}], [f"u {Q}", f"a {A}"]),
    "assistant in the history": ([{"user": "Hi"}, {"assistant": "Hello"}, {"user": Q}],
                                 ["u Hi", "a Hello", f"u {Q}", f"a {A}"]),
    "system": ([{"system": "Be kind."}, {"user": Q}], [f"u {Q}", f"a {A}"]),
    "model": ([{"user": "Hi"}, {"model": "Hello"}, {"user": Q}], ["u Hi", "a Hello", f"u {Q}", f"a {A}"]),
}  # fmt: skip


@pytest.mark.parametrize("name", KEYED)
def test_a_message_under_the_key_of_its_speaker(name: str, tmp_path: Path) -> None:
    given, expected = KEYED[name]
    found, _ = convert(write(tmp_path, generation(given, A)))
    assert [f"{turn.role[0]} {turn.text}" for turns in found.values() for turn in turns] == expected


@pytest.mark.parametrize("key", ["narrator", "frage", "query_text", "speaker_1"])
def test_a_message_under_a_key_that_nobody_knows_is_counted(key: str, tmp_path: Path) -> None:
    _, report = convert(write(tmp_path, generation([U, {key: ODD}], A)))
    assert key in report.left_out["messages of unknown roles"].kinds


SILENT = [generation(None, None), generation("", ""), generation([], {}), generation(None, ""),
          [{**generation(None, None)[0], "type": "SPAN"}], otlp({"attributes": {"gen_ai.operation.name": "chat"}}),
          generation([{"role": "user", "content": None}], None), generation({}, []),
          generation([{"role": "system", "content": "x"}], None),
          [{"id": "r", "trace_id": "t", "run_type": "llm", "name": "x", "inputs": {}, "outputs": None,
            "start_time": "2026-01-05T10:00:00"}]]  # fmt: skip


@pytest.mark.parametrize("value", SILENT)
def test_calls_that_say_nothing_are_counted(value: Any, tmp_path: Path) -> None:
    found, report = convert(write(tmp_path, value))
    assert not found
    assert list_left_out(report)


def damage(text: str) -> str:
    return text.encode().decode("latin-1")


NAMES = ["Zoë Müller", "Łukasz", "José", "Анна", "李雷", "😀 Kim", "O’Neil", "Ngô Đức", "Jürgen", "Ñandú"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("given", [str, str.upper, lambda name: f"  {name} ", damage])
def test_a_damaged_name_is_that_of_the_assistant(name: str, given: Any, tmp_path: Path) -> None:
    if given is damage and name == "O’Neil":
        return
    value = {"participants": [], "thread_path": "inbox/x", "messages": [
        {"sender_name": damage(name), "timestamp_ms": 2000, "content": damage("Grüße 😀")},
        {"sender_name": "Shop", "timestamp_ms": 1000, "content": "Hi"}]}  # fmt: skip
    if given is damage:
        with pytest.raises(UnknownSender):
            convert(write(tmp_path, value), assistant="Nobody")
        return
    found, _ = convert(write(tmp_path, value), assistant=given(name))
    (turns,) = found.values()
    assert [(turn.role, turn.text, (turn.metadata or {})["author"]) for turn in turns] == [
        ("user", "Hi", "Shop"), ("assistant", "Grüße 😀", name)]  # fmt: skip


TABLE = 'session_id,role,text,timestamp\nc,user,"Hi","%s"\n'
TIMES = {"1767607200": "10:00:00Z", "1767607200.5": "10:00:00.500Z", "1767607200000": "10:00:00Z",
         "1767607200000000": "10:00:00Z", "1767607200000000000": "10:00:00Z",
         "2026-01-05T10:00:00.123456789Z": "10:00:00.123Z", "2026-01-05 12:00:00+0200": "10:00:00Z",
         "Jan 5, 2026, 10:00:00 AM": "10:00:00Z", "Mon, 05 Jan 2026 10:00:00 GMT": "10:00:00Z",
         "2026-01-05T10:00:00.000+00:00": "10:00:00Z", "20260105T100000Z": "10:00:00Z"}  # fmt: skip


@pytest.mark.parametrize("written", TIMES)
def test_times_of_any_unit(written: str, tmp_path: Path) -> None:
    found, report = convert(write(tmp_path, TABLE % written, "t.csv"))
    assert found["c"][0].timestamp == f"2026-01-05T{TIMES[written]}"
    assert not list_warnings(report)


def task(**answers: Any) -> dict[str, Any]:
    return {"id": 1, "dialogue": [U, B], **answers, "annotator": 3, "annotation_id": 5,
            "created_at": "2026-01-05T10:00:00Z", "lead_time": 4.5}  # fmt: skip


ANSWERS: dict[str, tuple[Any, list[tuple[str, Any]]]] = {
    "one": (task(tone="Yes"), [("tone", "Yes")]),
    "several": (task(tone={"choices": ["No", "Maybe"]}), [("tone", "No"), ("tone", "Maybe")]),
    "several as a list": (task(tone=["No", "Maybe"]), [("tone", "No"), ("tone", "Maybe")]),
    "two questions": (task(tone="Yes", facts="No"), [("tone", "Yes"), ("facts", "No")]),
    "a rating": (task(stars=[{"rating": 4}]), [("stars", 4)]),
    "a number": (task(stars=4), [("stars", 4)]),
    "choices of two questions": (
        task(tone={"choices": ["A", "B"]}, facts={"choices": ["C"]}), [("tone", "A"), ("tone", "B"), ("facts", "C")]),
    "in text": (task(tone='{"choices": ["No", "Maybe"]}'), [("tone", "No"), ("tone", "Maybe")]),
    "another script": (task(ton="無い"), [("ton", "無い")]),
    "an empty answer": (task(tone=""), []),
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_answers_of_a_label_tool_are_labels(name: str, tmp_path: Path) -> None:
    value, expected = ANSWERS[name]
    found, report = convert(write(tmp_path, [value, {**value, "annotator": 4, "annotation_id": 6}]))
    (turns,) = found.values()
    assert not list_warnings(report)
    labels = (turns[-1].metadata or {}).get("labels", [])
    assert [(item["question"], item["value"]) for item in labels if item["annotator"] == "3"] == expected
    assert [(item["question"], item["value"]) for item in labels if item["annotator"] == "4"] == expected
    assert "tone" not in json.dumps([{**(turn.metadata or {}), "labels": []} for turn in turns])


@pytest.mark.parametrize("value", [
    {**task(tone="Yes"), "dialogue": [U, {**U, "content": "Hello?"}]},
    {"id": "r", "fields": {"chat": [U, {**U, "content": "Hello?"}]},
     "responses": {"tone": [{"value": "Yes", "user_id": 3, "status": "submitted"}]}},
])  # fmt: skip
def test_labels_of_a_conversation_without_a_reply_stand_at_its_last_turn(value: Any, tmp_path: Path) -> None:
    found, report = convert(write(tmp_path, [value]))
    (turns,) = found.values()
    assert [turn.role for turn in turns] == ["user", "user"]
    [label] = (turns[-1].metadata or {})["labels"]
    assert (label["question"], label["value"]) == ("tone", "Yes")
    assert (report.labels, report.unanswered) == (1, 1)


def written(*said: tuple[str, str]) -> str:
    return "".join(f"13/01/2026, 10:0{n} - {name}: {text}\n" for n, (name, text) in enumerate(said))


PAIR = (("Ann", Q), ("Ben", A))
SENDERS: dict[str, tuple[str, Any]] = {
    "WhatsApp": ("c.txt", written(*PAIR)),
    "Telegram": ("a.json", {"id": 1, "type": "personal_chat", "messages": [
        {"id": n, "type": "message", "date_unixtime": f"17676072{n}0", "from": name, "from_id": f"user{n}", "text": text}
        for n, (name, text) in enumerate(PAIR)]}),
    "Facebook": ("a.json", {"thread_path": "x", "messages": [
        {"sender_name": name, "timestamp_ms": 1000 + n, "content": text} for n, (name, text) in enumerate(PAIR)]}),
    "Slack": ("a.json", [{"type": "message", "user": name, "text": text, "ts": f"176760720{n}.1"}
                         for n, (name, text) in enumerate(PAIR)]),
    "Discord": ("a.json", {"guild": {}, "channel": {"id": "2"}, "messages": [
        {"type": "Default", "timestamp": f"2026-01-05T10:00:0{n}Z", "content": text,
         "author": {"name": name, "isBot": False}} for n, (name, text) in enumerate(PAIR)]}),
    "names in JSON": ("a.json", [{"messages": [{"author": name, "text": text} for name, text in PAIR]}]),
    "LiveChat": ("a.json", {"chats": [{"id": "c", "thread": {"events": [
        {"id": str(n), "type": "message", "text": text, "author_id": name, "visibility": "all",
         "created_at": f"2026-01-05T10:00:0{n}Z"} for n, (name, text) in enumerate(PAIR)]}}]}),
    "Twilio": ("a.json", {"messages": [
        {"conversation_sid": "C", "author": name, "body": text, "date_created": f"2026-01-05T10:00:0{n}Z"}
        for n, (name, text) in enumerate(PAIR)]}),
}  # fmt: skip


@pytest.mark.parametrize("name", SENDERS)
def test_the_assistant_is_named_or_nobody_has_the_name(name: str, tmp_path: Path) -> None:
    file, value = SENDERS[name]
    path = write(tmp_path, value, file)
    found, _ = convert(path, assistant="ann")
    assert [f"{turn.role[0]} {turn.text}" for turns in found.values() for turn in turns] == [
        f"a {Q}",
        f"u {A}",
    ]
    with pytest.raises(UnknownSender) as error:
        convert(path, assistant="Support")
    assert {"Ann", "Ben"} <= set(error.value.senders)
