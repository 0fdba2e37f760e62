"""What must not get lost, be made up or change sides when files of other tools are read."""

import gzip
import io
import json
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_app.domain.conversations.lines import UnreadableFile
from datasets_app.domain.conversations.records import LineError, TurnRecord
from datasets_app.domain.traces.converted_file import ConvertedFile, open_conversation_file
from datasets_app.domain.traces.describe import format_lines, list_warnings
from datasets_app.domain.traces.messages import read_messages
from datasets_app.domain.traces.reasons import (
    ATTACHED,
    CUT_TEXTS,
    EMPTY,
    OTHER_EVENTS,
    OTHER_MEMBERS,
    RENAMED,
    ROUNDED_SESSIONS,
    UNKNOWN_ROLES,
    UNREAD_TIMES,
    UNREADABLE_FORM,
)
from datasets_app.domain.traces.records import NO_ROLE
from datasets_app.domain.traces.sides import UnknownSender
from datasets_app.domain.traces.values import as_name
from tests.traces.reading import SAMPLES, convert, texts, write

ASK, ANSWER = "Is the shop open?", "Yes, until six."
PAIR = [{"role": "user", "content": ASK}, {"role": "assistant", "content": ANSWER}]
CASES = SAMPLES.parent / "cases"


def all_texts(path: Path, **options: Any) -> list[list[tuple[str, str]]]:
    return [texts(turns) for turns in convert(path, **options)[0].values()]


def make_zip(folder: Path, members: dict[str, Any]) -> Path:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        for name, value in members.items():
            archive.writestr(name, value if isinstance(value, str | bytes) else json.dumps(value))
    return write(folder, raw.getvalue(), "export.zip")


def chat(name: str) -> dict[str, Any]:
    return {"id": name, "messages": PAIR}


def lines(*values: Any) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


@pytest.mark.parametrize(
    ("members", "sessions"),
    [
        (
            {"conversations-10.json": [chat("c")], "conversations-2.json": [chat("b")], "user.json": {}},
            ["b", "c"],
        ),
        (
            {"a/part-0.jsonl": lines(chat("a")), "a/part-1.jsonl": lines(chat("b"), chat("c"))},
            ["a", "b", "c"],
        ),
        ({"one.json": [chat("a")], "picture.png": b"\x89PNG", "readme.txt": "Hello"}, ["a"]),
        (
            {
                "x/chats.csv": "session,role,text\ns1,user,Hi\ns1,assistant,Hello\n",
                "y/more.json": [chat("a")],
            },
            ["s1", "a"],
        ),
        ({"__MACOSX/._a.json": b"\0", ".DS_Store": b"\0", "deep/er/a.json": [chat("a")]}, ["a"]),
        ({"1.json": [chat("a")], "2.json": [chat("a")]}, ["a"]),
        ({"./a.json": [chat("a")], "../b.json": [chat("b")], "./c/./d.json": [chat("c")]}, ["b", "a", "c"]),
    ],
)
def test_every_file_of_an_archive_is_read_in_order(
    members: dict[str, Any], sessions: list[str], tmp_path: Path
) -> None:
    found, report = convert(make_zip(tmp_path, members))
    assert list(found) == sessions
    assert not report.problem_total


@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_a_tar_archive_is_read_as_a_zip_archive(mode: Any, tmp_path: Path) -> None:
    members = {"b/2.json": [chat("b")], "b/10.json": [chat("c")], "a.txt": [chat("a")], "x.png": "-"}
    for name, value in members.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write(tmp_path, value, name)
    path = tmp_path / "all.tar"
    with tarfile.open(path, mode) as archive:
        for name in members:
            archive.add(tmp_path / name, name)
    found, report = convert(path)
    assert (list(found), report.left_out[OTHER_MEMBERS].total) == (["a", "b", "c"], 1)
    raw = path.read_bytes()
    for end in (100, 512 * 2, 512 * 6) if mode == "w" else (60, len(raw) - 9):
        path.write_bytes(raw[:end])
        with pytest.raises(UnreadableFile, match="damaged|cut off|NUL"):
            convert(path)


