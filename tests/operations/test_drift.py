"""Those who lead a campaign hear of a person whose checks have changed; nobody else does."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from annotations_app.hooks.panels import announce_campaigns
from annotations_app.labeling import drift
from annotations_app.labeling.drift import find_drifts, find_paces, pause_and_requeue
from annotations_app.models import Annotation, Assignment, Campaign
from datasets_app.core.errors import UserError
from datasets_app.models import OutgoingEvent
from tests.campaigns import (
    find_inconsistencies,
    get_user,
    label_all_replies,
    make_campaign,
    make_replies,
)
from tests.everything import make_user_with

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("drift")]


@pytest.fixture(scope="module")
def labelled(rows_of_module: None, tmp_path_factory: pytest.TempPathFactory) -> int:
    """Ana repeats half of 160 replies; in the last of the repeats every second is the other way round."""
    made = make_campaign(
        make_replies(tmp_path_factory.mktemp("labelled"), 40, turns=8),
        *("ana", "ben"),
        overlap=1,
        repeat_share=0.5,
    )
    done = label_all_replies(made, "ana")
    repeats = [one for one in done if one.repeat]
    assert len(repeats) > 70
    for place, one in enumerate(repeats):
        one.refresh_from_db()
        if place >= 55 and place % 2:
            Annotation.objects.filter(pk=one.annotation_id).update(label=0)
    # As they came, a minute after the other.
    for place, one in enumerate(done):
        at = done[0].served_at + timedelta(minutes=place)
        Assignment.objects.filter(pk=one.pk).update(decided_at=at)
        slow = 20.0 if place > len(done) - 51 else 5.0
        Annotation.objects.filter(pk=Assignment.objects.get(pk=one.pk).annotation_id).update(seconds=slow)
    return made.pk


@pytest.fixture
def campaign(labelled: int) -> Campaign:
    return Campaign.objects.get(pk=labelled)


def test_a_change_is_found_with_its_start(campaign: Campaign) -> None:
    [found] = find_drifts(campaign)
    assert (found.user.username, found.kind, found.before) == ("ana", drift.REPEAT, 1.0)
    assert found.after < 0.8
    assert 100 < found.labels < 200
    [pace] = find_paces(campaign)
    assert (pace.user.username, pace.before, pace.after) == ("ana", 5.0, 20.0)


def test_pausing_takes_them_out_and_requeues_what_came_since(campaign: Campaign) -> None:
    [found] = find_drifts(campaign)
    assert pause_and_requeue(campaign, get_user("ana"), actor=None) == found.labels
    assert not campaign.members.get(user=get_user("ana")).active
    assert Annotation.objects.filter(kind="withdrawn").count() == found.labels
    assert find_inconsistencies() == []
    assert find_drifts(campaign) == []
    with pytest.raises(UserError, match="are as before"):
        pause_and_requeue(campaign, get_user("ana"), actor=None)
    # The other annotator gets the replies.
    assert label_all_replies(campaign, "ben", limit=3)


def test_the_lead_hears_of_it_once_without_a_name(campaign: Campaign) -> None:
    for _ in range(2):
        cache.clear()
        announce_campaigns()
    [event] = OutgoingEvent.objects.filter(kind="checks.changed")
    assert event.data == {"campaign": campaign.name, "campaign_id": campaign.pk}


def test_the_page_says_it_to_those_who_lead_alone(campaign: Campaign, client: Client) -> None:
    page = reverse("admin:annotations_app_campaign_change", args=[campaign.pk])
    client.force_login(make_user_with(name="curator", excluded=("annotations_app.adjudicate",)))
    assert "as expected" not in client.get(page).content.decode()
    pause = reverse("admin:annotations_app_campaign_pause", args=[campaign.pk])
    assert client.post(pause, {"user": get_user("ana").pk}).status_code == 403
    client.force_login(make_user_with(name="lena", excluded=("nothing",)))
    shown = client.get(page).content.decode()
    assert "hidden repeats since" in shown
    assert "20 seconds for a label now, 5 before" in shown
    answer: Any = client.post(pause, {"user": get_user("ana").pk}, follow=True)
    assert "ana is paused, and" in answer.content.decode()
