"""The same file gives the same turns by every door: conversion, import, scrub and check."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from datasets_app.domain.conversations.roles import ROLES, TOOL, TOOL_CALL, split_tool_tags
from datasets_app.domain.quality import files
from datasets_app.domain.traces.html_text import strip_html
from datasets_app.importing.import_dataset import ImportSource, import_dataset
from datasets_app.importing.parameters import ImportOptions
from datasets_app.models import Turn
from tests.terminal import run_in_process
from tests.traces.exports import EXPORTS, HELLO, HI, MORE
from tests.traces.more_exports import MORE_EXPORTS
from tests.traces.reading import convert, texts, write

CALL = '{"name": "hours", "arguments": {"day": "Friday"}}'
RESULT = '{"open": true}'
PAIR = [("user", HI), ("assistant", HELLO)]
Spoken = dict[str, list[tuple[str, str]]]


def chat(*said: tuple[str, str], keys: tuple[str, str, str] = ("messages", "role", "content")) -> list[Any]:
    listed, by, text = keys
    return [{"id": "q", listed: [{by: role, text: words} for role, words in said]}]


def group(turns: Iterable[tuple[str, str, str]]) -> Spoken:
    sessions: Spoken = {}
    for session, role, text in turns:
        sessions.setdefault(session, []).append((role, text))
    return sessions


def read_lines(path: Path) -> Spoken:
    values = map(json.loads, path.read_text().splitlines())
    return group((turn["session_id"], turn["role"], turn["text"]) for turn in values)


def read_by_every_door(path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Spoken]:
    found: dict[str, Spoken] = {}
    for door, more in (("convert_dataset", ()), ("sanitize_dataset", ("--scrub-patterns", "email"))):
        done = run_in_process(door, "--input", path.name, "--out", f"{door}.jsonl", *more, cwd=path.parent)
        assert done.returncode == 0, done.stderr
        found[door] = read_lines(path.parent / f"{door}.jsonl")
    import_dataset([ImportSource(path, path.name)], name="doors", options=ImportOptions())
    stored = Turn.objects.filter(dataset__name="doors").order_by("session_id", "turn_index")
    found["import_dataset"] = group(stored.values_list("session__session_id", "role", "text"))
    checked: list[Any] = []

    def keep(turns: Iterable[Any], *_: Any, **__: Any) -> list[Any]:
        checked.extend(turns)
        return []

    monkeypatch.setattr(files, "run_checks", keep)
    assert not list(files.FileChecker(path, "conversation", with_metadata=False).findings())
    found["validate_dataset"] = group((turn.session_id, turn.role, turn.text) for turn in checked)
    return found


def turns_with(*steps: tuple[str, str], numbered: bool = True) -> list[dict[str, Any]]:
    """A file of turns in which tools have turns between the question and the answer."""
    said = [PAIR[0], *steps, PAIR[1]]
    return [
        {"session_id": "q", **({"turn_index": number} if numbered else {}), "role": role, "text": text}
        for number, (role, text) in enumerate(said, 1)
    ]


DOORS = [(name, file, content) for name, file, content, _, said in (*EXPORTS, *MORE_EXPORTS) if said] + [
    ("OpenAI with calls", "a.jsonl", chat(PAIR[0], ("function_call", CALL), ("function", RESULT), PAIR[1])),
    ("tags of tools", "a.jsonl", chat(PAIR[0], ("assistant", f"<tool_call>{CALL}</tool_call>"), PAIR[1])),
    ("text in a chat template", "a.jsonl", [{"text": f"[INST] {HI} [/INST] {HELLO} </s>"}]),
    (
        "messages that were withheld",
        "a.jsonl",
        [
            {"conversation_id": "q", "role": role, "content": text, **more}
            for role, text, more in ((*PAIR[0], {}), ("assistant", "x", {"internal": True}), (*PAIR[1], {}))
        ],
    ),
    ("an answer beside its messages", "a.jsonl", [{**chat(PAIR[0])[0], "answer": HELLO}]),
    ("a history and what follows", "a.jsonl", [{"history": [["a", "b"]], "question": HI, "answer": HELLO}]),
    ("reasoning in tags", "a.jsonl", chat(PAIR[0], ("assistant", f"<think>x</think>{HELLO}"))),
    (
        "an answer that was regenerated",
        "a.jsonl",
        [
            {"conversation_id": "q", "id": name, "parent_id": parent, "role": role, "content": text}
            for name, parent, role, text in (
                ("a", None, *PAIR[0]),
                ("b", "a", "assistant", "x"),
                ("c", "a", *PAIR[1]),
            )
        ],
    ),
    ("messages that Python printed", "a.csv", f'id,messages\nq,"{chat(*PAIR)[0]["messages"]}"\n'),
    ("turns with tools", "a.jsonl", turns_with(("tool_call", CALL), ("tool", RESULT))),
    ("turns without numbers", "a.jsonl", turns_with(("function", RESULT), numbered=False)),
    ("CSV with tools", "a.csv", f'session_id,role,text\n1,user,"{HI}"\n1,tool,x\n1,assistant,"{HELLO}"\n'),
]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("name", "file", "content"), DOORS, ids=[name for name, *_ in DOORS])
def test_the_same_file_gives_the_same_turns_by_every_door(
    name: str, file: str, content: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALIGNMENTER_HASH_KEY", "a key of thirty-two characters..")
    found = read_by_every_door(write(tmp_path, content, file), monkeypatch)
    expected = found["convert_dataset"]
    assert expected
    assert [door for door, turns in found.items() if turns != expected] == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    st.lists(
        st.sampled_from(sorted(word for word, role in ROLES.items() if role in (TOOL, TOOL_CALL))), max_size=4
    ),
    st.sampled_from([("messages", "role", "content"), ("conversations", "from", "value")]),
    st.booleans(),
)
def test_no_role_of_tools_says_anything(
    tmp_path: Path, roles: list[str], keys: tuple[str, str, str], late: bool
) -> None:
    """Wherever it stands: also behind the lines by which the format is recognized."""
    told = [(role, RESULT) for role in roles]
    ahead = [{**chat(*PAIR, keys=keys)[0], "id": f"a{number}"} for number in range(6 * late)]
    path = write(tmp_path, [*ahead, *chat(PAIR[0], *told, PAIR[1], keys=keys)], "a.jsonl")
    assert texts(convert(path)[0]["q"]) == PAIR


TOOL_ROLES = ["tool", "function", "tool_call", "tool-result", "toolResponse", "observation", "ipython",
              "function_call", "Tool", "api_call", "function_response"]  # fmt: skip


@pytest.mark.parametrize("numbered", [True, False])
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("role", TOOL_ROLES)
def test_turns_of_tools_are_metadata_in_a_file_of_turns(
    role: str, late: bool, numbered: bool, tmp_path: Path
) -> None:
    value = turns_with((role, RESULT), numbered=numbered)
    value[1] |= {"tool_call_id": "call_17", "metadata": {"seconds": 3}, "extra": "kept"}
    value[2] |= {"tags": ["a"], "metadata": {"model": "m"}, "persona_id": "p", "note": "kept too"}
    ahead = [{**turn, "session_id": f"a{number}"} for number in range(30 * late) for turn in value[::2]]
    for number, turn in enumerate(ahead if numbered else ()):
        turn["turn_index"] = number % 2 + 1
    found, report = convert(write(tmp_path, [*ahead, *value], "a.jsonl"))
    assert texts(found["q"]) == PAIR
    assert [turn.turn_index for turn in found["q"]] == [1, 2]
    answer = found["q"][1]
    assert (answer.tags, answer.persona_id, answer.extra) == (["a"], "p", {"note": "kept too"})
    metadata = dict(answer.metadata or {})
    assert metadata.pop("model") == "m"
    assert '"open"' in json.dumps(metadata).replace("\\", "")
    assert "kept" in str(metadata)
    assert [note.total for note in report.remarks.values()] == [1]
    assert not report.problem_total


def test_gaps_and_bad_lines_among_turns_of_tools_are_still_found(tmp_path: Path) -> None:
    value = turns_with(("tool", RESULT))
    value[2]["turn_index"] = 9
    found, report = convert(write(tmp_path, value, "a.jsonl"))
    assert [turn.turn_index for turn in found["q"]] == [1, 8]
    value[0] |= {"role": "system"}
    _, report = convert(write(tmp_path, value, "a.jsonl"))
    assert [(problem.line, problem.code) for problem in report.problems] == [(1, "E103")]
    assert "keep system prompts in the metadata" in report.problems[0].message


def test_tools_that_share_a_number_with_a_turn_leave_the_numbers_alone(tmp_path: Path) -> None:
    value = turns_with(("tool", RESULT))
    value[2]["turn_index"] = 2
    found, _ = convert(write(tmp_path, value, "a.jsonl"))
    assert [turn.turn_index for turn in found["q"]] == [1, 2]
    value = [
        *turns_with(("tool", RESULT)),
        {"session_id": "q", "turn_index": 4, "role": "tool", "text": "late"},
    ]
    found, _ = convert(write(tmp_path, value, "a.jsonl"))
    assert "late" in str(found["q"][1].metadata)


def test_a_role_in_metadata_or_text_is_no_turn_of_a_tool(tmp_path: Path) -> None:
    value = turns_with()
    value[0] |= {"metadata": {"messages": [{"role": "tool", "content": "x"}]}, "text": '{"role": "tool"}'}
    found, report = convert(write(tmp_path, value, "a.jsonl"))
    assert report.format == "turns"
    assert found["q"][0].text == '{"role": "tool"}'


TAGGED = [
    f"<tool_call>\n{CALL}\n</tool_call>",
    f"<tool_call>{CALL}</tool_call>\n<tool_call>{CALL}</tool_call>",
    f"<tool_calls>[{CALL}]</tool_calls>",
    f"<function_call>{CALL}</function_call>",
    f"<functioncall> {CALL} <|endoftext|>",
    f"<|tool_call|>[{CALL}]<|/tool_call|>",
    f"<tool_response>\n{RESULT}\n</tool_response>",
    f"<tool_result>{RESULT}</tool_result>",
    f"<TOOL_CALL>{CALL}</TOOL_CALL>",
    f"<tool_call>\n{CALL}",
]
NOT_TAGGED = [
    "Write <tool_call> before a call.",
    f"For example:\n```\n<tool_call>{CALL}</tool_call>\n```",
    "<p>A paragraph</p>",
    "<tool_call> begins a call, as Hermes writes it.",
    "<action>Run</action>",
]


@pytest.mark.parametrize("keys", [("messages", "role", "content"), ("conversations", "from", "value")])
@pytest.mark.parametrize("text", TAGGED)
def test_what_stands_between_tags_of_tools_is_no_speech(
    text: str, keys: tuple[str, str, str], tmp_path: Path
) -> None:
    result = f"<tool_response>{RESULT}</tool_response>"
    said = [PAIR[0], ("assistant", f"I look.\n{text}"), ("user", result), ("assistant", text), PAIR[1]]
    expected = [PAIR[0], ("assistant", "I look."), PAIR[1]]
    assert texts(convert(write(tmp_path, chat(*said, keys=keys), "a.jsonl"))[0]["q"]) == expected
    spoken = texts(convert(write(tmp_path, chat(*said, keys=keys), "a.json"))[0]["q"])
    assert spoken == [PAIR[0], ("assistant", f"I look.\n\n{HELLO}")]


@pytest.mark.parametrize("text", NOT_TAGGED)
def test_words_about_tags_stay(text: str) -> None:
    assert split_tool_tags(text) == (text, [], [])


def test_what_a_person_says_beside_a_tag_stays(tmp_path: Path) -> None:
    text = f"What is this?\n<tool_call>{CALL}</tool_call>"
    path = write(tmp_path, chat(("user", text), ("assistant", HELLO)), "a.jsonl")
    assert texts(convert(path)[0]["q"])[0] == ("user", text)


def test_tags_come_out_again(tmp_path: Path) -> None:
    value = chat(PAIR[0], ("assistant", f"I look.\n<tool_call>{CALL}</tool_call>"), ("user", MORE), PAIR[1])
    path = write(tmp_path, value, "a.jsonl")
    done = run_in_process("convert_dataset", "--input", "a.jsonl", "--to", "openai", "--out", "b.jsonl",
                          cwd=path.parent)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "b.jsonl").read_text())["messages"] == value[0]["messages"]


@pytest.mark.parametrize("column", ["role", "sender_type", "author_role", "type"])
def test_a_column_of_roles_holds_no_names(column: str, tmp_path: Path) -> None:
    rows = f"ticket,{column},body\n1,user,Hi there\n1,moderator,Be nice\n1,assistant,Hello you\n"
    path = write(tmp_path, rows, "a.csv")
    found, report = convert(path)
    assert texts(found["1"]) == [("user", "Hi there"), ("assistant", "Hello you")]
    assert report.problem_total == 1
    found, report = convert(path, mapping={"sender:moderator": "leave-out"})
    assert len(found["1"]) == 2
    assert not report.problem_total


HTML = [
    ("<p>It is late.</p><ul><li>Paid</li><li>Not here</li></ul>", "It is late.\n\n- Paid\n\n- Not here"),
    (
        "Sent &amp; paid?<br><br>Ben<br><blockquote>Sam wrote: hi</blockquote>",
        "Sent & paid?\n\nBen\n\nSam wrote: hi",
    ),
    ("<h2>Late</h2><table><tr><td>Order</td><td>7</td></tr></table>", "Late\n\nOrder 7"),
    ("<span>Hi</span><blockquote>Sam wrote</blockquote>", "Hi\nSam wrote"),
    ("<div>Hi</div><div><br></div><div>Ben</div>", "Hi\n\nBen"),
    ("<p>Hi Ana,</p><p>sent.</p><br>--<br>Ines, t.example", "Hi Ana,\n\nsent.\n\n--\nInes, t.example"),
    ('<p>See <a href="https://t.example/1">here</a></p>', "See here (https://t.example/1)"),
    *(
        (text, text)
        for text in (
            "How do I close <p>?",
            "Wrap <b>it</b> in <div>…</div>, please",
            "a <br> b",
            "<div> with one <br> in it, or none?",
            "x < y &amp; z",
            "<action>go</action>",
        )
    ),
]


@pytest.mark.parametrize(("written", "read"), HTML)
def test_html_of_help_desks_is_text_and_words_about_html_stay(written: str, read: str) -> None:
    assert strip_html(written, only_pages=True) == read


@pytest.mark.parametrize("late", [False, True])
def test_a_mapping_of_senders_is_obeyed_in_plain_chats(late: bool, tmp_path: Path) -> None:
    ahead = [{**chat(*PAIR)[0], "id": f"a{number}"} for number in range(6 * late)]
    path = write(tmp_path, [*ahead, *chat(*PAIR, ("moderator", MORE), PAIR[1], PAIR[1])], "a.jsonl")
    assert convert(path, mapping={"sender:moderator": "user", "repeated": "drop"})[0]["q"][2].text == MORE
    turns = convert(path, mapping={"sender:moderator": "leave-out", "repeated": "drop"})[0]["q"]
    assert texts(turns) == PAIR