@pytest.mark.parametrize(
    ("magic", "said"),
    [
        (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive; unpack it"),
        (b"Rar!\x1a\x07\x01", "a RAR archive; unpack it"),
        (gzip.compress(gzip.compress(b"{}" * 400)), "packed twice with gzip"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "Excel or Word in its old format; save it as .xlsx or CSV"),
    ],
)
def test_what_people_take_for_an_export_is_named(magic: bytes, said: str, tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match=said):
        convert(write(tmp_path, magic + bytes(600), "a.bin"))
    with pytest.raises(UnreadableFile, match="office suite"):
        convert(make_zip(tmp_path, {"mimetype": "application/vnd.oasis", "content.xml": "<x/>"}))


def turn_lines(session: str, *numbers: int) -> str:
    roles = ("assistant", "user")
    return lines(*({"session_id": session, "turn_index": n, "role": roles[n % 2], "text": f"{session}{n}"}
                   for n in numbers))  # fmt: skip


def test_a_session_that_parts_of_an_archive_cut_is_one(tmp_path: Path) -> None:
    parts = [turn_lines("a", 1, 2) + turn_lines("b", 1), turn_lines("b", 2, 3) + turn_lines("c", 1)]
    parts += [turn_lines("b", 4) + turn_lines("a", 1, 2, 3)]
    path = make_zip(tmp_path, {f"part-{n}.jsonl": part for n, part in enumerate(parts)})
    file = open_conversation_file(path)
    said = [(turn.session_id, turn.turn_index) for turn in file.turns() if isinstance(turn, TurnRecord)]
    expected = {"a": 2, "b": 4, "c": 1, "a-2": 3}
    assert said == [(name, n) for name, count in expected.items() for n in range(1, count + 1)]
    assert isinstance(file, ConvertedFile)
    assert (file.report.conversations, file.report.remarks[RENAMED].total) == (4, 1)


def test_a_damaged_line_of_an_archive_leaves_its_session_whole(tmp_path: Path) -> None:
    damaged = turn_lines("a", 1, 2) + turn_lines("a", 3).replace('"user"', '"x"') + turn_lines("a", 4)
    found, report = convert(make_zip(tmp_path, {"a.jsonl": damaged}))
    assert [turn.turn_index for turn in found["a"]] == [1, 2, 4]
    assert [problem.session_id for problem in report.problems] == ["a"]


def test_a_hidden_file_of_an_archive_is_counted(tmp_path: Path) -> None:
    report = convert(make_zip(tmp_path, {"a.json": [chat("a")], ".cache/b.json": [chat("b")]}))[1]
    assert report.left_out[OTHER_MEMBERS].total == 1


def test_every_sheet_of_a_workbook_is_read_or_named(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    head = ["session", "role", "text"]
    sheets = {
        "May": [head, ["s1", "user", ASK], ["s1", "assistant", ANSWER]],
        "Empty": [],
        "Head": [["notes"]],
    }
    sheets["June"] = [head, ["s2", "user", ASK], ["s2", "assistant", ANSWER, "beyond"]]
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(tmp_path / "a.xlsx")
    assert all_texts(tmp_path / "a.xlsx") == [[("user", ASK), ("assistant", ANSWER)]] * 2
    assert not convert(tmp_path / "a.xlsx")[1].problem_total
    book["Head"].append(["who knows"])
    book.save(tmp_path / "a.xlsx")
    report = convert(tmp_path / "a.xlsx")[1]
    assert [problem.message for problem in report.problems] == [
        "the sheet “Head” has other columns; save it as a file"
    ]


def test_a_workbook_has_the_rows_it_has(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["session", "role", "text"], ["s1", "user", ASK], ["s1", "assistant", ANSWER]):
        book.active.append(row)
    book.save(tmp_path / "whole.xlsx")
    with (
        zipfile.ZipFile(tmp_path / "whole.xlsx") as whole,
        zipfile.ZipFile(tmp_path / "a.xlsx", "w") as changed,
    ):
        for name in whole.namelist():
            changed.writestr(name, whole.read(name).replace(b"A1:C3", b"A1:C2"))
    assert all_texts(tmp_path / "a.xlsx") == [[("user", ASK), ("assistant", ANSWER)]]


@pytest.mark.parametrize("content", ["{", '[{"a": 1}]', b"\0\1\2", '{"messages": [{"role": "user"'])
def test_a_file_of_an_archive_that_cannot_be_read_is_named(content: Any, tmp_path: Path) -> None:
    found, report = convert(make_zip(tmp_path, {"a.json": [chat("a")], "bad.json": content}))
    assert list(found) == ["a"]
    assert report.problem_total
    assert all("bad.json" in problem.message for problem in report.problems)


def test_a_workspace_of_slack(tmp_path: Path) -> None:
    day = [
        {"type": "message", "user": "U1", "text": "Up?", "ts": "1767607200.1"},
        {
            "type": "message",
            "user": "U2",
            "text": "Ask <@U1> &amp; see <https://a.example|it>",
            "ts": "1767607260.1",
        },
        {
            "type": "message",
            "subtype": "channel_join",
            "user": "U3",
            "text": "has joined",
            "ts": "1767607270.1",
        },
    ]
    later = [{"type": "message", "user": "U1", "text": "Thanks", "ts": "1767693600.1"}]
    users = [{"id": "U1", "profile": {"real_name": "Pia Ott"}}, {"id": "U2", "name": "ole"}]
    members = {
        "users.json": users,
        "channels.json": [],
        "help/2026-01-05.json": day,
        "help/2026-01-06.json": later,
        "sales/2026-01-05.json": day[:2],
    }
    found, report = convert(make_zip(tmp_path, members))
    assert list(found) == ["help", "sales"]
    assert [turn.text for turn in found["help"]] == ["Up?", "Ask @Pia Ott & see it", "Thanks"]
    assert found["help"][1].metadata == {"author": "ole"}
    assert report.left_out["messages of the messenger itself"].total == 1


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (7, "7"),
        (7.0, "7"),
        (7.5, "7.5"),
        ("x", "x"),
        ({"$oid": "65a0"}, "65a0"),
        ({"$numberLong": "9"}, "9"),
        ({"$uuid": "0f14d0ab-9605-4a62-a9e4-5ed26688389b"}, "0f14d0ab-9605-4a62-a9e4-5ed26688389b"),
        (
            {"$binary": {"base64": "DxTQq5YFSmKp5F7SZog4mw==", "subType": "04"}},
            "0f14d0ab-9605-4a62-a9e4-5ed26688389b",
        ),
        (True, ""),
        (None, ""),
        ([1], ""),
        ({"$oid": "a", "b": 1}, ""),
        (float("nan"), ""),
        (1e15, "1000000000000000"),
    ],
)
def test_ids_of_any_scalar_kind(value: Any, name: str) -> None:
    assert as_name(value) == name


@pytest.mark.parametrize("key", ["conversation_id", "conv_id", "thread_id", "ticket", "Case No", "sessionId"])
def test_messages_one_by_one_are_joined_by_their_id(key: str, tmp_path: Path) -> None:
    rows = [{key: name, **message} for name in (7.0, 8.0) for message in PAIR]
    assert all_texts(write(tmp_path, rows, "a.jsonl")) == [[("user", ASK), ("assistant", ANSWER)]] * 2


