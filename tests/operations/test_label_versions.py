"""Guidelines, schema and persona that change while people label: earlier labels are marked, queued again, and
none is counted twice."""

import json
import re
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotations_app.agreement.adjudicate import find_overruled, list_disputed
from annotations_app.agreement.criteria import measure_criteria
from annotations_app.agreement.measure import measure_agreement
from annotations_app.campaigns.edit import edit_campaign
from annotations_app.campaigns.settings import InvalidSetting
from annotations_app.criteria.schemas import import_schema
from annotations_app.estimates.measure import estimate_quality
from annotations_app.judges.judge_rows import read_people, read_raters
from annotations_app.judges.judges import get_judge
from annotations_app.judges.measure import measure_judge
from annotations_app.labeling.judgments import find_person, list_staying_answers
from annotations_app.labeling.requeue_stale import requeue_replies, requeue_stale
from annotations_app.labeling.reveal import find_codes
from annotations_app.labels.export_annotations import export_annotations
from annotations_app.labels.versions import list_unchanged_criteria, list_versions
from annotations_app.models import Annotation, Campaign, JudgeRun, Judgment, Verdict
from datasets_app.core.errors import UserError
from datasets_app.models import Dataset
from tests.campaigns import (
    find_inconsistencies,
    label_all_replies,
    lease_for,
    make_annotators,
    make_campaign,
    make_replies,
    submit,
)
from tests.everything import make_user_with

pytestmark = pytest.mark.django_db

FIRST = """\
schema: quality
criteria:
  - {key: correct, question: Is it correct?, kind: yes_no}
  - {key: tone, question: Which tone?, kind: choice, answers: [cold, warm]}
"""
# Another meaning of the codes: 0 was cold.
SECOND = FIRST.replace("[cold, warm]", "[warm, neutral, cold]")


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return make_replies(tmp_path, 4)


@pytest.fixture
def quality(dataset: Dataset) -> Campaign:
    return make_campaign(dataset, "ana", "ben", overlap=2, schema=import_schema(FIRST).schema, guidelines="A")


def judge_all(campaign: Campaign, tone: str) -> int:
    """As both annotators; how many labels that made."""
    made = 0
    for name in ("ana", "ben"):
        while current := lease_for(campaign, name).current:
            submit(current, label=None, answers={"correct": 1, "tone": tone})
            made += 1
    return made


def change(campaign: Campaign, **changes: Any) -> Campaign:
    edit_campaign(campaign, changes=changes, actor=None)
    return Campaign.objects.select_related("persona", "schema", "dataset").get(pk=campaign.pk)


def count_tones(campaign: Campaign, version: int = 0) -> dict[str, dict[str, int]]:
    measured = measure_criteria(campaign, version=version, resamples=0).criteria
    return {one.criterion.key: {answer.name: answer.labels for answer in one.answers} for one in measured}


