"""sanitize_dataset as a process of its own: what it writes, what it refuses, and what it never tells."""

import gzip
import hmac
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from datasets_app.domain.metadata.metadata import read_metadata
from datasets_app.models import Dataset, ScrubRun, Turn
from tests import preloaded
from tests.conftest import PROJECT
from tests.factories import encode_jsonl, make_dataset, make_sessions, make_turn, write_jsonl
from tests.onnx_model import write_onnx_model
from tests.terminal import decode_output, run_in_process

KEY = "a key of thirty-two characters.."
# No server answers here: a command that asked for the database would fail.
ENVIRONMENT = {
    **os.environ,
    "DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none",
    "REDIS_URL": "redis://127.0.0.1:1",
    "ALIGNMENTER_HASH_KEY": KEY,
    "LOG_LEVEL": "DEBUG",
}
QUICK = ("--scrub-patterns", "email|phone|ssn|credit_card|ip|credential|path|hostname")
Sanitize = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def sanitize(tmp_path: Path) -> Sanitize:
    def run(*arguments: Any, stdin: Any = b"", **environment: str) -> subprocess.CompletedProcess[str]:
        given: dict[str, Any] = {"input": stdin} if isinstance(stdin, bytes) else {"stdin": stdin}
        given |= {"cwd": tmp_path, "env": ENVIRONMENT | environment, "timeout": 120}
        if "PYTHONPATH" in environment:  # which Python reads as it starts
            command = [sys.executable, PROJECT / "manage.py", "sanitize_dataset", *map(str, arguments)]
            done = subprocess.run(command, capture_output=True, **given)
        else:
            done = preloaded.run("sanitize_dataset", *arguments, **given)
        assert b"Traceback" not in done.stderr, done.stderr.decode()
        out, err = done.stdout.decode(errors="replace"), done.stderr.decode()
        return subprocess.CompletedProcess(done.args, done.returncode, out, err)

    return run


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sanitize:
    """As ``sanitize``, but in this process, which has loaded its models already."""
    monkeypatch.setenv("ALIGNMENTER_HASH_KEY", KEY)

    def run(*arguments: Any, stdin: bytes = b"") -> subprocess.CompletedProcess[str]:
        return decode_output(run_in_process("sanitize_dataset", *arguments, cwd=tmp_path, input=stdin))

    return run


def read(path: Path) -> list[dict[str, Any]]:
    raw = path.read_bytes()
    return [json.loads(line) for line in (gzip.decompress(raw) if path.suffix == ".gz" else raw).splitlines()]


MAIL = make_turn("s1", 1, text="Write to ana@example.com, please.")


# --- what comes out ----------------------------------------------------------------------------


def test_personal_data_becomes_placeholders_and_nothing_else_changes(sanitize: Sanitize, tmp_path: Path):
    lines = [
        make_turn(
            "s1", 1, text="I am Ana Silva, ana@example.com or 415-555-2671.", tags=["vip"], custom={"n": 1.0}
        ),
        make_turn("s1", 2, text="Thank you, Ana!", persona_id="p", timestamp="2025-11-03T14:25:00Z"),
        make_turn(
            "s2", 1, text="Where is my order?", metadata={"user_id": "u-4711", "ip": "10.0.0.7", "n": 3}
        ),
    ]
    write_jsonl(tmp_path / "in.jsonl", lines)
    done = sanitize("--input", "in.jsonl", "--out", "out.jsonl")
    assert (done.returncode, done.stderr) == (0, "")
    assert read(tmp_path / "out.jsonl") == [
        {
            **lines[0],
            "text": "I am [NAME], [EMAIL] or [PHONE].",
            "persona_id": None,
        },
        {**lines[1], "text": "Thank you, [NAME]!", "tags": []},
        {**lines[2], "tags": [], "persona_id": None, "metadata": {"user_id": "[ID]", "ip": "[IP]", "n": 3}},
    ]
    assert "6 values replaced (EMAIL 1, ID 1, IP 1, NAME 2, PHONE 1) in 3 of 3 turns" in done.stdout
    assert "Verified" in done.stdout
    assert read(tmp_path / "in.jsonl") == lines


def test_numbered_placeholders_keep_people_apart(here: Sanitize, tmp_path: Path):
    write_jsonl(tmp_path / "in.jsonl", [make_turn(text="a@example.com, b@example.com, A@example.com")])
    assert (
        here("--input", "in.jsonl", "--out", "out.jsonl", *QUICK, "--placeholders", "numbered").returncode
        == 0
    )
    assert read(tmp_path / "out.jsonl")[0]["text"] == "[EMAIL_1], [EMAIL_2], [EMAIL_1]"


def test_patterns_of_ones_own_and_what_is_allowed(here: Sanitize, tmp_path: Path):
    write_jsonl(
        tmp_path / "in.jsonl", [make_turn(text="ORD-17 for help@brand.com and ana@example.com, not ORD-x")]
    )
    done = here(
        "--input",
        "in.jsonl",
        "--out",
        "out.jsonl",
        *QUICK,
        "--pattern",
        r"order=\bORD-\d+\b",
        "--allow",
        "HELP@brand.com",
    )
    assert done.returncode == 0, done.stderr
    assert read(tmp_path / "out.jsonl")[0]["text"] == "[ORDER] for help@brand.com and [EMAIL], not ORD-x"