def test_messages_without_an_id_are_one_conversation_only_if_all_are(tmp_path: Path) -> None:
    found, report = convert(write(tmp_path, PAIR * 2, "a.jsonl"))
    assert len(found) == 1
    assert [note.total for note in report.remarks.values()] == [4]
    found, report = convert(write(tmp_path, [{"thread_id": "a", **PAIR[0]}, *PAIR], "b.jsonl"))
    assert [len(turns) for turns in found.values()] == [1]
    assert report.problem_total == 1


ROWS = [{"prompt": "Hi", "response": "Hello"}, {"prompt": "Bye", "response": "So long"}]
TURNS = [[("user", "Hi"), ("assistant", "Hello")], [("user", "Bye"), ("assistant", "So long")]]


@pytest.mark.parametrize(
    "value",
    [
        {"prompt": ["Hi", "Bye"], "response": ["Hello", "So long"]},
        {"prompt": {"0": "Hi", "1": "Bye"}, "response": {"0": "Hello", "1": "So long"}},
        {"0": ROWS[0], "1": ROWS[1]},
        {"columns": ["prompt", "response"], "index": [0, 1], "data": [["Hi", "Hello"], ["Bye", "So long"]]},
        {"schema": {"fields": [{"name": "prompt"}], "pandas_version": "1.4.0"}, "data": ROWS},
        [["prompt", "response"], ["Hi", "Hello"], ["Bye", "So long"]],
        ROWS,
        {"id": [1, 2], "question": ["Hi", "Bye"], "answer": ["Hello", "So long"]},
        {
            "id": [1, 2],
            "messages": [
                [
                    {"role": "user", "content": row["prompt"]},
                    {"role": "assistant", "content": row["response"]},
                ]
                for row in ROWS
            ],
        },
        {
            "session": [1, 1, 2, 2],
            "speaker": ["user", "bot"] * 2,
            "utterance": ["Hi", "Hello", "Bye", "So long"],
        },
    ],
)
@pytest.mark.parametrize("indent", [None, 1])
def test_columns_are_rows(value: Any, indent: int | None, tmp_path: Path) -> None:
    assert all_texts(write(tmp_path, json.dumps(value, indent=indent))) == TURNS


def test_a_row_that_does_not_fit_its_columns_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path, [["prompt", "response"], ["Hi", "Hello"], ["Bye"]])
    assert convert(path)[1].problem_total == 1


TOOL_ROLES = (
    "tool function tool_call tool-result toolResult function_call function_response observation ipython"
).split()


@pytest.mark.parametrize("role", TOOL_ROLES)
@pytest.mark.parametrize("keys", [("messages", "role", "content"), ("conversations", "from", "value")])
def test_tool_traffic_is_never_speech(role: str, keys: tuple[str, str, str], tmp_path: Path) -> None:
    listed, by, text = keys
    said = [(PAIR[0]["role"], ASK), (role, '{"city": "Turku"}'), ("assistant", ANSWER)]
    value = {"id": "q", listed: [{by: name, text: words} for name, words in said]}
    assert all_texts(write(tmp_path, [value], "a.jsonl")) == [[("user", ASK), ("assistant", ANSWER)]]


@pytest.mark.parametrize("role", ["narrator", "moderator", "Judge", "gpt-9-turbo"])
def test_an_unknown_role_is_asked_for(role: str, tmp_path: Path) -> None:
    path = write(
        tmp_path, [{"id": "q", "messages": [*PAIR, {"role": role, "content": "Meanwhile"}]}], "a.jsonl"
    )
    found, report = convert(path)
    assert [len(turns) for turns in found.values()] == [2]
    assert (report.left_out[UNKNOWN_ROLES].total, report.problem_total) == (1, 1)
    for side, roles in (("user", ["user", "assistant", "user"]), ("leave-out", ["user", "assistant"])):
        found, report = convert(path, mapping={f"sender:{role.upper()}": side})
        assert [turn.role for turn in found["q"]] == roles
        assert not report.problem_total


HELP_DESK = """ticket,author,type,body
1,Dora Lind,reply,"<p>My order 4411 is&nbsp;late.</p><p>Where is it?</p>"
1,Sam (Shop),internal note,"Dora again, be nice"
1,Sam (Shop),reply,"<div>On its way, see <a href=""https://t.example/1"">here</a></div>"
1,Sam (Shop),reply,"<div>On its way, see <a href=""https://t.example/1"">here</a></div>"
"""


def test_a_help_desk_with_internal_notes_and_html(tmp_path: Path) -> None:
    path = write(tmp_path, HELP_DESK, "a.csv")
    mapping = {"text": "body", "role": "author", "sender:sam (shop)": "assistant", "repeated": "drop"}
    found, report = convert(path, mapping=mapping)
    assert texts(found["1"]) == [
        ("user", "My order 4411 is late.\n\nWhere is it?"),
        ("assistant", "On its way, see here (https://t.example/1)"),
    ]
    assert {reason: note.total for reason, note in report.left_out.items() if note.total} == {
        "private notes": 1,
        "exact repetitions of a message": 1,
    }


CUT = [
    {"role": "system", "content": 'Be "kind" \\ always'},
    {"role": "user", "parts": [{"type": "text", "content": "Grüße 😀 {an} [alle], \n“ok”"}], "n": 12.5},
]


@given(st.integers(10, len(json.dumps(CUT))), st.booleans())
def test_a_cut_value_says_what_it_says_as_far_as_it_goes(end: int, ascii: bool) -> None:
    text = json.dumps(CUT, ensure_ascii=ascii)[:end]
    for message in read_messages(text):
        if message.role == "user":
            assert CUT[1]["parts"][0]["content"].startswith(message.text)  # type: ignore[index]
        assert message.role != "user" or '{"role"' not in message.text


