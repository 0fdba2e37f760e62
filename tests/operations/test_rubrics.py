"""Rubrics of cases: judged by people, graded by the real Alignmenter with a judge of ours, compared."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotations_app.agreement.criteria import measure_criteria
from annotations_app.campaigns.edit import edit_campaign
from annotations_app.judges.measure import measure_judge
from annotations_app.labeling.lease_next import lease_next
from annotations_app.labeling.requeue_stale import requeue_stale
from annotations_app.models import Campaign, JudgeRun, Judgment, LabelSchema
from datasets_app.models import Dataset, Session, Turn
from tests.alignmenter_tool import run_code_with_alignmenter
from tests.campaigns import get_user, make_annotators, make_persona, submit
from tests.factories import make_dataset, make_turn

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("alignmenter")]

REFUND = [
    {"criterion": "Names the refund period.", "points": 5, "tags": ["axis:completeness"]},
    {"criterion": "Blames the customer.", "points": -3},
]
GREETING = [{"criterion": "Greets by name."}]

# Grades as the command does, with a judge that looks for a word: the command needs a model.
GRADE = """
import json, sys
from alignmenter.rubric_grade import grade_dataset
from alignmenter.utils.io import read_jsonl

class Judge:
    def evaluate(self, prompt):
        asked = json.loads(prompt)
        met = "period" in asked["criterion"] or "name" in asked["criterion"]
        return {"notes": json.dumps({"met": met, "confidence": 1, "evidence": asked["assistant_reply"][:20]})}

