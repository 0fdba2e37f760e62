"""Tables: what becomes of doubtful rows, and that each of them is said with its line."""

from pathlib import Path
from typing import Any

import pytest

from datasets_app.domain.conversations.lines import UnreadableFile
from datasets_app.domain.traces.convert import read_convert_options
from datasets_app.domain.traces.describe import list_left_out_with_lines, list_warnings
from datasets_app.domain.traces.reasons import GUESSED_SENDERS
from datasets_app.domain.traces.report import Report
from datasets_app.domain.traces.table_columns import (
    format_columns,
    guess_mapping,
)
from tests.traces.reading import convert, texts, write

HEADER = "Case No;Sent At;Sender;Body;Labels\n"


def read(folder: Path, rows: str, header: str = HEADER, **mapping: str) -> tuple[Any, Report, list[str]]:
    given = {"mapping": mapping} if mapping else {}
    sessions, report = convert(write(folder, header + rows, "t.csv"), **given)
    return sessions, report, list_warnings(report)


def test_dates_that_cannot_be_read_are_counted_kept_and_reorder_nothing(tmp_path: Path) -> None:
    rows = (
        "7;01.09.2026 08:05;Customer;Second by time;\n"
        "7;01.09.2026 08:00;Customer;First by time;\n"
        "7;soon Anna;Agent;Behind the first;\n"
        "7;;Agent;Has no date;\n"
        "8;whenever;Customer;Undated from the start;\n"
        "8;01.09.2026 08:00;Agent;Dated;\n"
    )
    sessions, _, warnings = read(tmp_path, rows)
    assert [text for _, text in texts(sessions["7"])] == [
        "First by time",
        "Behind the first",
        "Has no date",
        "Second by time",
    ]
    assert [text for _, text in texts(sessions["8"])] == ["Undated from the start", "Dated"]
    assert sessions["7"][0].timestamp == "2026-09-01T08:00:00Z"
    assert sessions["7"][1].metadata["original_timestamp"] == "soon Anna"
    assert warnings == [
        "2 timestamps (like A A, A) can't be read as a date (lines 4 and 6); kept in the metadata as "
        "original_timestamp."
    ]


def test_dates_without_an_order_are_said_until_it_is_stated(tmp_path: Path) -> None:
    rows = "1;03/04/2026;Customer;Hi;\n1;03/05/2026;Agent;Hello;\n"
    sessions, _, warnings = read(tmp_path, rows)
    assert sessions["1"][0].timestamp is None
    assert (
        "2 timestamps (like 99/99/9999) could have the day or the month first (lines 2 and 3)" in warnings[0]
    )
    columns = {"session_id": "Case No", "role": "Sender", "text": "Body", "timestamp": "Sent At"}
    sessions, _, warnings = read(tmp_path, rows, **columns, dates="month-first")
    assert (sessions["1"][0].timestamp, warnings) == ("2026-03-04T00:00:00Z", [])
    # Another row of the column decides for all of them.
    sessions, _, warnings = read(tmp_path, rows + "2;25/05/2026;Customer;Later;\n")
    assert (sessions["1"][0].timestamp, warnings) == ("2026-04-03T00:00:00Z", [])


SESSION_COLUMNS = (
    "Case No", "CaseNumber", "case #", "Ticket", "Ticket-Nr.", "Ticketnummer", "Vorgangsnummer", "Fall-ID",
    "Conversation ID", "conversationId", "chat_no", "Thread Ref", "Número de caso", "N° de ticket",
    "ID de la conversación", "ID de conversation", "Numero ticket", "Chamado Nº", "Zaaknummer",
    "Номер обращения", "Nr zgłoszenia", "会话 编号", "Incident Number",
)  # fmt: skip
OTHER_COLUMNS = ("Case owner", "Channel", "Chat text", "Order No", "Customer ID", "Subject", "CSAT", "Note")


def test_session_columns_are_recognized_by_name() -> None:
    def found(column: str) -> bool:
        return guess_mapping([column, "Role", "Text"]).get("session_id") == column

    assert [column for column in SESSION_COLUMNS if not found(column)] == []
    assert [column for column in OTHER_COLUMNS if found(column)] == []


