"""Schemas in the browser: made from a ready-made one, previewed, in versions, chosen by a campaign."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotations_app.criteria.schemas import get_schema, read_ready_made, save_schema
from annotations_app.models import Campaign, LabelSchema
from datasets_app.domain.labels.schema_document import dump_schema
from tests.campaigns import lease_for, make_annotators, make_campaign, make_replies, submit
from tests.everything import make_user_with

pytestmark = pytest.mark.django_db


def url(page: str, *arguments: Any) -> str:
    return reverse(f"admin:annotations_app_campaign_{page}", args=arguments)


@pytest.fixture
def lead(client: Client) -> Client:
    client.force_login(make_user_with(name="lena", excluded=("nothing",)))
    return client


def read(client: Client, page: str, *arguments: Any, **query: Any) -> str:
    return client.get(url(page, *arguments), query).content.decode()


def test_a_ready_made_schema_is_changed_and_saved(lead: Client) -> None:
    assert "answer_quality" in read(lead, "schemas")
    text = dump_schema(read_ready_made("answer_quality"))
    assert "key: helpful" in read(lead, "schema_edit", ready_made="answer_quality")
    saved = lead.post(url("schema_edit"), {"text": text}, follow=True).content.decode()
    assert "answer_quality 1 is created." in saved
    assert saved.count('class="q-criterion"') == 3
    assert "Only after:" in saved
    changed = text.replace("How helpful is the reply?", "How <i>helpful</i>?")
    assert (
        "answer_quality 2 is updated."
        in lead.post(url("schema_edit"), {"text": changed}, follow=True).content.decode()
    )
    first, second = LabelSchema.objects.order_by("version")
    assert "How &lt;i&gt;helpful&lt;/i&gt;?" in read(lead, "schema", second.pk)
    assert "How helpful is the reply?" in read(lead, "schema", first.pk)
    assert url("schema", second.pk) in read(lead, "schemas")
    assert url("schema", first.pk) not in read(lead, "schemas")
    refused = lead.post(url("schema_edit"), {"text": "schema: x"}).content.decode()
    assert "The text is not a valid schema: criteria: expected a list" in refused


def test_the_preview_shows_the_queue_or_what_is_wrong(lead: Client) -> None:
    text = dump_schema(read_ready_made("safety"))
    shown = lead.post(url("schema_preview"), {"text": text}).content.decode()
    assert shown.count('class="q-criterion"') == 3
    wrong = lead.post(url("schema_preview"), {"text": text.replace("tags", "tag")}).content.decode()
    assert "harm: kind must be one of" in wrong
    assert not LabelSchema.objects.exists()


def test_who_may_not_make_campaigns_makes_no_schemas(client: Client) -> None:
    schema = save_schema(read_ready_made("safety")).schema
    client.force_login(make_user_with("annotations_app.view_campaign"))
    assert read(client, "schema", schema.pk).count('class="q-criterion"') == 3
    assert url("schema_edit") not in read(client, "schemas")
    for page in ("schema_edit", "schema_preview"):
        assert client.post(url(page), {"text": dump_schema(schema.content)}).status_code == 403
    client.force_login(make_user_with(name="other"))
    assert client.get(url("schemas")).status_code == 403
    assert client.get(url("schema", schema.pk)).status_code == 403


def test_a_campaign_chooses_a_schema(lead: Client, tmp_path: Path) -> None:
    dataset = make_replies(tmp_path, 4)
    make_annotators("ana")
    schema = save_schema(read_ready_made("handover")).schema
    made = make_campaign(dataset, "ana", name="other", schema=schema)
    answers = {
        "dataset": dataset.pk, "persona": made.persona_id, "schema": schema.pk, "name": "next",
        "annotators": [made.members.get().user_id], "overlap": 1, "gold": 0, "repeats": 0, "order": "random",
        "lease_minutes": 15, "seed": 42,
    }  # fmt: skip
    lead.post(url("add"), answers)
    assert Campaign.objects.get(name="next").schema == get_schema("handover")
    submit(lease_for(made, "ana").current, label=None, answers={"needed": 0, "offered": 0})
    for page in ("change", "stale", "settings", "flagged"):
        html = read(lead, page, made.pk)
        assert "handover 1" in html