@pytest.mark.parametrize(
    ("name", "content", "place"),
    [
        ("a.json", '[\n {"messages": [{"role": "user", "content": "C:\\temp\\x"}]}\n]', "line 2, column 52"),
        ("a.json", '{"a": 1\n "b": 2}', "line 2, column 2"),
        ("a.json", '{\n "messages": [\n  {"role": "user" "content": "x"}\n ]\n}', "line 3, column 19"),
        ("a.json", '{"messages": [1, 2', "line 1, column 19"),
        ("a.json", "[\n{'a': 1}\n]", "line 2, column 2"),
        ("a.json", "\n" * 5 + "{nope}", "line 6, column 2"),
        ("a.json", '[{"messages": [], "x": ' + "9" * 5000 + "}]", "too large at line 1, column 2"),
    ],
)
def test_damaged_json_is_told_with_its_place(name: str, content: str, place: str, tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match=f"not valid JSON: .*{place}"):
        convert(write(tmp_path, content, name))


WHATSAPP = [
    ("[2026/7/9 上午2:28:09] 小林: 在吗\n[2026/7/9 下午2:28:37] 客服:在的，请讲\n", ["02:28", "14:28"]),
    ("2023. 1. 4. 오전 10:15 - 지민: 안녕하세요\n2023. 1. 4. 오후 1:05 - 상담: 네\n", ["10:15", "13:05"]),
    ("2023年1月4日 下午1:15 - 王: 你好\n2023年1月4日 下午1:16 - 店: 您好\n", ["13:15", "13:16"]),
    ("2023/01/04 10:15 - 花子: 開いてますか\n2023/01/04 10:16 - 店: はい\n", ["10:15", "10:16"]),
    ("٤/١/٢٠٢٣، ٧:٠٢ م - سارة: هل المتجر مفتوح؟\n٤/١/٢٠٢٣، ٧:٠٥ م - الدعم: نعم\n", ["19:02", "19:05"]),
    ("4/1/2566 19:02 - สมชาย: เปิดไหม\n4/1/2566 19:03 - ร้าน: เปิดค่ะ\n", ["19:02", "19:03"]),
    ("4/1/23, 7:02 pm - राजेश: खुला है?\n4/1/23, 7:03 pm - दुकान: हाँ\n", ["19:02", "19:03"]),
    ("04.01.23, 19:02 - Dora: Offen?\n04.01.23, 19:03 - Laden: Ja\n", ["19:02", "19:03"]),
    ("[4/1/23, 7:02:11 p. m.] Dora: ¿Abierto?\n[4/1/23, 7:03:00 p. m.] Tienda: Sí\n", ["19:02", "19:03"]),
    ("4.01.2023 19:02 - Ayşe: Açık mı?\n4.01.2023 19:03 - Dükkan: Evet\n", ["19:02", "19:03"]),
]


@pytest.mark.parametrize(("content", "times"), WHATSAPP)
def test_whatsapp_in_its_languages(content: str, times: list[str], tmp_path: Path) -> None:
    (turns,) = convert(write(tmp_path, content, "chat.txt"))[0].values()
    assert [turn.role for turn in turns] == ["user", "assistant"]
    assert [str(turn.timestamp)[11:16] for turn in turns] == times
    assert {str(turn.timestamp)[:4] for turn in turns} <= {"2023", "2026"}


@pytest.mark.parametrize(
    ("dates", "order", "days"),
    [
        (["1/4/23", "2/2/23", "2/4/23"], "", ["01-04", "02-02", "02-04"]),
        (["4/1/23", "2/2/23", "4/2/23"], "", ["01-04", "02-02", "02-04"]),
        (["1/4/23", "2/4/23"], "month-first", ["01-04", "02-04"]),
        (["1/4/23", "2/4/23"], "day-first", ["04-01", "04-02"]),
        (["13/1/23", "14/1/23"], "", ["01-13", "01-14"]),
        (["23/1/4", "23/1/5", "23/2/1"], "", ["01-04", "01-05", "02-01"]),
    ],
)
def test_the_order_of_lines_tells_day_and_month(
    dates: list[str], order: str, days: list[str], tmp_path: Path
) -> None:
    content = "".join(f"{date}, 10:0{n} - {'AB'[n % 2]}: Hi {n}\n" for n, date in enumerate(dates))
    (turns,) = convert(write(tmp_path, content, "c.txt"), mapping={"dates": order} if order else {})[
        0
    ].values()
    assert [str(turn.timestamp)[5:10] for turn in turns] == days


OWN_WORDS = [
    "<Media omitted>",
    "<Medien ausgeschlossen>",
    "<Без медиафайлов>",
    "<Medya dahil edilmedi>",
    "<省略影音内容>",
    "IMG-20260105-WA0001.jpg (file attached)",
    "PTT-1.opus (archivo adjunto)",
    "<Anhang: 00012-PHOTO.jpg>",
    "null",
    "This message was deleted",
    "Diese Nachricht wurde gelöscht.",
    "Missed voice call",
    "삭제된 메시지입니다.",
    "تم حذف هذه الرسالة",
    "<Aucun média gardé>",
]
SAID = [
    "<br>",
    "Was this message was deleted by you?",
    "I missed your voice call",
    "see a.jpg (it is old) please",
    "<https://a.example>",
    "nullify it",
    "Media omitted in the file again",
]


