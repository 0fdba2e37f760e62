"""A calibration round: the same replies for all, then their differences, then the rest."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotations_app.agreement.calibration import list_differences, measure_round, open_if_agreed
from annotations_app.campaigns.announce import list_completed
from annotations_app.campaigns.calibration import open_rest
from annotations_app.campaigns.edit import edit_campaign
from annotations_app.campaigns.settings import InvalidSetting
from annotations_app.criteria.schemas import import_schema
from annotations_app.hooks.panels import announce_campaigns
from annotations_app.labeling.lease_next import lease_next
from annotations_app.labeling.requeue_stale import requeue_stale
from annotations_app.models import Annotation, Assignment, Campaign
from datasets_app.core.errors import UserError
from datasets_app.models import Dataset
from tests.campaigns import (
    find_inconsistencies,
    get_user,
    label_all_replies,
    lease_for,
    make_annotators,
    make_campaign,
    make_replies,
    submit,
)
from tests.everything import make_user_with

pytestmark = pytest.mark.django_db

PEOPLE = ("ana", "ben", "cy")


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return make_replies(tmp_path, 10)


@pytest.fixture
def campaign(dataset: Dataset) -> Campaign:
    return make_campaign(dataset, *PEOPLE, overlap=2, calibration_replies=3, calibration_alpha=0.8)


def reload(campaign: Campaign) -> Campaign:
    return Campaign.objects.select_related("persona", "schema", "dataset").get(pk=campaign.pk)


def test_all_label_the_same_before_the_rest_opens(campaign: Campaign) -> None:
    given = {name: {one.item_id for one in label_all_replies(campaign, name)} for name in PEOPLE}
    assert given["ana"] == given["ben"] == given["cy"]
    assert len(given["ana"]) == 3
    queue = lease_for(campaign, "ana")
    assert (queue.state, "first round" in queue.message) == ("nothing_now", True)
    assert campaign.count_places(3) == 7 * 2 + 3 * 3
    assert not find_inconsistencies()
    # The round is no end of the campaign; all agree, so the scheduler opens the rest.
    assert not list_completed()
    announce_campaigns()
    campaign = reload(campaign)
    assert not campaign.is_calibrating
    assert not find_inconsistencies()
    for name in PEOPLE:
        label_all_replies(campaign, name)
    assert not find_inconsistencies()
    assert Annotation.objects.count() == campaign.count_places(3) == 23
    with pytest.raises(UserError, match="no calibration round"):
        open_rest(campaign, actor=None)


def test_who_differs_discusses(campaign: Campaign, client: Client) -> None:
    label_all_replies(campaign, "ana", label=1)
    for number in range(3):
        submit(lease_for(campaign, "ben").current, label=int(number > 0), notes="Too cold.")
    assert measure_round(campaign).missing == 3
    label_all_replies(campaign, "cy", label=1)
    assert measure_round(campaign).missing == 0
    assert open_if_agreed(campaign) is False
    [difference] = list_differences(campaign)
    assert [(one.who, *one.answers.values(), one.notes) for one in difference.said] == [
        ("ana", "On-brand", None), ("ben", "Off-brand", "Too cold."), ("cy", "On-brand", None),
    ]  # fmt: skip
    client.force_login(make_user_with(name="lena", excluded=("nothing",)))
    url = reverse("admin:annotations_app_campaign_calibration", args=[campaign.pk])
    page = " ".join(client.get(url).content.decode().split())
    for sentence in ("Everybody has labeled it.", "below 0.8", "1 difference", "Too cold.", "Off-brand"):
        assert sentence in page
    assert "say why" in client.post(url, follow=True).content.decode()
    # Once more for all, under other guidelines; or by a lead's word.
    edit_campaign(campaign, changes={"guidelines": "Cold is off-brand."}, actor=None)
    assert requeue_stale(reload(campaign), actor=None) == 9
    assert not find_inconsistencies()
    assert "9 labels are missing" in " ".join(client.get(url).content.decode().split())
    assert "are open" in client.post(url, {"reason": "Discussed."}, follow=True).content.decode()
    assert "The round ended" in client.get(url).content.decode()
    assert lease_next(reload(campaign), get_user("ana")).state == "open"
    assert not find_inconsistencies()


def test_annotators_come_and_go(campaign: Campaign) -> None:
    label_all_replies(campaign, "ana")
    lease_for(campaign, "ben")
    make_annotators("dora")
    edit_campaign(campaign, changes={"annotators": ["ana", "ben", "dora"], "overlap": 3}, actor=None)
    assert not find_inconsistencies()
    campaign = reload(campaign)
    assert len(label_all_replies(campaign, "dora")) == 3
    assert len(label_all_replies(campaign, "ben")) == 3
    assert measure_round(campaign).missing == 0
    open_rest(campaign, reason="Enough.", actor=None)
    campaign = reload(campaign)
    assert not find_inconsistencies()
    assert len(label_all_replies(campaign, "ana")) == 7


def test_labels_of_who_was_removed_hold_up_no_round(campaign: Campaign) -> None:
    """Queued again, they would leave places that nobody can take."""
    for name in PEOPLE:
        label_all_replies(campaign, name)
    edit_campaign(campaign, changes={"annotators": ["ana", "ben"], "guidelines": "New."}, actor=None)
    campaign = reload(campaign)
    assert requeue_stale(campaign, actor=None) == 9
    assert not find_inconsistencies()
    assert measure_round(campaign).missing == 6
    for name in ("ana", "ben"):
        label_all_replies(campaign, name)
    assert measure_round(campaign).missing == 0
    announce_campaigns()
    assert not reload(campaign).is_calibrating


def test_answers_to_another_version_of_a_question_are_no_difference(dataset: Dataset) -> None:
    asked = (
        "{schema: mood, criteria: [{key: mood, question: Which mood?, kind: choice, answers: [calm, loud]}]}"
    )
    schema = import_schema(asked).schema
    campaign = make_campaign(dataset, "ana", "ben", overlap=2, calibration_replies=1, schema=schema)
    submit(lease_for(campaign, "ana").current, label=None, answers={"mood": "calm"})
    later = import_schema(asked.replace("[calm, loud]", "[quiet, calm, loud]")).schema
    edit_campaign(campaign, changes={"schema": later}, actor=None)
    campaign = reload(campaign)
    submit(lease_for(campaign, "ben").current, label=None, answers={"mood": "quiet"})
    assert list_differences(campaign) == []
    assert requeue_stale(campaign, actor=None) == 1
    submit(lease_for(campaign, "ana").current, label=None, answers={"mood": "loud"})
    assert len(list_differences(campaign)) == 1


def test_gold_and_repeats_wait_for_the_end_of_the_round(dataset: Dataset) -> None:
    plain = make_campaign(dataset, "lena", name="earlier")
    for one in label_all_replies(plain, "lena", limit=4):
        Annotation.objects.filter(assignment=one).update(kind="adjudicated", campaign=None)
        Assignment.objects.filter(pk=one.pk).update(annotation=None, state="released", decided_at=None)
    options: dict[str, Any] = {"gold_share": 0.3, "repeat_share": 0.2, "calibration_replies": 4}
    campaign = make_campaign(dataset, *PEOPLE, overlap=2, **options)
    for name in PEOPLE:
        done = label_all_replies(campaign, name)
        assert len(done) == 4
        assert not any(one.item.gold or one.repeat for one in done)


def test_several_criteria_have_to_agree(dataset: Dataset) -> None:
    schema = import_schema(
        "schema: two\ncriteria:\n  - {key: a, question: A?, kind: yes_no}\n"
        "  - {key: b, question: B?, kind: yes_no}\n  - {key: t, question: T?, kind: text, optional: true}\n"
    ).schema
    campaign = make_campaign(
        dataset, "ana", "ben", schema=schema, calibration_replies=4, calibration_alpha=0.9
    )
    for name in ("ana", "ben"):
        for number in range(4):
            b = int(number == 0) if name == "ana" else 0
            answers = {"a": number % 2, "b": b, "t": f"Of {name}."}
            submit(lease_for(campaign, name).current, label=None, answers=answers)
    state = measure_round(campaign)
    assert [(one.title, one.agrees) for one in state.agreement] == [
        ("A? (nominal)", True), ("B? (nominal)", False),
    ]  # fmt: skip
    assert not state.is_agreed
    [difference] = list_differences(campaign)
    assert difference.criteria == ["B?"]
    assert difference.said[0].answers == {"A?": "No", "B?": "Yes", "T?": "Of ana."}


@pytest.mark.parametrize(
    ("names", "options", "field"),
    [
        (("ana",), {"calibration_replies": 3}, "calibration_replies"),
        (PEOPLE, {"calibration_replies": 201}, "calibration_replies"),
        (PEOPLE, {"calibration_alpha": 0.8}, "calibration_alpha"),
        (PEOPLE, {"calibration_replies": 3, "calibration_alpha": 1.5}, "calibration_alpha"),
    ],
)
def test_settings_of_a_round(dataset: Dataset, names: Any, options: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidSetting) as refused:
        make_campaign(dataset, *names, **options)
    assert refused.value.field == field