def test_a_criterion_changed_in_the_middle(quality: Campaign) -> None:
    assert judge_all(quality, "cold") == 8
    quality = change(quality, schema=import_schema(SECOND).schema)
    # Marked; what didn't change stays current, and no code is read by the other version.
    assert Judgment.objects.stale(quality).count() == Judgment.objects.stale(quality, ["schema"]).count() == 8
    assert not Judgment.objects.stale(quality, ["persona", "guidelines"]).exists()
    assert list_unchanged_criteria(quality) == ["correct"]
    assert count_tones(quality) == {
        "correct": {"No": 0, "Yes": 8}, "tone": {"Warm": 0, "Neutral": 0, "Cold": 0},
    }  # fmt: skip
    assert requeue_stale(quality, causes=["guidelines"], actor=None) == 0
    assert requeue_stale(quality, actor=None) == 8
    assert not find_inconsistencies()
    # The answers to what is the same go on counting, and aren't asked for again.
    assert count_tones(quality)["correct"] == {"No": 0, "Yes": 8}
    assert requeue_stale(quality, actor=None) == 0
    assert judge_all(quality, "neutral") == 8
    assert requeue_stale(quality, actor=None) == 0
    assert not find_inconsistencies()
    # Counted once, kept twice.
    assert count_tones(quality) == {
        "correct": {"No": 0, "Yes": 8}, "tone": {"Warm": 0, "Neutral": 8, "Cold": 0},
    }  # fmt: skip
    assert Judgment.objects.filter(kind="withdrawn").count() == 8
    export_annotations(quality.dataset, schema=quality.schema, campaign=quality, out=(out := BytesIO()))
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert len(lines) == 16
    assert {line["schema"] for line in lines} == {"quality@2"}
    # Before and after.
    assert [(one.labels, one.withdrawn, one.is_current) for one in list_versions(quality)] == [
        (0, 8, False), (8, 0, True),
    ]  # fmt: skip
    assert count_tones(quality, version=1)["tone"] == {"Cold": 8, "Warm": 0}
    assert count_tones(quality, version=2)["tone"] == {"Warm": 0, "Neutral": 8, "Cold": 0}
    with pytest.raises(UserError, match="no version 3 of labels; there are 1 to 2"):
        measure_criteria(quality, version=3)


def test_only_what_changed_is_asked_again(quality: Campaign) -> None:
    assert judge_all(quality, "cold") == 8
    quality = change(quality, schema=import_schema(SECOND).schema)
    assert requeue_stale(quality, actor=None) == 8
    assert count_tones(quality)["correct"] == {"No": 0, "Yes": 8}
    leased = lease_for(quality, "ana").leased
    client = Client()
    client.force_login(User.objects.get(username="ana"))
    page = client.get(reverse("annotate:queue", args=[quality.name])).content.decode()
    assert page.count('data-staying="{&quot;correct&quot;: 1}"') == len(leased)
    assert re.search(r'name="chosen.correct" value="1"\s+checked', page)
    assert not re.search(r'name="chosen.tone" value="\d"\s+checked', page)
    submit(leased[0], label=None, answers={"correct": 0, "tone": "warm"})
    # One label for each annotator and reply, whatever they have answered by now.
    assert count_tones(quality) == {
        "correct": {"No": 1, "Yes": 7}, "tone": {"Warm": 1, "Neutral": 0, "Cold": 0},
    }  # fmt: skip
    submit(leased[1], "skip")
    assert count_tones(quality)["correct"] == {"No": 1, "Yes": 6}
    assert not find_inconsistencies()


def test_an_answer_that_stays_counts_until_somebody_else_has_its_place(quality: Campaign) -> None:
    assert judge_all(quality, "cold") == 8
    quality = change(quality, schema=import_schema(SECOND).schema)
    assert requeue_stale(quality, actor=None) == 8
    make_annotators("cyd")
    quality = change(quality, annotators=["ben", "cyd"])
    # Leased to another, ana's still counts.
    current = lease_for(quality, "cyd").current
    assert count_tones(quality)["correct"] == {"No": 0, "Yes": 8}
    submit(current, label=None, answers={"correct": 0, "tone": "warm"})
    assert count_tones(quality)["correct"] == {"No": 1, "Yes": 7}
    assert Judgment.objects.get(kind="withdrawn").rater.name == "ana"
    while current := lease_for(quality, "cyd").current:
        submit(current, label=None, answers={"correct": 0, "tone": "warm"})
    assert count_tones(quality)["correct"] == {"No": 4, "Yes": 4}
    # Those of ben wait on: nobody has taken his places.
    while current := lease_for(quality, "ben").current:
        submit(current, label=None, answers={"correct": 1, "tone": "warm"})
    assert count_tones(quality) == {
        "correct": {"No": 4, "Yes": 4}, "tone": {"Warm": 8, "Neutral": 0, "Cold": 0},
    }  # fmt: skip
    assert not find_inconsistencies()


