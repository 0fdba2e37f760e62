"""The pages of campaigns: who may open them, what the form refuses, what they tell."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotations_app.admin.campaign_form import CampaignForm
from annotations_app.campaigns.create import fill_campaign
from annotations_app.models import Annotation, Assignment, Campaign, CampaignMember
from datasets_app.catalog import gates
from datasets_app.catalog.text_scans import discard_scan
from datasets_app.jobs.perform import perform
from datasets_app.models import AuditEvent, Dataset, DatasetGrant, JobRun
from tests.campaigns import (
    label_all_replies,
    lease_for,
    make_annotators,
    make_campaign,
    make_persona,
    make_replies,
    submit,
)
from tests.factories import make_dataset, make_sessions, run_task

SEES = {"superuser", "curator", "lead"}
ROLES = ["superuser", "curator", "annotator", "lead", "privacy officer", "viewer", "none", "outsider"]


def address(page: str, *arguments: Any) -> str:
    return reverse(f"admin:annotations_app_campaign_{page}", args=arguments)


def html_of(client: Any, page: str, *arguments: Any, **query: str) -> str:
    response = client.get(address(page, *arguments), query)
    assert response.status_code == 200
    return response.content.decode().replace("&#x27;", "'")


def words(html: str) -> str:
    """What stands on the page, without marks and line ends."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", html))


@pytest.fixture
def round_1(tmp_path: Path) -> Campaign:
    return make_campaign(make_replies(tmp_path, 6), "ana", "ben", overlap=2)


# page → who gets 200; all other staff get 403.
PAGES = {
    "changelist": SEES,
    "add": SEES,
    "change": SEES,
    "preparing": SEES,
    "agreement": SEES,
    "measured": SEES,
    "parts": SEES,
    "flagged": SEES,
    "stale": SEES,
    "export": SEES,
    "settings": SEES,
    "dataset_agreement": SEES,
    "dataset_measured": SEES,
    "dataset_parts": SEES,
    "dataset_calibration": SEES,
    "dataset_review": SEES,
    "dataset_variants": {"superuser", "curator"},
    "adjudicate": {"superuser", "lead"},
    "counted": {"superuser", "lead"},
}


@pytest.mark.parametrize("role", ROLES)
def test_each_page_for_each_role(role: str, sign_in: Any, round_1: Campaign) -> None:
    client, wrong = sign_in(role), {}
    for page, allowed in PAGES.items():
        arguments = [] if page in {"changelist", "add", "adjudicate", "counted"} else [round_1.pk]
        if page.startswith("dataset"):
            arguments = [round_1.dataset_id]
        query = {"campaign": round_1.pk} if page in {"adjudicate", "counted"} else {}
        status = client.get(address(page, *arguments), query).status_code
        expected = {302, 403} if role == "outsider" else {200} if role in allowed else {403}
        if status not in expected:
            wrong[page] = status
    assert not wrong


@pytest.mark.parametrize("role", ["viewer", "annotator", "privacy officer"])
def test_nothing_is_changed_by_who_may_not(
    role: str, sign_in: Any, round_1: Campaign, empty_queue: None
) -> None:
    client = sign_in(role)
    for page in ("settings", "status", "stale", "export"):
        response = client.post(address(page, round_1.pk), {"status": "closed", "labels": "all"})
        assert response.status_code == 403, page
    for page in ("add", "estimate", "guidelines"):
        assert client.post(address(page), asked(round_1.dataset)).status_code == 403
    round_1.refresh_from_db()
    assert round_1.status == "open"
    assert not JobRun.objects.exclude(operation="import_dataset").exists()


# --- the list ---


def test_the_list_tells_how_far_each_is(sign_in: Any, round_1: Campaign) -> None:
    client = sign_in("lead")
    label_all_replies(round_1, "ana", limit=3)
    html = html_of(client, "changelist")
    assert "round-1" in html
    assert "3 of 12 (25 %)" in html
    assert '<progress class="ad-progress" value="25"' in html
    assert "about 3 more days" in html
    of_dataset = client.get(address("changelist"), {"dataset__id__exact": round_1.dataset_id})
    assert round_1.dataset.name in [text for text, _ in of_dataset.wsgi_request.crumbs]
    assert address("add") in html
    few = CaptureQueriesContext(connection)
    with few:
        html_of(client, "changelist")
    for number in range(5):
        make_campaign(round_1.dataset, "ana", "ben", name=f"more-{number}")
    with CaptureQueriesContext(connection) as many:
        html_of(client, "changelist")
    assert len(many) <= len(few)