def test_what_the_messenger_says_is_no_turn_and_what_people_say_is_one(tmp_path: Path) -> None:
    spoken = [*OWN_WORDS, *SAID]
    content = "".join(f"13/01/2026, 10:{n:02} - {'AB'[n % 2]}: {text}\n" for n, text in enumerate(spoken))
    (turns,) = convert(write(tmp_path, content, "c.txt"))[0].values()
    assert [turn.text for turn in turns] == SAID


def test_a_name_that_nobody_has_lists_the_senders(tmp_path: Path) -> None:
    path = write(tmp_path, WHATSAPP[7][0], "c.txt")
    with pytest.raises(UnknownSender) as found:
        convert(path, assistant="Support")
    assert sorted(found.value.senders) == ["Dora", "Laden"]
    assert "Dora" not in str(found.value)
    assert [turn.role for turn in next(iter(convert(path, assistant=" dora ")[0].values()))] == [
        "assistant",
        "user",
    ]


def test_rich_text_is_text(tmp_path: Path) -> None:
    discord = {
        "channel": {"id": "1"},
        "messages": [
            {
                "type": "Default",
                "author": {"name": "a", "isBot": False},
                "content": "",
                "timestamp": "2026-01-05T10:00:00Z",
                "embeds": [{"title": "Rates", "fields": [{"name": "Room", "value": "90"}]}],
            },
            {"type": "RecipientAdd", "author": {"name": "a", "isBot": False}, "content": "Added b."},
        ],
    }
    (turns,) = convert(write(tmp_path, discord))[0].values()
    assert texts(turns) == [("user", "Rates\nRoom: 90")]


@pytest.mark.skipif(not CASES.is_dir(), reason="the folder of small inputs is not beside the project")
@pytest.mark.parametrize(
    ("name", "sessions", "turns"),
    [
        ("01-chatgpt-numbered.zip", 2, 4),
        ("06b-slack-workspace.zip", 1, 5),
        ("43b-float-conv.jsonl", 2, 4),
        ("43c-uuid-dict.jsonl", 2, 4),
        ("31j-dict-of-lists.json", 2, 4),
        ("31i-pandas-columns.json", 2, 4),
        ("44b-openai-fc.jsonl", 1, 2),
        ("33c-truncated.json", 1, 2),
        ("33a-gemini-user-key.json", 1, 2),
        ("34b-langfuse-null.json", 0, 0),
        ("45a-wa-us-order.txt", 1, 4),
        ("06-slack-day.json", 1, 5),
        ("64-wa-media.txt", 1, 1),
        ("04e-wa-zh.txt", 1, 2),
        ("03b-telegram-rich.json", 1, 4),
        ("42-epochs.csv", 4, 8),
    ],
)
def test_small_inputs(name: str, sessions: int, turns: int) -> None:
    found, _ = convert(CASES / name)
    assert (len(found), sum(map(len, found.values()))) == (sessions, turns)


ODD = {"zz": 1}


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ({"role": "user", "content": ""}, EMPTY),
        ({"role": "assistant", "content": None}, EMPTY),
        ({"role": "user", "content": [{"type": "text", "text": " "}]}, EMPTY),
        ({"role": "user", "content": ODD}, UNREADABLE_FORM),
        ({"role": "user", "content": [{"type": "text", "text": "Look:"}, {"type": "hologram", "x": 1}]},
         UNREADABLE_FORM),
        ({"role": "assistant", "words": "under another key"}, UNREADABLE_FORM),
        ({"content": "who says so?"}, UNKNOWN_ROLES),
        ({"role": None, "content": "who says so?"}, UNKNOWN_ROLES),
        ("who says so?", UNKNOWN_ROLES),
        (17, UNREADABLE_FORM),
        ({"id": 4}, OTHER_EVENTS),
        ({"role": "system", "content": ODD}, UNREADABLE_FORM),
    ],
)  # fmt: skip
def test_a_message_that_says_nothing_or_is_not_understood_is_counted(
    message: Any, reason: str, tmp_path: Path
) -> None:
    found, report = convert(write(tmp_path, [{"messages": [*PAIR, message]}]))
    (turns,) = found.values()
    assert texts(turns)[:2] == [("user", ASK), ("assistant", ANSWER)]
    assert {name: note.total for name, note in report.left_out.items() if note.total} == {reason: 1}
    assert report.problem_total == (reason == UNKNOWN_ROLES)


def test_who_speaks_without_a_role_can_be_said(tmp_path: Path) -> None:
    path = write(tmp_path, [{"messages": [*PAIR, {"content": "Thanks"}]}])
    assert [turn.role for turn in convert(path, mapping={"sender:no role": "user"})[0].popitem()[1]] == [
        "user",
        "assistant",
        "user",
    ]


IDS_OF_TABLES = [
    (["1.0E+05", "1.0E+05", "100001", "100001"], ["100000", "100001"], 2),
    (["1,00E+05", "100000"], ["100000"], 1),
    (["1.23456E+05", "1.23456E+05"], ["123456"], 0),
    (["1.23457E+11", "1.23457E+11", "9.87654E+11", "9.87654E+11"], ["123457000000", "987654000000"], 4),
    (["1,5E+01", "x"], ["15", "x"], 0),
    (["12e5", "1e10"], ["12e5", "1e10"], 0),
    (["7.0", "7"], ["7"], 0),
    (["1.5E+00", "b"], ["1.5E+00", "b"], 0),
]


@pytest.mark.parametrize(("ids", "names", "rounded"), IDS_OF_TABLES)
def test_ids_as_spreadsheets_write_them(
    ids: list[str], names: list[str], rounded: int, tmp_path: Path
) -> None:
    rows = "".join(f'"{name}",{("user", "assistant")[n % 2]},Hi {n}\n' for n, name in enumerate(ids))
    found, report = convert(write(tmp_path, f"ticket,role,text\n{rows}", "t.csv"))
    assert (list(found), report.remarks[ROUNDED_SESSIONS].total) == (names, rounded)
    assert bool(list_warnings(report)) == bool(rounded)


