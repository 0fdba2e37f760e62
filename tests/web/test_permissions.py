"""Who may open what: every page for every role."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from datasets_app.models import AuditEvent, Dataset, JobRun

ROLES = ["superuser", "curator", "annotator", "lead", "privacy officer", "viewer", "none", "outsider"]
SEES = {"superuser", "curator", "lead", "privacy officer", "viewer"}
IMPORTS = {"superuser", "curator"}
CHECKS = CHANGES = SCRUBS = EXPORTS = {"superuser", "curator", "privacy officer"}
SEES_JOBS = {"superuser", "curator", "lead", "privacy officer"}

# page → who gets 200; all others who are signed in get 403.
PAGES: dict[str, set[str]] = {
    "index": set(ROLES) - {"outsider", "annotator"},
    "datasets_app_dataset_changelist": SEES,
    "datasets_app_dataset_change": SEES,
    "datasets_app_dataset_checks": SEES,
    "datasets_app_dataset_scrub": SCRUBS,
    "datasets_app_dataset_scrub_progress": SCRUBS,
    "datasets_app_dataset_sharing": SEES,
    "datasets_app_dataset_sessions": SEES,
    "datasets_app_dataset_history": SEES,
    "datasets_app_dataset_jobs": SEES_JOBS,
    "datasets_app_dataset_edit": CHANGES,
    "datasets_app_dataset_export": EXPORTS,
    "datasets_app_dataset_import": IMPORTS,
    "datasets_app_session_change": SEES,
    "datasets_app_turn_changelist": SEES,
    "datasets_app_turn_change": SEES,
    "datasets_app_jobrun_changelist": SEES_JOBS,
    "datasets_app_jobrun_change": SEES_JOBS,
    "datasets_app_jobrun_progress": SEES_JOBS,
    "datasets_app_jobrun_active": SEES_JOBS,
    "datasets_app_auditevent_changelist": {"superuser", "privacy officer"},
    "datasets_app_auditevent_change": {"superuser", "privacy officer"},
    "auth_user_changelist": {"superuser"},
    "auth_group_changelist": {"superuser"},
}


def address(page: str, dataset: Dataset) -> str:
    session = dataset.sessions.order_by("id").first()
    arguments: dict[str, list[Any]] = {
        "datasets_app_session_change": [session.pk],
        "datasets_app_turn_change": [session.turns.first().pk],
    }
    if page.startswith("datasets_app_dataset_") and not page.endswith(("changelist", "import")):
        arguments[page] = [dataset.pk]
    if page in {"datasets_app_jobrun_change", "datasets_app_jobrun_progress"}:
        job = JobRun.objects.create(operation="check_dataset", dataset=dataset, state="done")
        arguments[page] = [job.pk]
    if page == "datasets_app_auditevent_change":
        arguments[page] = [AuditEvent.objects.latest("id").pk]
    return reverse(f"admin:{page}", args=arguments.get(page, []))


@pytest.mark.parametrize("role", ROLES)
def test_each_page_for_each_role(role: str, sign_in: Any, dataset: Dataset) -> None:
    client = sign_in(role)
    wrong = {}
    for page, allowed in PAGES.items():
        status = client.get(address(page, dataset)).status_code
        expected = 200 if role in allowed else 403
        if status != expected:
            wrong[page] = (status, expected)
    assert not wrong


def test_nobody_gets_in_without_signing_in(dataset: Dataset) -> None:
    for page in sorted(PAGES):
        wanted = address(page, dataset)
        response = Client().get(wanted, follow=True)
        assert response.redirect_chain[0] == (f"/admin/login/?next={wanted}", 302)
        assert response.redirect_chain[-1] == (f"/login/?next={wanted}", 302)
        assert "Log in" in response.content.decode()


ACTIONS = {
    "datasets_app_dataset_run_checks": CHECKS,
    "datasets_app_dataset_export": EXPORTS,
    "datasets_app_jobrun_cancel": CHECKS,
    "datasets_app_jobrun_retry": CHECKS,
}


@pytest.mark.parametrize("role", ROLES)
def test_each_action_for_each_role(role: str, sign_in: Any, dataset: Dataset, empty_queue: None) -> None:
    client = sign_in(role)
    for action, allowed in ACTIONS.items():
        job = JobRun.objects.create(operation="check_dataset", dataset=dataset, state="failed")
        target = job if "jobrun" in action else dataset
        before = JobRun.objects.exclude(state="failed").count()
        response = client.post(reverse(f"admin:{action}", args=[target.pk]), {"format": "turns"})
        assert response.status_code == (302 if role in allowed else 403), action
        if role not in allowed:
            assert JobRun.objects.exclude(state="failed").count() == before, action


def test_actions_need_a_post(curator: Any, dataset: Dataset) -> None:
    job = JobRun.objects.create(operation="check_dataset", dataset=dataset, state="failed")
    for name, target in (
        ("dataset_run_checks", dataset),
        ("jobrun_cancel", job),
        ("jobrun_retry", job),
        ("dataset_import_discard", job),
    ):
        assert curator.get(reverse(f"admin:datasets_app_{name}", args=[target.pk])).status_code == 405
    assert JobRun.objects.count() == 1


@pytest.mark.parametrize("role", ["viewer", "lead"])
def test_buttons_one_may_not_press_are_not_shown(role: str, sign_in: Any, dataset: Dataset) -> None:
    page = sign_in(role).get(reverse("admin:datasets_app_dataset_change", args=[dataset.pk]))
    for hidden in ("Run checks", "Add file", "/export/", "/edit/"):
        assert hidden not in page.content.decode()


@pytest.mark.parametrize("model", ["dataset", "session", "turn", "jobrun", "auditevent"])
def test_nothing_is_added_or_deleted_by_hand(model: str, sign_in: Any, dataset: Dataset) -> None:
    client = sign_in("superuser")
    assert client.get(reverse(f"admin:datasets_app_{model}_add")).status_code == 403
    row = {"dataset": dataset, "session": dataset.sessions.first()}.get(model)
    pk = row.pk if row else 1
    response = client.post(reverse(f"admin:datasets_app_{model}_delete", args=[pk]), {"post": "yes"})
    assert response.status_code in {302, 403}
    assert Dataset.objects.count() == 1
    assert dataset.sessions.count() == 2


def test_whoever_started_a_job_may_follow_it(sign_in: Any, dataset: Dataset) -> None:
    client = sign_in("viewer")
    mine = JobRun.objects.create(operation="export_dataset", dataset=dataset, actor=client.user)
    other = JobRun.objects.create(operation="export_dataset", dataset=dataset)
    assert client.get(reverse("admin:datasets_app_jobrun_change", args=[mine.pk])).status_code == 200
    assert client.get(reverse("admin:datasets_app_jobrun_change", args=[other.pk])).status_code == 403


def test_edits_are_written_down(curator: Any, dataset: Dataset) -> None:
    response = curator.post(
        reverse("admin:datasets_app_dataset_edit", args=[dataset.pk]),
        {"license": "CC-BY-4.0", "source": "Support desk", "attribution": ""},
    )
    assert response["Location"] == reverse("admin:datasets_app_dataset_change", args=[dataset.pk])
    dataset.refresh_from_db()
    assert (dataset.license, dataset.source) == ("CC-BY-4.0", "Support desk")
    event = AuditEvent.objects.get(action="edit_dataset")
    assert (event.actor, event.dataset_name) == ("curator", "support")
    assert event.details["fields"] == ["license", "source"]
