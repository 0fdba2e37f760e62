"""`export_annotations` as a person runs it: a whole file or none, and what to know of its balance."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from annotations_app.demo.load_demo import load_demo

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _demo(transactional_db: None) -> None:
    load_demo()


def export(manage: Any, *more: Any) -> Any:
    return manage("export_annotations", "demo_conversations", "--persona", "default_v1", *more)


def test_standard_output_has_the_lines_and_nothing_else(manage: Any) -> None:
    done = export(manage)
    assert done.returncode == 0
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert len({(line["session_id"], line["turn_index"]) for line in lines}) == len(lines) == 30
    assert {line["annotator"] for line in lines} == {"majority"}
    assert "30 labels, 17 on-brand (57 %)." in done.stderr
    assert "Warning: fewer than 50 labels" in done.stderr


def test_all_labels_that_were_given_go_out_if_asked_for(manage: Any) -> None:
    done = export(manage, "--labels", "all")
    assert len(done.stdout.splitlines()) == 90
    assert "90 labels, 52 on-brand (58 %)." in done.stderr
    assert "Warning" not in done.stderr


def test_a_file_appears_whole_and_replaces_the_old_one(tmp_path: Path, manage: Any) -> None:
    out = tmp_path / "labels.jsonl"
    assert export(manage, "--out", out).returncode == 0
    assert out.stat().st_mode & 0o777 == 0o600
    out.write_text("old")
    done = export(manage, "--out", out, "--labels", "all")
    assert (done.returncode, done.stdout) == (0, "")
    assert len(out.read_text().splitlines()) == 90
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith((".", "labels"))] == [
        "labels.jsonl"
    ]


def test_a_refusal_leaves_the_old_file_and_no_half_of_a_new_one(tmp_path: Path, manage: Any) -> None:
    out = tmp_path / "labels.jsonl"
    out.write_text("old")
    done = manage("export_annotations", "demo_conversations", "--persona", "nobody", "--out", out)
    assert done.returncode == 2
    assert "There are labels for: default_v1." in done.stderr
    assert out.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith((".", "labels"))] == [
        "labels.jsonl"
    ]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nothing", "--persona", "p"], "There is no dataset 'nothing'"),
        (["demo_conversations"], "--persona"),
        (["demo_conversations", "--campaign", "nothing"], "There is no campaign 'nothing'"),
        (["demo_conversations", "--persona", "default_v1", "--labels", "some"], "invalid choice"),
        (["demo_conversations", "--persona", "default_v1", "--out", "no/such/folder"], "can't be written"),
        (["demo_conversations", "--persona", "default_v1", "--out", "."], "can't be written"),
    ],
)
def test_what_can_not_run_says_why_with_exit_code_2(manage: Any, arguments: list[str], sentence: str) -> None:
    done = manage("export_annotations", *arguments)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path, manage: Any) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert export(manage, "--out", pipe).returncode == 0
        assert stat.S_ISFIFO(pipe.stat().st_mode)
        assert os.read(reader, 20).startswith(b'{"text":')
    finally:
        os.close(reader)
