"""A dataset that is split: what goes on beside it, what its test split is kept from, what reports keep."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command
from django.db import transaction

from annotations_app.labels.export_annotations import export_annotations
from annotations_app.models import Annotation, CampaignItem
from datasets_app.catalog.rows.turn_reader import Selection
from datasets_app.core.errors import UserError
from datasets_app.core.progress import OperationCanceled
from datasets_app.domain.splits.splits import SplitSettings
from datasets_app.exporting.export_dataset import export_to_path
from datasets_app.models import Dataset, JobRun, Session, Turn
from datasets_app.scrubbing.scrub_dataset import parse_policy, scrub_dataset
from datasets_app.splitting import split_dataset as splitting
from datasets_app.splitting.split_dataset import split_dataset
from tests import factories
from tests.campaigns import make_campaign
from tests.domain.test_near_duplicates import talk
from tests.factories import run_task

pytestmark = pytest.mark.django_db


def stored(path: Path, count: int = 20, **given: Any) -> Dataset:
    lines = [
        factories.make_turn(f"s{number:02d}", at, text=text, persona_id="warm_v1", tags=["scenario:a"])
        for number in range(count)
        for at, text in enumerate(talk(number, 4), 1)
    ]
    return factories.make_dataset(path, lines, **{"origin": "synthetic", **given})


def split_of(dataset: Dataset) -> dict[str, str]:
    return dict(dataset.sessions.values_list("session_id", "split"))


def test_the_test_split_reaches_no_calibration(tmp_path: Path) -> None:
    dataset = stored(tmp_path)
    split_dataset(dataset)
    test = {session for session, split in split_of(dataset).items() if split == "test"}
    assert len(test) == 4
    made = make_campaign(dataset, "ana")
    offered = set(CampaignItem.objects.filter(campaign=made).values_list("session__session_id", flat=True))
    assert offered == split_of(dataset).keys() - test
    with pytest.raises(UserError, match="test split of support is locked"):
        make_campaign(dataset, "ana", name="b", split="test")
    for turn in Turn.objects.filter(session__dataset=dataset, role="assistant"):
        Annotation.objects.create(dataset=dataset, turn=turn, label=1, persona_id="warm_v1")
    out = io.BytesIO()
    export_annotations(dataset, persona="warm_v1", out=out, labels="all")
    assert test.isdisjoint(json.loads(line)["session_id"] for line in out.getvalue().splitlines())


def test_files_of_the_test_split_are_not_asked_about(tmp_path: Path) -> None:
    dataset = stored(tmp_path)
    split_dataset(dataset)
    exported = tmp_path / "exported.jsonl"
    export_to_path(dataset, exported, selection=Selection(split="test"))
    call_command(
        "split_dataset",
        "--input",
        str(tmp_path / "support.jsonl"),
        "--out-dir",
        str(tmp_path),
        stdout=io.StringIO(),
    )
    out = tmp_path / "candidates.jsonl"
    for file in (exported, tmp_path / "test.jsonl"):
        asked = ["extract_candidates", "--input", str(file), "--out", str(out)]
        with pytest.raises(CommandError, match="is the test split, which is locked") as error:
            call_command(*asked)
        assert error.value.returncode == 2
        assert not out.exists()
        call_command(*asked, "--override", "to show how it is done", stderr=io.StringIO())
        assert len(out.read_text().splitlines()) == 8
        out.unlink()
    call_command(
        "extract_candidates",
        "--input",
        str(tmp_path / "train.jsonl"),
        "--out",
        str(out),
        stderr=io.StringIO(),
    )
    assert len(out.read_text().splitlines()) == 24


def test_only_who_may_open_the_gate_splits_again(tmp_path: Path) -> None:
    dataset = stored(tmp_path)
    split_dataset(dataset)
    before = split_of(dataset)
    curator = User.objects.create(username="carla")
    curator.groups.add(Group.objects.get(name="curator"))
    other = SplitSettings.parse("50,50", 1, "none", 0.7)
    with pytest.raises(UserError, match="permission to split a dataset again"):
        split_dataset(dataset, other, resplit=True, override="why not", actor=curator)
    assert split_of(dataset) == before
    officer = User.objects.create(username="olga")
    officer.groups.add(Group.objects.get(name="privacy officer"))
    split_dataset(dataset, other, resplit=True, override="a mistake", actor=officer)
    assert set(split_of(dataset).values()) == {"train", "test"}


def test_two_at_once_do_not_write_over_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = stored(tmp_path)
    decide = splitting.decide_splits

    def meanwhile(*given: Any) -> Any:
        decision = decide(*given)
        monkeypatch.undo()
        split_dataset(Dataset.objects.get(), SplitSettings(seed=7))
        return decision

    monkeypatch.setattr(splitting, "decide_splits", meanwhile)
    with pytest.raises(UserError, match="Someone else has split support"):
        split_dataset(dataset)
    assert Dataset.objects.get().split_settings["seed"] == 7


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("at", [0, 200, 330])
def test_cancelled_it_leaves_nothing(tmp_path: Path, at: int) -> None:
    """At the start, in the middle of reading, while pairs are compared."""
    dataset = stored(tmp_path, 300)

    def cancel(done: int, total: int | None = None) -> None:
        assert total == 330
        if done >= min(at, 300):
            raise OperationCanceled

    with pytest.raises(OperationCanceled), transaction.atomic():
        split_dataset(dataset, report_progress=cancel)
    assert set(split_of(dataset).values()) == {None}
    assert Dataset.objects.get().split_settings is None


def test_as_a_job_it_keeps_counts_and_no_ids(tmp_path: Path) -> None:
    dataset = stored(tmp_path)
    job = JobRun.objects.create(
        operation="split_dataset",
        dataset=dataset,
        parameters={"settings": SplitSettings.parse("80,20", 1, "persona", 0.8).as_json()},
    )
    assert run_task(job) == {
        "sessions": 20,
        "placed_now": 20,
        "train": 16,
        "test": 4,
        "kept_together": 0,
        "leaking_pairs": 0,
    }
    job.parameters = {}
    assert run_task(job)["placed_now"] == 0


def test_an_empty_and_an_expired_dataset_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has no sessions"):
        split_dataset(Dataset.objects.create(name="empty"))
    dataset = stored(tmp_path)
    Dataset.objects.update(status="expired")
    with pytest.raises(UserError):
        split_dataset(dataset)


@pytest.mark.django_db(transaction=True)
def test_a_scrub_keeps_splits_and_forgets_what_reports_tell(tmp_path: Path) -> None:
    lines = [
        factories.make_turn(f"s{number}", 1, text=talk(number)[0], tags=["scenario:mail wex@example.org"])
        for number in range(10)
    ]
    dataset = factories.make_dataset(tmp_path, lines, origin="production")
    split_dataset(dataset)
    before = sorted(split_of(dataset).values())
    assert "wex@example.org" in str(Dataset.objects.get().split_settings)
    scrub_dataset(dataset, parse_policy({"hash_session_ids": True}))
    assert "wex@example.org" not in str(Dataset.objects.get().split_settings)
    assert sorted(split_of(dataset).values()) == before
    assert Session.objects.filter(session_id__startswith="s").count() == 0
    done = split_dataset(Dataset.objects.get())
    assert (done.placed, done.report["leaking_pairs"]) == (0, 0)


@pytest.mark.parametrize(
    "stated", ["split: {name: test}", "modifications: ['filtered: only sessions of split test']"]
)
def test_a_test_split_that_is_imported_elsewhere_stays_locked(tmp_path: Path, stated: str) -> None:
    (tmp_path / "held.meta.yaml").write_text(stated + "\n")
    held = factories.make_dataset(tmp_path, factories.make_sessions(2), "held")
    with pytest.raises(UserError, match="outside the locked test split"):
        make_campaign(held, "ana")
    factories.import_file(
        factories.write_jsonl(tmp_path / "more.jsonl", factories.make_session("t1")), "held"
    )
    splits = dict(held.sessions.values_list("session_id", "split"))
    assert splits == {"s1": "test", "s2": "test", "t1": None}
    assert make_campaign(held, "ana").item_count == 1
