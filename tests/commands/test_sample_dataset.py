"""sample_dataset as a person runs it; a file needs no database."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from datasets_app.models import Dataset, JobRun
from tests import preloaded
from tests.commands.test_bootstrap_dataset import NOWHERE
from tests.conftest import RunManage
from tests.factories import make_session, write_jsonl
from tests.terminal import decode_output, run_in_process


def without_database(folder: Path, *arguments: Any) -> subprocess.CompletedProcess[str]:
    return decode_output(run_in_process("sample_dataset", *arguments, cwd=folder))


def apart(folder: Path, *arguments: Any) -> subprocess.CompletedProcess[str]:
    """In a process of its own, for which no server answers."""
    given: dict[str, Any] = {"env": {**os.environ, **NOWHERE}, "cwd": folder, "text": True}
    return preloaded.run("sample_dataset", *arguments, **given)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    found = [make_session(f"s{number}", tags=["trap:privacy"] if number < 2 else []) for number in range(10)]
    return write_jsonl(tmp_path / "all.jsonl", [line for lines in found for line in lines])


def test_a_file_is_sampled_without_a_database(source: Path, tmp_path: Path) -> None:
    done = without_database(tmp_path, "--input", source, "--size", 5, "--by", "trap", "--out", "few.jsonl")
    assert done.returncode == 0, done.stderr
    assert "no trap: 3\n  trap:privacy: 2\nfew.jsonl: 10 turns in 5 sessions." in done.stdout
    found = [json.loads(line)["session_id"] for line in (tmp_path / "few.jsonl").read_text().splitlines()]
    assert len(set(found)) == 5
    assert found == sorted(found)
    again = apart(tmp_path, "--input", source, "--size", 5, "--by", "trap", "--out", "again.jsonl")
    assert again.returncode == 0
    assert (tmp_path / "few.jsonl").read_bytes() == (tmp_path / "again.jsonl").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--input", "all.jsonl", "--size", 5], "Choose the target"),
        (["--size", 5, "--out", "x.jsonl"], "Name either a dataset or a file"),
        (["--input", "all.jsonl", "--size", 0, "--out", "x.jsonl"], "at least one session"),
        (
            ["--input", "all.jsonl", "--size", 5, "--out", "all.jsonl"],
            "is the input, which is never overwritten",
        ),
        (["--input", "none.jsonl", "--size", 5, "--out", "x.jsonl"], "no such file"),
        (["--input", "all.jsonl", "--size", 5, "--as", "few"], "import_dataset"),
        (["--input", "all.jsonl", "--size", 5, "--out", "all.jsonl.gz"], "share the metadata file"),
        (["--input", "all.jsonl", "--size", 5, "--out", "-"], "name a file with --out"),
    ],
)
def test_what_can_not_be_done_is_said_in_a_sentence(
    source: Path, tmp_path: Path, arguments: list[Any], told: str
) -> None:
    before = source.read_bytes()
    done = without_database(tmp_path, *arguments)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert source.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["all.jsonl"]


@pytest.mark.django_db(transaction=True)
def test_a_dataset_s_sample_becomes_a_dataset(manage: RunManage, source: Path) -> None:
    assert manage("import_dataset", source, "--name", "all").returncode == 0
    done = manage("sample_dataset", "all", "--size", 4, "--as", "few")
    assert done.returncode == 0, done.stderr
    assert "few: 8 turns in 4 sessions." in done.stdout
    assert Dataset.objects.get(name="few").session_count == 4
    row = JobRun.objects.order_by("-pk").first()
    assert row is not None
    assert (row.operation, row.state, row.result["sessions"]) == ("sample_dataset", "done", 4)
    assert (
        "no dataset 'nothing'" in manage("sample_dataset", "nothing", "--size", 4, "--out", "x.jsonl").stderr
    )
