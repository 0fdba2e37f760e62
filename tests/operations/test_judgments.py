"""Decisions under a schema: all answers in one, taken back, changed, kept apart from the built-in labels."""

import json
import uuid
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.db.models import Count
from django.test.utils import CaptureQueriesContext

from annotations_app.agreement.adjudicate import adjudicate
from annotations_app.criteria.schemas import import_schema
from annotations_app.labeling.progress import recent_decisions
from annotations_app.labeling.requeue_stale import requeue_stale
from annotations_app.labels.export_annotations import export_annotations
from annotations_app.models import Annotation, Campaign, Decision, Judgment, Rater
from datasets_app.core.errors import UserError
from datasets_app.domain.pii.policy import Policy
from datasets_app.models import Dataset, JobRun, Turn
from datasets_app.scrubbing.scrub_dataset import scrub_dataset
from tests.campaigns import find_inconsistencies, lease_for, make_campaign, make_replies, submit
from tests.factories import run_task

pytestmark = pytest.mark.django_db

QUALITY = """\
schema: quality
criteria:
  - key: correct
    question: Is it correct?
    kind: yes_no
  - key: faults
    question: What is wrong?
    kind: tags
    answers: [facts, tone, length]
    when: {correct: 0}
  - key: helpful
    question: How helpful is it?
    kind: ordinal
    answers: [1, 2, 3]
  - key: why
    question: Why?
    kind: text
    optional: true
"""
ANSWERS: dict[str, Any] = {"correct": 0, "faults": ["tone", "facts"], "helpful": 3, "why": "Too loud."}


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return make_replies(tmp_path, 6)


@pytest.fixture
def quality(dataset: Dataset) -> Campaign:
    schema = import_schema(QUALITY).schema
    return make_campaign(dataset, "ana", "ben", overlap=2, schema=schema, guidelines="Read twice.")


def judge(assignment: Any, answers: dict[str, Any] = ANSWERS, **options: Any) -> Any:
    return submit(assignment, label=None, answers=answers, **options)


def test_a_decision_holds_all_answers(quality: Campaign) -> None:
    current = lease_for(quality, "ana").current
    outcome = judge(current, notes=" A note.", seconds=2.5, confidence=0.75)
    assert (outcome.what, outcome.assignment.state) == ("counted", "labelled")
    judged = Judgment.objects.get()
    assert judged.codes == {"correct": 0, "faults": 3, "helpful": 2}
    assert judged.texts == {"why": "Too loud."}
    assert (judged.turn_id, judged.campaign, judged.schema) == (current.item.turn_id, quality, quality.schema)
    assert (judged.rater.kind, judged.rater.name, judged.kind) == ("person", "ana", "label")
    assert (judged.notes, judged.seconds, judged.confidence) == ("A note.", 2.5, 0.75)
    assert judged.persona_digest == quality.persona.digest
    assert len(judged.guidelines_digest) == 64
    decision = Decision.objects.get()
    assert (decision.label, decision.codes, decision.texts) == (None, judged.codes, judged.texts)
    assert not Annotation.objects.exists()
    assert not find_inconsistencies()


def test_it_is_undone_changed_and_sent_again_as_any_decision(quality: Campaign) -> None:
    current, key = lease_for(quality, "ana").current, uuid.uuid4()
    judge(current, key=key)
    assert judge(current, {"correct": 1, "helpful": 1}, key=key).what == "known"
    judge(current, {"correct": 1, "helpful": 1})
    assert Judgment.objects.get().codes == {"correct": 1, "helpful": 0}
    assert Judgment.objects.get().texts is None
    submit(current, "undo")
    assert not Judgment.objects.exists()
    assert judge(current, key=key).what == "known"
    submit(current, "skip")
    assert not find_inconsistencies()
    judge(current)
    submit(current, "flag")
    assert not Judgment.objects.exists()
    assert Decision.objects.count() == 6
    for _ in range(2):
        judge(lease_for(quality, "ana").current)
    assert Rater.objects.count() == 1
    assert not find_inconsistencies()


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        ({}, "Correct has no answer: Is it correct?"),
        ({"correct": 1}, "Helpful has no answer"),
        ({"correct": 2, "helpful": 1}, "Correct must be 0 .no. or 1 .yes."),
        ({"correct": 1, "helpful": 1, "faults": ["facts"]}, "Faults is asked only after another answer"),
        ({"correct": 1, "helpful": 1, "why": "a\0b"}, "control character"),
        ({"correct": 1, "helpful": 1, "mood": 1}, "Mood is no criterion of quality"),
    ],
)
def test_all_answers_or_none(quality: Campaign, answers: dict[str, Any], sentence: str) -> None:
    current = lease_for(quality, "ana").current
    with pytest.raises(UserError, match=sentence):
        judge(current, answers)
    with pytest.raises(UserError, match="has no answer"):
        submit(current, label=1)
    assert not Decision.objects.exists()
    judge(current, {"correct": 1, "helpful": 1, "why": "  "})
    assert Judgment.objects.get().texts is None