def test_a_table_without_a_session_column_says_so_until_one_is_chosen(tmp_path: Path) -> None:
    header, rows = "Bundle;Sender;Body\n", "a;user;Hi\na;bot;Hello\nb;user;Bye\n"
    assert read(tmp_path, rows, header)[1].lacks_sessions
    columns = {"role": "Sender", "text": "Body"}
    for value, count in (("Bundle", 2), ("one-conversation", 1), ("each-row", 3)):
        sessions, report, _ = read(tmp_path, rows, header, **columns, session_id=value)
        assert (len(sessions), report.lacks_sessions) == (count, False)
    assert not read(tmp_path, "a;user;Hi\na;bot;Hello\n", header)[1].lacks_sessions
    # A text and a role that are not named are guessed.
    assert len(read(tmp_path, rows, header, session_id="Bundle")[0]) == 2
    for wrong in ({"dates": "guess"}, {"speaker": "Sender"}, {"session_id": "None"}):
        with pytest.raises(UnreadableFile):
            read(tmp_path, rows, header, **columns, **wrong)


def test_rows_left_out_are_named_by_their_line(tmp_path: Path) -> None:
    rows = (
        '1;;Customer;"Two\nlines";\n'
        "1;;Agent;;\n"
        "1;01.0\n"
        "1;;Customer;One; more; cells;\n"
        "1;;Agent;Short\n"
        "1;;Agent;Line\u2028separators\x85stay;\n"
        ";;Customer;No session;\n"
    )
    sessions, report, warnings = read(tmp_path, rows)
    assert list_left_out_with_lines(report) == [
        "1 empty message (line 4)",
        "1 row cut off before its text (line 5)",
    ]
    assert texts(sessions["1"])[-1] == ("assistant", "Line\u2028separators\x85stay")
    assert sessions["1"][1].metadata["extra_cells"] == [" cells", ""]
    assert warnings == [
        "2 rows with too few or too many cells, perhaps cut off (lines 6 and 7).",
        "1 row without a session ID, each read as a conversation of its own (line 9).",
    ]


def test_senders_without_a_known_role_are_said_and_bots_are_assistants(tmp_path: Path) -> None:
    rows = (
        "1;;Kim;Hi;\n1;;Bot 7;Hello;\n1;;Dana Meier;Yes?;\n2;;Agent 12;Hello;\n2;;Jo;Hi;\n3;;Abbot;Hi;\n"
        "4;;Person 1;Hi;\n4;;Person 2;Hi;\n"
    )
    sessions, report, warnings = read(tmp_path, rows)
    roles = [turn.role for name in "1234" for turn in sessions[name]]
    assert roles == ["user", "assistant", "assistant", "assistant", "user", "user", "user", "assistant"]
    assert sessions["1"][1].metadata["author"] == "Bot 7"
    assert "8 messages by 8 senders without a known role, read 4 as user and 4 as assistant" in warnings[0]
    assert "Meier" not in warnings[0]
    assert report.remarks[GUESSED_SENDERS].kinds["assistant: Dana Meier"] == 1
    warnings = read(tmp_path, "".join(f"{n};;Person {n};Hi;\n" for n in range(300)))[2]
    assert "300 messages by at least 200 senders without a known role, read 300 as user" in warnings[0]