@pytest.mark.parametrize(
    "ids",
    [
        ["1.23457E+11"] * 4,
        ["1,23457E+11", "5", "1,23457E+11"],
        ["1.23457E+11", "9.87654E+11", "1.23457E+11"],
    ],
)
def test_ids_that_became_one_are_refused(ids: list[str], tmp_path: Path) -> None:
    rows = "".join(f'"{name}",{("user", "assistant")[n % 2]},Hi {n}\n' for n, name in enumerate(ids))
    path = write(tmp_path, f"ticket,role,text\n{rows}", "t.csv")
    with pytest.raises(UnreadableFile, match="were rounded"):
        convert(path)
    mapping = {"session_id": "each-row", "role": "role", "text": "text"}
    assert len(convert(path, mapping=mapping)[0]) == len(ids)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", [{"conversation_id": True, **message} for message in PAIR]),
        (
            "a.jsonl",
            [{"conversation_id": False, **message} for message in PAIR] + [{"thread_id": "x", **PAIR[0]}],
        ),
        ("a.csv", "ticket,role,text\nTRUE,user,Hi\nFALSE,assistant,Hello\n"),
        (
            "a.json",
            [
                {"ticket": True, "role": "user", "text": "Hi"},
                {"ticket": True, "role": "bot", "text": "Hello"},
            ],
        ),
    ],
)
def test_a_boolean_is_no_id(name: str, content: Any, tmp_path: Path) -> None:
    report = convert(write(tmp_path, content, name))[1]
    assert [problem.code for problem in report.problems] == ["E110"] * 2


def test_ids_that_a_float_has_rounded_are_said(tmp_path: Path) -> None:
    rows = [{"conversation_id": 1.2345678901234568e18, **message} for message in PAIR]
    assert (
        "different ones may have become one" in list_warnings(convert(write(tmp_path, rows, "a.jsonl"))[1])[0]
    )


def test_a_single_message_of_an_unknown_role_is_asked_for(tmp_path: Path) -> None:
    roles = ("user", "moderator", "assistant")
    lines = [{"conversation_id": "u1", "role": role, "content": f"Said by {role}."} for role in roles]
    for value in (lines, lines[1:2]):
        _, report = convert(write(tmp_path, value, "roles.jsonl"))
        assert report.left_out["messages of unknown roles"].kinds == {"moderator": 1}


def test_lines_before_the_first_message_are_counted(tmp_path: Path) -> None:
    head = "Chat with Minji\nSaved on: 5 January\n\n"
    said = "5/1/2026, 14:28 - Minji: Hello\n5/1/2026, 14:29 - Shop: How can I help?\n"
    sessions, report = convert(write(tmp_path, head + said, "chat.txt"))
    assert [len(turns) for turns in sessions.values()] == [2]
    assert report.left_out["lines before the first message"].total == 2


def test_damaged_json_in_an_archive_says_what_is_wrong_with_it(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "logs.zip", "w") as archive:
        good = [{"conversation_id": "k", "role": role, "content": "Yes."} for role in ("user", "assistant")]
        archive.writestr("01.jsonl", "".join(json.dumps(line) + "\n" for line in good))
        archive.writestr("02.jsonl", '{"conversation_id": "m", "role": "user", "content": "brok')
    file = open_conversation_file(tmp_path / "logs.zip")
    problems = [item.message for item in file.turns() if isinstance(item, LineError)]
    assert len(problems) == 1
    assert "02.jsonl: is not valid JSON" in problems[0]
    assert "line 1, column" in problems[0]


def test_conversations_of_one_id_in_several_files_are_kept_apart_and_counted(tmp_path: Path) -> None:
    other = {**chat("a"), "messages": [{"role": "user", "content": "Hello?"}]}
    found, report = convert(make_zip(tmp_path, {"a.json": [chat("a")], "b.json": [other]}))
    assert list(found) == ["a", "a-2"]
    assert report.remarks[RENAMED].total == 1


def test_a_bad_line_belongs_to_the_session_of_its_own_file(tmp_path: Path) -> None:
    said = [
        {"session_id": "s", "turn_index": index, "role": role, "text": role}
        for index, role in enumerate(("user", "assistant"), 1)
    ]
    bad = [{**said[0], "text": "Hello?"}, {**said[1], "role": "bot?"}]
    path = make_zip(tmp_path, {"a.jsonl": lines(*said), "b.jsonl": lines(*bad)})
    file = open_conversation_file(path)
    assert {turn.session_id for turn in file.turns() if isinstance(turn, LineError)} == {"s-2"}


def test_every_problem_of_an_archive_counts(tmp_path: Path) -> None:
    bad = {f"{number}.json": "{" for number in range(120)}
    file = open_conversation_file(make_zip(tmp_path, {"a.json": [chat("a")], **bad}))
    assert sum(isinstance(item, LineError) for item in file.turns()) == 120


def test_days_of_slack_without_a_list_of_users(tmp_path: Path) -> None:
    days = {
        f"help/2026-01-0{day}.json": [{"type": "message", "user": "U1", "text": "Up?", "ts": f"17676{day}"}]
        for day in (5, 6)
    }
    assert [len(turns) for turns in convert(make_zip(tmp_path, days))[0].values()] == [2]


