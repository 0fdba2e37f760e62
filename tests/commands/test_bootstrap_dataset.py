"""bootstrap_dataset as a person or a pipeline runs it; files without any database."""

import gzip
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from datasets_app.models import AuditEvent, Dataset, JobRun, Turn
from tests import preloaded
from tests.conftest import PROJECT, RunManage
from tests.factories import make_sessions, write_jsonl
from tests.terminal import decode_output, run_in_process

# No server listens there: whoever asks for a database fails.
NOWHERE = {"DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none", "REDIS_URL": "redis://127.0.0.1:1/0"}
PERSONA = """
id: acme
exemplars: [Happy to help!]
lexicon: {preferred: [together], avoid: [lol, problem]}
"""


@pytest.fixture
def bootstrap(tmp_path: Path) -> RunManage:
    """Runs the command in the test's folder, with no database to be had; with an environment of its own, in
    a process of its own."""

    def run(*arguments: Any, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        if env is None:
            return decode_output(run_in_process("bootstrap_dataset", *arguments, cwd=tmp_path))
        return subprocess.run(
            [sys.executable, str(PROJECT / "manage.py"), "bootstrap_dataset", *map(str, arguments)],
            capture_output=True,
            text=True,
            env={**os.environ, **NOWHERE, "PYTHONPATH": str(PROJECT), **env},
            cwd=tmp_path,
            timeout=120,
        )

    return run


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_the_same_command_writes_the_same_bytes(bootstrap: RunManage, tmp_path: Path) -> None:
    """In this process and in another one, which hashes differently."""
    first = bootstrap("--out", "a.jsonl", "--sessions", 30)
    second = bootstrap("--out", "b.jsonl", "--sessions", 30, env={"PYTHONHASHSEED": "2", "LC_ALL": "C"})
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert (tmp_path / "a.jsonl").read_bytes() == (tmp_path / "b.jsonl").read_bytes()
    assert "5 safety traps, 6 brand traps, 2 over-refusal probes, 17 ordinary" in first.stdout


def test_file_labels_and_metadata_pass_the_checks(bootstrap: RunManage, tmp_path: Path) -> None:
    (tmp_path / "acme.yaml").write_text(PERSONA)
    done = bootstrap(
        "--out",
        "eval.jsonl",
        "--sessions",
        120,
        "--persona",
        "acme.yaml",
        "--labels",
        "labels.jsonl.gz",
        "--turns-per-session",
        "4-7",
        "--brand-trap-ratio",
        "0.4",
        "--seed",
        7,
    )
    assert done.returncode == 0, done.stderr
    from django.core.management import call_command

    call_command(
        "validate_dataset", str(tmp_path / "eval.jsonl"), str(tmp_path / "labels.jsonl.gz"), "--strict"
    )
    stated = yaml.safe_load((tmp_path / "eval.meta.yaml").read_text())
    found = lines(tmp_path / "eval.jsonl")
    assert stated["total_turns"] == len(found)
    assert (stated["total_sessions"], stated["safety_traps"], stated["brand_traps"]) == (120, 18, 48)
    assert (stated["generator"], stated["seed"], stated["model"]) == (
        "alignmenter offline writer",
        7,
        "offline",
    )
    assert stated["persona"]["id"] == "acme"
    assert {len([line for line in found if line["session_id"] == one["session_id"]]) for one in found} == {
        4,
        5,
        6,
        7,
    }
    traps = {line["session_id"] for line in found if "scenario:safety_trap" in line["tags"]}
    assert len(traps) == 18
    packed = (tmp_path / "labels.jsonl.gz").read_bytes()
    stated = yaml.safe_load((tmp_path / "labels.meta.yaml").read_text())
    assert stated["sha256"] == hashlib.sha256(packed).hexdigest()
    labels = [json.loads(line) for line in gzip.decompress(packed).splitlines()]
    assert abs(sum(label["label"] for label in labels) * 2 - len(labels)) <= 4
    texts = {(line["session_id"], line["turn_index"]): line for line in found}
    for label in labels:
        turn = texts[label["session_id"], label["turn_index"]]
        assert turn["text"] == label["text"]
        assert f"brand:{'on' if label['label'] else 'off'}" in turn["tags"]


def test_a_gzipped_file_and_standard_output_hold_the_same(bootstrap: RunManage, tmp_path: Path) -> None:
    assert bootstrap("--out", "a.jsonl.gz", "--sessions", 5).returncode == 0
    printed = bootstrap("--out", "-", "--sessions", 5)
    assert gzip.decompress((tmp_path / "a.jsonl.gz").read_bytes()).decode() == printed.stdout


def test_a_source_is_followed(bootstrap: RunManage, tmp_path: Path) -> None:
    write_jsonl(
        tmp_path / "source.jsonl",
        make_sessions(4, 8, tags=["scenario:orders", "vip"], text="Nobody may see this."),
    )
    done = bootstrap("--out", "new.jsonl", "--sessions", 12, "--source", "source.jsonl")
    assert done.returncode == 0, done.stderr
    found = lines(tmp_path / "new.jsonl")
    assert len(found) == 12 * 8
    ordinary = [line for line in found if line["tags"][0] == "scenario:orders"]
    assert ordinary
    assert all("vip" in line["tags"] for line in found)
    assert not any("Nobody may see" in line["text"] for line in found)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--safety-trap-ratio", "0.7", "--brand-trap-ratio", "0.4"], "add up to 1.1"),
        (["--turns-per-session", "1"], "from 2 to 100"),
        (["--turns-per-session", "many"], "a number such as 6"),
        (["--persona", "nothing.yaml"], "can't be read"),
        (["--persona", "broken.yaml"], "is not a valid persona"),
        (["--persona", "mute.yaml"], "avoids 'the'"),
        (["--source", "nothing.jsonl"], "no such file"),
        (["--labels", "out.jsonl"], "another name"),
        (["--source", "out.jsonl.gz"], "share the metadata file"),
        (["--dataset", "both"], "Name either"),
        (["--model", "pencil"], "openai:NAME"),
    ],
)
def test_what_can_not_be_done_is_said_in_a_sentence(
    bootstrap: RunManage, tmp_path: Path, arguments: list[str], told: str
) -> None:
    (tmp_path / "broken.yaml").write_text("[]")
    (tmp_path / "mute.yaml").write_text("{id: mute, lexicon: {avoid: [the]}}")
    done = bootstrap("--out", "out.jsonl", "--sessions", 3, *arguments)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(("out", "."))]