RECOGNIZERS = r"""
recognizers:
- {supported_entity: CASE, patterns: [{name: n, regex: 'case \d{4}', score: 0.5}]}
- {supported_entity: STAFF, deny_list: [Quibble]}
"""


def test_recognizers_and_name_models_of_ones_own(here: Sanitize, tmp_path: Path):
    (tmp_path / "own.yaml").write_text(RECOGNIZERS)
    model = write_onnx_model(tmp_path / "model", {"teapot": "B-PER"})
    write_jsonl(tmp_path / "in.jsonl", [make_turn(text="Quibble has Case 1234; ask teapot or Jane Fonseca")])
    own = ("--recognizers", "own.yaml", "--names", f"builtin,onnx:{model}", "--report", "r.json")
    done = here("--input", "in.jsonl", "--out", "out.jsonl", *own)
    assert (done.returncode, done.stderr) == (0, "")
    assert read(tmp_path / "out.jsonl")[0]["text"] == "[STAFF] has [CASE]; ask [NAME] or [NAME]"
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["policy"]["patterns"] == ["CASE", "STAFF"]
    assert report["found_by_class"] == {"CASE": 1, "NAME": 2, "STAFF": 1}
    again = here("--input", "out.jsonl", "--out", "again.jsonl", *own)
    assert again.returncode == 0
    assert read(tmp_path / "again.jsonl") == read(tmp_path / "out.jsonl")


def test_only_the_classes_asked_for(here: Sanitize, tmp_path: Path):
    write_jsonl(
        tmp_path / "in.jsonl", [make_turn(text="ana@example.com, 415-555-2671, host db1.corp.internal")]
    )
    assert (
        here("--input", "in.jsonl", "--out", "out.jsonl", "--scrub-patterns", "phone|hostname").returncode
        == 0
    )
    assert read(tmp_path / "out.jsonl")[0]["text"] == "ana@example.com, [PHONE], host [HOST]"


def test_a_personas_words_are_no_people(here: Sanitize, tmp_path: Path):
    write_jsonl(tmp_path / "in.jsonl", [make_turn(text="My name is Clara.")])
    (tmp_path / "p.yaml").write_text("id: clara_v1\ndisplay_name: Clara\n")
    for persona, expected in (((), "My name is [NAME]."), (("--persona", "p.yaml"), "My name is Clara.")):
        assert here("--input", "in.jsonl", "--out", "out.jsonl", *persona).returncode == 0
        assert read(tmp_path / "out.jsonl")[0]["text"] == expected


def test_session_ids_become_the_plain_hmac_of_their_bytes(
    here: Sanitize, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    write_jsonl(tmp_path / "in.jsonl", [make_turn("Zoë-1"), make_turn("b")])
    assert here("--input", "in.jsonl", "--out", "out.jsonl", *QUICK, "--hash-session-ids").returncode == 0
    expected = [hmac.new(KEY.encode(), name.encode(), "sha256").hexdigest() for name in ("Zoë-1", "b")]
    assert [line["session_id"] for line in read(tmp_path / "out.jsonl")] == expected
    monkeypatch.setenv("ALIGNMENTER_HASH_KEY", KEY[::-1])
    other = here("--input", "in.jsonl", "--out", "other.jsonl", *QUICK, "--hash-session-ids")
    assert other.returncode == 0
    assert read(tmp_path / "other.jsonl")[0]["session_id"] != expected[0]


def test_timestamps_are_moved_by_session_again_alike_or_dropped(here: Sanitize, tmp_path: Path):
    times = ["2025-11-03T14:25:00Z", "2025-11-03T14:26:30Z"]
    lines = [make_turn(name, index + 1, timestamp=times[index]) for name in ("a", "b") for index in (0, 1)]
    write_jsonl(tmp_path / "in.jsonl", lines)
    fuzz = ("--input", "in.jsonl", *QUICK, "--fuzz-timestamps", 86_400)
    for name in ("1.jsonl", "2.jsonl"):
        assert here(*fuzz, "--out", name, "--seed", 7).returncode == 0
    assert here(*fuzz, "--out", "3.jsonl").returncode == 0
    assert (tmp_path / "1.jsonl").read_bytes() == (tmp_path / "2.jsonl").read_bytes()
    assert (tmp_path / "1.jsonl").read_bytes() != (tmp_path / "3.jsonl").read_bytes()
    moved = [line["timestamp"] for line in read(tmp_path / "1.jsonl")]
    assert not set(moved) & set(times)
    assert moved[:2] != moved[2:]
    assert here("--input", "in.jsonl", "--out", "4.jsonl", *QUICK, "--drop-timestamps").returncode == 0
    assert not [line for line in read(tmp_path / "4.jsonl") if "timestamp" in line]


def test_any_format_any_order_packed_and_through_pipes(sanitize: Sanitize, here: Sanitize, tmp_path: Path):
    chat = {
        "messages": [{"role": "user", "content": "ana@example.com"}, {"role": "assistant", "content": "Hi"}]
    }
    (tmp_path / "chat.jsonl.gz").write_bytes(gzip.compress(encode_jsonl([chat])))
    assert here("--input", "chat.jsonl.gz", "--out", "out.jsonl.gz", *QUICK).returncode == 0
    assert [line["text"] for line in read(tmp_path / "out.jsonl.gz")] == ["[EMAIL]", "Hi"]
    assert read(tmp_path / "out.jsonl.gz")[0]["session_id"] == "chat-000001"
    mixed = encode_jsonl([make_turn("b", 2), make_turn("a", 1), make_turn("b", 1, text="ana@example.com")])
    done = sanitize("--input", "-", "--out", "-", *QUICK, stdin=mixed)
    assert done.returncode == 0
    assert [json.loads(line)["session_id"] for line in done.stdout.splitlines()] == ["a", "b", "b"]
    assert "sorted" in done.stderr
    assert here("--input", "-", "--out", "/dev/null", *QUICK, stdin=mixed).returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "chat.jsonl.gz",
        "out.jsonl.gz",
        "out.meta.yaml",
    ]


