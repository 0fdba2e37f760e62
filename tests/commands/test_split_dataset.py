"""split_dataset as a person runs it: files without a database, datasets with one."""

import gzip
import io
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from datasets_app.domain.metadata.metadata import read_metadata
from datasets_app.models import AuditEvent, Dataset, JobRun, Session
from tests import preloaded
from tests.commands.test_bootstrap_dataset import NOWHERE
from tests.domain.test_near_duplicates import talk
from tests.factories import import_file, make_turn, write_jsonl


def lines_of(session_id: str, seed: int, **fields: Any) -> list[dict[str, Any]]:
    return [make_turn(session_id, at, text=text, **fields) for at, text in enumerate(talk(seed), 1)]


def sessions(numbers: range, **fields: Any) -> list[dict[str, Any]]:
    """Of two scenarios in turn."""
    return [
        line
        for number in numbers
        for line in lines_of(f"s{number:04d}", number, tags=[f"scenario:{'ab'[number % 2]}"], **fields)
    ]


def run(*arguments: Any) -> str:
    out = io.StringIO()
    call_command("split_dataset", *map(str, arguments), stdout=out)
    return out.getvalue()


def refused(*arguments: Any) -> str:
    with pytest.raises(CommandError) as error:
        run(*arguments)
    assert error.value.returncode == 2
    return str(error.value)


def placed(folder: Path, ending: str = ".jsonl") -> dict[str, str]:
    """The split of each session, each in one piece in one file."""
    found: dict[str, str] = {}
    for split in ("train", "validation", "test"):
        path = folder / f"{split}{ending}"
        if not path.exists():
            continue
        with gzip.open(path, "rt") if ending.endswith("gz") else path.open() as file:
            for line in file:
                assert found.setdefault(json.loads(line)["session_id"], split) == split
    return found


