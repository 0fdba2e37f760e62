"""convert_dataset as a person runs it; it needs no database."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from django.core.management.base import CommandError

from datasets_app.management.files import check_target
from tests.terminal import decode_output, run_in_process
from tests.traces.exports import HELLO, HI, MORE, OBSERVATIONS, SURE, TASKS
from tests.traces.reading import write

TEXTS = [HI, HELLO, MORE, SURE]


def run(folder: Path, *arguments: Any, input: bytes | None = None) -> Any:
    return decode_output(run_in_process("convert_dataset", *arguments, cwd=folder, input=input))


def read_lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_traces_become_turns_with_a_report(tmp_path: Path) -> None:
    write(
        tmp_path,
        [*OBSERVATIONS, {"id": "x", "trace_id": "t9", "type": "GENERATION", "input": "Hello?"}],
        "langfuse.jsonl",
    )
    done = run(tmp_path, "--input", "langfuse.jsonl", "--out", "out.jsonl", "--report", "report.json")
    assert done.returncode == 0, done.stderr
    assert (
        "langfuse.jsonl: Langfuse traces, 3 traces with 3 calls → "
        "2 conversations of 5 turns, 1 without an answer" in done.stderr
    )
    lines = read_lines(tmp_path / "out.jsonl")
    assert [line["text"] for line in lines if line["session_id"] == "s"] == TEXTS
    report = json.loads((tmp_path / "report.json").read_text())
    assert (report["records"], report["calls"], report["conversations"], report["without_answer"]) == (
        3,
        3,
        2,
        1,
    )
    done = run(tmp_path, "--input", "langfuse.jsonl", "--out", "-", "--answered-only")
    assert [json.loads(line)["text"] for line in done.stdout.splitlines()] == TEXTS
    assert "left out: 1 conversation without an answer" in done.stderr


@pytest.mark.parametrize(
    "target", ["openai", "sharegpt", "sessions", "csv", "parquet", "labelstudio", "argilla"]
)
def test_targets(target: str, tmp_path: Path) -> None:
    write(tmp_path, OBSERVATIONS, "in.jsonl")
    out = tmp_path / "out"
    done = run(tmp_path, "--input", "in.jsonl", "--out", "out", "--to", target)
    assert done.returncode == 0, done.stderr
    if target == "parquet":
        assert pyarrow.parquet.read_table(out).column("text").to_pylist() == TEXTS
    else:
        assert all(json.dumps(text)[1:-1] in out.read_text() for text in TEXTS)
    if target != "sharegpt":  # and back
        back = run(tmp_path, "--input", "out", "--out", "-")
        assert [json.loads(line)["text"] for line in back.stdout.splitlines()] == TEXTS, back.stderr


def test_standard_streams_and_labels(tmp_path: Path) -> None:
    done = run(tmp_path, "--input", "-", "--out", "-", input=json.dumps(TASKS).encode())
    turns = [json.loads(line) for line in done.stdout.splitlines()]
    assert [turn["text"] for turn in turns] == [HI, HELLO]
    assert turns[1]["metadata"]["labels"] == [
        {"question": "tone", "value": "good", "annotator": "b@x.test", "about": "chat"}
    ]
    assert "left out: 1 canceled annotation (record 1)" in done.stderr


def test_who_is_the_assistant_and_which_columns(tmp_path: Path) -> None:
    write(tmp_path, f"01.05.24, 10:00 - Shop: Welcome!\n01.05.24, 10:01 - Anna: {HI}\n", "chat.txt")
    done = run(tmp_path, "--input", "chat.txt", "--assistant", "Shop", "--out", "-")
    assert [json.loads(line)["role"] for line in done.stdout.splitlines()] == ["assistant", "user"]
    write(tmp_path, f'Fall;Wer;Was\n1;Anna;"{HI}"\n1;Bot;"{HELLO}"\n', "table.csv")
    done = run(tmp_path, "--input", "table.csv", "--out", "-")
    assert done.returncode == 2
    assert "no columns that look like a conversation" in done.stderr
    columns = ["--map", "session_id=Fall", "--map", "role=Wer", "--map", "text=Was", "--assistant", "Bot"]
    done = run(tmp_path, "--input", "table.csv", "--out", "-", *columns)
    assert [(json.loads(line)["role"], json.loads(line)["text"]) for line in done.stdout.splitlines()] == [
        ("user", HI), ("assistant", HELLO)
    ]  # fmt: skip
    assert "no column 'X'" in run(tmp_path, "--input", "table.csv", "--out", "-", "--map", "text=X").stderr


def test_what_cannot_be_read(tmp_path: Path) -> None:
    write(tmp_path, json.dumps([{"prompt": HI, "completion": HELLO}] * 3, indent=1)[:-30], "cut.json")
    done = run(tmp_path, "--input", "cut.json", "--out", "out.jsonl")
    assert done.returncode == 1
    assert "cut.json:3: E101 not valid JSON: the file ends in the middle of a record" in done.stderr
    assert len(read_lines(tmp_path / "out.jsonl")) == 4
    for name, content, told in (
        ("a.pdf", b"%PDF-1.7", "a PDF document"),
        ("b.json", '{"a": 1,\n"b": 2}', "in no known format"),
        ("c.json", b"", "is empty"),
    ):
        write(tmp_path, content, name)
        done = run(tmp_path, "--input", name, "--out", "x.jsonl")
        assert (done.returncode, told in done.stderr) == (2, True), done.stderr
        assert not (tmp_path / "x.jsonl").exists()
    assert run(tmp_path, "--input", "no.json", "--out", "-").returncode == 2
    assert run(tmp_path, "--input", "cut.json", "--out", "cut.json").returncode == 2


def test_a_table_needs_a_session_column_or_the_word_that_it_has_none(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("Bundle,Sender,Body\na,user,Hi\na,bot,\nb,user,Bye\n")
    arguments = ("--input", "t.csv", "--out", "out.jsonl")
    done = run(tmp_path, *arguments)
    assert done.returncode == 2
    assert "t.csv: no column says which of the 3 rows belong to the same conversation" in done.stderr
    assert "--map session_id=COLUMN" in done.stderr
    assert not (tmp_path / "out.jsonl").exists()
    done = run(tmp_path, *arguments, "--map", "session_id=Bundle", "--report", "report.json")
    assert (done.returncode, len(read_lines(tmp_path / "out.jsonl"))) == (0, 2)
    assert "left out: 1 empty message (line 3)" in done.stderr
    assert json.loads((tmp_path / "report.json").read_text())["left_out_lines"] == {"empty messages": [3]}


def test_the_input_is_never_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, OBSERVATIONS, "in.jsonl")
    done = run(tmp_path, "--input", "in.jsonl", "--out", "./in.jsonl")
    assert (done.returncode, "is the input, which is never overwritten" in done.stderr) == (2, True)
    with path.open() as redirected:
        monkeypatch.setattr("sys.stdin", redirected)
        with pytest.raises(CommandError, match="is the input"):
            check_target(str(path), "-")


def test_turns_that_an_import_would_refuse_are_told(tmp_path: Path) -> None:
    turns = [
        {"session_id": "a", "turn_index": index, "role": role, "text": role}
        for index, role in ((1, "user"), (3, "assistant"), (3, "user"))
    ]
    write(tmp_path, turns, "in.jsonl")
    done = run(tmp_path, "--input", "in.jsonl", "--out", "-")
    assert "1 session whose turns aren't numbered 1, 2, 3 …, which an import refuses" in done.stderr
    # Alignmenter takes gaps, but no file in which a turn stands twice.
    assert "in.jsonl:3: E202 turn 3 of session 'a' stands twice, first in line 2" in done.stderr
    assert (done.returncode, len(done.stdout.splitlines())) == (1, 2)
