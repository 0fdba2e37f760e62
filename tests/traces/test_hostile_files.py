"""Whatever a file is, it ends in a sentence or in conversations, never in a traceback."""

import gzip
import json
import random
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow
import pyarrow.parquet
import pytest

from datasets_app.domain.conversations.lines import Limits, UnreadableFile
from datasets_app.domain.traces import tables
from datasets_app.domain.traces.reasons import HALF_CHARACTERS
from tests.traces.exports import EXPORTS
from tests.traces.reading import convert, write


def check_sentence(error: UnreadableFile) -> None:
    assert "\n" not in str(error)
    assert "unexpected shape" not in str(error)  # what readers did not expect: it has to be handled


@pytest.mark.parametrize("seed", range(20))
def test_random_bytes(seed: int, tmp_path: Path) -> None:
    start = [
        b"",
        b"{",
        b"[",
        b"PK\x03\x04",
        b"PAR1",
        b"ARROW1",
        b"\x1f\x8b\x08",
        b"data: ",
        b"a,b\n",
        b'{"a":1}\n',
    ][seed % 10]
    path = write(
        tmp_path, start + random.Random(seed).randbytes(5000), ["x.json", "x.csv", "x.xlsx"][seed % 3]
    )
    try:
        sessions, _ = convert(path)
    except UnreadableFile as error:
        check_sentence(error)
    else:
        assert not sessions


@pytest.mark.parametrize(("name", "content"), [row[1:3] for row in EXPORTS], ids=[row[0] for row in EXPORTS])
def test_cut_and_changed_files(name: str, content: Any, tmp_path: Path) -> None:
    raw = write(tmp_path, content, name).read_bytes()
    change = random.Random(1)
    for _ in range(2):
        cut = bytearray(raw[: change.randrange(len(raw))])
        for _ in range(change.randrange(4)):
            if cut:
                cut[change.randrange(len(cut))] = change.randrange(256)
        try:
            convert(write(tmp_path, bytes(cut), name))
        except UnreadableFile as error:
            check_sentence(error)


WRONG: list[Any] = [None, 7, "x", [], {}, [None], {"a": None}, [[]], True, -1.5, "{", {"role": 3}, [7, "x"]]


