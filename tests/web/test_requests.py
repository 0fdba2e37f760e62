"""The page Requests, and asking for the password again before anything that only few may do."""

from typing import Any

import pytest
from django.urls import reverse

from datasets_app.core.web.reauthentication import PROVED_AT
from datasets_app.models import AuditEvent, Dataset, JobRun, SharingReview
from tests import factories

REQUESTS = "/admin/datasets_app/jobrun/requests/"
WHY = "Agreed with the customer"


def address(page: str, dataset: Dataset, *more: Any) -> str:
    return reverse(f"admin:datasets_app_dataset_{page}", args=[dataset.pk, *more])


@pytest.fixture
def raw(db: None, tmp_path: Any) -> Dataset:
    lines = [factories.make_turn(text="Mail jo@example.org.")]
    return factories.make_dataset(tmp_path, lines, origin="production")


@pytest.fixture
def four_eyes(settings: Any) -> None:
    settings.FOUR_EYES = True


def forget_sign_in(client: Any) -> None:
    session = client.session
    session[PROVED_AT] = 0
    session.save()


def list_acts(dataset: Dataset) -> list[tuple[str, dict[str, str]]]:
    session = dataset.sessions.get()
    return [
        (address("export", dataset), {"format": "turns", "override": WHY}),
        (address("sharing", dataset), {"statement": WHY}),
        (address("origin", dataset), {"origin": "external", "override": WHY}),
        (address("attest", dataset), {"override": WHY}),
        (address("exempt", dataset), {"term": "jo@example.org", "override": WHY}),
        (address("erase_session", dataset, session.pk), {"reason": WHY}),
        (
            address("retention", dataset),
            {"do": "delete", "delete-name": dataset.name, "delete-reason": WHY},
        ),
    ]


def test_each_sensitive_act_asks_for_the_password_again(
    sign_in: Any, raw: Dataset, empty_queue: None
) -> None:
    officer = sign_in("superuser")
    forget_sign_in(officer)
    before = AuditEvent.objects.count()
    for place, answers in list_acts(raw):
        response = officer.post(place, answers)
        assert (place, response.status_code, "/account/again/" in response["Location"]) == (place, 302, True)
    assert AuditEvent.objects.count() == before
    assert not JobRun.objects.exists()
    assert not SharingReview.objects.exists()


def test_repeating_an_overridden_job_asks_again(sign_in: Any, raw: Dataset, empty_queue: None) -> None:
    officer = sign_in("privacy officer")
    officer.post(address("export", raw), {"format": "turns", "override": WHY})
    JobRun.objects.update(state="failed")
    forget_sign_in(officer)
    retry = reverse("admin:datasets_app_jobrun_retry", args=[JobRun.objects.get().pk])
    assert "/account/again/" in officer.post(retry)["Location"]
    assert JobRun.objects.get().state == "failed"


def test_requests_wait_on_a_page_and_on_the_home_page(
    sign_in: Any, raw: Dataset, empty_queue: None, four_eyes: None
) -> None:
    asker, officer, curator = sign_in("superuser"), sign_in("privacy officer"), sign_in("curator")
    asker.post(address("export", raw), {"format": "turns", "override": WHY})
    job = JobRun.objects.get()
    assert job.state == "approval"
    approve, decline = (
        reverse(f"admin:datasets_app_jobrun_{action}", args=[job.pk]) for action in ("approve", "decline")
    )
    assert "waits for approval, requested by superuser" in officer.get("/admin/").content.decode()
    assert "waits for approval" not in curator.get("/admin/").content.decode()
    page = officer.get(REQUESTS).content.decode()
    assert WHY in page
    assert approve in page
    for other in (asker, curator):
        assert approve not in other.get(REQUESTS).content.decode()
        refusal = other.post(approve, follow=True).content.decode()
        assert "be decided: it was decided or withdrawn already, it is your own" in refusal
    assert (
        "A second person has to approve this by"
        in asker.get(reverse("admin:datasets_app_jobrun_change", args=[job.pk])).content.decode()
    )
    forget_sign_in(officer)
    assert "/account/again/" in officer.post(approve)["Location"]
    job.refresh_from_db()
    assert job.state == "approval"
    session = officer.session
    session[PROVED_AT] = 2**40
    session.save()
    assert "Approved. The job starts" in officer.post(approve, follow=True).content.decode()
    job.refresh_from_db()
    assert (job.state, job.decided_by) == ("queued", officer.user)
    assert "be decided" in officer.post(decline, follow=True).content.decode()
    assert "privacy_officer" in asker.get(REQUESTS).content.decode()


def test_every_sensitive_act_becomes_a_request(
    sign_in: Any, raw: Dataset, empty_queue: None, four_eyes: None
) -> None:
    officer = sign_in("superuser")
    for place, answers in list_acts(raw):
        officer.post(place, answers)
    waiting = JobRun.objects.filter(state="approval").order_by("pk")
    assert list(waiting.values_list("operation", flat=True)) == [
        "export_dataset",
        "sign_review",
        "change_origin",
        "attest_dataset",
        "erase_session",
        "apply_retention",
    ]
    assert JobRun.objects.count() == len(waiting)
    # A term can't be kept with a request: choose what a preview has found instead.
    page = officer.post(address("exempt", raw), {"term": "jo@example.org", "override": WHY})
    assert "A second person has to approve this" in page.content.decode()


def test_a_hidden_dataset_has_no_requests(
    sign_in: Any, raw: Dataset, empty_queue: None, four_eyes: None
) -> None:
    sign_in("superuser").post(address("export", raw), {"format": "turns", "override": WHY})
    Dataset.objects.update(restricted=True)
    officer = sign_in("privacy officer")
    officer.user.groups.clear()
    job = JobRun.objects.get()
    assert officer.post(reverse("admin:datasets_app_jobrun_approve", args=[job.pk])).status_code in {403, 404}
    job.refresh_from_db()
    assert job.state == "approval"
