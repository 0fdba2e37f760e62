"""The real tool takes our files as they are: it scores every answer, and learns from every label."""

import json
import subprocess
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import Group, User

from annotations_app.agreement.adjudicate import adjudicate, list_disputed
from annotations_app.campaigns.create import create_campaign
from annotations_app.demo.load_demo import DEMO_DIRECTORY, load_demo
from annotations_app.labeling.decide import decide
from annotations_app.labeling.lease_next import lease_next
from annotations_app.labels.export_annotations import export_annotations
from annotations_app.models import Annotation, Campaign
from datasets_app.catalog.rows.turn_reader import Selection
from datasets_app.domain.conversations.reading import ConversationFile
from datasets_app.domain.traces.converted_file import open_conversation_file
from datasets_app.exporting.export_dataset import export_to_path
from datasets_app.models import Dataset, Persona, Turn
from tests.alignmenter_tool import run_alignmenter, run_code_with_alignmenter

Tool = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("alignmenter")]


@pytest.fixture
def alignmenter(tmp_path: Path) -> Tool:
    return partial(run_alignmenter, tmp_path)


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """The demonstration data, exported as a curator and a lead would."""
    load_demo()
    dataset = Dataset.objects.get()
    made = {name: tmp_path / name for name in ("demo.jsonl", "labels.jsonl", "personas/default_v1.yaml")}
    export_to_path(dataset, made["demo.jsonl"])
    with made["labels.jsonl"].open("wb") as out:
        export_annotations(dataset, persona="default_v1", out=out, labels="all")
    made["personas/default_v1.yaml"].parent.mkdir()
    made["personas/default_v1.yaml"].write_text(Persona.objects.get().yaml)
    return {path.name: path for path in made.values()}


def run_scores(out: Path) -> dict[str, Any]:
    (results,) = out.glob("*/results.json")
    scores: dict[str, Any] = json.loads(results.read_text())["scores"]["primary"]
    return scores


def run_on(dataset: Path, alignmenter: Tool, files: dict[str, Path], place: Path) -> None:
    options = ("--model", "recorded:none", "--embedding", "hashed", "--persona", files["default_v1.yaml"])
    alignmenter("run", "--dataset", dataset, *options, "--out", place / "out")


def test_a_run_scores_every_answer_of_an_exported_dataset(
    alignmenter: Tool, files: dict[str, Path], tmp_path: Path
) -> None:
    run_on(files["demo.jsonl"], alignmenter, files, tmp_path)
    scores = run_scores(tmp_path / "out")
    assert (scores["authenticity"]["turns"], scores["safety"]["turns"]) == (30, 30)
    [run] = (tmp_path / "out").iterdir()
    alignmenter("archive-export", run, "--out", tmp_path / "run.zip")
    recorded = list(ConversationFile(files["demo.jsonl"]).turns())
    for captured in (tmp_path / "run.zip", run):
        file = open_conversation_file(captured)
        captured_turns = sorted(turn._replace(line=0) for turn in file.turns())
        assert captured_turns == sorted(turn._replace(line=0) for turn in recorded)
    # The persona's words are met in the answers, on both sides.
    assert scores["authenticity"]["preferred_hits"] > 0
    assert scores["authenticity"]["avoid_hits"] > 0


def test_a_part_of_a_dataset_is_scored_as_well(
    alignmenter: Tool, files: dict[str, Path], tmp_path: Path
) -> None:
    part = tmp_path / "traps.jsonl"
    export_to_path(Dataset.objects.get(), part, selection=Selection(tag="scenario:safety_trap"))
    run_on(part, alignmenter, files, tmp_path)
    assert run_scores(tmp_path / "out")["safety"]["turns"] == 5


ANALYZE = """
import sys
from pathlib import Path
from alignmenter.calibration import analyze
from alignmenter.providers.judges import JudgeProvider

class Judge:
    def evaluate(self, prompt):
        return {"score": 0.8, "notes": '{"score": 8, "reasoning": "Fits."}'}

analyze.load_judge_provider = lambda identifier: Judge()
analyze.analyze_scenario_performance(
    *map(Path, sys.argv[1:]), embedding_provider="hashed", judge_provider="local"
)
"""


def test_the_analysis_of_scenarios_takes_each_line_for_a_session(
    files: dict[str, Path], tmp_path: Path
) -> None:
    sessions, out = tmp_path / "sessions.jsonl", tmp_path / "analysis.json"
    export_to_path(Dataset.objects.get(), sessions, format="sessions")
    run_code_with_alignmenter(tmp_path, ANALYZE, sessions, files["default_v1.yaml"], out)
    scenarios = json.loads(out.read_text())["scenario_performance"]
    expected = Counter[str]()
    for line in sessions.read_text().splitlines():
        tags = {tag for turn in json.loads(line)["turns"] for tag in turn["tags"]}
        expected.update(tag for tag in tags if tag.startswith("scenario:"))
    assert {name: one["sessions_in_scenario"] for name, one in scenarios.items()} == expected
    assert all(one["judge_avg_score"] == 8 for one in scenarios.values())
    # The same persona, and the same answers, score what `run` says of the scenario.
    assert 0 < scenarios["scenario:brand_trap"]["avg_score"] < 1