def test_processes_change_nothing(sanitize: Sanitize, here: Sanitize, tmp_path: Path):
    lines = [make_turn(f"s{n}", text=f"Mail {n}@example.com, number {n}") for n in range(4500)]
    write_jsonl(tmp_path / "in.jsonl", lines)
    options = (
        "--input",
        "in.jsonl",
        "--scrub-patterns",
        "email",
        "--hash-session-ids",
        "--fuzz-timestamps",
        60,
    )
    for count, run in ((1, here), (2, sanitize)):
        done = run(*options, "--seed", 1, "--out", f"{count}.jsonl", "--processes", count)
        assert "4,500 values replaced" in done.stdout
    results = {(tmp_path / f"{count}.jsonl").read_bytes() for count in (1, 2)}
    assert len(results) == 1
    assert [line["text"] for line in read(tmp_path / "2.jsonl")][4499] == "Mail [EMAIL], number 4499"


# --- metadata and twice ------------------------------------------------------------------------


def test_the_metadata_says_what_was_done_and_twice_changes_nothing(here: Sanitize, tmp_path: Path):
    write_jsonl(
        tmp_path / "in.jsonl",
        [make_turn("s1", text="ana@example.com", timestamp="2025-11-03T14:25:00Z"), make_turn("s2")],
    )
    (tmp_path / "in.meta.yaml").write_text(
        "name: support\nlicense: CC-BY-4.0\nattribution: Jo Doe <jo@example.org>\n"
        "source: from ana@example.com\nanonymization:\n- by hand\nteam: x@example.com\n"
    )
    options = (*QUICK, "--hash-session-ids", "--fuzz-timestamps", 3600)
    assert here("--input", "in.jsonl", "--out", "1.jsonl", *options).returncode == 0
    metadata = read_metadata(tmp_path / "1.meta.yaml")
    assert metadata is not None
    assert (metadata.name, metadata.license, metadata.source) == ("support", "CC-BY-4.0", "from [EMAIL]")
    assert (metadata.total_sessions, metadata.total_turns) == (2, 2)
    assert metadata.extra == {"team": "[EMAIL]"}
    assert metadata.attribution == "Jo Doe <jo@example.org>"
    assert metadata.anonymization[0] == "by hand"
    assert "session ids hashed with the key of fingerprint c7feed00" in metadata.anonymization
    assert metadata.modifications == ["personal data replaced in 1 of 2 turns"]
    done = here("--input", "1.jsonl", "--out", "2.jsonl", *options)
    assert "Session ids were hashed with this key before" in done.stdout
    assert (tmp_path / "1.jsonl").read_bytes() == (tmp_path / "2.jsonl").read_bytes()
    assert (tmp_path / "1.meta.yaml").read_text() == (tmp_path / "2.meta.yaml").read_text()
    assert here("--input", "2.jsonl", "--dry-run", *options).returncode == 0


def test_what_was_added_to_a_hashed_file_since_is_hashed_and_moved(here: Sanitize, tmp_path: Path):
    options = (*QUICK, "--hash-session-ids", "--fuzz-timestamps", 3600)
    write_jsonl(tmp_path / "in.jsonl", [make_turn("s1", timestamp="2025-11-03T14:25:00Z")])
    assert here("--input", "in.jsonl", "--out", "1.jsonl", *options).returncode == 0
    with (tmp_path / "1.jsonl").open("ab") as file:
        file.write(encode_jsonl([make_turn("s2", timestamp="2025-11-03T14:25:00Z")]))
    assert here("--input", "1.jsonl", "--out", "2.jsonl", *options).returncode == 0
    first, second = read(tmp_path / "2.jsonl")
    assert first["session_id"] == read(tmp_path / "1.jsonl")[0]["session_id"]
    assert second["session_id"] == hmac.new(KEY.encode(), b"s2", "sha256").hexdigest()
    assert second["timestamp"] != "2025-11-03T14:25:00Z"