# --- a new one ---


def asked(of: Dataset, **more: Any) -> dict[str, Any]:
    users = [user.pk for user in make_annotators("ana", "ben")]
    return {
        "dataset": of.pk,
        "persona": make_persona().pk,
        "name": "round-2",
        "annotators": users,
        "overlap": 2,
        "gold": 0,
        "repeats": 10,
        "order": "session",
        "lease_minutes": 20,
        "seed": 7,
        "guidelines": "# Warm\n\nand <script>brief</script>",
        **more,
    }


def test_all_that_can_be_chosen_is_on_the_page(sign_in: Any) -> None:
    client = sign_in("curator")
    html = html_of(client, "add")
    fields = CampaignForm(user=client.user).fields
    assert [name for name in fields if f'name="{name}"' not in html] == []


def test_a_campaign_begins_as_a_job(sign_in: Any, tmp_path: Path, empty_queue: None) -> None:
    """Also of text that nothing has searched: it is searched now."""
    dataset, client = make_dataset(tmp_path, make_sessions(4)), sign_in("lead")
    response = client.post(address("add"), asked(dataset))
    made = Campaign.objects.get()
    assert response["Location"] == address("change", made.pk)
    assert (made.status, made.repeat_share, made.order, made.seed) == ("preparing", 0.1, "session", 7)
    assert made.created_by == client.user
    job = JobRun.objects.get(operation="create_campaign")
    stored = {name: value for name, value in job.parameters.items() if value is not None}
    assert (stored, job.state) == ({"campaign": made.pk}, "queued")
    html = html_of(client, "change", made.pk)
    assert "Preparing replies" in html
    assert f'hx-get="{address("preparing", made.pk)}"' in html
    fill_campaign(made)
    assert client.get(address("preparing", made.pk))["HX-Refresh"] == "true"
    assert "0 of 8 labels" in words(html_of(client, "change", made.pk))


@pytest.mark.parametrize(
    ("given", "field", "said"),
    [
        ({"name": "no spaces"}, "name", "Use letters, digits, dots, dashes and underscores only."),
        ({"annotators": []}, "annotators", "Choose at least one person."),
        ({"overlap": 3}, "overlap", "Each reply needs 3 annotators, but only 2 are assigned."),
        ({"overlap": 51}, "overlap", "less than or equal to 50"),
        ({"gold": 60}, "gold", "less than or equal to 50"),
        ({"gold": 50, "repeats": 50}, "repeats", "leave too few new replies"),
        ({"seed": 10**30}, "seed", "less than or equal to"),
        ({"dataset": ""}, "dataset", "This field is required."),
    ],
)
def test_what_is_wrong_is_said_at_its_field(
    sign_in: Any, tmp_path: Path, given: dict[str, Any], field: str, said: str
) -> None:
    response = sign_in("lead").post(address("add"), asked(make_replies(tmp_path, 2), **given))
    assert response.status_code == 200
    assert any(said in error for error in response.context["form"].errors[field])
    assert said in response.content.decode()
    assert "The campaign was not created" in response.content.decode()
    assert not Campaign.objects.exists()


def test_a_name_is_given_once_and_what_an_operation_refuses_is_told(sign_in: Any, round_1: Campaign) -> None:
    client = sign_in("lead")
    taken = client.post(address("add"), asked(round_1.dataset, name="round-1"))
    assert "A campaign named round-1 already exists" in taken.content.decode()
    nothing = client.post(address("add"), asked(round_1.dataset, tag="not:there"))
    assert "has no assistant&#x27;s reply with text with that tag or split" in nothing.content.decode()
    assert Campaign.objects.count() == 1
    assert not JobRun.objects.filter(operation="create_campaign").exists()