def test_personal_data_in_an_answer_is_refused_where_the_dataset_is_scrubbed(quality: Campaign) -> None:
    scrub_dataset(quality.dataset, Policy())
    current = lease_for(quality, "ana").current
    with pytest.raises(UserError, match="looks like personal data"):
        judge(current, {**ANSWERS, "why": "Mail jane.roe@example.org"})
    assert not Judgment.objects.exists()


def test_a_scrub_reaches_the_texts_and_leaves_the_numbers(quality: Campaign) -> None:
    judge(lease_for(quality, "ana").current, {**ANSWERS, "why": "Mail jane.roe@example.org"})
    scrub_dataset(quality.dataset, Policy())
    judged, decision = Judgment.objects.get(), Decision.objects.get()
    assert judged.texts == decision.texts == {"why": "Mail [EMAIL]"}
    assert judged.codes == {"correct": 0, "faults": 3, "helpful": 2}


def export(campaign: Campaign, **options: Any) -> list[dict[str, Any]]:
    scope: Any = {"dataset": campaign.dataset, "schema": campaign.schema, "campaign": campaign}
    export_annotations(**scope, out=(out := BytesIO()), **options)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_every_answer_is_exported_with_its_criterion(quality: Campaign) -> None:
    with pytest.raises(UserError, match="no labels to export"):
        export(quality)
    current = lease_for(quality, "ana").current
    judge(current, notes="A note.", confidence=0.5)
    lines = export(quality)
    assert [(line["criterion"], line["value"]) for line in lines] == [
        ("correct", 0), ("faults", ["facts", "tone"]), ("helpful", 3), ("why", "Too loud."),
    ]  # fmt: skip
    assert {line["schema"] for line in lines} == {"quality@1"}
    turn = current.item.turn
    for line in lines:
        assert (line["text"], line["turn_index"], line["session_id"]) == (
            turn.text, turn.turn_index, turn.session.session_id,
        )  # fmt: skip
        assert (line["annotator"], line["notes"], line["persona_id"]) == ("ana", "A note.", "warm_v1")
        assert "label" not in line
    job = JobRun.objects.create(
        operation="export_annotations",
        dataset=quality.dataset,
        parameters={"campaign": quality.name, "persona": "warm_v1"},
    )
    assert run_task(job)["labels"] == 1
    turn.session.split = "test"
    turn.session.save()
    judge(lease_for(quality, "ana").current, {"correct": 1, "helpful": 1})
    exported = export_annotations(
        quality.dataset, schema=quality.schema, campaign=quality, out=BytesIO(), actor=None
    )
    assert (exported.labels, exported.answers) == (1, 2)
    assert exported.omissions == ["1 label of excluded sessions or the locked test split: left out"]


def test_one_answer_for_each_reply_and_criterion_is_exported(quality: Campaign) -> None:
    said: dict[str, list[dict[str, Any]]] = {
        "ana": [ANSWERS, {"correct": 1, "helpful": 3}, {"correct": 1, "helpful": 3}],
        "ben": [{**ANSWERS, "why": "Too long."}, {"correct": 1, "helpful": 1}, ANSWERS],
    }
    for name, given in said.items():
        for answers in given:
            judge(lease_for(quality, name).current, answers)
    disputed = Judgment.objects.filter(codes__correct=0, codes__helpful=2).last()
    assert disputed is not None
    found = [
        (line["criterion"], line["value"], line["annotator"]) for line in export(quality, labels="majority")
    ]
    assert sorted(found, key=repr) == sorted(
        [
            ("correct", 0, "majority"), ("faults", ["facts", "tone"], "majority"), ("helpful", 3, "majority"),
            ("correct", 1, "majority"), ("helpful", 3, "majority"),
        ],
        key=repr,
    )  # fmt: skip
    decided = {"correct": 1, "helpful": 2}
    adjudicate(disputed.turn, "warm_v1", answers=decided, reason="Why not.", campaign=quality, actor=None)
    scope: Any = {"dataset": quality.dataset, "schema": quality.schema, "campaign": quality}
    exported = export_annotations(**scope, out=(out := BytesIO()), labels="adjudicated")
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    place = disputed.turn.session.session_id
    assert {line["criterion"]: line["value"] for line in lines if line["session_id"] == place} == decided
    assert exported.omissions == ["1 reply without an answer to helpful by adjudicated: left out"]
    with pytest.raises(UserError, match="must be one of all, majority, adjudicated"):
        export_annotations(**scope, out=BytesIO(), labels="dawid-skene")