# --- a dry run and the report ------------------------------------------------------------------


def test_a_dry_run_tells_where_and_writes_nothing(here: Sanitize, tmp_path: Path):
    write_jsonl(
        tmp_path / "in.jsonl", [make_turn("s0"), MAIL, make_turn("s1", 2, tags=["from:bo@example.com"])]
    )
    done = here("--input", "in.jsonl", "--dry-run", *QUICK)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "in.jsonl:2: EMAIL in text, column 10, 15 characters, score 1.00",
        "in.jsonl:3: EMAIL in tags[0], column 6, 14 characters, score 1.00",
        "2 values found (EMAIL 2) in 2 of 3 turns, 1 of 2 sessions.",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]
    write_jsonl(tmp_path / "in.jsonl", [make_turn()])
    done = here("--input", "in.jsonl", "--dry-run", *QUICK)
    assert (done.returncode, done.stdout) == (0, "0 values found in 0 of 1 turn, 0 of 1 session.\n")


def test_of_many_places_the_first_hundred_are_told(here: Sanitize, tmp_path: Path):
    write_jsonl(tmp_path / "in.jsonl", [make_turn(f"s{n}", text="ana@example.com") for n in range(2500)])
    done = here("--input", "in.jsonl", "--dry-run", *QUICK, "--report", "r.json")
    assert len(done.stdout.splitlines()) == 102
    assert "… and 2,400 more." in done.stdout
    report = json.loads((tmp_path / "r.json").read_text())
    assert (report["found"], len(report["places"]), report["verification"]) == (2500, 100, None)


def test_the_report_counts_and_tells_places(here: Sanitize, tmp_path: Path):
    write_jsonl(tmp_path / "in.jsonl", [MAIL, make_turn("s2", metadata={"email": "x"})])
    assert here("--input", "in.jsonl", "--out", "out.jsonl", *QUICK, "--report", "r.json").returncode == 0
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["found_by_class"] == {"EMAIL": 2}
    assert report["found_by_field"] == {"metadata": 1, "text": 1}
    assert report["turns"] == {"total": 2, "with_findings": 2, "changed": 2}
    verified = {
        "passed": True,
        "turns": 2,
        "remaining": {},
        "places": [],
        "languages": {},
        "unmeasured": {},
        "names": "",
    }
    assert report["verification"] == verified
    assert report["policy"]["key_fingerprint"] == "c7feed00"
    place = {
        "line": 1,
        "turn_index": 1,
        "field": "text",
        "class": "EMAIL",
        "column": 10,
        "length": 15,
        "score": 1.0,
    }
    assert report["places"][0] == place


# --- canaries ----------------------------------------------------------------------------------

CANARIES = {
    "EMAIL": "canary.email@acme-mail.com",
    "PHONE": "+1 415 555 2671",
    "SSN": "856-45-6789",
    "CREDIT_CARD": "4539 1488 0343 6467",
    "IP": "83.121.45.67",
    "CREDENTIAL": "ghp_R4nd0mT0k3nXyZ1234567890abcdefGH12",
    "PATH": "/home/canarypath/documents/notes.txt",
    "HOST": "canaryhost01.corp.internal",
    "NAME": "Rosalind Canaryson",
    "CUSTOM": "KUNDE-998877",
}


def canary_lines() -> list[dict[str, Any]]:
    lines = []
    for number, (kind, value) in enumerate(CANARIES.items()):
        said = f"My name is {value}." if kind == "NAME" else f"Here it is: {value} as you asked."
        under = "full_name" if kind == "NAME" else "note"
        lines += [
            make_turn(f"t{number}", 1, text=said),
            make_turn(f"g{number}", 1, text="x", tags=[f"agent:{value}"]),
            make_turn(f"v{number}", 1, text="x", metadata={under: value, "deep": [{under: value}]}),
            make_turn(
                f"k{number}",
                1,
                text="x",
                metadata={value: "x"},
                **{under: value, "more": {value: {"y": [value]}}},
            ),
            make_turn(f"{value} {number}", 1, text="x"),
        ]
    return lines


