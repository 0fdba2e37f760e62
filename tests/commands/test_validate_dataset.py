"""validate_dataset: what it prints, what it returns, and what it leaves alone."""

import csv
import gzip
import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from django.core.management import CommandError, call_command

from datasets_app.command_line import validate
from datasets_app.models import AuditEvent, CheckReport
from tests import factories, preloaded
from tests.terminal import decode_output, run_in_process

PROJECT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "manage.py", "validate_dataset"]
# No server answers here: a command that asked for the database would fail.
NOWHERE = {
    **os.environ,
    "DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none",
    "REDIS_URL": "redis://127.0.0.1:1",
}


class Result:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err
        self.lines = out.splitlines()


def run(*arguments: str | Path) -> Result:
    """The command within this process."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    try:
        call_command("validate_dataset", *map(str, arguments), stdout=out, stderr=err)
    except SystemExit as exit:
        code = int(exit.code or 0)
    return Result(code, out.getvalue(), err.getvalue())


def run_apart(*arguments: str | Path) -> Result:
    """The command as a process of its own, with no database to be had; without names it begins sooner."""
    done = subprocess.run(
        [*COMMAND, *map(str, arguments), "--no-names"],
        cwd=PROJECT,
        env=NOWHERE,
        capture_output=True,
        check=False,
        timeout=60,
    )
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


def run_as_typed(*arguments: str | Path, stdin: bytes = b"") -> Result:
    """From the line that is typed to the exit code, in this process; there is no database here."""
    done = decode_output(run_in_process("validate_dataset", *arguments, cwd=PROJECT, input=stdin))
    return Result(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    """A file with nothing to find, with its metadata beside it."""
    (tmp_path / "sound.meta.yaml").write_text("license: CC-BY-4.0\nsource: written for this test\n")
    return factories.write_jsonl(tmp_path / "sound.jsonl", factories.make_sessions(3))


@pytest.fixture
def flawed(tmp_path: Path) -> Path:
    lines = [
        *factories.make_session("s1", 2),
        {**factories.make_turn("s2"), "role": "bot"},
        factories.make_turn("s3", 2, text="Write to ana@example.com."),
    ]
    (tmp_path / "flawed.meta.yaml").write_text("license: MIT\nsource: x\n")
    return factories.write_jsonl(tmp_path / "flawed.jsonl", lines)


def labels(path: Path, positive: int, negative: int) -> Path:
    marks = [1] * positive + [0] * negative
    (path.parent / f"{path.stem}.meta.yaml").write_text("license: MIT\nsource: x\n")
    lines = [{"text": f"t{n}", "label": mark, "persona_id": "p"} for n, mark in enumerate(marks)]
    return factories.write_jsonl(path, lines)


# --- without a database ----------------------------------------------------------------------


def test_a_clean_file_says_nothing_and_returns_0_without_any_server(sound: Path):
    result = run_apart(sound)
    assert (result.code, result.out) == (0, "")
    assert result.err.strip() == "no findings"


def test_findings_read_like_a_linters(flawed: Path):
    result = run_as_typed(flawed)
    assert result.code == 1
    assert result.lines == [
        f"{flawed}:3: E103 role must be 'user' or 'assistant', got 'bot'",
        f"{flawed}:4: E201 session 's3' must begin with turn 1, found 2; --renumber repairs it on import",
        f"{flawed}:4: E401 e-mail address in text at column 10 (15 characters); scrub it before sharing",
    ]
    assert result.err.strip() == "3 errors, 0 warnings (E103: 1, E201: 1, E401: 1)"


def test_names_of_people_are_warnings_and_can_be_left_out(tmp_path: Path):
    path = tmp_path / "talk.jsonl"
    turn = {"session_id": "s", "turn_index": 1, "role": "user", "text": "hi, my name is Zebulon Fonseca"}
    path.write_text(json.dumps(turn) + "\n")
    result = run_as_typed(path)
    assert result.code == 0
    assert f"{path}:1: W406 name of a person in text at column 16 (15 characters)" in result.out
    assert "Zebulon" not in result.out + result.err
    assert run_as_typed(path, "--strict").code == 1
    assert "W406" not in run_as_typed(path, "--no-names").out


def test_standard_input_is_read_as_a_file_would_be(flawed: Path):
    result = run_as_typed("-", stdin=gzip.compress(flawed.read_bytes()))
    assert result.code == 1
    assert result.lines[0] == "<stdin>:3: E103 role must be 'user' or 'assistant', got 'bot'"
    assert not [line for line in result.lines if "W60" in line]


@pytest.mark.parametrize("lines_read", [1, 2, 3, 500])
def test_a_reader_that_stops_early_ends_it_quietly_but_never_as_clean(tmp_path: Path, lines_read: int):
    # The first two lines are warnings: stopped there, no error has been seen yet.
    bad = factories.write_jsonl(tmp_path / "bad.jsonl", [{"session_id": 1}] * 20_000)
    process = preloaded.Popen(
        *("validate_dataset", bad, "--limit", "0"),
        cwd=PROJECT,
        env=NOWHERE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    for _ in range(lines_read):
        process.stdout.readline()
    process.stdout.close()
    errors = process.stderr.read().decode()
    assert process.wait(timeout=60) == 141
    assert errors == ""


def test_ctrl_c_returns_130_without_a_traceback():
    with preloaded.Popen(
        *("validate_dataset", "--no-names", "-"),
        cwd=PROJECT,
        env=NOWHERE,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        process.stdin.write(b"{}\n" * 200_000)  # more than a pipe holds: it is being read by now
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        try:
            said = process.communicate(timeout=60)[1]
        finally:
            process.kill()
        assert (process.returncode, said.strip()) == (130, b"Interrupted.")


def test_progress_is_shown_on_a_terminal_only(sound: Path):
    ours, theirs = pty.openpty()
    given: dict[str, Any] = {"cwd": PROJECT, "env": NOWHERE, "stdout": subprocess.PIPE, "stderr": theirs}
    with preloaded.Popen("validate_dataset", sound, **given) as process:
        process.communicate(timeout=60)
    assert process.returncode == 0
    os.close(theirs)
    shown = os.read(ours, 10_000)
    os.close(ours)
    assert b"Checking " in shown
    assert b" %" in shown
    assert "%" not in run_as_typed(sound).err


def test_help_explains_itself():
    result = run_as_typed("--help")
    assert result.code == 0
    for words in ("exit codes:", "examples:", "--strict", "--dataset", "docs/checks.md", "--limit"):
        assert words in result.out


# --- could not run ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [["no-such-file.jsonl"], [], ["--kind", "poem", "x"], ["x", "--dataset", "y"], ["."], ["-", "-"]],
)
def test_what_could_not_run_returns_2_and_a_sentence(arguments: list[str]):
    result = run_as_typed(*arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.strip()
    assert "Traceback" not in result.err


def test_one_missing_file_among_others_stops_before_any_work(sound: Path):
    with pytest.raises(CommandError, match="nowhere.jsonl: no such file") as refused:
        run(sound, "nowhere.jsonl")
    assert refused.value.returncode == 2


def test_labels_of_a_dataset_are_not_checked_here():
    with pytest.raises(CommandError, match="export them"):
        run("--dataset", "x", "--kind", "annotation")


# --- files -----------------------------------------------------------------------------------


def test_warnings_count_only_when_strict(tmp_path: Path):
    path = factories.write_jsonl(tmp_path / "a.jsonl", factories.make_sessions(1))
    assert run(path).code == 0
    result = run(path, "--strict")
    assert result.code == 1
    assert [line.split()[1] for line in result.lines] == ["W601", "W602"]
    assert "there is no a.meta.yaml" in result.lines[0]


def test_a_broken_metadata_file_is_told(sound: Path):
    (sound.parent / "sound.meta.yaml").write_text("seed: many\n")
    assert "sound.meta.yaml can't be used: seed: expected a whole number, found text" in run(sound).out


def test_lines_in_any_order_are_read_in_theirs_and_told(sound: Path):
    lines = sound.read_bytes().splitlines(keepends=True)
    sound.write_bytes(b"".join([lines[1], lines[0], *lines[2:]]))
    result = run(sound)
    assert result.code == 0
    assert [line.split()[:2] for line in result.lines] == [[f"{sound}:2:", "W203"]]


@pytest.mark.parametrize(
    "line",
    [
        {"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]},
        {"conversations": [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Hello"}]},
    ],
)
def test_chat_files_are_recognised(tmp_path: Path, line: Any):
    assert run(factories.write_jsonl(tmp_path / "chat.jsonl", [line])).code == 0


def test_a_compressed_file_with_a_mark_and_other_line_ends_is_the_same_file(flawed: Path, tmp_path: Path):
    path = tmp_path / "flawed.jsonl.gz"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbf" + flawed.read_bytes().replace(b"\n", b"\r\n\r\n")))
    expected = [line.split(": ")[1] for line in run(flawed).lines]
    assert [line.split(": ")[1] for line in run(path).lines] == expected


@pytest.mark.parametrize(
    "content", [b"", b"\n\n", b"PK\x03\x04rest", "{}".encode("utf-16"), b"\x1f\x8b\x08broken"]
)
@pytest.mark.parametrize("kind", [[], ["--kind", "annotation"], ["--kind", "conversation"]])
def test_what_is_no_jsonl_is_one_finding(tmp_path: Path, content: bytes, kind: list[str]):
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    (tmp_path / "x.meta.yaml").write_text("license: MIT\nsource: x\n")
    result = run(path, *kind)
    assert result.code == 1
    assert [line.split()[1] for line in result.lines] == ["E100"]


ROWS = "session,role,text\ns1,user,Is it open?\ns1,assistant,Until six.\n"


def write_archive(path: Path) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("export/one.csv", ROWS)
        archive.writestr("export/two.csv", ROWS.replace("s1", "s2"))
    return path


def write_workbook(path: Path) -> Path:
    book = openpyxl.Workbook()
    for row in csv.reader(ROWS.splitlines()):
        book.active.append(row)
    book.save(path)
    return path


def test_what_is_imported_is_checked_and_what_is_left_out_said(tmp_path: Path):
    (tmp_path / "note.csv").write_text(
        "session,role,text,public\ns,user,Open?,true\ns,assistant,Rude.,false\n"
    )
    (tmp_path / "utf16.csv").write_bytes(ROWS.encode("utf-16"))
    for path, said in (
        (write_archive(tmp_path / "a.zip"), "2 conversations of 4 turns"),
        (write_workbook(tmp_path / "a.xlsx"), "1 conversation of 2 turns"),
        (tmp_path / "utf16.csv", "1 conversation of 2 turns"),
        (tmp_path / "note.csv", "left out: 1 private note (line 3)"),
    ):
        result = run(path)
        assert (result.code, said in result.err) == (0, True), path
    [told] = json.loads(run(tmp_path / "note.csv", "--format", "json").out)["files"]
    assert told["conversion"][1] == "  left out: 1 private note (line 3)"


def test_a_file_without_a_conversation_is_a_finding(tmp_path: Path):
    call = {"id": "o", "traceId": "t", "type": "GENERATION", "input": None, "output": None}
    path = tmp_path / "langfuse.json"
    path.write_text(json.dumps({"trace": {"id": "t", "name": "chat"}, "observations": [call]}))
    result = run(path)
    assert (result.code, "E100 No conversations found" in result.out) == (1, True)


def test_label_files_are_told_by_their_first_line(tmp_path: Path):
    assert run(labels(tmp_path / "even.jsonl", 30, 30)).code == 0
    result = run(labels(tmp_path / "odd.jsonl", 20, 1))
    assert [line.split()[1] for line in result.lines] == ["E502", "E503"]
    forced = run(labels(tmp_path / "odd.jsonl", 1, 0), "--kind", "conversation")
    assert [line.split()[1] for line in forced.lines] == ["E102"]


def test_a_turn_with_its_own_label_is_still_a_turn(tmp_path: Path):
    (tmp_path / "a.meta.yaml").write_text("license: MIT\nsource: x\n")
    path = factories.write_jsonl(
        tmp_path / "a.jsonl", factories.make_session("s1", 2, label=1, annotator="ann")
    )
    assert (run(path, "--strict").code, run(path).out) == (0, "")


def test_at_most_so_many_of_a_code_are_printed_but_all_are_counted(tmp_path: Path):
    (tmp_path / "a.meta.yaml").write_text("license: MIT\nsource: x\n")
    path = factories.write_jsonl(tmp_path / "a.jsonl", [b"{"] * 150)
    assert len(run(path).lines) == 100
    assert len(run(path, "--limit", "3").lines) == 3
    assert len(run(path, "--limit", "0").lines) == 150
    assert run(path, "--limit", "3").err.strip() == "150 errors, 0 warnings (E101: 150)"


# --- forms of output -------------------------------------------------------------------------


def test_json_is_one_object_with_totals(flawed: Path, sound: Path):
    result = run(flawed, sound, "--format", "json")
    value = json.loads(result.out)
    assert (result.code, result.err) == (1, "")
    assert value["totals"] == {"E103": 1, "E201": 1, "E401": 1}
    assert (value["errors"], value["warnings"]) == (3, 0)
    assert [(file["file"], file["kind"], len(file["findings"])) for file in value["files"]] == [
        (str(flawed), "conversation", 3),
        (str(sound), "conversation", 0),
    ]
    assert value["files"][0]["findings"][0] == {
        "code": "E103",
        "message": "role must be 'user' or 'assistant', got 'bot'",
        "line": 3,
        "session_id": "s2",
        "turn_index": None,
        "field": "role",
    }


def test_github_shows_findings_beside_the_lines(tmp_path: Path):
    path = factories.write_jsonl(tmp_path / "a,b:100%.jsonl", [factories.make_turn("50%\nof", 2)])
    result = run(path, "--format", "github")
    name = str(path).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
    assert f"::warning file={name},title=W601::no license" in result.out
    [line] = [line for line in result.lines if "E201" in line]
    assert line.startswith(f"::error file={name},line=1,title=E201::session '50%25\\nof' must begin")


@pytest.mark.parametrize("form", ["text", "json", "github"])
def test_no_form_of_output_repeats_personal_data(tmp_path: Path, form: str):
    secret = "ana.silva@example.com"
    everywhere = {"tags": [secret], "persona_id": secret, "metadata": {secret: [secret]}}
    line = factories.make_turn(secret, 2, text=secret, **everywhere)
    path = factories.write_jsonl(
        tmp_path / "a.jsonl", [line, line, factories.make_turn(secret, 5, persona_id="p")]
    )
    result = run(path, "--format", form)
    assert result.code == 1
    assert "silva" not in result.out + result.err


# --- personal data alone ---------------------------------------------------------------------

PHONE = {"phone": "5551234567"}
STRANGE_LINES: list[tuple[Any, list[str]]] = [
    ({"messages": [{"role": "user", "content": "I am at ana@example.com"}]}, ["E401 messages[0].content"]),
    ({"rows": [["192.168.3.77"]], "n": 4111111111111111}, ["E405 rows[0][0]", "E404 n"]),
    ({"ana@example.com": PHONE}, ["E401 a key", "E402 *.phone"]),
    ({"zebulon_fonseca": PHONE}, ["W406 a key", "E402 *.phone"]),
    (["my SSN is 078-05-1120"], ["E403 the line"]),
    (b'{"text": "cut off at bob\\u0040example.com', ["E401 the line"]),
    (b'{"text": "one", "text": "078-05-1120, said twice"}', ["E403 the line"]),
    ({"text": "[EMAIL] of [NAME_1]", "label": 7, "annotator": "Zebulon Fonseca"}, []),
    ({"session_id": "gen-42-f00d", "at": 1762180000, "sha": "da39a3ee5e6b4b0d3255bfef95601890afd80709"}, []),
]


@pytest.mark.parametrize(("line", "expected"), STRANGE_LINES)
def test_personal_data_is_found_in_lines_of_any_kind(tmp_path: Path, line: Any, expected: list[str]):
    result = run("--pii-only", factories.write_jsonl(tmp_path / "x.jsonl", [line]))
    told = [re.fullmatch(r".*:1: (\w+) .* in (.*) at column .*", shown) for shown in result.lines]
    assert [f"{shown[1]} {shown[2]}" for shown in told if shown] == expected
    assert not re.search("ana@|ebulon|5551234|078-05", result.out + result.err)


def test_nothing_but_personal_data_is_told_of_and_an_id_once_a_session(tmp_path: Path):
    talk = [factories.make_turn("ana@example.com", index, text=" ") for index in (3, 3, 9)]
    result = run("--pii-only", "--strict", factories.write_jsonl(tmp_path / "x.jsonl", [*talk, b"{", b""]))
    assert [line.split()[1] for line in result.lines] == ["E401"]
    assert run("--pii-only", factories.write_jsonl(tmp_path / "empty.jsonl", [])).code == 0
    (tmp_path / "x.jsonl").write_bytes(b"PK\x03\x04rest")
    assert "E100 is a zip archive" in run("--pii-only", tmp_path / "x.jsonl").out


def test_what_is_allowed_may_stand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    path = factories.write_jsonl(
        tmp_path / "x.jsonl", ["help@shop.example, ana@example.com or Zebulon Fonseca"]
    )
    arguments = ("--pii-only", "--strict", path, "--allow", "HELP@shop.example")
    assert len(run(*arguments).lines) == 2
    (tmp_path / ".alignmenter-allow").write_text("# whom we may name\n\nana@example.com\n")
    assert [line.split()[1] for line in run(*arguments).lines] == ["W406"]
    assert run(*arguments, "--no-names").code == 0
    (tmp_path / ".alignmenter-allow").write_bytes(b"\xff\xfe\0")
    with pytest.raises(CommandError, match="isn't text in UTF-8"):
        run(*arguments)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [(["x", "--allow", "y"], "goes with --pii-only"), (["--pii-only", "--dataset", "x"], "is for files")],
)
def test_what_goes_with_files_alone_is_told(sound: Path, arguments: list[str], sentence: str):
    with pytest.raises(CommandError, match=sentence):
        run(*(sound if argument == "x" and arguments[0] == "x" else argument for argument in arguments))


def test_the_program_that_pip_installs_says_the_same(
    flawed: Path, sound: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    expected = run(flawed, sound)
    assert validate.main([str(flawed), str(sound)]) == expected.code == 1
    assert capsys.readouterr() == (expected.out, expected.err)
    assert validate.main([str(sound)]) == 0
    assert validate.main(["nowhere.jsonl"]) == validate.main([]) == 2
    assert "alignmenter-validate: nowhere.jsonl: no such file\n" in capsys.readouterr().err
    monkeypatch.setenv("ALIGNMENTER_MAX_LINE_BYTES", "many")
    assert validate.main([str(sound)]) == 2
    assert "must be a whole number" in capsys.readouterr().err


# --- datasets --------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_dataset_is_checked_and_the_report_kept(tmp_path: Path):
    lines = [factories.make_turn("s1", 1), factories.make_turn("s1", 2, text="Write to ana@example.com.")]
    factories.make_dataset(tmp_path, lines, "support")
    result = run("--dataset", "support")
    assert result.code == 1
    assert result.lines == [
        "support: W601 no license is stated; give its SPDX id, for example CC-BY-4.0",
        "support: W602 neither source nor generator is stated; say where the conversations come from",
        "support: E401 [s1 turn 2] e-mail address in text at column 10 (15 characters); "
        "scrub it before sharing",
    ]
    report = CheckReport.objects.get()
    assert (report.turn_count, report.error_count, report.warning_count) == (2, 1, 2)
    assert report.totals == {"E401": 1, "W601": 1, "W602": 1}
    [row] = report.findings.filter(code="E401")
    assert (row.session.session_id, row.turn_index, row.field) == ("s1", 2, "text")
    event = AuditEvent.objects.get(action="check")
    text = "Raw: it contains personal data (e-mail addresses: 1)."
    assert event.dataset_name == "support"
    assert event.details == {"turns": 2, "errors": 1, "warnings": 2, "text": text}


@pytest.mark.django_db
def test_of_a_code_500_findings_are_kept_and_all_are_counted(tmp_path: Path):
    lines = [factories.make_turn(f"s{n}", 1, text=" ") for n in range(510)]
    factories.make_dataset(tmp_path, lines, "blank")
    result = run("--dataset", "blank", "--format", "json", "--limit", "0")
    value = json.loads(result.out)
    assert value["totals"]["E301"] == value["files"][0]["totals"]["E301"] == 510
    assert len([f for f in value["files"][0]["findings"] if f["code"] == "E301"]) == 500
    assert CheckReport.objects.get().findings.filter(code="E301", session__isnull=False).count() == 500


@pytest.mark.django_db
def test_a_dataset_that_is_not_there_could_not_be_checked():
    with pytest.raises(CommandError, match="There is no dataset 'nowhere'") as refused:
        run("--dataset", "nowhere")
    assert refused.value.returncode == 2


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are counted in /proc")
def test_commands_without_the_application_multiply_in_one_thread() -> None:
    """Further ones of numpy, which it starts when it is loaded, would wait for one another."""
    program = (
        "import alignmenter_datasets.command, datasets_app.command_line.validate, numpy, os;"
        "print(len(os.listdir('/proc/self/task')))"
    )
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=PROJECT, env=environment, capture_output=True, text=True
    )
    assert done.stdout == "1\n", done.stderr