def test_new_guidelines_ask_again_for_labels_that_wait(quality: Campaign) -> None:
    assert judge_all(quality, "cold") == 8
    quality = change(quality, schema=import_schema(SECOND).schema)
    assert requeue_stale(quality, actor=None) == 8
    lease_for(quality, "ana")
    quality = change(quality, guidelines="B")
    assert requeue_stale(quality, causes=["schema"], actor=None) == 0
    assert Judgment.objects.stale(quality, ["guidelines"]).count() == 8
    assert requeue_stale(quality, actor=None) == 8
    assert not find_inconsistencies()
    assert count_tones(quality)["correct"] == {"No": 0, "Yes": 0}
    assert judge_all(quality, "neutral") == 8
    assert count_tones(quality)["correct"] == {"No": 0, "Yes": 8}
    assert [(one.labels, one.withdrawn) for one in list_versions(quality)] == [(0, 8), (8, 0)]
    assert not find_inconsistencies()


@pytest.mark.parametrize("decision", ["label", "skip"])
def test_undo_brings_back_the_answers_that_stayed(quality: Campaign, decision: str) -> None:
    assert judge_all(quality, "cold") == 8
    quality = change(quality, schema=import_schema(SECOND).schema)
    assert requeue_stale(quality, actor=None) == 8
    current = lease_for(quality, "ana").current
    said: dict[str, Any] = {"answers": {"correct": 0, "tone": "warm"}} if decision == "label" else {}
    for _ in range(2):
        submit(current, decision, label=None, **said)
        assert count_tones(quality)["correct"]["Yes"] == 7
        submit(current, "undo", label=None)
        assert count_tones(quality) == {
            "correct": {"No": 0, "Yes": 8}, "tone": {"Warm": 0, "Neutral": 0, "Cold": 0},
        }  # fmt: skip
        assert not find_inconsistencies()
    again = lease_for(quality, "ana").current
    assert list_staying_answers(again, quality.schema.content) == {"correct": 1}
    # What a lead asked for again as a whole stays withdrawn.
    assert requeue_replies(quality, [current.item.turn_id], actor=None) == 2
    current = lease_for(quality, "ana").current
    submit(current, "skip", label=None)
    submit(current, "undo", label=None)
    assert count_tones(quality)["correct"] == {"No": 0, "Yes": 6}
    assert not find_inconsistencies()


def test_judges_and_rates_read_no_code_by_another_version(quality: Campaign) -> None:
    """An answer that stays counts for what is the same; a cold tone of before is no warm one."""
    assert judge_all(quality, "cold") == 8
    quality = change(quality, schema=import_schema(SECOND).schema)
    assert requeue_stale(quality, actor=None) == 8
    asked = {criterion.key: criterion for criterion in quality.asked_schema.criteria}
    assert read_people(quality, asked["correct"])[1].tolist() == [1] * 8
    assert read_people(quality, asked["tone"])[1].tolist() == []
    assert set(read_raters(quality, asked["correct"])) == {"ana", "ben"}
    assert read_raters(quality, asked["tone"]) == {}
    assert estimate_quality(quality).rates[1].people.labels == 0
    submit(lease_for(quality, "ana").current, label=None, answers={"correct": 1, "tone": "cold"})
    # Cold as before, which is another code by now: nobody differs.
    assert list_disputed(quality.dataset, quality.persona.persona_id, campaign=quality) == []
    judged = Judgment.objects.get(schema=quality.schema)
    assert find_overruled(judged.turn, quality, judged.answers) == []
    assert len(read_people(quality, asked["correct"])[1]) == 8
    assert read_people(quality, asked["tone"])[1].tolist() == [2]