@pytest.mark.parametrize("processes", [1, 2])
def test_canaries_are_found_nowhere_afterwards(
    sanitize: Sanitize, here: Sanitize, tmp_path: Path, caplog: pytest.LogCaptureFixture, processes: int
):
    """With processes of its own, and in this one, whose log is looked at as well."""
    caplog.set_level("DEBUG")
    run = sanitize if processes > 1 else here
    # As many as it takes for several processes to have work.
    lines = canary_lines() + [
        make_turn(f"fill{n}", text="No more.") for n in range(4500 if processes > 1 else 50)
    ]
    write_jsonl(tmp_path / "in.jsonl", lines)
    (tmp_path / "in.meta.yaml").write_text(f"source: dumped from {CANARIES['PATH']} by {CANARIES['EMAIL']}\n")
    options = ("--input", "in.jsonl", "--processes", processes, "--pattern", r"CUSTOM=KUNDE-\d{6}")
    told = [
        run(*options, "--out", "out.jsonl", "--hash-session-ids", "--report", "r.json"),
        run(*options, "--dry-run", "--report", "dry.json"),
    ]
    assert [done.returncode for done in told] == [0, 1]
    written = {path.name: path.read_text() for path in tmp_path.iterdir() if path.name[:3] != "in."}
    assert set(written) == {"out.jsonl", "out.meta.yaml", "r.json", "dry.json"}
    said = "".join(done.stdout + done.stderr for done in told)
    everything = written | {"stdout and stderr": said, "the log": caplog.text}
    for kind, value in CANARIES.items():
        for name, text in everything.items():
            for part in (value, *([word for word in value.split() if word.isalpha()])):
                assert part not in text, f"{kind} in {name}"
    assert json.loads(written["r.json"])["verification"]["passed"]


def test_errors_repeat_no_values_either(here: Sanitize, tmp_path: Path, caplog: pytest.LogCaptureFixture):
    caplog.set_level("DEBUG")
    secret = "ana.silva@example.com"
    write_jsonl(
        tmp_path / "in.jsonl",
        [make_turn(text=secret), {**make_turn(secret, 2), "role": secret}, b'{"text": "ana.silva@'],
    )
    done = here("--input", "in.jsonl", "--out", "out.jsonl", "--report", "r.json")
    assert done.returncode == 1
    assert "silva" not in done.stdout + done.stderr + caplog.text
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_fields_of_the_metadata_keep_their_names(here: Sanitize, tmp_path: Path):
    write_jsonl(tmp_path / "in.jsonl", [make_turn(text="a source of joy")])
    (tmp_path / "in.meta.yaml").write_text("source: a source\nnew: {source: x}\n")
    done = here(
        "--input", "in.jsonl", "--out", "out.jsonl", "--report", "-", "--pattern", "WORD=source|extra"
    )
    stated = yaml.safe_load((tmp_path / "out.meta.yaml").read_text())
    assert (stated["source"], stated["new"]) == ("a [WORD]", {"[WORD]": "x"})
    # Only the report is on standard output.
    assert json.loads(done.stdout)["found_by_class"] == {"WORD": 3}
    assert "3 values replaced" in done.stderr


# --- what fails leaves everything as it was ----------------------------------------------------


def test_lines_that_are_no_turns_are_listed_and_nothing_is_written(here: Sanitize, tmp_path: Path):
    write_jsonl(
        tmp_path / "in.jsonl",
        [make_turn(), {**make_turn("s2"), "role": "bot"}, make_turn("s3"), b"{", make_turn("s3")],
    )
    (tmp_path / "out.jsonl").write_text("before")
    done = here("--input", "in.jsonl", "--out", "out.jsonl", *QUICK)
    assert done.returncode == 1
    assert "in.jsonl:2: E103 role must be 'user' or 'assistant', got 'bot'" in done.stderr
    assert "in.jsonl:4: E101" in done.stderr
    assert "in.jsonl:5: E202 turn 1 of session 's3' stands twice, first in line 3" in done.stderr
    assert (tmp_path / "out.jsonl").read_text() == "before"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", "out.jsonl"]


def test_what_verification_finds_left_stops_it(sanitize: Sanitize, tmp_path: Path):
    write_jsonl(tmp_path / "in.jsonl", [make_turn("s0"), make_turn(text="code a1b2 end")])
    (tmp_path / "out.jsonl").write_text("before")
    (tmp_path / "sitecustomize.py").write_text(BROKEN_SCRUBBER)
    done = sanitize(
        "--input",
        "in.jsonl",
        "--out",
        "out.jsonl",
        *QUICK,
        "--pattern",
        "CODE=a1b2",
        "--report",
        "r.json",
        PYTHONPATH=os.pathsep.join(map(str, (tmp_path, PROJECT))),
    )
    assert done.returncode == 1, done.stderr
    assert "in.jsonl:2: CODE in text, column 6, 4 characters" in done.stderr
    assert "Verification found remaining values (CODE 1); nothing was written." in done.stderr
    assert "a1b2" not in done.stderr + done.stdout + (tmp_path / "r.json").read_text()
    assert (tmp_path / "out.jsonl").read_text() == "before"
    report = json.loads((tmp_path / "r.json").read_text())
    assert (report["verification"]["passed"], report["verification"]["remaining"]) == (False, {"CODE": 1})
    assert report["sha256"] is None
    assert not (tmp_path / "out.meta.yaml").exists()


