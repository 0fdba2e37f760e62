"""The two commands: exit codes, what they say where, and what they leave behind."""

import gzip
import json
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from datasets_app.jobs import queue
from datasets_app.models import Dataset, JobRun, Turn
from tests import preloaded
from tests.factories import encode_jsonl, make_session, make_sessions, make_turn, write_jsonl

pytestmark = pytest.mark.django_db(transaction=True)
Manage = Callable[..., subprocess.CompletedProcess[str]]


def test_in_and_out_with_a_job_row_each(manage_subprocess: Manage, tmp_path: Path) -> None:
    manage = manage_subprocess
    write_jsonl(tmp_path / "a.jsonl", make_sessions(3))
    done = manage("import_dataset", "a.jsonl", "--name", "support", "--origin", "synthetic", new=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "support: 6 turns in 3 sessions added." in done.stdout
    done = manage("export_dataset", "support", "--out", "out.jsonl")
    assert (done.returncode, done.stdout) == (0, "")
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_bytes().splitlines()]
    assert [line["text"] for line in lines] == [line["text"] for line in make_sessions(3)]
    assert (tmp_path / "out.meta.yaml").exists()
    rows = JobRun.objects.order_by("id").values_list("operation", "state", "foreground", "dataset__name")
    assert list(rows) == [
        ("import_dataset", "done", True, "support"),
        ("export_dataset", "done", True, "support"),
    ]


def test_a_worker_that_runs_searches_what_was_imported(
    manage_subprocess: Manage, processes: Any, wait_until: Any, tmp_path: Path
) -> None:
    processes.start("worker")
    wait_until(queue.worker_count)
    write_jsonl(tmp_path / "a.jsonl", [make_turn(text="Write to jane@example.org")])
    done = manage_subprocess(
        "import_dataset", "a.jsonl", "--name", "support", "--origin", "external", new=True
    )
    assert "support: a worker searches it for personal data" in done.stdout
    job = JobRun.objects.get(operation="scan_text")
    assert wait_until(lambda: JobRun.objects.filter(pk=job.pk, state="done").first()).result["text"]


def test_pipes_at_both_ends(manage_subprocess: Manage) -> None:
    manage = manage_subprocess
    done = manage("import_dataset", "-", "--name", "piped", input=gzip.compress(encode_jsonl(make_session())))
    assert done.returncode == 0, done.stderr
    done = manage("export_dataset", "piped", "--out", "-", "--format", "openai")
    assert [message["role"] for message in json.loads(done.stdout)["messages"]] == ["user", "assistant"]


def test_an_origin_that_nothing_states_is_assumed_aloud(manage: Manage, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "a.jsonl", make_sessions(2))
    write_jsonl(tmp_path / "b.jsonl", [make_turn("b", 1)])
    said = "Nothing stated the origin, so external is assumed"
    assert said in manage("import_dataset", tmp_path / "a.jsonl", "--name", "assumed").stderr
    assert said not in manage("import_dataset", tmp_path / "b.jsonl", "--name", "assumed").stderr
    stated = manage("import_dataset", tmp_path / "a.jsonl", "--name", "stated", "--origin", "external")
    assert said not in stated.stderr
    (tmp_path / "a.meta.yaml").write_text("name: a\norigin: production\n")
    assert said not in manage("import_dataset", tmp_path / "a.jsonl", "--name", "by-metadata").stderr
    assert Dataset.objects.get(name="by-metadata").origin == "production"


def test_problems_are_listed_like_a_linters_and_end_with_1(manage_subprocess: Manage, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "a.jsonl", [make_turn("a", 1, role="system"), make_turn("b", 4)])
    done = manage_subprocess("import_dataset", "a.jsonl", "--name", "support")
    assert done.returncode == 1
    assert "a.jsonl:1: E103 role must be 'user' or 'assistant', got 'system'" in done.stderr
    assert "a.jsonl:2: E201" in done.stderr
    assert "Traceback" not in done.stderr
    assert not Dataset.objects.exists()
    assert JobRun.objects.get().state == "failed"


def test_quarantine_goes_beside_the_file(manage: Manage, tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    write_jsonl(folder / "a.jsonl", [make_turn("b", 4), *make_session()])
    done = manage("import_dataset", "logs/a.jsonl", "--name", "support", "--on-error", "quarantine")
    assert done.returncode == 0
    assert "1 session (1 line) quarantined in a.quarantine.jsonl" in done.stdout
    assert (folder / "a.quarantine.jsonl").read_bytes() == encode_jsonl([make_turn("b", 4)])
    done = manage("import_dataset", "logs/a.quarantine.jsonl", "--name", "new", "--on-error", "quarantine")
    assert (done.returncode, "No session was imported" in done.stdout) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["import_dataset", "none.jsonl", "--name", "x"], "none.jsonl: E100 no such file"),
        (["import_dataset", ".", "--name", "x"], "is a directory"),
        (["import_dataset", "a.jsonl", "--name", "../x"], "can't be the name of a dataset"),
        (["import_dataset", "a.jsonl"], "required: --name"),
        (["export_dataset", "none"], "There is no dataset 'none'"),
        (["export_dataset", "support", "--out", "none/out.jsonl"], "can't be written"),
        (["export_dataset", "support", "--format", "xml"], "invalid choice"),
    ],
)
def test_what_could_not_run_ends_with_2_and_a_sentence(
    manage: Manage, tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    Dataset.objects.create(name="support")
    write_jsonl(tmp_path / "a.jsonl", make_session())
    done = manage(*arguments)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_a_database_that_is_not_there_is_a_sentence(manage_subprocess: Manage, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "a.jsonl", make_session())
    nowhere = {"DATABASE_URL": "postgresql://nobody@/none?host=/nonexistent"}
    done = manage_subprocess("import_dataset", "a.jsonl", "--name", "x", env=nowhere)
    assert done.returncode == 2
    assert "The database can't be used" in done.stderr
    assert "Traceback" not in done.stderr


def test_ctrl_c_saves_nothing(
    subprocess_environment: dict[str, str], tmp_path: Path, wait_until: Any
) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", make_sessions(20_000, turns=5))
    process = preloaded.Popen(
        "import_dataset", path, "--name", "support", env=subprocess_environment, stderr=subprocess.PIPE
    )
    wait_until(lambda: JobRun.objects.filter(state="running", done__gt=0).exists())
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"Traceback" not in said
    assert not Turn.objects.exists()
    assert JobRun.objects.get().state == "cancelled"


def test_two_imports_of_one_name_at_once_wait_for_each_other(
    subprocess_environment: dict[str, str], tmp_path: Path
) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", make_sessions(2_000, turns=5))
    given: Any = {"env": subprocess_environment, "stdout": subprocess.PIPE, "text": True}
    both = [preloaded.Popen("import_dataset", path, "--name", "support", **given) for _ in range(2)]
    said = "".join(process.communicate(timeout=60)[0] for process in both)
    assert [process.returncode for process in both] == [0, 0]
    assert said.count("imported before, nothing changed") == 1
    assert Dataset.objects.get().turn_count == Turn.objects.count() == 10_000


def test_a_failed_import_keeps_no_value_of_its_file(manage: Any, tmp_path: Path) -> None:
    lines = [*make_session("jo@example.org"), make_turn("jo@example.org", 3) | {"role": "system"}]
    done = manage("import_dataset", write_jsonl(tmp_path / "bad.jsonl", lines), "--name", "support")
    assert done.returncode == 1
    problems = JobRun.objects.get().result["problems"]
    assert {problem["session_id"] for problem in problems} == {"[EMAIL]"}
    assert "jo@" not in str(list(JobRun.objects.values()))