@pytest.mark.parametrize("labels", ["majority", "adjudicated"])
def test_one_answer_for_each_reply_counts_no_code_of_another_version(quality: Campaign, labels: str) -> None:
    judge_all(quality, "cold")
    quality = change(quality, schema=import_schema(SECOND).schema)
    assert requeue_stale(quality, actor=None) == 8
    submit(lease_for(quality, "ana").current, label=None, answers={"correct": 1, "tone": "neutral"})
    out = BytesIO()
    exported = export_annotations(
        quality.dataset, schema=quality.schema, campaign=quality, out=out, labels=labels
    )
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert {line["schema"] for line in lines} == {"quality@2"}
    assert [line["value"] for line in lines if line["criterion"] == "correct"] == [1] * 4
    assert [line["value"] for line in lines if line["criterion"] == "tone"] == ["neutral"]
    assert exported.omissions == ["3 replies answered under another version of tone: left out"]


def test_what_was_adjudicated_under_an_earlier_version_stays_adjudicated(quality: Campaign) -> None:
    """As far as it was asked the same; of this persona, and of the replies of the campaign."""
    judge_all(quality, "cold")
    first, *_, last = Judgment.objects.order_by("turn")
    lead = find_person(quality.dataset_id, "lena")
    decided = {"dataset": quality.dataset, "rater": lead, "schema": quality.schema, "kind": "adjudicated"}
    decided |= {"persona_id": "warm_v1", "codes": {"correct": 0, "tone": 1}}
    Judgment.objects.create(**decided, turn=first.turn)
    Judgment.objects.create(**decided | {"persona_id": "other"}, turn=last.turn)
    Judgment.objects.create(**decided, turn=first.turn.session.turns.exclude(pk=first.turn_id).get())
    quality = change(quality, schema=import_schema(SECOND).schema)
    scope = {"dataset": quality.dataset, "schema": quality.schema, "campaign": quality}
    exported = export_annotations(**scope, out=(out := BytesIO()), labels="adjudicated")
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    assert {line["schema"] for line in lines} == {"quality@2"}
    assert [(line["criterion"], line["value"], line["annotator"]) for line in lines] == [
        ("correct", 0, "lena"), *[("correct", 1, "unanimous")] * 3,
    ]  # fmt: skip
    assert exported.omissions == ["4 replies answered under another version of tone: left out"]
    first.turn.session.split = "test"
    first.turn.session.save()
    exported = export_annotations(**scope, out=BytesIO(), labels="adjudicated")
    assert "3 labels of excluded sessions or the locked test split: left out" in exported.omissions


def test_a_persona_chooses_answers_too(quality: Campaign) -> None:
    judge_all(quality, "cold")
    Judgment.objects.filter(turn=Judgment.objects.latest("turn").turn).update(campaign=None, persona_id="b")
    scope = {"dataset": quality.dataset, "schema": quality.schema, "out": BytesIO()}
    assert export_annotations(**scope).labels == 8
    assert export_annotations(**scope, persona="b").labels == 2
    with pytest.raises(UserError, match="is for the persona warm_v1"):
        export_annotations(**scope, campaign=quality, persona="b")
    quality.dataset.sessions.update(split="test")
    with pytest.raises(UserError, match="No label is left to export: 8 labels of excluded sessions or the"):
        export_annotations(**scope)


def test_an_adjudicated_answer_replaces_those_of_annotators(quality: Campaign) -> None:
    """As docs/judges.md says, and as it is with the built-in criterion."""
    assert judge_all(quality, "cold") == 8
    judged = Judgment.objects.order_by("turn").first()
    assert judged is not None
    lead = find_person(quality.dataset_id, "lena")
    Judgment.objects.create(
        dataset=quality.dataset, turn_id=judged.turn_id, rater=lead, schema=quality.schema,
        kind="adjudicated", persona_id=judged.persona_id, codes={"correct": 0, "tone": 1},
    )  # fmt: skip
    asked = quality.asked_schema.criteria[0]
    turn, value = read_people(quality, asked)
    assert sorted(zip(turn.tolist(), value.tolist(), strict=True))[0] == (judged.turn_id, 0)
    assert value.tolist().count(0) == 1
    assert len(value) == 7


