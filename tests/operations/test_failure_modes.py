"""Notes become failure modes, and these tags or criteria of the next labels."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotations_app.agreement.failure_modes import group_notes, list_modes, list_notes, promote_mode
from annotations_app.criteria.schemas import get_schema, import_schema
from annotations_app.models import Campaign, FailureMode, GroupedNote, LabelSchema
from datasets_app.catalog import gates
from datasets_app.core.errors import UserError
from datasets_app.domain.pii.policy import Policy
from datasets_app.models import Dataset
from datasets_app.scrubbing.scrub_dataset import scrub_dataset
from tests.api.calls import Caller, make_user
from tests.campaigns import lease_for, make_campaign, make_replies, submit
from tests.everything import make_user_with

pytestmark = pytest.mark.django_db

SCHEMA = "schema: quality\ncriteria:\n  - {key: right, question: Right?, kind: yes_no}\n"


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return make_replies(tmp_path, 6)


@pytest.fixture
def campaign(dataset: Dataset) -> Campaign:
    campaign = make_campaign(dataset, "ana", schema=import_schema(SCHEMA).schema)
    for number in range(5):
        notes = f"Note {number}." if number else ""
        submit(lease_for(campaign, "ana").current, label=None, answers={"right": 0}, notes=notes)
    return campaign


def test_grouped_renamed_and_taken_out(campaign: Campaign) -> None:
    notes = list(list_notes(campaign).order_by("pk").values_list("pk", flat=True))
    assert len(notes) == 4
    mode = group_notes(campaign, notes[:3], "  Too   long ", actor=None)
    assert mode is not None
    assert mode.name == "Too long"
    # A note is in one mode.
    group_notes(campaign, [notes[0]], "Invents a price", actor=None)
    assert [(one.name, one.noted) for one in list_modes(campaign)] == [
        ("Too long", 2),
        ("Invents a price", 1),
    ]
    group_notes(campaign, notes[:2], "", actor=None)
    assert [one.noted for one in list_modes(campaign)] == [1, 0]
    with pytest.raises(UserError, match="Choose at least one note"):
        group_notes(campaign, [0], "Else", actor=None)
    # A changed decision keeps its place; one that is taken back loses it.
    label = list_notes(campaign).get(pk=notes[2])
    submit(label.assignment, "undo")
    assert not GroupedNote.objects.exists()


@pytest.mark.parametrize("scrubbed", [True, False])
def test_personal_data_in_a_name_is_refused(campaign: Campaign, scrubbed: bool) -> None:
    """Before a scrub, too: it would leave the name."""
    if scrubbed:
        scrub_dataset(campaign.dataset, Policy())
    with pytest.raises(UserError, match="personal data"):
        group_notes(campaign, [list_notes(campaign)[0].pk], "Names jane.roe@example.org", actor=None)
    assert not FailureMode.objects.exists()


def test_a_mode_becomes_a_tag_or_a_criterion(campaign: Campaign) -> None:
    notes = list(list_notes(campaign).values_list("pk", flat=True))
    modes = [
        group_notes(campaign, [pk], name, actor=None)
        for pk, name in zip(notes, ("Too long", "7 lies"), strict=False)
    ]
    for mode in modes:
        assert mode is not None
        promote_mode(mode, as_tag=True, actor=None)
        promote_mode(mode, as_tag=False, actor=None)
        with pytest.raises(UserError, match="already"):
            promote_mode(mode, as_tag=True, actor=None)
    schema = get_schema("quality")
    assert schema.version == 5
    criteria = {one.key: one for one in schema.content.criteria}
    assert list(criteria) == ["right", "failure_modes", "too_long", f"mode_{modes[1].pk}"]  # type: ignore[union-attr]
    assert criteria["failure_modes"].values == ["Too long", "7 lies"]
    assert criteria["too_long"].question == "Too long?"


def test_of_a_restricted_dataset_a_schema_tells_what_the_lead_words_for_it(campaign: Campaign) -> None:
    """All who see campaigns read schemas."""
    mode = group_notes(
        campaign, list(list_notes(campaign).values_list("pk", flat=True)), "Insults the teapot", actor=None
    )
    assert mode is not None
    Dataset.objects.update(restricted=True)
    mode = FailureMode.objects.select_related("campaign__dataset").get()
    for wording, why in (("", "Give the words"), ("Insults jane.roe@mailbox.org", "personal data")):
        with pytest.raises(UserError, match=why):
            promote_mode(mode, as_tag=True, actor=None, wording=wording)
    promote_mode(mode, as_tag=True, actor=None, wording=" Insults  somebody ")
    promote_mode(mode, as_tag=False, actor=None, wording="Insults somebody")
    told = str(list(LabelSchema.objects.values()))
    assert "insults_somebody" in told
    assert "teapot" not in told


def test_names_of_modes_are_for_those_who_may_read_notes(campaign: Campaign, client: Client) -> None:
    group_notes(campaign, [list_notes(campaign)[0].pk], "Insults the teapot", actor=None)
    Dataset.objects.update(origin="production")
    assert gates.is_raw(Dataset.objects.get())
    lead, path = Caller(make_user("lead")), f"/campaigns/{campaign.name}/failure-modes"
    client.force_login(lead.user)
    page = client.get(reverse("admin:annotations_app_campaign_notes", args=[campaign.pk]))
    assert (page.status_code, b"teapot" in page.content) == (200, False)
    assert lead("GET", path).status_code == 409
    mode = FailureMode.objects.get()
    for action in ("criterion", "delete"):
        said = client.post(
            reverse("admin:annotations_app_campaign_notes", args=[campaign.pk]),
            {"action": f"{action}:{mode.pk}", f"wording:{mode.pk}": "Insults"},
            follow=True,
        )
        assert b"teapot" not in said.content
    assert lead("POST", f"{path}/{mode.pk}/promote", {"kind": "tag", "wording": "x"}).status_code == 409
    assert FailureMode.objects.exists()
    assert LabelSchema.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_the_page(dataset: Dataset, client: Client) -> None:
    """Of a campaign without a schema, too."""
    campaign = make_campaign(dataset, "ana")
    for number in range(4):
        submit(lease_for(campaign, "ana").current, label=0, notes=f"Note {number}.")
    url = reverse("admin:annotations_app_campaign_notes", args=[campaign.pk])
    client.force_login(make_user_with(name="lena", excluded=("nothing",)))
    keys = list(list_notes(campaign).order_by("pk").values_list("pk", flat=True))

    def post(**fields: Any) -> str:
        return " ".join(client.post(url, fields, follow=True).content.decode().split())

    assert "Name the failure mode." in post(action="group", note=keys[0])
    assert "Grouped into Cold." in post(action="group", name="Cold", note=keys[:2])
    assert "Grouped into Slow." in post(action="group", name="Slow", note=keys[2])
    said = post(action="group", name="Odd", note=keys[3])
    assert "3 modes so far." in said
    # Two seen once, one twice: 3 + 3/4 · 2²/2 = 4.5.
    assert "Probably <b>2</b> more remain unseen: about 5 in all" in said
    cold = FailureMode.objects.get(name="Cold")
    assert "Grouped into Cold." in post(action=f"into:{cold.pk}", note=keys[3])
    assert f"failure-modes-{campaign.pk} 1 asks about Cold. Create a campaign with it." in post(
        action=f"tag:{cold.pk}"
    )
    page = client.get(f"{url}?mode={cold.pk}").content.decode()
    assert page.count('name="note"') == 3
    assert client.get(f"{url}?mode=none").content.decode().count('name="note"') == 0
    assert "was deleted" in post(action=f"delete:{cold.pk}")
    assert list_notes(campaign).filter(grouped=None).count() == 3
    client.force_login(make_user_with("annotations_app.view_campaign", name="other"))
    assert client.get(url).status_code == 404  # of a dataset that they don't see
    assert json.dumps(sorted(FailureMode.objects.values_list("name", flat=True))) == '["Odd", "Slow"]'