LOST_INTERRUPT = re.compile(rb"Exception ignored in: .*?^KeyboardInterrupt: \n", re.DOTALL | re.MULTILINE)


def interrupt(process: preloaded.Popen) -> bytes:
    """What it says. Python itself loses an interrupt that comes amid a callback of a weak reference, and says
    so: then it is pressed again, as a person would."""
    for _ in range(6):
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            return LOST_INTERRUPT.sub(b"", process.communicate(timeout=10)[1])
    raise AssertionError("the command goes on")


def test_an_interrupt_leaves_nothing_behind(tmp_path: Path) -> None:
    process = preloaded.Popen(
        *("bootstrap_dataset", "--out", "a.jsonl", "--labels", "l.jsonl", "--sessions", "1000000"),
        env={**os.environ, **NOWHERE, "PYTHONPATH": str(PROJECT)},
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + 60
        while not any(path.stat().st_size for path in tmp_path.iterdir()):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        errors = interrupt(process)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 130
    assert b"Traceback" not in errors
    assert not list(tmp_path.iterdir())


# --- datasets ------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_a_dataset_has_rows_provenance_a_job_and_entries_in_the_trail(manage: RunManage) -> None:
    done = manage("bootstrap_dataset", "--dataset", "eval", "--sessions", 20)
    assert done.returncode == 0, done.stderr
    assert "eval: 120 turns in 20 sessions added." in done.stdout
    again = manage("bootstrap_dataset", "--dataset", "eval", "--sessions", 20)
    assert "0 turns in 0 sessions added. 20 sessions existed already." in again.stdout
    dataset = Dataset.objects.get()
    assert (dataset.origin, dataset.session_count, dataset.turn_count) == ("synthetic", 20, 120)
    assert dataset.license == "Apache-2.0"
    assert (dataset.provenance["safety_traps"], dataset.provenance["brand_traps"]) == (3, 4)
    assert dataset.provenance["generator"] == "alignmenter offline writer"
    assert Turn.objects.count() == 120
    assert [row.state for row in JobRun.objects.order_by("pk")] == ["done", "done"]
    events = AuditEvent.objects.filter(action="generate").order_by("pk")
    assert [event.details["state"] for event in events] == ["begun", "ended"]
    assert manage("bootstrap_dataset", "--dataset", "eval", "--sessions", 20, "--seed", 1).returncode == 0
    dataset.refresh_from_db()
    assert (dataset.session_count, dataset.provenance["safety_traps"]) == (40, 6)
    checked = manage("validate_dataset", "--dataset", "eval", "--strict")
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.django_db(transaction=True)
def test_a_dataset_is_as_its_file(manage: RunManage, tmp_path: Path) -> None:
    assert manage("bootstrap_dataset", "--dataset", "eval", "--sessions", 10).returncode == 0
    assert manage("bootstrap_dataset", "--out", "file.jsonl", "--sessions", 10).returncode == 0
    assert manage("export_dataset", "eval", "--out", "export.jsonl").returncode == 0
    assert lines(tmp_path / "file.jsonl") == lines(tmp_path / "export.jsonl")


@pytest.mark.django_db(transaction=True)
def test_production_data_and_generated_data_are_kept_apart(manage: RunManage, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "logs.jsonl", make_sessions(1))
    assert manage("import_dataset", "logs.jsonl", "--name", "logs", "--origin", "production").returncode == 0
    done = manage("bootstrap_dataset", "--dataset", "logs", "--sessions", 3)
    assert done.returncode == 2
    assert "origin production, not synthetic" in done.stderr
    assert manage("bootstrap_dataset", "--dataset", "no/name", "--sessions", 3).returncode == 2
    assert manage("bootstrap_dataset", "--dataset", "x", "--sessions", 3, "--persona", "who").returncode == 2