# A scrubber that looks and replaces nothing, as one with a fault would.
BROKEN_SCRUBBER = """
from datasets_app.domain.pii import batches, scrubber
original = batches._scrub_batch
def faulty(scrubber, turns, may_have_hashed_ids, *, with_lines):
    lines = b"".join(batches.encode_turn(turn) for turn in turns)
    return original(scrubber, turns, may_have_hashed_ids, with_lines=with_lines)._replace(lines=lines)
batches._scrub_batch = faulty
"""


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "Name either a file with --input FILE or a dataset"),
        (["--input", "in.jsonl", "--dataset", "x"], "Name either"),
        (["--input", "in.jsonl"], "Name the result with --out FILE"),
        (["--input", "none.jsonl", "--out", "out.jsonl"], "none.jsonl: no such file"),
        (["--input", ".", "--out", "out.jsonl"], "is a directory"),
        (["--input", "empty.jsonl", "--out", "out.jsonl"], "is empty"),
        (["--input", "in.jsonl", "--out", "none/out.jsonl"], "the folder none does not exist"),
        (["--input", "in.jsonl", "--out", "folder"], "is a directory"),
        (
            ["--input", "in.jsonl", "--dry-run", "--pattern", "X=(?=a)"],
            "The pattern X has a mistake at column 3",
        ),
        (["--input", "in.jsonl", "--dry-run", "--pattern", "a+"], "LABEL=REGEX"),
        (["--input", "in.jsonl", "--dry-run", "--pattern", "email=a"], "EMAIL is a class already"),
        (["--input", "in.jsonl", "--dry-run", "--scrub-patterns", "email|nmae"], "There is no class 'nmae'"),
        (["--input", "in.jsonl", "--dry-run", "--names", "no_such_model"], "is not installed"),
        (["--input", "in.jsonl", "--dry-run", "--names", "onnx:none"], "there is no such folder"),
        (["--input", "in.jsonl", "--dry-run", "--recognizers", "no.yaml"], "no.yaml can't be read"),
        (["--input", "in.jsonl", "--dry-run", "--recognizers", "in.jsonl"], "in.jsonl, line 1, session_id"),
        (["--input", "in.jsonl", "--dry-run", "--fuzz-timestamps", "-1"], "Timestamps can be moved by"),
        (["--input", "in.jsonl", "--dry-run", "--fuzz-timestamps", "1", "--drop-timestamps"], "choose one"),
        (["--input", "in.jsonl", "--dry-run", "--processes", "0"], "--processes"),
        (["--input", "in.jsonl", "--dry-run", "--persona", "in.jsonl"], "is not a valid persona"),
        (["--input", "in.jsonl", "--out", "-", "--report", "-"], "both"),
    ],
)
def test_what_could_not_run_returns_2_and_a_sentence(
    here: Sanitize, tmp_path: Path, arguments: list[str], sentence: str
):
    write_jsonl(tmp_path / "in.jsonl", [make_turn()])
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "folder").mkdir()
    done = here(*arguments)
    assert done.returncode == 2, done.stdout
    assert sentence in done.stderr
    assert not (tmp_path / "out.jsonl").exists()


def test_arguments_that_mean_nothing_return_2(here: Sanitize):
    done = here("--input", "in.jsonl", "--dry-run", "--format", "poem")
    assert (done.returncode, "invalid choice" in done.stderr) == (2, True)


def test_a_short_key_could_not_run(sanitize: Sanitize, tmp_path: Path):
    write_jsonl(tmp_path / "in.jsonl", [make_turn()])
    done = sanitize("--input", "in.jsonl", "--dry-run", ALIGNMENTER_HASH_KEY="secret-and-short")
    assert done.returncode != 0
    assert "at least 32 characters" in done.stderr
    assert "secret-and-short" not in done.stderr


def test_the_input_is_never_overwritten_by_whatever_name(here: Sanitize, sanitize: Sanitize, tmp_path: Path):
    path = write_jsonl(tmp_path / "in.jsonl", [MAIL])
    before = path.read_bytes()
    (tmp_path / "link.jsonl").symlink_to("in.jsonl")
    os.link(path, tmp_path / "hard.jsonl")
    (tmp_path / "sub").mkdir()
    names = ["in.jsonl", "./sub/../in.jsonl", path, "link.jsonl", "hard.jsonl"]
    for name in names:
        for call in (
            ["--out", name],
            ["--out", "out.jsonl", "--report", name],
            ["--dry-run", "--report", name],
        ):
            done = here("--input", "in.jsonl", *call, *QUICK)
            assert (done.returncode, path.read_bytes()) == (2, before), (name, call)
            assert "is the input, which is never overwritten" in done.stderr
    with path.open("rb") as stdin:
        done = sanitize("--input", "-", "--out", "in.jsonl", *QUICK, stdin=stdin)
    assert (done.returncode, path.read_bytes()) == (2, before)
    with path.open("rb") as stdin:
        done = sanitize("--input", "/dev/stdin", "--out", "link.jsonl", *QUICK, stdin=stdin)
    assert (done.returncode, path.read_bytes()) == (2, before)