def test_a_page_from_before_the_change_loses_nothing(quality: Campaign) -> None:
    """Its answers count as what they are: given under the version that it showed."""
    ana = User.objects.get(username="ana")
    current = lease_for(quality, "ana").current
    old = quality.schema
    quality = change(quality, schema=import_schema(SECOND).schema, guidelines="B")
    client = Client()
    client.force_login(ana)
    sent = {
        "assignment": current.pk, "key": "11111111-1111-4111-8111-111111111111", "decision": "label",
        "answers": json.dumps({"correct": 1, "tone": "cold"}), "schema": "quality@1", "guidelines": "0" * 64,
    }  # fmt: skip
    url = reverse("annotate:decide", args=[quality.name])
    refused = client.post(url, sent | {"schema": "quality@9"}, headers={"X-Queue": str(ana.pk)})
    assert (refused.status_code, "have changed" in refused.content.decode()) == (409, True)
    answer = client.post(url, sent, headers={"X-Queue": str(ana.pk)}).content.decode()
    # The page learns that it shows what was.
    assert 'data-schema="quality@2"' in answer
    assert 'id="guidelines"' in answer
    judged = Judgment.objects.get()
    assert (judged.schema, judged.codes["tone"], judged.guidelines_digest) == (old, 0, "0" * 64)
    page = client.get(reverse("annotate:queue", args=[quality.name])).content.decode()
    assert "&quot;tone&quot;: &quot;cold&quot;" in page
    export_annotations(quality.dataset, schema=quality.schema, campaign=quality, out=(out := BytesIO()))
    assert [json.loads(line)["value"] for line in out.getvalue().splitlines()] == [1, "cold"]


def test_only_a_later_version_of_the_same(quality: Campaign, dataset: Dataset) -> None:
    other = import_schema(FIRST.replace("schema: quality", "schema: other")).schema
    with pytest.raises(InvalidSetting, match="later version"):
        change(quality, schema=other)
    with pytest.raises(InvalidSetting, match="asks the built-in criterion"):
        change(make_campaign(dataset, "ana", name="plain"), schema=other)
    later = import_schema(SECOND).schema
    first, quality = quality.schema, change(quality, schema=later)
    with pytest.raises(InvalidSetting, match="later version"):
        change(quality, schema=first)
    # One that only looks different makes no label stale.
    judge_all(quality, "cold")
    assert not Judgment.objects.stale(quality).exists()
    helped = SECOND.replace("kind: choice", "kind: choice, help: Read twice.")
    assert not Judgment.objects.stale(change(quality, schema=import_schema(helped).schema)).exists()


def test_labels_of_the_built_in_criterion_know_their_guidelines(dataset: Dataset) -> None:
    campaign = make_campaign(dataset, "ana", "ben", overlap=2, guidelines="A")
    first = label_all_replies(campaign, "ana")
    label_all_replies(campaign, "ben")
    assert len(set(Annotation.objects.values_list("guidelines_digest", flat=True))) == 1
    # Those from before the column count as unchanged.
    Annotation.objects.filter(assignment=first[0]).update(guidelines_digest=None)
    campaign = change(campaign, guidelines="B")
    stale = Annotation.objects.stale(campaign)
    assert stale.count() == 7
    assert all(label.is_stale for label in stale)
    assert sum(label.is_stale for label in Annotation.objects.all()) == 7
    assert requeue_stale(campaign, actor=None) == 7
    label_all_replies(campaign, "ana", label=0)
    label_all_replies(campaign, "ben", label=0)
    assert measure_agreement(campaign=campaign, resamples=0).headline.labels == 8
    versions = list_versions(campaign)
    assert [(one.labels, one.withdrawn) for one in versions] == [(1, 0), (0, 7), (7, 0)]
    earlier = measure_agreement(campaign=campaign, version=2, resamples=0).headline
    assert (earlier.labels, earlier.items) == (7, 4)
    # Back to the first: the same annotator and reply are in that version twice, and counted once.
    campaign = change(campaign, guidelines="A")
    assert requeue_stale(campaign, actor=None) == 7
    label_all_replies(campaign, "ana")
    label_all_replies(campaign, "ben")
    assert not find_inconsistencies()
    assert [(one.labels, one.withdrawn) for one in list_versions(campaign)] == [(1, 0), (7, 7), (0, 7)]
    assert measure_agreement(campaign=campaign, version=2, resamples=0).headline.labels == 7


