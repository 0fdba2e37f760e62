"""Labels go out ordered by turn, whole or not at all, and it is told how balanced they are."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from annotations_app.labels.export_annotations import ExportedLabels, export_annotations
from annotations_app.models import Annotation, Campaign, CampaignItem
from datasets_app.core.errors import UserError
from datasets_app.domain.pii.policy import Policy
from datasets_app.models import AuditEvent, Dataset, JobRun, Persona, Session, Turn
from datasets_app.scrubbing.scrub_dataset import scrub_dataset
from tests.factories import make_dataset, make_sessions, run_task

pytestmark = pytest.mark.django_db


def annotate(stored: Dataset, session_id: str, turn_index: int, **fields: Any) -> Annotation:
    turn = Turn.objects.get(session__dataset=stored, session__session_id=session_id, turn_index=turn_index)
    given = {"label": 1, "persona_id": "p"} | fields
    return Annotation.objects.create(dataset=stored, turn=turn, **given)


def exported(
    stored: Dataset, labels: str = "all", **given: Any
) -> tuple[list[dict[str, Any]], ExportedLabels]:
    out = io.BytesIO()
    given["labels"] = labels
    done = export_annotations(stored, persona=given.pop("persona", "p"), out=out, **given)
    return [json.loads(line) for line in out.getvalue().splitlines()], done


def test_labels_are_ordered_by_turn_and_then_as_they_were_given(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_sessions(3, 4))
    for place in (("s3", 2), ("s1", 4), ("s1", 2), ("s2", 2), ("s1", 2)):
        annotate(stored, *place)
    lines, _ = exported(stored)
    assert [(line["session_id"], line["turn_index"]) for line in lines] == [
        ("s1", 2),
        ("s1", 2),
        ("s1", 4),
        ("s2", 2),
        ("s3", 2),
    ]


def test_what_people_wrote_beside_labels_closes_the_gate_too(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_sessions(1))
    hashed = {"original_session_id": "0f" * 32}
    annotate(stored, "s1", 2, annotator="ada@example.org", notes="Rather rude", extra=hashed)
    assert len(exported(stored)[0]) == 1
    annotate(stored, "s1", 2, notes="Ask jo@example.org", extra={"asked": [5551234567.0], "key": "x"})
    with pytest.raises(UserError, match=r"Notes or other fields .* \(e-mail addresses: 1\)"):
        exported(stored)
    assert len(exported(stored, override="Agreed")[0]) == 2
    assert AuditEvent.objects.get(action="override").details["reason"] == "Agreed"
    with pytest.raises(UserError):
        exported(stored)
    scrub_dataset(stored, Policy())
    assert [line["notes"] for line in exported(stored)[0]] == ["Rather rude", "Ask [EMAIL]"]


def test_a_line_has_what_there_is_and_the_annotator_under_both_names(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_sessions(1))
    annotate(stored, "s1", 2)
    annotate(
        stored,
        "s1",
        2,
        label=0,
        annotator="ada",
        notes="",
        confidence=0.5,
        timestamp="2025-01-01",
        extra={"k": None},
    )
    bare, full = exported(stored)[0]
    place = {
        "text": "What assistant says as number 2 of s1.",
        "persona_id": "p",
        "session_id": "s1",
        "turn_index": 2,
    }
    assert bare == place | {"label": 1}
    assert full == place | {
        "label": 0,
        "annotator": "ada",
        "labeler": "ada",
        "notes": "",
        "confidence": 0.5,
        "timestamp": "2025-01-01",
        "k": None,
    }


def test_only_labels_of_the_persona_and_of_the_dataset_go_out(tmp_path: Path) -> None:
    stored, other = (
        make_dataset(tmp_path, make_sessions(1)),
        make_dataset(tmp_path, make_sessions(1), name="other"),
    )
    annotate(stored, "s1", 2)
    annotate(stored, "s1", 2, persona_id="q")
    annotate(other, "s1", 2)
    assert len(exported(stored)[0]) == 1


@pytest.mark.parametrize(
    ("on", "off", "warned"),
    [
        (30, 30, []),
        (36, 24, []),
        (37, 23, ["unbalanced"]),
        (10, 10, ["fewer"]),
        (49, 0, ["fewer", "unbalanced"]),
    ],
)
def test_balance_and_size_are_judged(on: int, off: int, warned: list[str]) -> None:
    warnings = ExportedLabels(on + off, on).warnings
    assert [warning.split()[0].rstrip(":") for warning in warnings] == warned


def test_what_has_no_labels_is_refused_with_what_there_is(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_sessions(1))
    with pytest.raises(UserError, match="no labels at all"):
        exported(stored)
    annotate(stored, "s1", 2, persona_id="q")
    with pytest.raises(UserError, match="labels for: q"):
        exported(stored)
    with pytest.raises(UserError, match="one of all, majority, dawid-skene, adjudicated"):
        exported(stored, labels="some")
    assert not AuditEvent.objects.filter(action="export_annotations").exists()


def test_nothing_goes_out_that_the_trail_does_not_know_of(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_sessions(1))
    annotate(stored, "s1", 2)

    class Watched(io.BytesIO):
        def write(self, block: Any) -> int:
            assert AuditEvent.objects.filter(action="export_annotations").exists()
            return super().write(block)

    export_annotations(stored, persona="p", out=Watched())
    event = AuditEvent.objects.get(action="export_annotations")
    assert event.details == {"persona_id": "p", "choice": "majority", "labels": 1, "on_brand": 1}


# --- one label a reply ---------------------------------------------------------------------------


@pytest.fixture
def judged(tmp_path: Path) -> Dataset:
    """Replies agreed on; two to one; half and half; half and half, but settled. And what never counts."""
    stored = make_dataset(tmp_path, make_sessions(3, 4))
    said = {("s1", 2): "11", ("s1", 4): "100", ("s2", 2): "10", ("s2", 4): "01"}
    for place, labels in said.items():
        for annotator, label in zip(("ada", "ben", "chi"), labels, strict=False):
            annotate(stored, *place, label=int(label), annotator=annotator)
    annotate(stored, "s2", 4, label=0, annotator="lead", kind="adjudicated", notes="Too curt.")
    annotate(stored, "s3", 2, label=1, annotator="lead", kind="adjudicated")
    annotate(stored, "s1", 4, label=1, annotator="ben", kind="repeat")
    annotate(stored, "s1", 4, label=1, annotator="chi", kind="withdrawn")
    return stored


def places(lines: list[dict[str, Any]]) -> list[tuple[str, int, int]]:
    return [(line["session_id"], line["turn_index"], line["label"]) for line in lines]


def test_all_are_the_labels_given_without_repeats_withdrawn_and_settled_ones(judged: Dataset) -> None:
    lines, done = exported(judged)
    assert len(lines) == done.labels == 9
    assert {line["annotator"] for line in lines} == {"ada", "ben", "chi"}


def test_of_a_majority_one_line_a_reply_goes_out_and_ties_are_counted(judged: Dataset) -> None:
    lines, done = exported(judged, "majority")
    assert places(lines) == [("s1", 2, 1), ("s1", 4, 0)]
    assert [line["confidence"] for line in lines] == [1, pytest.approx(2 / 3)]
    assert lines[0]["annotator"] == lines[0]["labeler"] == "majority"
    assert done.omissions == ["2 replies have as many labels of either kind: left out"]


def test_dawid_skene_gives_each_reply_its_likeliest_label_and_how_likely_it_is(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_sessions(6, 4))
    for number, place in enumerate((f"s{session}", index) for session in range(1, 7) for index in (2, 4)):
        for annotator in ("ada", "ben", "chi", "dan"):
            truth = number % 2
            wrong = annotator == "dan" or (annotator == "chi" and number == 3)
            annotate(stored, *place, label=1 - truth if wrong else truth, annotator=annotator)
    lines, done = exported(stored, "dawid-skene")
    assert [line["label"] for line in lines] == [0, 1] * 6
    assert {line["annotator"] for line in lines} == {"dawid-skene"}
    assert all(0.5 < line["confidence"] <= 1 for line in lines)
    assert done.omissions == []


def test_adjudicated_is_what_is_settled_and_what_nobody_disputes(judged: Dataset) -> None:
    lines, done = exported(judged, "adjudicated")
    assert places(lines) == [("s1", 2, 1), ("s2", 4, 0), ("s3", 2, 1)]
    assert [line["annotator"] for line in lines] == ["unanimous", "lead", "lead"]
    assert lines[1]["notes"] == "Too curt."
    assert done.omissions == ["2 disputed replies are not settled: left out"]


def test_of_several_labels_by_one_annotator_the_last_decides(judged: Dataset) -> None:
    annotate(judged, "s2", 2, label=1, annotator="ben")
    lines, done = exported(judged, "majority")
    assert ("s2", 2, 1) in places(lines)
    again = "1 earlier label by an annotator who labeled the same reply again: left out"
    assert done.omissions == [again, "1 reply has as many labels of either kind: left out"]


def test_a_campaign_has_its_own_labels_only(judged: Dataset) -> None:
    persona = Persona.objects.create(persona_id="p", yaml="id: p\n")
    campaign = Campaign.objects.create(name="may", dataset=judged, persona=persona)
    turn = Turn.objects.get(session__dataset=judged, session__session_id="s1", turn_index=4)
    CampaignItem.objects.create(campaign=campaign, turn=turn, session=turn.session, position=1, open=0)
    with pytest.raises(UserError, match="campaign may has no labels yet"):
        exported(judged, campaign=campaign)
    annotate(judged, "s1", 4, label=1, annotator="ada", campaign=campaign)
    for labels in ("all", "majority", "dawid-skene", "adjudicated"):
        assert places(exported(judged, labels, campaign=campaign)[0]) == [("s1", 4, 1)]
    # The settled reply of another campaign is none of this one's.
    assert exported(judged, "adjudicated", campaign=campaign)[1].omissions == []
    with pytest.raises(UserError, match="for the persona p"):
        exported(judged, persona="q", campaign=campaign)
    event = AuditEvent.objects.filter(action="export_annotations").latest("pk")
    assert event.details["campaign"] == "may"


@pytest.mark.parametrize("labels", ["all", "majority", "dawid-skene", "adjudicated"])
def test_the_test_split_stays_locked_without_a_reason(judged: Dataset, labels: str) -> None:
    Session.objects.filter(dataset=judged, session_id="s1").update(split="test")
    Session.objects.filter(dataset=judged, session_id="s2").update(split="train")
    annotate(judged, "s3", 4, annotator="ada")
    lines, done = exported(judged, labels)
    assert "s1" not in {line["session_id"] for line in lines}
    assert any("locked test split: left out" in omission for omission in done.omissions)
    assert not AuditEvent.objects.filter(action="override").exists()
    lines, _ = exported(judged, labels, override="for  the appendix")
    assert "s1" in {line["session_id"] for line in lines}
    event = AuditEvent.objects.get(action="override")
    assert event.details == {"purpose": "export test split", "reason": "for the appendix"}


def test_not_everybody_may_unlock_the_test_split(judged: Dataset) -> None:
    Session.objects.filter(dataset=judged).update(split="test")
    somebody = User.objects.create_user("somebody")
    with pytest.raises(UserError, match="permission to export labels of the test split"):
        exported(judged, actor=somebody, override="because")
    with pytest.raises(UserError, match="No label is left to export: 9 labels are of the locked test split"):
        exported(judged)


def test_a_job_keeps_its_file_for_download(judged: Dataset) -> None:
    given = {"persona": "p", "labels": "adjudicated"}
    job = JobRun.objects.create(operation="export_annotations", dataset=judged, parameters=given)
    told = run_task(job)
    assert (told["labels"], told["on_brand"]) == (3, 2)
    (kept,) = job.files.all()
    with kept.file.open("rb") as file:
        assert len(file.read().splitlines()) == 3