def test_a_calibration_learns_from_every_exported_label(
    alignmenter: Tool, files: dict[str, Path], tmp_path: Path
) -> None:
    done = alignmenter(
        "calibrate-persona",
        "--persona-path",
        files["default_v1.yaml"],
        "--dataset",
        files["labels.jsonl"],
        "--out",
        tmp_path / "weights.json",
    )
    assert "Loaded 90 labeled samples" in done.stdout
    assert "Skipped" not in done.stdout
    weights = json.loads((tmp_path / "weights.json").read_text())["trait_model"]["token_weights"]
    assert any(weight > 0 for weight in weights.values())
    assert any(weight < 0 for weight in weights.values())


def test_a_calibration_learns_from_what_a_campaign_has_settled(
    alignmenter: Tool, files: dict[str, Path], tmp_path: Path
) -> None:
    """Annotators label, a lead settles what they dispute, and one label a reply goes to the real tool."""
    dataset, persona = Dataset.objects.get(), Persona.objects.get()
    people = [User.objects.create_user(name) for name in ("ada", "chi")]
    Group.objects.get(name="annotator").user_set.set(people)
    campaign = create_campaign(
        Campaign(name="autumn", dataset=dataset, persona=persona, overlap=2),
        [user.username for user in people],
    )
    said = {(label.turn_id, label.annotator): label.label for label in Annotation.objects.all()}
    for user in people:
        while (assignment := lease_next(campaign, user).current) is not None:
            label = said[assignment.item.turn_id, user.username]
            decide(assignment.pk, user, key=uuid4(), kind="label", label=label)
    open_questions = list_disputed(dataset, persona.persona_id, campaign=campaign)
    for reply in open_questions:
        turn = Turn.objects.get(pk=reply.turn)
        adjudicate(turn, persona.persona_id, label=0, reason="Too chatty.", campaign=campaign, actor=None)
    settled = tmp_path / "settled.jsonl"
    with settled.open("wb") as out:
        exported = export_annotations(
            dataset, persona=persona.persona_id, campaign=campaign, labels="adjudicated", out=out
        )
    assert (exported.labels, exported.omissions) == (30, [])
    who = Counter(json.loads(line)["annotator"] for line in settled.read_text().splitlines())
    assert who["unanimous"] == 30 - len(open_questions) < 30
    done = alignmenter(
        "calibrate-persona",
        "--persona-path",
        files["default_v1.yaml"],
        "--dataset",
        settled,
        "--out",
        tmp_path / "weights.json",
    )
    assert "Loaded 30 labeled samples" in done.stdout
    weights = json.loads((tmp_path / "weights.json").read_text())["trait_model"]["token_weights"]
    assert any(weights.values())


@pytest.mark.parametrize("check", [("lint", "--strict", "--persona-dir"), ("validate", "--strict")])
def test_its_own_checks_find_nothing_wrong(
    alignmenter: Tool, files: dict[str, Path], check: tuple[str, ...]
) -> None:
    command, *options = check
    folder = [files["default_v1.yaml"].parent] if options[-1] == "--persona-dir" else []
    alignmenter("dataset", command, files["demo.jsonl"], *options, *folder)


def test_its_manifest_knows_the_exported_file_again(
    alignmenter: Tool, files: dict[str, Path], tmp_path: Path
) -> None:
    manifest = tmp_path / "manifest.json"
    alignmenter("dataset", "manifest", files["demo.jsonl"], "--out", manifest)
    assert json.loads(manifest.read_text())["record_count"] == 60
    alignmenter("dataset", "manifest", files["demo.jsonl"], "--verify", manifest)


def test_the_demo_that_was_imported_is_the_demo_that_comes_out(files: dict[str, Path]) -> None:
    def lines(path: Path) -> list[Any]:
        return [json.loads(line) for line in path.read_text().splitlines()]

    assert lines(files["demo.jsonl"]) == lines(DEMO_DIRECTORY / "demo_conversations.jsonl")
    ours, given = lines(files["labels.jsonl"]), lines(DEMO_DIRECTORY / "demo_labels.jsonl")
    assert sorted(map(json.dumps, (dict(sorted(item.items())) for item in ours))) == sorted(
        map(json.dumps, (dict(sorted(item.items())) for item in given))
    )