def test_the_metadata_of_the_input_is_not_overwritten_either(here: Sanitize, tmp_path: Path):
    (tmp_path / "in.jsonl.gz").write_bytes(gzip.compress(encode_jsonl([MAIL])))
    done = here("--input", "in.jsonl.gz", "--out", "in.jsonl", *QUICK)
    assert done.returncode == 2
    assert "would share the metadata file in.meta.yaml" in done.stderr
    done = here("--input", "in.jsonl.gz", "--out", "out.jsonl", "--report", "out.meta.yaml", *QUICK)
    assert done.returncode == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl.gz"]


def test_an_existing_output_is_replaced_and_keeps_its_mode(here: Sanitize, tmp_path: Path):
    write_jsonl(tmp_path / "in.jsonl", [MAIL])
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "out.jsonl").write_text("before")
    (tmp_path / "there" / "out.jsonl").chmod(0o640)
    (tmp_path / "out.jsonl").symlink_to("there/out.jsonl")
    assert here("--input", "in.jsonl", "--out", "out.jsonl", *QUICK).returncode == 0
    assert (tmp_path / "out.jsonl").is_symlink()
    assert read(tmp_path / "there" / "out.jsonl")[0]["text"] == "Write to [EMAIL], please."
    assert (tmp_path / "there" / "out.jsonl").stat().st_mode & 0o777 == 0o640


# --- signals -----------------------------------------------------------------------------------


