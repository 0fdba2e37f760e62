"""Replies of selected sessions are added to a campaign that is being labeled."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotations_app.campaigns.add_replies import add_replies
from annotations_app.models import Campaign, CampaignItem
from datasets_app.catalog.selections import save_selection
from datasets_app.core.errors import UserError
from datasets_app.models import JobRun, Turn
from tests import factories
from tests.campaigns import find_inconsistencies, label_all_replies, make_annotators, make_campaign
from tests.everything import make_user_with


def test_selected_replies_join_a_campaign(db: None, tmp_path: Path, empty_queue: None) -> None:
    lines = [
        line for number in range(4) for line in factories.make_session(f"s{number}", 2, tags=[f"t{number}"])
    ]
    dataset = factories.make_dataset(tmp_path, lines)
    make_annotators("ana")
    campaign = make_campaign(dataset, "ana", overlap=1, tag="t0")
    assert campaign.item_count == 1
    label_all_replies(campaign, "ana")
    keys = list(dataset.sessions.order_by("pk").values_list("pk", flat=True))
    dataset.sessions.filter(pk=keys[2]).update(excluded=True)
    dataset.sessions.filter(pk=keys[3]).update(split="test")
    user: Any = make_user_with(
        "datasets_app.view_dataset",
        "datasets_app.view_session",
        "datasets_app.view_jobrun",
        "annotations_app.view_campaign",
        "annotations_app.change_campaign",
    )
    client = Client()
    client.force_login(user)
    turns = dict(Turn.objects.filter(dataset=dataset, role="assistant").values_list("session", "pk"))
    with pytest.raises(UserError, match="has all of these replies"):
        add_replies(campaign, keys, turns=[turns[keys[0]], turns[keys[2]]])
    selection = save_selection(dataset, keys, user, turns=list(turns.values()))
    address = reverse("admin:annotations_app_campaign_sessions", args=[selection.pk])
    assert campaign.name in client.get(address).content.decode()
    client.post(address, {"campaign": campaign.pk})
    assert factories.run_task(JobRun.objects.get(operation="add_to_campaign"))["replies"] == 1
    assert CampaignItem.objects.filter(campaign=campaign, session=keys[1], open=1, position=2).count() == 1
    assert Campaign.objects.get(pk=campaign.pk).item_count == 2
    assert len(label_all_replies(campaign, "ana")) == 1
    assert find_inconsistencies() == []
    with pytest.raises(UserError, match="has all of these replies"):
        add_replies(campaign, keys)
    Campaign.objects.update(status="closed")
    with pytest.raises(UserError, match="is closed"):
        add_replies(campaign, keys)