MIXED = [
    ("author", "user", "assistant", "Dana Meier"),
    ("author", "Customer", "Agent", "moderator"),
    ("sender", "visitor", "operator", "Dana"),
    ("from", "in", "out", "Dana"),
    ("from", "inbound", "outbound", "system operator 7"),
    ("speaker", "Human", "AI", "narrator"),
    ("participant", "contact", "bot", "Dana Meier"),
    ("who", "guest", "staff", "Jo"),
    ("direction", "incoming", "outgoing", "forwarded"),
    ("name", "client", "support", "Ms. Lee"),
    ("sender", "user", "Dana", "Lumi"),
    ("author", "Jo", "assistant", "Dana"),
]


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize(("column", "one", "two", "other"), MIXED)
def test_a_column_of_roles_and_names_asks_who_the_others_are(
    column: str, one: str, two: str, other: str, late: bool, tmp_path: Path
) -> None:
    """Also if the roles stand behind the names."""
    rows = [f"1,{one},Hi there\n1,{two},Hello you\n", f"2,{other},Who is it\n"]
    table = f"ticket,{column},body\n{''.join(reversed(rows) if late else rows)}"
    _, report = convert(write(tmp_path, table, "t.csv"))
    assert {problem.code for problem in report.problems} == {"E103"}
    assert other in report.left_out["messages of unknown roles"].kinds
    senders = {f"sender:{name}": "user" for name in (one, two, other)}
    sessions, report = convert(write(tmp_path, table, "t.csv"), mapping=senders)
    assert not report.problem_total
    assert {turn.text for turns in sessions.values() for turn in turns} == {
        "Hi there",
        "Hello you",
        "Who is it",
    }


def test_a_column_of_names_alone_is_still_guessed(tmp_path: Path) -> None:
    rows = "ticket,author,body\n1,Jo,Hi there\n1,Dana,Hello you\n"
    sessions, report = convert(write(tmp_path, rows, "t.csv"))
    assert [turn.role for turn in sessions["1"]] == ["user", "assistant"]
    assert not report.problem_total


@pytest.mark.parametrize("dated", [True, False])
def test_a_session_that_was_exported_twice_is_said(tmp_path: Path, dated: bool) -> None:
    time = "01.09.2026 08:0" if dated else ""
    block = "".join(
        f"1;{time and time + str(n)};{who};Text {n};\n" for n, who in enumerate(["user", "bot"] * 2)
    )
    other = "".join(f"2;{time and time + str(n)};user;Again;\n" for n in range(3))
    sessions, _, warnings = read(tmp_path, block + other + block)
    assert len(sessions["1"]) == 8
    assert warnings == [
        "1 session with repeated turns, perhaps exported twice (line 9); repeated=drop leaves out exact "
        "repetitions."
    ]


def test_tags_are_split_and_kept_if_they_are_none(tmp_path: Path) -> None:
    rows = '1;;user;Hi;"billing; vip,billing | new"\n1;;bot;Hello;\n1;;user;Bye;{"a":1}\n'
    sessions, report, _ = read(tmp_path, rows)
    assert report.mapping["tags"] == "Labels"
    assert [turn.tags for turn in sessions["1"]] == [["billing", "vip", "new"], [], []]
    assert sessions["1"][2].metadata == {"Labels": {"a": 1}}