def test_personal_data_in_an_answer_is_not_exported(tmp_path: Path) -> None:
    """Though the conversations were found to hold none."""
    schema = import_schema(QUALITY).schema
    dataset = make_replies(tmp_path, 2)
    campaign = make_campaign(dataset, "ana", schema=schema)
    judge(lease_for(campaign, "ana").current, {**ANSWERS, "why": "Mail jane.roe@example.org"})
    Dataset.objects.filter(pk=dataset.pk).update(status=Dataset.Status.SCRUBBED)
    with pytest.raises(UserError, match="personal data"):
        export(Campaign.objects.get(pk=campaign.pk))


def test_built_in_campaigns_cost_what_they_did(quality: Campaign, dataset: Dataset) -> None:
    """And a schema one query more, for the rater."""
    plain, few = make_campaign(dataset, "ana", name="plain"), {"correct": 1, "helpful": 1}
    counts = {}
    for campaign, options in ((plain, {"label": 1}), (quality, {"label": None, "answers": few})):
        submit(lease_for(campaign, "ana").current, **options)
        current = lease_for(campaign, "ana").current
        with CaptureQueriesContext(connection) as queries:
            submit(current, **options)
        counts[campaign.name] = len(queries)
        with CaptureQueriesContext(connection) as queries:
            assert len(recent_decisions(campaign, current.annotator)) == 2
        assert len(queries) == 1
    assert counts["round-1"] == counts["plain"] + 1


def test_gold_replies_are_those_adjudicated_under_the_schema(quality: Campaign) -> None:
    options: dict[str, Any] = {"schema": quality.schema, "name": "with-gold", "gold_share": 0.5}
    turns = list(quality.items.order_by("position").values_list("turn", flat=True))
    with pytest.raises(UserError, match="adjudicated label"):
        make_campaign(quality.dataset, "ana", **options)
    adjudicate(
        Turn.objects.get(pk=turns[3]), "warm_v1", answers=ANSWERS, reason="", campaign=quality, actor=None
    )
    campaign = make_campaign(quality.dataset, "ana", **options)
    assert list(campaign.items.filter(gold=True).values_list("turn", flat=True)) == [turns[3]]
    while current := lease_for(campaign, "ana").current:
        judge(current)
    assert campaign.members.get().gold_labelled == 1
    assert Judgment.objects.filter(campaign=campaign, kind="label").count() == 6
    with pytest.raises(UserError, match="adjudicated label"):
        make_campaign(quality.dataset, "ana", name="on-brand", gold_share=0.2)


def test_the_most_disputed_replies_come_first(quality: Campaign) -> None:
    said: dict[str, list[dict[str, Any]]] = {
        "ana": [ANSWERS, ANSWERS, ANSWERS],
        "ben": [ANSWERS, {**ANSWERS, "helpful": 1}, {**ANSWERS, "why": "Too long."}],
    }
    for name, given in said.items():
        for answers in given:
            judge(lease_for(quality, name).current, answers)
    counted = Judgment.objects.values("turn").annotate(helpful=Count("codes__helpful", distinct=True))
    [disputed] = [row["turn"] for row in counted if row["helpful"] == 2]
    again = make_campaign(quality.dataset, "ana", name="again", schema=quality.schema, order="disputed")
    assert again.items.order_by("position").first().turn_id == disputed


def test_labels_of_an_earlier_persona_are_queued_again_and_none_counts_twice(quality: Campaign) -> None:
    first = lease_for(quality, "ana").current
    judge(first)
    judge(lease_for(quality, "ben").current)
    assert not Judgment.objects.stale(quality).exists()
    quality.persona.yaml += "\n# changed"
    quality.persona.save()
    judge(lease_for(quality, "ana").current)
    assert Judgment.objects.stale(quality).count() == 2
    assert requeue_stale(quality, actor=None) == 2
    assert sorted(Judgment.objects.values_list("kind", flat=True)) == ["label", "withdrawn", "withdrawn"]
    assert not find_inconsistencies()
    judge(first, {"correct": 1, "helpful": 1}, shown=quality.persona.digest)
    assert Judgment.objects.filter(kind="label", rater__name="ana", turn=first.item.turn_id).count() == 1
    assert requeue_stale(quality, actor=None) == 0
    assert not find_inconsistencies()