def test_production_data_is_labelled_only_scrubbed_or_for_a_reason(
    sign_in: Any, tmp_path: Path, empty_queue: None
) -> None:
    dataset = make_replies(tmp_path, 2)
    Dataset.objects.update(origin="production")
    refused = sign_in("lead").post(address("add"), asked(dataset, override="I want to"))
    assert "without a verified scrub" in refused.context["form"].non_field_errors()[0]
    assert 'name="override"' not in refused.content.decode()
    officer = sign_in("curator")
    officer.user.user_permissions.add(Permission.objects.get(codename="override_gate"))
    again = officer.post(address("add"), asked(dataset))
    assert "without a verified scrub" in again.context["form"].non_field_errors()[0]
    officer.post(address("add"), asked(dataset, override="A drill with made-up data"))
    perform(JobRun.objects.get(operation="create_campaign").pk)
    made = Campaign.objects.get()
    assert (made.status, made.overridden) == ("open", True)
    assert AuditEvent.objects.get(action="override").details["reason"] == "A drill with made-up data"


def test_text_is_searched_by_the_job_and_what_it_refuses_can_be_discarded(
    sign_in: Any, tmp_path: Path, empty_queue: None, settings: Any
) -> None:
    """Nobody waits for the search of a large dataset, and nothing stays "preparing" for ever."""
    lines = make_sessions(2, text="Mail jo@example.org.")
    dataset, client = make_dataset(tmp_path, lines), sign_in("superuser")
    client.post(address("add"), asked(dataset))
    assert gates.load_facts(dataset).is_unscanned
    made, job = Campaign.objects.get(), JobRun.objects.get(operation="create_campaign")
    discard = address("discard", made.pk)
    assert "will be, so it can" in client.post(discard, follow=True).content.decode()
    perform(job.pk)
    html = words(html_of(client, "change", made.pk))
    assert "Not prepared" in html
    assert "support contains personal data (e-mail addresses: 4), so it can't be annotated." in html
    assert "Not prepared" in client.get(address("changelist")).content.decode()
    client.post(discard)
    assert not Campaign.objects.exists()
    assert AuditEvent.objects.get(action="discard_campaign").details["campaign"] == "round-2"

    settings.FOUR_EYES = True
    client.post(address("add"), asked(dataset, override="Invented addresses"))
    made = Campaign.objects.get()
    assert "A second person has to approve" in html_of(client, "change", made.pk)
    officer = sign_in("privacy officer")
    officer.post(reverse("admin:datasets_app_jobrun_decline", args=[JobRun.objects.first().pk]))
    assert "privacy_officer declined this request." in html_of(client, "change", made.pk)
    client.post(address("discard", made.pk))
    assert not Campaign.objects.exists()


def test_what_it_comes_to_is_told_before(sign_in: Any, tmp_path: Path, empty_queue: None) -> None:
    dataset, client = make_replies(tmp_path, 5), sign_in("lead")
    told = words(client.post(address("estimate"), asked(dataset)).content.decode())
    assert "Replies5" in told
    assert "Labels10 (2 per reply)" in told
    assert "about 6 to look at" in told
    assert "Replies3" in words(
        client.post(address("estimate"), asked(dataset, max_replies=3)).content.decode()
    )
    assert "No replies of support match" in words(
        client.post(address("estimate"), asked(dataset, tag="no")).content.decode()
    )
    too_few = words(client.post(address("estimate"), asked(dataset, overlap=3, name="?")).content.decode())
    assert "Labels15 (3 per reply)" in too_few
    assert "Each reply needs 3 annotators, but only 2 are assigned." in too_few
    assert "Choose a dataset" in client.post(address("estimate"), {}).content.decode()
    # Who may not read text isn't told which tags it has, here or by a refusal.
    discard_scan(dataset)
    unsearched = words(client.post(address("estimate"), asked(dataset, tag="no")).content.decode())
    assert "Replies5" in unsearched
    assert "Counted for all tags: support contains sessions that have not been searched" in unsearched
    assert not Campaign.objects.exists()
    assert client.post(address("add"), asked(dataset, tag="no")).status_code == 302