def test_no_session_is_joined_with_another_by_the_type_of_its_id(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = {"ticket": [1.0, 1.0, 2.0, None], "role": ["user", "bot"] * 2, "text": ["a", "b", "c", "d"]}
    parquet.write_table(pyarrow.table(table), tmp_path / "t.parquet")
    sessions, _ = convert(tmp_path / "t.parquet")
    assert sorted(sessions) == ["1", "2", "t-000003"]


def test_columns_that_are_not_mapped_keep_their_values(tmp_path: Path) -> None:
    """Also those whose names have a meaning of their own in messages, or in files that were exported here."""
    header = "session_id,speaker,text,Sent,timestamp,author,turn_tags,original_timestamp\n"
    rows = "1,Bot 7,Hi,2026-09-01 08:00,later,Lumi,a,soon\n1,Jo,Hello,,,Jo,,\n"
    columns = {"session_id": "session_id", "role": "speaker", "text": "text", "timestamp": "Sent"}
    turns = read(tmp_path, rows, header, **columns)[0]["1"]
    assert turns[0].metadata == {
        "sender": "Bot 7", "author": "Lumi", "timestamp_column": "later", "turn_tags_column": "a",
        "original_timestamp": "soon",
    }  # fmt: skip
    assert (turns[0].timestamp, turns[0].tags, turns[1].metadata) == (
        "2026-09-01T08:00:00Z",
        [],
        {"author": "Jo"},
    )


@pytest.mark.parametrize(
    "mapping",
    [{}, {"role": "Sender Role"}, {"text": "Body"}, {"sender:Lisa": "assistant"}, {"tags": "Labels"}],
)
def test_a_mapping_of_one_column_leaves_the_others_to_the_guess(
    mapping: dict[str, str], tmp_path: Path
) -> None:
    rows = (
        "7;2026-03-01 08:05;Lisa;agent;Yes, it is;vip\n"
        "7;2026-03-01 08:00;Mia;end-user;Is it blue?;vip\n"
        "8;2026-03-01 08:00;Mia;end-user;Hello;\n"
    )
    header = "Case No;Created At;Sender;Sender Role;Body;Labels\n"
    sessions, report, warnings = read(tmp_path, rows, header, **mapping)
    assert [(turn.role, turn.text) for turn in sessions["7"]] == [
        ("user", "Is it blue?"),
        ("assistant", "Yes, it is"),
    ]
    assert sessions["7"][0].timestamp == "2026-03-01T08:00:00Z"
    assert sessions["7"][0].tags == ["vip"]
    assert not warnings


def test_a_field_that_is_left_empty_has_no_column(tmp_path: Path) -> None:
    rows = "7;01.09.2026 08:05;Customer;Hi;vip\n7;01.09.2026 08:00;Agent;Hello;\n"
    sessions, report, _ = read(tmp_path, rows, tags="", timestamp="")
    assert [(turn.text, turn.timestamp, turn.tags) for turn in sessions["7"]] == [
        ("Hi", None, []),
        ("Hello", None, []),
    ]
    assert sessions["7"][0].metadata == {"Sent At": "01.09.2026 08:05", "Labels": "vip"}
    assert set(report.mapping) == {"session_id", "role", "text"}


NAMES = ("Roe, Jane", "a=b", 'The "Desk"', "two\nlines", "Zoë", ", =", '"')


@pytest.mark.parametrize("file_name", ["t.json", "t.jsonl"])
@pytest.mark.parametrize("name", NAMES)
def test_a_sender_and_a_column_may_have_any_name(name: str, file_name: str, tmp_path: Path) -> None:
    mapping = {"text": name, "role": "Who", f"sender:{name}": "leave-out"}
    assert read_convert_options("", format_columns(mapping)).mapping == mapping
    rows = [{name: "Hi", "Who": "Customer", "Case": 1}, {name: "Internal", "Who": name, "Case": 1}]
    sessions, report = convert(write(tmp_path, rows, file_name), mapping=mapping)
    assert texts(sessions["1"]) == [("user", "Hi")]
    assert report.left_out["messages of senders that are left out by choice"].total == 1


ROWS = "7;01.09.2026;Customer;Grüße aus Köln;\n7;02.09.2026;Agent;Çok teşekkürler, Łukasz;\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le"])
def test_a_table_is_read_in_every_unicode_encoding(encoding: str, tmp_path: Path) -> None:
    mark = "\ufeff" if encoding == "utf-16-le" else ""
    raw = (mark + HEADER + ROWS).replace("\n", "\r\n").encode(encoding)
    sessions, _ = convert(write(tmp_path, raw, "t.csv"))
    assert texts(sessions["7"]) == [("user", "Grüße aus Köln"), ("assistant", "Çok teşekkürler, Łukasz")]


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("windows-1252", "Grüße"),
        ("windows-1254", "Işık"),
        ("windows-1250", "Łódź"),
        ("shift-jis", "こんにちは"),
    ],
)
def test_lines_in_another_encoding_are_read_as_stated_and_counted(
    encoding: str, text: str, tmp_path: Path
) -> None:
    other = f"7;01.09.2026;Customer;{text};\n".encode(encoding)
    path = write(tmp_path, HEADER.encode() + other + "7;02.09.2026;Agent;Über;\n".encode(), "t.csv")
    with pytest.raises(UnreadableFile, match="line 2.*encoding=windows-1252"):
        convert(path)
    sessions, report = convert(path, mapping={"encoding": encoding})
    assert texts(sessions["7"]) == [("user", text), ("assistant", "Über")]
    assert sessions["7"][0].timestamp == "2026-09-01T00:00:00Z"
    assert [w for w in list_warnings(report) if "UTF-8" in w] == [
        "1 line that isn't UTF-8, read in the encoding that was stated (line 2)."
    ]