def test_chats_that_somebody_left_are_read(tmp_path: Path) -> None:
    said = {"type": "message", "date": "2026-01-05T10:00:00", "from": "Ida", "from_id": "user1", "text": "Hi"}
    lists = {
        key: {"list": [{"name": key, "id": number, "messages": [said]}]}
        for number, key in enumerate(("chats", "left_chats"), 1)
    }
    assert list(convert(write(tmp_path, lists))[0]) == ["1", "2"]


@pytest.mark.parametrize(
    "text",
    [
        "[05.01.26, 10:00:00] José: Hola\n[05.01.26, 10:01:00] Shop: Sí\n",
        "<|im_start|>user\nJosé<|im_end|>\n<|im_start|>assistant\nSí<|im_end|>\n",
    ],
)
def test_a_text_in_another_encoding_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="isn't UTF-8 at line [12]; convert it"):
        convert(write(tmp_path, text.encode("latin-1"), "chat.txt"))


def test_the_caption_of_a_file_is_what_was_said(tmp_path: Path) -> None:
    sent = "5/1/2026, 14:28 - Minji: IMG-20260105-WA0001.jpg (archivo adjunto)\nIs it this one?\n"
    found, report = convert(write(tmp_path, f"{sent}5/1/2026, 14:29 - Shop: Yes.\n", "chat.txt"))
    assert [turn.text for turns in found.values() for turn in turns] == ["Is it this one?", "Yes."]
    assert report.remarks[ATTACHED].total == 1


@pytest.mark.parametrize("named", [True, False])
def test_columns_of_any_name_are_rows_if_a_mapping_names_them(named: bool, tmp_path: Path) -> None:
    names = ("frage", "antwort") if named else ("question", "answer")
    path = write(tmp_path, {names[0]: [ASK, "Until when?"], names[1]: [ANSWER, "Six."]})
    mapping = {"question": names[0], "answer": names[1]} if named else {}
    assert [len(found) for found in all_texts(path, mapping=mapping)] == [2, 2]


def test_columns_of_different_lengths_are_refused(tmp_path: Path) -> None:
    columns = {"session_id": ["a", "a"], "role": ["user"], "text": [ASK, ANSWER]}
    with pytest.raises(UnreadableFile, match="columns of different lengths"):
        convert(write(tmp_path, columns))


@pytest.mark.parametrize("end", range(10, 90, 7))
def test_a_question_that_was_cut_before_its_words_is_counted(end: int, tmp_path: Path) -> None:
    said = json.dumps([{"role": "system", "content": "Be kind."}, {"role": "user", "content": ASK}])[:end]
    answer = {"choices": [{"message": PAIR[1]}]}
    path = write(tmp_path, [{"request": {"messages": said}, "response": answer}], "calls.jsonl")
    assert convert(path, format="calls")[1].remarks[CUT_TEXTS].total == 1


def test_times_of_databases_are_read_and_others_kept_in_their_place(tmp_path: Path) -> None:
    times = [
        {"$date": "2026-01-05T10:00:00Z"},
        {"$date": {"$numberLong": "1767607260000"}},
        "just now",
        {"_seconds": 1767607320, "_nanoseconds": 0},
    ]
    rows = [
        {"conversation_id": "a", "role": "user", "content": str(number), "created_at": time}
        for number, time in enumerate(times)
    ]
    found, report = convert(write(tmp_path, rows, "rows.jsonl"))
    assert [turn.text for turn in found["a"]] == ["0", "1", "2", "3"]
    assert [turn.timestamp for turn in found["a"]] == [
        "2026-01-05T10:00:00Z",
        "2026-01-05T10:01:00Z",
        None,
        "2026-01-05T10:02:00Z",
    ]
    assert found["a"][2].metadata == {"original_timestamp": "just now"}
    assert report.remarks[UNREAD_TIMES].total == 1


@pytest.mark.parametrize("call", [{"function_call": {"name": "f"}}, {"tool_calls": [{"id": "1"}]}])
@pytest.mark.parametrize("content", ["", []])
def test_a_call_without_words_is_no_turn(call: dict[str, Any], content: Any, tmp_path: Path) -> None:
    asked = {"role": "assistant", "content": content, **call}
    path = write(tmp_path, [{"id": 7.0, "messages": [PAIR[0], asked, PAIR[1]]}], "chat.jsonl")
    found, _ = convert(path)
    assert {name: texts(turns) for name, turns in found.items()} == {
        "7": [("user", ASK), ("assistant", ANSWER)]
    }


def test_tasks_for_label_studio_keep_the_ids_of_their_conversations(tmp_path: Path) -> None:
    dialogue = [{"author": message["role"], "text": message["content"]} for message in PAIR]
    tasks = [{"data": {"dialogue": dialogue, "session_id": name}} for name in ("a", "b")]
    assert list(convert(write(tmp_path, tasks))[0]) == ["a", "b"]


def test_a_quotation_mark_that_is_not_closed_takes_no_rows_along(tmp_path: Path) -> None:
    table = 'session_id,role,text\na,user,"Hello\nb,user,Hi\n'
    with pytest.raises(UnreadableFile, match="quotation mark in line 2 or behind it that isn't closed"):
        convert(write(tmp_path, table, "a.csv"))


def test_a_row_without_a_role_is_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path, "session_id,role,text\na,user,Hi\na,,Hm\n", "a.csv")
    assert convert(path)[1].left_out[UNKNOWN_ROLES].kinds == {NO_ROLE: 1}
    assert all_texts(path, mapping={f"sender:{NO_ROLE}": "assistant"}) == [
        [("user", "Hi"), ("assistant", "Hm")]
    ]