def test_annotators_without_access_are_named_and_told_what_they_can_open(
    sign_in: Any, tmp_path: Path, empty_queue: None
) -> None:
    """Membership lets them label; the pages of the campaign are those of its dataset."""
    dataset, officer, lead = make_replies(tmp_path, 2), sign_in("superuser"), sign_in("lead")
    chosen = asked(dataset, overlap=1)
    chosen["annotators"] = [lead.user.pk, *chosen["annotators"][:1]]
    assert "restricted" not in officer.post(address("estimate"), chosen).content.decode()
    Dataset.objects.update(restricted=True)
    told = words(officer.post(address("estimate"), chosen).content.decode())
    assert "support is restricted. Without access to it, these annotators" in told
    assert "ana, lead." in told
    page = officer.post(address("add"), chosen, follow=True).content.decode()
    assert "support is restricted, and ana, lead can see nothing of it but the replies" in page
    made = Campaign.objects.get()
    for name in ("change", "agreement", "settings"):
        response = lead.get(address(name, made.pk))
        assert response.status_code == 403
        assert "You are an annotator of this campaign" in response.content.decode()
        assert dataset.name not in response.content.decode()
    made.members.filter(user=lead.user).update(active=False)
    assert lead.get(address("change", made.pk)).status_code == 404
    settings = {**chosen, "guidelines": "", "annotators": chosen["annotators"][:1]}
    DatasetGrant.objects.create(dataset=dataset, user=lead.user)
    page = officer.post(address("settings", made.pk), settings, follow=True).content.decode()
    assert "can see nothing of it" not in page
    assert lead.get(address("change", made.pk)).status_code == 200


def test_a_new_persona_is_one_click_away_for_who_may_add_one(sign_in: Any) -> None:
    link = f'href="{reverse("admin:datasets_app_persona_add")}"'
    assert link in html_of(sign_in("curator"), "add")
    assert link not in html_of(sign_in("lead"), "add")


def test_guidelines_are_shown_as_they_will_be_read(sign_in: Any) -> None:
    html = sign_in("lead").post(address("guidelines"), {"guidelines": "**Warm** <script>x</script>"})
    assert "<strong>Warm</strong>" in html.content.decode()
    assert "<script>" not in html.content.decode()


# --- its pages ---


def test_the_overview_tells_who_did_what(sign_in: Any, round_1: Campaign) -> None:
    label_all_replies(round_1, "ana", limit=4)
    submit(lease_for(round_1, "ana").current, "skip", None)
    submit(lease_for(round_1, "ben").current, "flag", None, notes="Personal data: a number")
    html = html_of(sign_in("lead"), "change", round_1.pk)
    text = words(html)
    assert "33 %4 of 12 labels: 2 for each of 6 replies" in text
    ana = words(html[html.index(">ana<") : html.index(">ben<")])
    assert re.match(r"\W*ana +4 ?1 ?0 ?0", ana), ana
    assert "4 labels in the last seven days" in text
    assert "100 %" in text
    assert "Out of balance" in text


def test_labels_that_no_annotator_can_give_are_named(sign_in: Any, round_1: Campaign) -> None:
    label_all_replies(round_1, "ana", limit=4)
    submit(lease_for(round_1, "ana").current, "skip", None)
    submit(lease_for(round_1, "ana").current, "flag", None, notes="Other")
    lead = sign_in("lead")
    waits = "2 labels are missing that no annotator can give"
    assert waits in words(html_of(lead, "change", round_1.pk))
    assert "needs another annotator" not in words(html_of(lead, "changelist"))
    label_all_replies(round_1, "ben")
    text = words(html_of(lead, "change", round_1.pk))
    assert waits in text
    assert "Its annotators have nothing left to label." in text
    assert "at that pace" not in text
    assert "needs another annotator" in words(html_of(lead, "changelist"))
    round_1.members.create(user=make_annotators("cy")[0])
    assert "no annotator can give" not in words(html_of(lead, "change", round_1.pk))


def test_the_list_and_the_overview_count_the_same_labels(sign_in: Any, tmp_path: Path) -> None:
    data = make_replies(tmp_path, 6)
    first = make_campaign(data, "ana", name="first")
    label_all_replies(first, "ana")
    for label in Annotation.objects.all()[:2]:
        Annotation.objects.create(
            dataset=data, turn=label.turn, persona_id=label.persona_id, label=1, kind="adjudicated"
        )
    second = make_campaign(data, "ana", name="second", gold_share=0.3)
    assert second.gold_count
    label_all_replies(second, "ana")
    lead = sign_in("lead")
    counted = f"{6 - second.gold_count} of {6 - second.gold_count}"
    assert f"{counted} labels" in words(html_of(lead, "change", second.pk))
    assert f"{counted} (100 %)" in words(html_of(lead, "changelist"))