report = grade_dataset(read_jsonl(sys.argv[1]), Judge()).to_dict()
open(sys.argv[2], "w").write(json.dumps({"mode": "grade", "judge": "acme/small-1", **report}))
"""


def make_case(session_id: str, rubrics: Any) -> list[dict[str, Any]]:
    question = make_turn(session_id, 1, text=f"How does {session_id} work?", metadata={"rubrics": rubrics})
    return [question, make_turn(session_id, 2, text=f"You have 30 days for {session_id}.")]


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    lines = [*make_case("refund", REFUND), *make_case("welcome", GREETING), make_turn("plain", 1)]
    make_annotators("ana", "ben")
    make_persona()
    return make_dataset(tmp_path, lines, "cases", origin="synthetic")


def create_campaigns() -> None:
    call_command("create_rubrics", "cases", persona="warm_v1", annotators="ana,ben")


def judge_all(name: str, *, met: bool) -> None:
    for campaign in Campaign.objects.select_related("schema"):
        while (current := lease_next(campaign, get_user(name)).current) is not None:
            assert campaign.schema is not None
            submit(
                current, label=None, answers={one.key: int(met) for one in campaign.schema.content.criteria}
            )


def grade(tmp_path: Path) -> Path:
    call_command("export_dataset", "cases", out=str(tmp_path / "cases.jsonl"))
    run_code_with_alignmenter(tmp_path, GRADE, tmp_path / "cases.jsonl", tmp_path / "grades.json")
    return tmp_path / "grades.json"


def compare(capsys: pytest.CaptureFixture[str], **options: Any) -> dict[str, Any]:
    capsys.readouterr()
    call_command("compare_rubrics", "cases", format="json", **options)
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_people_and_the_tool_are_compared_for_each_rubric(
    dataset: Dataset, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    create_campaigns()
    campaigns = list(Campaign.objects.order_by("pk"))
    assert [campaign.item_count for campaign in campaigns] == [1, 1]
    assert "1. Names the refund period. (5 points)" in campaigns[0].guidelines
    assert "loses points" in campaigns[0].guidelines
    # Schemas are seen by everybody who labels, and say nothing of the dataset.
    assert "refund" not in json.dumps(list(LabelSchema.objects.values_list("name", "document")))
    judge_all("ana", met=True)
    judge_all("ben", met=True)

    grades = grade(tmp_path)
    found = compare(capsys, grades=str(grades))
    met = {
        (row["session_id"], row["number"]): (row["met"], list(row["judges"].values()))
        for row in found["rubrics"]
    }
    assert met == {("refund", 1): (2, [True]), ("refund", 2): (2, [False]), ("welcome", 1): (2, [True])}
    pooled = {one["name"]: (one["compared"], one["agreed"]) for one in found["pooled"]}
    assert pooled == {"people": (3, 3), "rubric-grade.acme-small-1@1": (3, 2)}
    # The same again changes nothing, and the pages of agreement and judges have the figures.
    assert compare(capsys, grades=str(grades)) == found
    assert JudgeRun.objects.count() == 2
    run = JudgeRun.objects.get(campaign=campaigns[0])
    assert [one.judged for one in measure_judge(run).criteria] == [1, 1]
    assert [one.criterion.key for one in measure_criteria(campaigns[0]).criteria] == ["rubric_1", "rubric_2"]


def test_a_changed_rubric_makes_its_judgments_stale(
    dataset: Dataset, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    create_campaigns()
    judge_all("ana", met=True)
    grades = grade(tmp_path)
    question = Turn.objects.get(session__session_id="refund", turn_index=1)
    changed = [{**REFUND[0], "criterion": "Names the period and the form."}, REFUND[1]]
    Turn.objects.filter(pk=question.pk).update(metadata={"rubrics": changed})
    capsys.readouterr()
    create_campaigns()
    assert "0 campaigns created, 1 with changed rubrics, 1 as before" in capsys.readouterr().out
    rows = {(row["session_id"], row["number"]): row for row in compare(capsys)["rubrics"]}
    assert (rows["refund", 1]["met"], rows["refund", 1]["stale"]) == (0, 1)
    assert (rows["welcome", 1]["met"], rows["welcome", 1]["stale"]) == (1, 0)
    # What the model said of the earlier rubric doesn't count either.
    with pytest.raises(SystemExit):
        call_command("compare_rubrics", "cases", grades=str(grades))
    assert "1 of other cases or rubrics" in capsys.readouterr().err

    campaign = Campaign.objects.order_by("pk")[0]
    assert requeue_stale(campaign, actor=None) == 1
    judge_all("ana", met=False)
    assert Judgment.objects.get(campaign=campaign, kind="label").codes == {"rubric_1": 0, "rubric_2": 0}


def test_the_spelling_of_earlier_versions_makes_nothing_stale(
    dataset: Dataset, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    create_campaigns()
    campaign = Campaign.objects.get(guidelines__contains="1. Greets by name. (1 point)\n")
    earlier = campaign.guidelines.replace("(1 point)", "(1 points)")
    edit_campaign(campaign, changes={"guidelines": earlier}, actor=None)
    judge_all("ana", met=True)
    capsys.readouterr()
    create_campaigns()
    assert "0 campaigns created, 0 with changed rubrics, 2 as before" in capsys.readouterr().out
    rows = {row["session_id"]: row for row in compare(capsys, grades=str(grade(tmp_path)))["rubrics"]}
    assert (rows["welcome"]["met"], rows["welcome"]["stale"]) == (1, 0)
    assert list(rows["welcome"]["judges"].values()) == [True]


def test_cases_with_the_same_rubrics_share_a_campaign(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_annotators("ana", "ben")
    make_persona()
    lines = [line for name in ("one", "two") for line in make_case(name, GREETING)]
    make_dataset(tmp_path, [*lines, *make_case("refund", REFUND)], "cases", origin="synthetic")
    create_campaigns()
    assert list(Campaign.objects.order_by("pk").values_list("item_count", flat=True)) == [2, 1]
    campaign = Campaign.objects.order_by("pk")[0]
    for met in (1, 0):
        current = lease_next(campaign, get_user("ana")).current
        assert current is not None
        submit(current, label=None, answers={"rubric_1": met})
    rows = compare(capsys, grades=str(grade(tmp_path)))["rubrics"]
    of_both = [(row["met"], row["not_met"], row["judges"]) for row in rows if row["session_id"] != "refund"]
    judges = {"rubric-grade.acme-small-1@1": True}
    assert sorted(of_both, key=str) == [(0, 1, judges), (1, 0, judges)]
    # One of them changes alone, then both.
    changed = {"rubrics": [{"criterion": "Greets politely."}]}
    Turn.objects.filter(session__session_id="one", turn_index=1).update(metadata=changed)
    with pytest.raises(SystemExit):
        create_campaigns()
    assert "2 cases left out: no longer the same rubrics as other cases" in capsys.readouterr().err
    Turn.objects.filter(session__session_id="two", turn_index=1).update(metadata=changed)
    create_campaigns()
    assert "0 campaigns created, 1 with changed rubrics, 1 as before" in capsys.readouterr().out
    stale = [row["stale"] for row in compare(capsys)["rubrics"] if row["session_id"] != "refund"]
    assert stale == [1, 1]


def test_cases_that_get_no_campaign_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    many = [{"criterion": f"Says {number}."} for number in range(13)]
    lines = [*make_case("long", many), *make_case("locked", GREETING), *make_case("open", GREETING)]
    make_annotators("ana", "ben")
    make_persona()
    make_dataset(tmp_path, lines, "cases", origin="synthetic")
    Session.objects.filter(session_id="locked").update(split="test")
    with pytest.raises(SystemExit):
        create_campaigns()
    said = capsys.readouterr()
    assert "1 campaign created" in said.out
    assert "1 case left out: more than 12 rubrics" in said.err
    assert "1 case left out: in the locked test split" in said.err


@pytest.mark.parametrize(
    "text",
    [
        "", "{}", '{"mode": "agreement", "cases": []}', '{"mode": "grade", "cases": [1]}',
        '{"mode": "grade", "judge": "\\u0000", "cases": []}',
        '{"mode": "grade", "judge": "\\ud800", "cases": []}',
    ],
)  # fmt: skip
def test_other_files_are_no_grades(dataset: Dataset, tmp_path: Path, text: str) -> None:
    (tmp_path / "grades.json").write_text(text)
    with pytest.raises(CommandError, match="not a report of `alignmenter rubric-grade"):
        call_command("compare_rubrics", "cases", grades=str(tmp_path / "grades.json"))