@pytest.fixture
def at_work(tmp_path: Path) -> Any:
    """The command in the middle of a long file, with two processes of its own."""
    write_jsonl(tmp_path / "in.jsonl", make_sessions(8_000, turns=5, metadata={"email": "ana@example.com"}))
    process = preloaded.Popen(
        *("sanitize_dataset", "--input", "in.jsonl", "--out", "out.jsonl", *QUICK, "--processes", "2"),
        cwd=tmp_path,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        parts = list(tmp_path.glob(".out.jsonl.*"))
        if parts and parts[0].stat().st_size and len(workers(process)) == 2:
            break
        time.sleep(0.02)
    yield process
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def workers(process: subprocess.Popen[bytes]) -> list[int]:
    """The processes of its session that work for it."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            session = int(stat.read_text().rpartition(")")[2].split()[3])
            line = stat.with_name("cmdline").read_bytes()
        except (OSError, ValueError, IndexError):
            continue
        if session == process.pid and b"spawn_main" in line:
            found.append(int(stat.parent.name))
    return found


def ended(pids: list[int]) -> bool:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if not any(Path(f"/proc/{pid}").exists() for pid in pids):
            return True
        time.sleep(0.05)
    return False


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_it_with_130_and_leaves_nothing(at_work: Any, tmp_path: Path, number: signal.Signals):
    children = workers(at_work)
    assert len(children) == 2
    os.killpg(at_work.pid, number)  # as a terminal does: all of the group
    _, said = at_work.communicate(timeout=30)
    assert at_work.returncode == 130
    assert said.strip() == b"Interrupted."
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]
    assert ended(children)


@pytest.mark.slow
def test_a_process_that_dies_ends_it_with_2_and_leaves_nothing(at_work: Any, tmp_path: Path):
    children = workers(at_work)
    os.kill(children[0], signal.SIGKILL)
    _, said = at_work.communicate(timeout=30)
    assert at_work.returncode == 2
    assert b"killed by signal 9" in said
    assert b"Nothing was written" in said
    assert b"Traceback" not in said
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]
    assert ended(children)


@pytest.mark.slow
def test_processes_end_with_a_parent_that_is_killed(at_work: Any):
    children = workers(at_work)
    at_work.kill()
    at_work.wait()
    assert ended(children)


# --- datasets ----------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_a_dataset_is_scrubbed_in_place(manage: Any, empty_queue: None, tmp_path: Path):
    make_dataset(tmp_path, [MAIL, make_turn("s1", 2)], "support", origin="production")
    done = manage("sanitize_dataset", "--dataset", "support", "--dry-run", *QUICK, "--report", "dry.json")
    assert done.returncode == 1, done.stderr
    assert "EMAIL in text, column 10, 15 characters" in done.stdout
    assert "1 value found (EMAIL 1) in 2 turns, 1 session; 1 turn would change." in done.stdout
    assert Turn.objects.get(turn_index=1).text == MAIL["text"]
    done = manage("sanitize_dataset", "--dataset", "support", "--report", "r.json")
    assert done.returncode == 0, done.stderr
    assert Turn.objects.get(turn_index=1).text == "Write to [EMAIL], please."
    assert "Verified" in done.stdout
    report = json.loads((tmp_path / "r.json").read_text())
    assert (report["found_by_class"], report["verification"]["passed"]) == ({"EMAIL": 1}, True)
    assert "ana@" not in done.stdout + done.stderr + json.dumps(report)
    assert Dataset.objects.get().status == "scrubbed"
    assert ScrubRun.objects.filter(dry_run=False).count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("option", [("--out", "x.jsonl"), ("--persona", "p.yaml"), ("--processes", "2")])
def test_options_for_files_are_refused_for_datasets(manage: Any, tmp_path: Path, option: tuple[str, str]):
    make_dataset(tmp_path, [MAIL], "support")
    done = manage("sanitize_dataset", "--dataset", "support", *option)
    assert done.returncode == 2
    assert f"{option[0]} is for files" in done.stderr
    assert manage("sanitize_dataset", "--dataset", "nowhere").returncode == 2


def test_help_explains_itself(here: Sanitize):
    done = here("--help")
    assert done.returncode == 0
    for words in (
        "examples:",
        "exit codes:",
        "--scrub-patterns",
        "email|phone",
        "--seed",
        "docs/scrubbing.md",
    ):
        assert words in done.stdout


def test_proposed_terms_are_written_for_their_owner_and_kept(here: Sanitize, tmp_path: Path) -> None:
    lines = []
    for number, person in enumerate(("Maria", "Kevin", "Priya", "Olga")):
        lines += [
            make_turn(f"s{number}", 1, text=f"my name is {person}"),
            make_turn(f"s{number}", 2, role="assistant", text="Ask Fredo, or read our Henrik guide."),
        ]
    write_jsonl(tmp_path / "in.jsonl", lines)
    (tmp_path / "terms.txt").write_text("of others")
    (tmp_path / "terms.txt").chmod(0o644)
    done = here("--input", "in.jsonl", "--dry-run", "--propose-terms", "terms.txt", "--report", "report.json")
    assert done.returncode == 1
    assert "2 terms proposed." in done.stdout
    assert (tmp_path / "terms.txt").stat().st_mode & 0o777 == 0o600
    proposed = [line for line in (tmp_path / "terms.txt").read_text().splitlines() if line[0] != "#"]
    assert proposed == ["fredo\t4\t4\t100%\t0%", "henrik\t4\t4\t100%\t100%"]
    for said in (done.stdout, done.stderr, (tmp_path / "report.json").read_text()):
        assert not {"fredo", "henrik"} & set(said.lower().split())
    assert here("--input", "in.jsonl", "--dry-run", "--propose-terms", "-").stdout.count("fredo\t4") == 1
    done = here("--input", "in.jsonl", "--out", "out.jsonl", "--keep-terms", "terms.txt")
    assert done.returncode == 0
    assert [turn["text"] for turn in read(tmp_path / "out.jsonl")[:2]] == [
        "my name is [NAME]",
        "Ask Fredo, or read our Henrik guide.",
    ]
    (tmp_path / "terms.txt").write_text("# ours\nAcme\n\njo@example.org\t3\n")
    refused = here("--input", "in.jsonl", "--dry-run", "--keep-terms", "terms.txt")
    assert refused.returncode == 2
    assert "terms.txt:4: this is one of the e-mail addresses" in refused.stderr
    assert "jo@example.org" not in refused.stderr
    refused = here("--input", "in.jsonl", "--dry-run", "--propose-terms", "in.jsonl")
    assert (refused.returncode, "is the input, which is never overwritten" in refused.stderr) == (2, True)


def test_a_scrub_says_in_which_languages_it_looked_for_names(here: Sanitize, tmp_path: Path) -> None:
    texts = {
        "s1": "Guten Tag, meine Bestellung ist leider noch nicht angekommen, bitte um Rückruf.",
        "s2": "Hello, my order has not arrived yet, please call me back.",
        "s3": "Olá, a minha encomenda ainda não chegou, podem ligar-me de volta?",
    }
    write_jsonl(tmp_path / "in.jsonl", [make_turn(session, text=text) for session, text in texts.items()])
    done = here("--input", "in.jsonl", "--out", "out.jsonl", "--report", "r.json")
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["verification"]["languages"] == {"de": 1, "en": 1, "pt": 1}
    assert "German (" in report["verification"]["names"]
    assert "left in test chats)" in report["verification"]["names"]
    assert "Names of people looked for in German (" in done.stdout
    assert "left in test chats), English, Portuguese (" in done.stdout


def test_a_scrub_says_in_which_languages_it_cant_vouch_for_names(here: Sanitize, tmp_path: Path) -> None:
    texts = {
        "s1": "ሰላም እንዴት ነህ? ትዕዛዜ አልደረሰም። እባክህ እርዳኝ",
        "s2": "Hello, my order has not arrived yet, please call me back.",
        "s3": "સ્તે, મારો ઓર્ડર હજી આવ્યો નથી, કૃપા કરીને મદદ કરો",
        "s4": "[NAME_1], [ORDER_NUMBER_1]: សួស្តី",
    }
    write_jsonl(tmp_path / "in.jsonl", [make_turn(session, text=text) for session, text in texts.items()])
    done = here("--input", "in.jsonl", "--out", "out.jsonl", "--report", "r.json")
    kept = (
        "except names in Ethiopic script (1 turn), Gujarati script (1 turn), Khmer script (1 turn): no other"
    )
    assert (done.returncode, kept in done.stdout) == (0, True)
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["verification"]["unmeasured"] == {"Ethiopic": 1, "Gujarati": 1, "Khmer": 1}