@pytest.mark.parametrize(("name", "content"), [row[1:3] for row in EXPORTS], ids=[row[0] for row in EXPORTS])
def test_values_of_another_type(name: str, content: Any, tmp_path: Path) -> None:
    """Every value of a record in turn is something else."""
    if isinstance(content, str):
        return
    count = len(list(walk(content)))
    for place in range(0, count, 1 + count // 15):
        changed = json.loads(json.dumps(content))
        holder, key = list(walk(changed))[place]
        holder[key] = WRONG[place % len(WRONG)]
        try:
            convert(write(tmp_path, changed, name))
        except UnreadableFile as error:
            check_sentence(error)


def walk(value: Any) -> Any:
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield value, key
        if isinstance(item, dict | list):
            yield from walk(item)


@pytest.mark.parametrize(
    "content",
    [
        "[" * 100_000,
        '{"messages":' * 50_000,
        '{"a":' * 5_000 + "1" + "}" * 5_000,
        '{"request": {"messages": [{"role": "user", "content": "hi"}]}, "response": '
        + '{"output":' * 900
        + "1"
        + "}" * 901,
        json.dumps({"messages": [{"role": "user", "content": '"' * 200}], "x": "[" * 3000}),
    ],
    ids=["arrays", "objects", "closed objects", "replies", "brackets in a text"],
)
def test_deep_nesting(content: str, tmp_path: Path) -> None:
    try:
        _, report = convert(write(tmp_path, content))
    except UnreadableFile:
        return
    assert report.problem_total or report.conversations < 2


def test_a_line_or_record_that_is_too_long(tmp_path: Path) -> None:
    limits = Limits(line_bytes=10_000)
    good = {
        "request": {"messages": [{"role": "user", "content": "Hi"}]},
        "response": {"choices": [{"message": {"content": "Yes"}}]},
    }
    long = {"request": {"messages": [{"role": "user", "content": "x" * 20_000}]}, "response": {}}
    sessions, report = convert(write(tmp_path, [good, long, good], "x.jsonl"), limits=limits)
    assert len(sessions) == 2
    assert [(problem.line, problem.code) for problem in report.problems] == [(2, "E109")]
    sessions, report = convert(write(tmp_path, [good, long, good], "x.json"), limits=limits)
    assert len(sessions) == 1
    assert [problem.code for problem in report.problems] == ["E109"]


def test_a_cut_file_says_where_and_keeps_what_came_before(tmp_path: Path) -> None:
    text = json.dumps(
        [{"prompt": f"Question {number}", "completion": "Answer"} for number in range(50)], indent=1
    )
    sessions, report = convert(write(tmp_path, text[: len(text) // 2]))
    assert len(sessions) == report.conversations
    assert 20 < len(sessions) < 30
    assert [problem.line for problem in report.problems] == [len(sessions) + 1]
    assert "the file ends in the middle" in report.problems[0].message


def test_compressed_files(tmp_path: Path) -> None:
    text = json.dumps(
        [{"prompt": f"Question {number}", "completion": "Answer"} for number in range(300)]
    ).encode()
    path = write(tmp_path, gzip.compress(text), "x.json.gz")
    assert len(convert(path)[0]) == 300
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(UnreadableFile, match="cut off"):
        convert(path)
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("user.json", "{}")
        archive.writestr("conversations.json", text)
    assert len(convert(tmp_path / "x.zip")[0]) == 300


def test_characters_that_are_none(tmp_path: Path) -> None:
    text = '[{"prompt": "Hi \\ud800", "completion": "Yes"}, {"prompt": "Null\\u0000", "completion": "Yes"}]'
    _, report = convert(write(tmp_path, text))
    assert report.remarks[HALF_CHARACTERS].total == 1


@pytest.mark.parametrize("name", ["x.json", "x.jsonl"])
def test_numbers_that_are_none_are_left_out(name: str, tmp_path: Path) -> None:
    line = '{"prompt": "Hi", "completion": "Yes", "rating": NaN, "cost": 3}'
    text = f"[{line}, {line}]" if name == "x.json" else f"{line}\n{line}\n"
    sessions, report = convert(write(tmp_path, text, name))
    assert len(sessions) == 2
    assert not report.problem_total
    assert [turns[0].metadata for turns in sessions.values()] == [{"attributes": {"cost": 3}}] * 2


@pytest.mark.parametrize("name", ["x.json", "x.jsonl"])
@pytest.mark.parametrize("number", ["1e400", "-1e999", "Infinity", "-Infinity"])
def test_a_number_that_is_too_large_is_not_changed_to_another(number: str, name: str, tmp_path: Path) -> None:
    lines = [f'{{"prompt": "Hi", "completion": "Yes", "rating": {rating}}}' for rating in (number, 3)]
    text = f"[{lines[1]}, {lines[0]}]" if name == "x.json" else "\n".join(reversed(lines))
    _, report = convert(write(tmp_path, text, name))
    [problem] = report.problems
    assert problem.code == "E101"
    assert "a number is too large" in problem.message


def test_a_number_of_any_length_is_kept(tmp_path: Path) -> None:
    number = 10**40 + 7
    record = {"session_id": "a", "text": "Hi", "metadata": {"number": number}}
    text = "".join(json.dumps({**record, "role": role}) + "\n" for role in ("user", "assistant"))
    sessions, report = convert(write(tmp_path, text, "x.jsonl"))
    assert not report.problem_total
    assert [turn.metadata for turn in sessions["a"]] == [{"number": number}] * 2


def write_archive(path: Path, members: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


SAMPLE = '{"id": 1, "score": 0.5, "messages": [{"role": "user", "content": "Hi"}]}'
LONG_ENTRY = f'[{{"text": "{"a" * 9999}"}}]'
EVAL = {"header.json": '{"eval": {"task": "chat"}}', "samples/1.json": SAMPLE}


@pytest.mark.parametrize(
    ("members", "sentence"),
    [
        ({"header.json": '{"eval":', "samples/1.json": "{}"}, "header.json that can't be read: not valid"),
        ({"header.json": "[" * 4999, "samples/1.json": "{}"}, "header.json that can't be read: nested too"),
        ({"header.json": " " * 9999, "samples/1.json": "{}"}, "header.json is larger than 5,000 bytes"),
        ({**EVAL, "samples/2.json": " " * 9999}, "samples/2.json is larger than 5,000 bytes"),
        ({**EVAL, "samples/2.json": SAMPLE.replace("0.5", "1e400")}, "a number is too large"),
        ({"general/2026-01-01.json": LONG_ENTRY, "users.json": "[]"}, "larger than 5,000"),
        ({"general/2026-01-01.json": "[]", "users.json": LONG_ENTRY}, "larger than 5,000"),
    ],
)
def test_no_file_of_an_archive_is_read_whole_however_large(
    members: dict[str, str], sentence: str, tmp_path: Path
) -> None:
    path = write_archive(tmp_path / "x.zip", members)
    try:
        _, report = convert(path, limits=Limits(line_bytes=5000))
        found = " ".join(problem.message for problem in report.problems)
    except UnreadableFile as error:
        found = str(error)
    assert sentence in found


def make_workbook(path: Path, name: str, content: str) -> Path:
    """A workbook of two rows in which one part is replaced."""
    book = openpyxl.Workbook()
    for row in (["session_id", "role", "text"], ["a", "user", "Hi"], ["a", "assistant", "Yes"]):
        book.active.append(row)
    book.save(path)
    with zipfile.ZipFile(path) as archive:
        members = {member: archive.read(member).decode() for member in archive.namelist()}
    return write_archive(path, {**members, name: content})


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("xl/worksheets/sheet1.xml", "<worksheet><sheetData><row><c><is><t>{}</t></is></c></row>"),
        ("xl/worksheets/sheet1.xml", "<worksheet><sheetData><row/></sheetData>{}</worksheet>"),
        ("xl/sharedStrings.xml", "<x:sst><x:si><x:t>{}</x:t></x:si></x:sst>"),
        ("xl/styles.xml", "<styleSheet>{}</styleSheet>"),
    ],
)
def test_a_workbook_is_measured_before_it_is_parsed(name: str, part: str, tmp_path: Path) -> None:
    path = make_workbook(tmp_path / "x.xlsx", name, part.replace("{}", "a" * 3_000_000))
    with pytest.raises(UnreadableFile, match="has a row of more than 2,000,000 bytes"):
        convert(path, limits=Limits(line_bytes=2_000_000))


def test_a_workbook_with_many_rows_is_read(tmp_path: Path) -> None:
    cells = "".join(f'<c t="inlineStr"><is><t>{cell}</t></is></c>' for cell in ("a", "user", "Hi " * 100))
    rows = f"<row>{cells.replace('a', 'session_id', 1)}</row>" + f"<row>{cells}</row>" * 5000
    namespace = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    sheet = f'<worksheet xmlns="{namespace}"><sheetData>{rows}</sheetData></worksheet>'
    path = make_workbook(tmp_path / "x.xlsx", "xl/worksheets/sheet1.xml", sheet)
    documents = list(tables.read_xlsx(path, Limits(line_bytes=100_000)))
    assert len(documents) == 5000


def write_repeated(path: Path, text: str, rows: int) -> Path:
    """A table that has ``text`` once, and all of its rows refer to it."""
    texts = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0] * rows), pyarrow.array([text]))
    table = pyarrow.table({"prompt": texts, "completion": [str(number) for number in range(rows)]})
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(table, path)
    else:
        with pyarrow.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table)
    return path