@pytest.mark.parametrize("header", [
    "Ticket;Created (CET);Sender;Body (HTML)", "Vorgang;Erstellt am;Absender;Nachricht",
    "Hilo;Fecha;Remitente;Mensaje", "Dossier;Créé le;Auteur;Contenu",
    "Zgłoszenie;Utworzono;Nadawca;Wiadomość",
])  # fmt: skip
def test_columns_are_recognized_in_several_languages(header: str, tmp_path: Path) -> None:
    sessions, report, _ = read(
        tmp_path, "7;2026-09-01 08:00;Customer;Hi\n7;2026-09-01 09:00;Agent;Yes\n", header + "\n"
    )
    assert texts(sessions["7"]) == [("user", "Hi"), ("assistant", "Yes")]
    hour = 8 if "(CET)" in header else 9
    assert sessions["7"][1].timestamp == f"2026-09-01T0{hour}:00:00Z"


def test_a_row_that_comes_again_with_all_its_cells_is_said(tmp_path: Path) -> None:
    row = "7;2026-09-01 08:00;Customer;Hi;\n"
    header = HEADER.replace("Labels", "Message ID")
    rows = row.replace(";\n", ";m1\n") + row.replace(";\n", ";m2\n")
    assert read(tmp_path, rows, header)[2] == []
    warnings = read(tmp_path, rows + row.replace(";\n", ";m1\n"), header)[2]
    assert warnings == [
        "1 session with repeated turns, perhaps exported twice (line 4); repeated=drop leaves out exact "
        "repetitions."
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("stated", ["", "sep=;\n"])
def test_a_table_is_read_with_every_end_of_line_and_the_delimiter_of_excel(
    end: str, stated: str, tmp_path: Path
) -> None:
    rows = "7;2026-09-01;Customer;Hi, you;\n7;2026-09-02;Agent;Yes;\n7;2026-09-03;Agent;;\n"
    raw = (stated + HEADER + rows).replace("\n", end).encode()
    sessions, report = convert(write(tmp_path, raw, "t.csv"))
    assert texts(sessions["7"]) == [("user", "Hi, you"), ("assistant", "Yes")]
    assert list_left_out_with_lines(report) == [f"1 empty message (line {5 if stated else 4})"]


def test_a_repetition_is_named_by_the_line_it_stands_in(tmp_path: Path) -> None:
    """Also where the lines of a session aren't in the order of time."""
    rows = (
        "1;01.09.2026 08:05;bot;Hello;\n1;01.09.2026 08:00;user;Hi;\n2;01.09.2026 07:00;user;Other;\n"
        "1;01.09.2026 08:06;user;Bye;\n1;01.09.2026 08:05;bot;Hello;\n1;01.09.2026 08:00;user;Hi;\n"
    )
    assert "perhaps exported twice (line 6)" in read(tmp_path, rows)[2][0]
    columns = {"session_id": "Case No", "role": "Sender", "text": "Body", "timestamp": "Sent At"}
    report = read(tmp_path, rows, **columns, repeated="drop")[1]
    assert list_left_out_with_lines(report) == ["2 exact repetitions of a message (lines 6 and 7)"]


def test_a_question_with_an_empty_cell_for_its_answer_is_kept(tmp_path: Path) -> None:
    table = "id,user_message,bot_message\n1,Hi there,Hello you\n2,Anybody?,\n"
    sessions, report = convert(write(tmp_path, table, "t.csv"))
    assert {name: len(turns) for name, turns in sessions.items()} == {"1": 2, "2": 1}
    assert report.unanswered == 1