@pytest.mark.parametrize(
    "message",
    [
        {"user": ASK, "ts": "1"},
        {"user": [ASK]},
        {"human": {"text": ASK}, "id": "m-1"},
        ["user", ASK],
        {"user": ASK, "created_at": "2026-01-05T10:00:00Z"},
    ],
)
def test_a_message_under_the_key_of_who_speaks(message: Any) -> None:
    assert [(found.role, found.text) for found in read_messages([message])] == [("user", ASK)]


def test_an_encrypted_chat_of_messenger(tmp_path: Path) -> None:
    said = [("Zoë", "Hej", False), ("Shop", "Gone", True), ("Shop", "Ja", False)]
    messages = [
        {
            "senderName": name,
            "text": text,
            "isUnsent": unsent,
            "timestamp": 1700000000000 + number,
            "type": "text",
        }
        for number, (name, text, unsent) in enumerate(said)
    ]
    found, _ = convert(write(tmp_path, {"participants": [], "threadName": "Zoë_1", "messages": messages}))
    assert {name: texts(turns) for name, turns in found.items()} == {
        "Zoë_1": [("user", "Hej"), ("assistant", "Ja")]
    }


def test_an_archive_that_is_cut_off_or_empty_says_so(tmp_path: Path) -> None:
    whole = make_zip(tmp_path, {"a.json": [chat("a")]}).read_bytes()
    cut, empty = whole[:60], b"PK\x05\x06" + bytes(18)
    for content, said in ((cut, "can't be opened; transfer it again"), (empty, "without files")):
        with pytest.raises(UnreadableFile, match=said):
            convert(write(tmp_path, content, "cut.zip"))


def test_lines_are_named_in_the_number_that_is_listed() -> None:
    listed = [format_lines(lines, total, "line") for lines, total in (([3], 1), ([3], 5), ([3, 9], 2))]
    assert listed == [" (line 3)", " (line 3 and 4 more)", " (lines 3 and 9)"]


@pytest.mark.parametrize(
    ("content", "line", "said"),
    [
        ("question,answer\nHi,Hello\n,Bye\n", 3, "question is missing; expected the question that 'answer'"),
        (
            {"prompt": ["Hi", None], "response": ["Hello", "Bye"]},
            1,
            "prompt is missing; expected the question",
        ),
        ("id,messages\na,\"[{'role': 'user', 'content': 'Hi'}]\"\n,Hello\n", 3, "messages must be a list"),
    ],
)
def test_a_text_that_is_no_message_is_an_error_that_says_what_it_lacks(
    content: Any, line: int, said: str, tmp_path: Path
) -> None:
    report = convert(write(tmp_path, content, "a.csv" if isinstance(content, str) else "a.json"))[1]
    assert [(problem.code, problem.line) for problem in report.problems] == [("E102", line)]
    assert report.problems[0].message.startswith(said)
    assert not report.left_out


def test_a_conversation_of_nothing_but_unknown_roles_is_counted_once(tmp_path: Path) -> None:
    path = write(tmp_path, "session,role,text\na,user,Hi\nb,moderator,Hm\n", "a.csv")
    assert list(convert(path)[1].left_out) == [UNKNOWN_ROLES]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (
            lines(*PAIR).replace('{"role', '2026-01-02 10:00:00,123 INFO {"role'),
            "a log with text before each",
        ),
        ("- role: user\n  text: Hi\n- role: assistant\n  text: Hello\n", "YAML"),
        ("1\n00:00:01,000 --> 00:00:04,000\nHi\n", "subtitles"),
        ("<chat><user>Hi</user></chat>\n", "XML"),
        ("Hi\n\nHello\n", "has no JSON objects"),
    ],
)
@pytest.mark.parametrize("name", ["a.jsonl", "a.txt"])
def test_a_text_without_json_is_one_error_that_says_what_it_seems_to_be(
    name: str, content: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(UnreadableFile, match=said):
        convert(write(tmp_path, content, name))
    report = convert(make_zip(tmp_path, {"a.json": [chat("a")], name: content}))[1]
    assert [said in problem.message for problem in report.problems] == [True]


def test_a_comment_above_lines_of_json_is_an_error_of_its_line(tmp_path: Path) -> None:
    file = open_conversation_file(write(tmp_path, f"# Exported\n{turn_lines('a', 1, 2)}", "a.jsonl"))
    assert [item.line for item in file.turns() if isinstance(item, LineError)] == [1]


@pytest.mark.parametrize("name", ["more.tar", "more.tgz", "more.zip", "more.bz2"])
def test_what_is_packed_in_an_archive_is_never_left_out_in_silence(name: str, tmp_path: Path) -> None:
    content = io.BytesIO()
    with tarfile.open(
        fileobj=content, mode={"more.bz2": "w:bz2", "more.tgz": "w:gz"}.get(name, "w")
    ) as archive:
        archive.add(write(tmp_path, [chat("b")], "b.json"), "b.json")
    raw = (
        make_zip(tmp_path, {"b.json": [chat("b")]}).read_bytes() if name == "more.zip" else content.getvalue()
    )
    found, report = convert(make_zip(tmp_path, {"a.json": [chat("a")], name: raw}))
    assert list(found) == ["a"]
    assert [problem.message.partition(":")[0] for problem in report.problems] == [name]


def test_names_of_windows_are_paths_and_a_name_may_stand_twice(tmp_path: Path) -> None:
    members = {"C:\\x\\a.json": [chat("a")], "..\\b.json": [chat("b")], "__MACOSX\\._a.json": b"\0"}
    path = make_zip(tmp_path, members)
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("..\\b.json", turn_lines("c", 1, 2))
    found, report = convert(path)
    assert sorted(found) == ["a", "b", "c"]
    assert not report.left_out
    assert not report.problem_total
    assert found["c"][0].extra is None