def test_flagged_replies_come_with_their_reason_and_lead_to_the_conversation(
    sign_in: Any, round_1: Campaign
) -> None:
    given = lease_for(round_1, "ben").current
    submit(given, "flag", None, notes="Other: <b>odd</b>")
    html = html_of(sign_in("lead"), "flagged", round_1.pk)
    assert "Other: &lt;b&gt;odd&lt;/b&gt;" in html
    session = reverse("admin:datasets_app_session_change", args=[given.item.session_id])
    assert f'href="{session}?turn=2#turn-2"' in html
    for _ in range(3):
        submit(lease_for(round_1, "ben").current, "flag", None)
    client = sign_in("curator")
    html_of(client, "flagged", round_1.pk)
    with CaptureQueriesContext(connection) as few:
        html_of(client, "flagged", round_1.pk)
    submit(lease_for(round_1, "ana").current, "flag", None)
    with CaptureQueriesContext(connection) as many:
        html_of(client, "flagged", round_1.pk)
    assert len(many) == len(few)


def test_stale_labels_are_queued_again_after_a_question(sign_in: Any, round_1: Campaign) -> None:
    label_all_replies(round_1, "ana", limit=3)
    client = sign_in("lead")
    assert "No stale labels" in html_of(client, "stale", round_1.pk)
    changed = round_1.persona
    changed.yaml += "\ndescription: Warmer.\n"
    changed.save()
    html = html_of(client, "stale", round_1.pk)
    assert "3 stale labels" in html
    assert '<form method="post" class="ad-card' not in html
    assert "Requeue the replies of 3 stale labels?" in html_of(client, "stale", round_1.pk, again="1")
    assert "3 labels were made before the persona changed" in words(html_of(client, "change", round_1.pk))
    done = client.post(address("stale", round_1.pk), {"confirmed": "1"}, follow=True).content.decode()
    assert "Requeued 3 replies." in done
    assert Annotation.objects.filter(kind="withdrawn").count() == 3


def test_settings_are_changed_and_refusals_stand_at_their_field(sign_in: Any, round_1: Campaign) -> None:
    client = sign_in("lead")
    given = {
        "guidelines": "New words.",
        "annotators": [user.pk for user in make_annotators("ana", "ben", "cy")],
        "overlap": 3,
        "lease_minutes": 5,
    }
    client.post(address("settings", round_1.pk), given)
    round_1.refresh_from_db()
    assert (round_1.guidelines, round_1.overlap, round_1.lease_minutes) == ("New words.", 3, 5)
    assert round_1.members.filter(active=True).count() == 3
    lowered = client.post(address("settings", round_1.pk), {**given, "overlap": 2})
    assert "The overlap can only be raised from 3" in lowered.context["form"].errors["overlap"][0]
    too_few = client.post(address("settings", round_1.pk), {**given, "annotators": given["annotators"][:2]})
    assert "Each reply needs 3 annotators, but only 2 are assigned" in too_few.content.decode()
    assert "Nothing was saved" in too_few.content.decode()


def test_it_is_paused_opened_and_closed(sign_in: Any, round_1: Campaign) -> None:
    client = sign_in("lead")
    for status in ("paused", "open", "closed", "open"):
        client.post(address("status", round_1.pk), {"status": status})
        round_1.refresh_from_db()
        assert round_1.status == status
    html = client.post(address("status", round_1.pk), {"status": "nonsense"}, follow=True).content.decode()
    assert "round-1 is open" in html
    assert client.get(address("status", round_1.pk)).status_code == 405