def test_a_file_is_split_without_a_database(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "all.jsonl", sessions(range(50), persona_id="ana", note="kept"))
    (tmp_path / "all.meta.yaml").write_text("name: all\nlicense: CC0-1.0\nsafety_traps: 3\n")
    done = preloaded.run(
        *("split_dataset", "--input", "all.jsonl", "--out-dir", "out", "--report", "report.json"),
        env={**os.environ, **NOWHERE},
        cwd=tmp_path,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "train: 30 sessions, 60.0 % (target 60 %)" in done.stdout
    assert "out/test.jsonl: 60 turns in 10 sessions. sha256" in done.stdout
    assert Counter(placed(tmp_path / "out").values()) == {"train": 30, "validation": 10, "test": 10}
    stated = read_metadata(tmp_path / "out" / "test.meta.yaml")
    assert stated is not None
    assert (stated.license, stated.total_sessions, stated.safety_traps) == ("CC0-1.0", 10, None)
    assert stated.extra["split"]["name"] == "test"
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["leaking_pairs"] == 0
    assert report["leaks"] == []
    assert report["files"]["test"]["sha256"] == stated.sha256
    written = [json.loads(line) for line in (tmp_path / "out" / "test.jsonl").read_text().splitlines()]
    assert all(line["note"] == "kept" for line in written)


def test_later_files_add_to_a_folder_and_nobody_moves(tmp_path: Path) -> None:
    out = tmp_path / "out"
    everybody = sessions(range(100))
    before: dict[str, str] = {}
    for batch in range(5):
        new = sessions(range(20 * batch, 20 * batch + 20))
        if batch == 3:
            new += lines_of("twin", 41, tags=["scenario:b"])
        # Now and then the file holds all there is so far, else what is new.
        given = everybody[: 120 * batch] + new if batch == 2 else new
        path = write_jsonl(tmp_path / f"batch{batch}.jsonl", given)
        told = run("--input", path, "--out-dir", out)
        now = placed(out)
        assert {key: now[key] for key in before} == before
        assert "No leak" in told
        before = now
    assert len(before) == 101
    assert before["twin"] == before["s0041"]
    assert Counter(before.values()) == {"train": 61, "validation": 20, "test": 20}
    assert "Kept 81 sessions of the folder that the file doesn't contain." in told
    # The same again changes no byte.
    files = {path.name: path.read_bytes() for path in out.iterdir()}
    run("--input", tmp_path / "batch4.jsonl", "--out-dir", out)
    assert files == {path.name: path.read_bytes() for path in out.iterdir()}


def test_what_the_file_says_of_a_session_now_is_what_is_written(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run("--input", write_jsonl(tmp_path / "a.jsonl", sessions(range(10))), "--out-dir", out)
    before = placed(out)
    changed = [
        {**line, "text": "corrected"} if line["session_id"] == "s0003" else line
        for line in sessions(range(10))
    ]
    run("--input", write_jsonl(tmp_path / "b.jsonl", changed), "--out-dir", out)
    assert placed(out) == before
    text = (out / f"{before['s0003']}.jsonl").read_text()
    assert text.count('"corrected"') == 6


def test_packed_in_packed_out_and_two_shares_for_few_sessions(tmp_path: Path) -> None:
    path = tmp_path / "few.jsonl.gz"
    path.write_bytes(gzip.compress(write_jsonl(tmp_path / "few.jsonl", sessions(range(5))).read_bytes()))
    run("--input", path, "--out-dir", tmp_path / "out", "--ratios", "80,20", "--stratify", "none")
    assert Counter(placed(tmp_path / "out", ".jsonl.gz").values()) == {"train": 4, "test": 1}
    # One session only: two of the three files are empty, and are read again as such.
    one = write_jsonl(tmp_path / "one.jsonl", sessions(range(1)))
    run("--input", one, "--out-dir", tmp_path / "one")
    run("--input", one, "--out-dir", tmp_path / "one")
    assert placed(tmp_path / "one") == {"s0000": "train"}
    assert (tmp_path / "one" / "test.jsonl").read_bytes() == b""


def test_what_can_not_be_done_is_said_and_nothing_is_written(tmp_path: Path) -> None:
    path, out = write_jsonl(tmp_path / "a.jsonl", sessions(range(10))), tmp_path / "out"
    assert "Name either" in refused("--input", path, "--out-dir", out, "--dataset", "x")
    assert "together" in refused("--input", path)
    assert "add up to 100" in refused("--input", path, "--out-dir", out, "--ratios", "60,30")
    assert "from 0.5 to 1" in refused("--input", path, "--out-dir", out, "--similarity", "0.1")
    assert "another --out-dir" in refused("--input", path, "--out-dir", out, "--again")
    assert "is a file; name a folder" in refused("--input", path, "--out-dir", path)
    bad = write_jsonl(tmp_path / "bad.jsonl", [*sessions(range(3)), b"{}"])
    assert "bad.jsonl:19: E102" in refused("--input", bad, "--out-dir", out)
    twice = write_jsonl(tmp_path / "twice.jsonl", [*sessions(range(3)), *sessions(range(1))])
    assert "twice.jsonl:19: E202" in refused("--input", twice, "--out-dir", out)
    assert not out.exists()
    run("--input", path, "--out-dir", out)
    assert "with other settings: train 60 %" in refused("--input", path, "--out-dir", out, "--seed", "7")
    assert "is the input file itself" in refused("--input", out / "train.jsonl", "--out-dir", out)
    (out / "test.jsonl").write_bytes((out / "train.jsonl").read_bytes())
    assert "is in both train.jsonl and test.jsonl" in refused("--input", path, "--out-dir", out)


@pytest.mark.django_db(transaction=True)
def test_500_sessions_in_five_batches_into_a_dataset(tmp_path: Path) -> None:
    before: dict[str, str] = {}
    for batch in range(5):
        new = sessions(range(100 * batch, 100 * batch + 99), persona_id="ana")
        # The hundredth is a near-duplicate of an earlier one: other case, other number, one word more.
        texts = [f"{text.upper()} Number {batch}!" for text in talk(max(0, 100 * batch - 73))]
        new += [
            make_turn(f"twin{batch}", at, text=text, tags=["scenario:b"]) for at, text in enumerate(texts, 1)
        ]
        import_file(write_jsonl(tmp_path / f"{batch}.jsonl", new), append=True, origin="synthetic")
        told = run("--dataset", "support")
        assert "support: 100 sessions placed." in told
        assert "No leak" in told
        rows = Session.objects.values_list("session_id", "split")
        now: dict[str, str] = dict(rows)
        assert {key: now[key] for key in before} == before
        assert now[f"twin{batch}"] == now[f"s{max(0, 100 * batch - 73):04d}"]
        before = now
    dataset = Dataset.objects.get()
    report = dataset.split_settings["report"]
    assert all(row["points_off"] <= 1 for row in report["strata"])
    assert Counter(before.values()) == {"train": 300, "validation": 100, "test": 100}
    assert "twin" not in str(dataset.split_settings)
    assert not any("twin" in str(job.result) for job in JobRun.objects.all())
    events = AuditEvent.objects.filter(action="split")
    assert [event.details["placed"] for event in events.order_by("pk")] == [100] * 5


@pytest.mark.django_db(transaction=True)
def test_a_dataset_is_split_otherwise_only_for_a_reason(tmp_path: Path) -> None:
    import_file(write_jsonl(tmp_path / "a.jsonl", sessions(range(20))), origin="synthetic")
    run("--dataset", "support", "--ratios", "80,20")
    assert set(Session.objects.values_list("split", flat=True)) == {"train", "test"}
    assert "was split with other settings: train 80 %, test 20 %" in refused(
        "--dataset", "support", "--seed", 9
    )
    assert "give a reason" in refused("--dataset", "support", "--seed", 9, "--again")
    assert "Use --override with --again" in refused("--dataset", "support", "--override", "x")
    run("--dataset", "support", "--ratios", "50,25,25", "--again", "--override", "nothing was\ntrained yet")
    assert Counter(Session.objects.values_list("split", flat=True)) == {
        "train": 10,
        "validation": 5,
        "test": 5,
    }
    event = AuditEvent.objects.get(action="override")
    assert event.details == {"purpose": "split", "reason": "nothing was trained yet"}
    assert "no dataset 'none'" in refused("--dataset", "none")
