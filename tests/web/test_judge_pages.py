"""Judges on the pages of a campaign and in the API: one operation behind each."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotations_app.judges.judges import get_judge
from annotations_app.judges.run_judge import run_judge
from annotations_app.models import Annotation, Campaign, JudgeRun, Verdict
from datasets_app.models import JobRun
from tests.campaigns import label_all_replies, make_campaign, make_replies
from tests.everything import make_user_with
from tests.factories import run_task

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    """The judge says yes to all, people to all but three."""
    campaign = make_campaign(make_replies(tmp_path, 12), "ana")
    label_all_replies(campaign, "ana")
    turns = list(Annotation.objects.order_by("turn_id").values_list("turn_id", flat=True)[:3])
    Annotation.objects.filter(turn_id__in=turns).update(label=0)
    return campaign


@pytest.fixture
def lead(client: Client) -> Client:
    client.force_login(make_user_with(name="lena", excluded=("nothing",)))
    return client


def address(page: str, *arguments: Any) -> str:
    return reverse(f"admin:annotations_app_campaign_{page}", args=arguments)


def test_from_the_form_to_the_replies_that_a_judge_gets_wrong(lead: Client, campaign: Campaign) -> None:
    url = address("judges", campaign.pk)
    assert "No runs yet" in lead.get(url).content.decode()
    started = lead.post(url, {"judge": "offline", "repeats": 1, "concurrency": 1, "max_tokens": 50})
    assert started.status_code == 302
    job = JobRun.objects.get(operation="run_judge")
    assert job.parameters["campaign"] == campaign.name
    job.result, job.state = run_task(job), "done"
    assert job.result["judged"] == 12
    job.save()
    done = lead.get(reverse("admin:datasets_app_jobrun_change", args=[job.pk])).content.decode()
    assert f"{url}?run={job.result['run']}" in done
    html = lead.get(url).content.decode()
    assert "12 replies compared" in html
    run = JudgeRun.objects.get()
    wrong = address("judged", campaign.pk, run.pk) + "?criterion=on_brand&tag=&judge=1&people=0"
    assert wrong.replace("&", "&amp;") in html
    first = lead.get(wrong).content.decode()
    assert "Reply 1 of 3" in first
    assert "No avoided word" in first
    assert 'data-key="j"' in first
    assert "Reply 3 of 3" in lead.get(f"{wrong}&at=2").content.decode()
    assert lead.get(address("judged", campaign.pk, run.pk) + "?criterion=nothing").status_code == 404


def test_a_jury_that_is_refused_keeps_what_was_typed(lead: Client, campaign: Campaign) -> None:
    typed = {"name": "panel of two", "members": ["offline"], "max_tokens": "many"}
    answer = lead.post(address("jury", campaign.pk), typed)
    html = answer.content.decode()
    assert answer.status_code == 200
    assert 'value="panel of two"' in html
    assert 'value="many"' in html
    assert "Enter a whole number." in html
    assert f'action="{address("judges", campaign.pk)}"' in html


def test_verdicts_are_shown_to_annotators_on_request(lead: Client, campaign: Campaign) -> None:
    run_judge(campaign, get_judge("offline"))
    lead.post(address("reveal", campaign.pk), {"judge": JudgeRun.objects.get().judge_id})
    assert Campaign.objects.get(pk=campaign.pk).revealed_judge is not None
    assert "Stop showing" in lead.get(address("judges", campaign.pk)).content.decode()
    lead.post(address("reveal", campaign.pk), {})
    assert Campaign.objects.get(pk=campaign.pk).revealed_judge is None


def test_who_may_not_read_raw_text_gets_no_rationale_and_no_tag(client: Client, campaign: Campaign) -> None:
    run_judge(campaign, get_judge("offline"))
    Verdict.objects.update(rationale="It quotes quillon.")
    campaign.dataset.origin = "production"
    campaign.dataset.save()
    campaign.dataset.sessions.update(persona_id=None)
    viewer = make_user_with(
        "annotations_app.view_campaign",
        "annotations_app.view_annotation",
        "datasets_app.view_dataset",
        name="vi",
    )
    client.force_login(viewer)
    run = JudgeRun.objects.get()
    wrong = address("judged", campaign.pk, run.pk) + "?criterion=on_brand&judge=1&people=0"
    for page in (address("judges", campaign.pk), wrong):
        response = client.get(page)
        assert response.status_code == 200
        assert b"quillon" not in response.content
        assert b"scenario:" not in response.content
    assert client.post(address("reveal", campaign.pk), {}).status_code == 403
    assert client.post(address("judges", campaign.pk), {"judge": "offline"}).status_code == 200
    assert not JobRun.objects.filter(operation="run_judge").exists()