def test_an_export_is_asked_for_as_a_job(sign_in: Any, round_1: Campaign, empty_queue: None) -> None:
    client = sign_in("lead")
    response = client.post(address("export", round_1.pk), {"labels": "adjudicated"})
    job = JobRun.objects.get(operation="export_annotations")
    assert response["Location"] == reverse("admin:datasets_app_jobrun_change", args=[job.pk])
    expected = {"campaign": "round-1", "persona": "warm_v1", "labels": "adjudicated", "format": "jsonl"}
    assert job.parameters == expected
    assert f"#{job.pk}" in html_of(client, "export", round_1.pk)
    Dataset.objects.update(origin="production")
    assert "Start export" not in html_of(client, "export", round_1.pk)
    client.post(address("export", round_1.pk), {"labels": "all"})
    assert JobRun.objects.filter(operation="export_annotations").count() == 1


@pytest.mark.parametrize(("role", "status"), [("lead", 200), ("viewer", 403), ("privacy officer", 403)])
def test_exported_labels_are_fetched_by_who_may_export_labels(
    role: str, status: int, sign_in: Any, round_1: Campaign
) -> None:
    label_all_replies(round_1, "ana", limit=2)
    asked_for = {"campaign": "round-1", "persona": "warm_v1", "labels": "majority"}
    job = JobRun.objects.create(
        operation="export_annotations", dataset=round_1.dataset, parameters=asked_for, state="running"
    )
    assert run_task(job)["labels"] == 2
    response = sign_in(role).get(reverse("download", args=[job.files.get().pk]))
    assert response.status_code == status
    if status == 200:
        assert b"".join(response.streaming_content).count(b"\n") == 2


# --- elsewhere ---


def test_the_dataset_page_tells_of_its_campaigns(sign_in: Any, round_1: Campaign) -> None:
    label_all_replies(round_1, "ana", limit=1)
    html = sign_in("lead").get(reverse("admin:datasets_app_dataset_change", args=[round_1.dataset_id]))
    text = html.content.decode()
    assert address("change", round_1.pk) in text
    assert f"{address('dataset_agreement', round_1.dataset_id)}?persona=warm_v1" in text
    assert f"{address('add')}?dataset={round_1.dataset_id}" in text
    viewer = sign_in("viewer").get(reverse("admin:datasets_app_dataset_change", args=[round_1.dataset_id]))
    assert "round-1" not in viewer.content.decode()


def start_page(client: Any) -> str:
    html = client.get(reverse("admin:index")).content.decode()
    return html[html.index('id="attention"') : html.index('id="running"')]


def test_the_start_page_tells_a_lead_what_waits(sign_in: Any, round_1: Campaign) -> None:
    client = sign_in("lead")
    assert "round-1" not in start_page(client)
    label_all_replies(round_1, "ana", 1)
    label_all_replies(round_1, "ben", 0, limit=2)
    submit(lease_for(round_1, "ben").current, "flag", None)
    told = start_page(client)
    assert "has 2 disputed replies among its latest labels" in told
    assert f"{address('adjudicate')}?campaign={round_1.pk}" in told
    assert "has 1 flagged reply" in told
    assert "had no decisions" not in told
    Assignment.objects.update(decided_at=timezone.now() - timedelta(days=5))
    assert "had no decisions" not in start_page(client)
    Campaign.objects.update(created_at=timezone.now() - timedelta(days=6))
    assert "has had no decisions since" in start_page(client)
    assert "disputed" not in start_page(sign_in("curator"))
    Campaign.objects.update(status="closed")
    assert "round-1" not in start_page(client)


def test_the_start_page_asks_no_more_of_more_campaigns(sign_in: Any, round_1: Campaign) -> None:
    client = sign_in("lead")
    start_page(client)
    with CaptureQueriesContext(connection) as few:
        start_page(client)
    for number in range(6):
        other = make_campaign(round_1.dataset, "ana", "ben", name=f"other-{number}")
        submit(lease_for(other, "ana").current, "flag", None)
    with CaptureQueriesContext(connection) as many:
        start_page(client)
    assert len(many) == len(few)


def test_the_list_is_filtered_by_what_is_assigned_to_oneself(sign_in: Any, round_1: Campaign) -> None:
    lead = sign_in("lead")
    assert "No results for these filters" in html_of(lead, "changelist", assigned="me")
    CampaignMember.objects.create(campaign=round_1, user=lead.user)
    assert f"/{round_1.pk}/change/" in html_of(lead, "changelist", assigned="me")