@pytest.mark.parametrize("name", ["x.parquet", "x.arrow"])
def test_a_table_that_repeats_a_long_text_is_limited_by_what_it_unpacks_to(name: str, tmp_path: Path) -> None:
    path = write_repeated(tmp_path / name, "Why? " * 1000, rows=100)
    assert path.stat().st_size < 20_000
    sessions, report = convert(path)
    assert (len(sessions), report.problem_total) == (100, 0)
    _, report = convert(path, limits=Limits(line_bytes=2000))
    assert (report.problem_total, report.problems[0].code) == (100, "E109")
    with pytest.raises(UnreadableFile, match="too large unpacked"):
        convert(path, limits=Limits(line_bytes=5500, unpacked_bytes=50_000))


def test_a_table_of_a_few_long_rows_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path = write_repeated(tmp_path / "x.parquet", "Why? " * 1000, rows=2)
    with pytest.raises(UnreadableFile, match="rows of more than 1,000 bytes"):
        convert(path, limits=Limits(line_bytes=1000))


@pytest.mark.parametrize("name", ["x.parquet", "x.arrow"])
def test_a_table_of_one_text_in_millions_of_rows_is_refused_at_once(name: str, tmp_path: Path) -> None:
    path = write_repeated(tmp_path / name, "Why? " * 200_000, rows=2000)  # two gigabytes, of a megabyte
    tracemalloc.start()
    with pytest.raises(UnreadableFile, match="too large unpacked"):
        convert(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50 << 20