@pytest.mark.django_db(transaction=True)
def test_pages_and_command(quality: Campaign, manage: Any, client: Client) -> None:
    judge_all(quality, "cold")
    lead = make_user_with(name="lena", excluded=("nothing",))
    client.force_login(lead)
    later = import_schema(SECOND).schema
    settings = reverse("admin:annotations_app_campaign_settings", args=[quality.pk])
    assert 'name="schema"' in client.get(settings).content.decode()
    people = list(quality.members.values_list("user", flat=True))
    form = {"schema": later.pk, "guidelines": "B", "annotators": people, "overlap": 2, "lease_minutes": 15}
    assert client.post(settings, form).status_code == 302
    page = client.get(reverse("admin:annotations_app_campaign_change", args=[quality.pk])).content.decode()
    assert " ".join(page.split()).count("8 labels were made before the") == 2
    stale = reverse("admin:annotations_app_campaign_stale", args=[quality.pk])
    page = " ".join(client.get(f"{stale}?again=1").content.decode().split())
    assert "the schema (8)" in page
    assert "same in both versions: correct" in page
    said = client.post(stale, {"cause": ["schema"]}, follow=True).content.decode()
    assert "Requeued 8 replies." in said
    agreement = reverse("admin:annotations_app_campaign_agreement", args=[quality.pk])
    judge_all(Campaign.objects.get(pk=quality.pk), "warm")
    page = " ".join(client.get(f"{agreement}?version=1").content.decode().split())
    assert "Version 2</a>, new guidelines, schema, current: 8 labels" in page
    assert "measured/?version=1" in page
    assert client.get(f"{agreement}?version=3").status_code == 404
    report = client.get(reverse("admin:annotations_app_campaign_measured", args=[quality.pk]) + "?version=1")
    assert "Cold" in report.content.decode()
    said = json.loads(
        manage("agreement", "--campaign", quality.name, "--version", "1", "--format", "json").stdout
    )
    assert said["criteria"][1]["answers"] == {"Cold": 8, "Warm": 0}
    assert said["schema"] == "quality@1"
    assert manage("agreement", "--dataset", "support", "--version", "1").returncode == 2


def test_verdicts_of_a_judge_are_read_by_the_version_they_were_asked_with(quality: Campaign) -> None:
    run = JudgeRun.objects.create(
        campaign=quality, judge=get_judge("offline"), schema=quality.schema, prompt_digest="0" * 64
    )
    for turn in quality.items.values_list("turn_id", flat=True):
        codes = {"correct": 1, "tone": 0}
        Verdict.objects.create(dataset=quality.dataset, turn_id=turn, run=run, codes=codes)
    judge_all(quality, "cold")
    assert [one.criterion.key for one in measure_judge(run).criteria] == ["correct", "tone"]
    quality = change(quality, schema=import_schema(SECOND).schema)
    report = measure_judge(JudgeRun.objects.get())
    assert ([one.criterion.key for one in report.criteria], report.outdated) == (["correct"], ["tone"])
    quality_report = estimate_quality(quality)
    rates = {rate.criterion: rate for rate in quality_report.rates}
    assert any("judged by another version of tone: run it again" in note for note in quality_report.notes)
    assert rates["tone"].judges is None or not rates["tone"].judges.weight
    Campaign.objects.update(revealed_judge=run.judge)
    quality.refresh_from_db()
    assert find_codes(quality, quality.items.values_list("turn_id", flat=True)[0]) == {"correct": 1}
