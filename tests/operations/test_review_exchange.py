"""Review tasks of the real Alignmenter: judged by people, taken back, qualified and promoted."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given, settings
from hypothesis import strategies as st

from annotations_app.domain.review import Opinion, fill_task, read_task, settle
from annotations_app.labeling.lease_next import lease_next
from annotations_app.models import Campaign
from datasets_app.models import Turn
from tests.alignmenter_tool import run_alignmenter
from tests.campaigns import get_user, make_annotators, make_persona, submit

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of the tool's own example, with its tasks beside it."""
    run_alignmenter(tmp_path, "init-suite", "--out", "suite")
    run_alignmenter(tmp_path, "run-suite", "suite/suite.yaml", "--out", "runs")
    [folder] = (tmp_path / "runs").iterdir()
    run_alignmenter(tmp_path, "review-export", folder, "--out", "tasks.jsonl")
    return folder


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def open_review(folder: Path, *names: str) -> Campaign:
    call_command("import_dataset", str(folder / "tasks.jsonl"), name="review", origin="synthetic")
    make_annotators(*names)
    make_persona()
    call_command(
        "create_review",
        folder / "tasks.jsonl",
        dataset="review",
        persona="warm_v1",
        annotators=",".join(names),
        overlap=len(names),
    )
    return Campaign.objects.get()


def judge_all(campaign: Campaign, name: str, outcome: str = "met") -> None:
    while (current := lease_next(campaign, get_user(name)).current) is not None:
        submit(current, label=None, answers={"outcome": outcome, "rationale": f"{name} read it."})


def test_the_tool_takes_our_judgments_back_qualifies_and_promotes(run: Path, tmp_path: Path) -> None:
    campaign = open_review(tmp_path, "ana", "ben")
    assert campaign.item_count == 2
    judge_all(campaign, "ana")
    judge_all(campaign, "ben")
    call_command(
        "export_review", tmp_path / "tasks.jsonl", dataset="review", out=str(tmp_path / "done.jsonl")
    )

    said = run_alignmenter(tmp_path, "review-import", run, "--annotations", "done.jsonl").stdout
    assert "Accepted 6 annotations" in said  # two opinions and an adjudication of each of two replies
    report = json.loads(run_alignmenter(tmp_path, "qualify", run).stdout)
    assert (report["references"], report["agreements"], report["decision"]) == (2, 2, "pass")
    # A second import adds nothing.
    run_alignmenter(tmp_path, "review-import", run, "--annotations", "done.jsonl")
    assert json.loads(run_alignmenter(tmp_path, "qualify", run).stdout) == report

    [done, *_] = [
        line for line in read_lines(tmp_path / "done.jsonl") if line["annotation"]["role"] != "opinion"
    ]
    chosen = done["annotation"]["id"]
    run_alignmenter(tmp_path, "promote", run, "--annotation-id", chosen, "--out", "case")
    call_command("import_dataset", str(tmp_path / "case/dataset.jsonl"), name="case", origin="synthetic")
    assert Turn.objects.filter(dataset__name="case").count() == 2


def test_a_judgment_that_changed_supersedes_the_one_imported_before(run: Path, tmp_path: Path) -> None:
    campaign = open_review(tmp_path, "ana")
    judge_all(campaign, "ana")
    call_command("export_review", tmp_path / "tasks.jsonl", dataset="review", out=str(tmp_path / "one.jsonl"))
    run_alignmenter(tmp_path, "review-import", run, "--annotations", "one.jsonl")
    campaign.judgments.all().delete()
    campaign.assignments.all().delete()
    campaign.items.update(open=1)
    campaign.members.update(cursor=0)
    judge_all(campaign, "ana", "violated")
    call_command(
        "export_review",
        tmp_path / "tasks.jsonl",
        dataset="review",
        out=str(tmp_path / "two.jsonl"),
        previous=tmp_path / "one.jsonl",
    )
    said = run_alignmenter(tmp_path, "review-import", run, "--annotations", "two.jsonl").stdout
    assert "Accepted 2 annotations" in said


def test_what_the_machine_said_is_nowhere_in_the_dataset(run: Path, tmp_path: Path) -> None:
    open_review(tmp_path, "ana")
    stored = json.dumps(list(Turn.objects.values_list("text", "metadata", "tags")))
    [task, _] = read_lines(tmp_path / "tasks.jsonl")
    assert task["machine_result"]["assessment"]["rationale"] not in stored
    assert "machine_result" not in stored


def test_without_judgments_and_with_other_files_nothing_is_written(run: Path, tmp_path: Path) -> None:
    open_review(tmp_path, "ana")
    out = tmp_path / "done.jsonl"
    with pytest.raises(CommandError, match="No reply of review"):
        call_command("export_review", tmp_path / "tasks.jsonl", dataset="review", out=str(out))
    (tmp_path / "other.jsonl").write_text('{"session_id": "a"}\n')
    with pytest.raises(CommandError, match=r"other.jsonl, line 1: it is no review task"):
        call_command("export_review", tmp_path / "other.jsonl", dataset="review", out=str(out))
    assert not out.exists()


TEXT = st.text(max_size=40)
TASKS = st.fixed_dictionaries(
    {
        "review_key": st.uuids().map(str),
        "evaluation_id": st.uuids().map(str),
        "input": st.fixed_dictionaries({"sources": st.dictionaries(TEXT, TEXT, max_size=3)}),
        "criterion": st.fixed_dictionaries({"id": TEXT, "rubric": TEXT}),
        "machine_result": st.none() | st.dictionaries(TEXT, TEXT | st.floats(allow_nan=False), max_size=2),
        "annotation": st.fixed_dictionaries({"schema_version": st.just(1), "outcome": st.none()}),
    }
)


# As many as the exchange is promised for.
@settings(max_examples=1000)
@given(TASKS, st.lists(st.tuples(TEXT, st.sampled_from(["met", "violated"]), TEXT), min_size=1, max_size=4))
def test_nothing_but_the_annotation_of_a_task_changes(task: Any, said: list[Any]) -> None:
    line = json.dumps(task, ensure_ascii=False, separators=(",", ":"))
    opinions = settle([Opinion(str(n), name, outcome, why) for n, (name, outcome, why) in enumerate(said)])
    filled = [json.loads(one) for one in fill_task(read_task(line), opinions, {})]
    assert len({one["annotation"]["id"] for one in filled}) == len(filled) >= len(said)
    for one in filled:
        assert {key: value for key, value in one.items() if key != "annotation"} == {
            key: value for key, value in task.items() if key != "annotation"
        }
