"""The page of a job in each of its states, and what can be done there."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from datasets_app.admin.job_facts import result_facts
from datasets_app.jobs import queue
from datasets_app.jobs.perform import perform
from datasets_app.models import AuditEvent, Dataset, JobRun


def fragment(client: Any, job: JobRun) -> str:
    return client.get(reverse("admin:datasets_app_jobrun_progress", args=[job.pk])).content.decode()


@pytest.mark.parametrize("state", ["queued", "running"])
def test_an_unfinished_job_asks_again(state: str, curator: Any, dataset: Dataset, empty_queue: None) -> None:
    job = JobRun.objects.create(operation="export_dataset", dataset=dataset, state=state)
    html = fragment(curator, job)
    assert 'hx-trigger="every 1s"' in html
    assert "Cancel" in html
    assert "Retry" not in html


@pytest.mark.parametrize("state", ["done", "failed", "cancelled"])
def test_a_finished_job_asks_no_more(state: str, curator: Any, dataset: Dataset) -> None:
    job = JobRun.objects.create(operation="export_dataset", dataset=dataset, state=state)
    html = fragment(curator, job)
    assert "hx-get" not in html
    assert ("Retry" in html) == (state != "done")
    assert 'id="cancel-job"' not in html


def test_progress_is_told_in_numbers(curator: Any, dataset: Dataset) -> None:
    now = timezone.now()
    job = JobRun.objects.create(
        operation="export_dataset",
        dataset=dataset,
        state="running",
        done=2500,
        total=10_000,
        started_at=now - timedelta(seconds=10),
        heartbeat_at=now,
        worker="host:1",
    )
    html = fragment(curator, job)
    assert "25 %" in html
    assert "2,500 turns of 10,000 turns" in html
    assert "250 turns per second" in html
    assert "about 30 s left" in html
    assert "host:1" in html


def test_a_silent_worker_is_told(curator: Any, dataset: Dataset) -> None:
    long_ago = timezone.now() - timedelta(minutes=2)
    job = JobRun.objects.create(
        operation="export_dataset",
        dataset=dataset,
        state="running",
        started_at=long_ago,
        heartbeat_at=long_ago,
    )
    assert "has stopped responding" in fragment(curator, job)


def test_an_unreachable_queue_is_told(curator: Any, dataset: Dataset, monkeypatch: Any) -> None:
    job = JobRun.objects.create(operation="export_dataset", dataset=dataset, state="queued")
    monkeypatch.setattr(queue, "is_reachable", lambda: False)
    assert "The queue can&#x27;t be reached" in fragment(curator, job)


def test_a_failure_shows_its_problems(curator: Any, db: None) -> None:
    problems = [{"line": 7, "code": "E103", "message": "role must be …", "session_id": "s1"}]
    job = JobRun.objects.create(
        operation="import_dataset",
        state="failed",
        error="1 problem; nothing was imported.",
        result={"problems": problems, "problem_total": 212},
    )
    html = fragment(curator, job)
    for expected in (
        "1 problem; nothing was imported.",
        "E103",
        "role must be …",
        "The first 1 of 212 problems",
    ):
        assert expected in html


def test_events_of_a_job_come_from_where_it_was_requested(
    curator: Any, dataset: Dataset, empty_queue: None
) -> None:
    """By its actor: somebody else who retries it has an event of their own."""
    other = User.objects.create_superuser("root")
    start = reverse("admin:datasets_app_dataset_export", args=[dataset.pk])
    curator.post(start, {"format": "turns"}, REMOTE_ADDR="192.0.2.1")
    job = JobRun.objects.get()
    for user, address, expected in (
        (other, "192.0.2.2", "192.0.2.1"),
        (curator.user, "2001:db8::3", "2001:db8::3"),
    ):
        JobRun.objects.update(state="failed")
        client = Client()
        client.force_login(user)
        client.post(reverse("admin:datasets_app_jobrun_retry", args=[job.pk]), REMOTE_ADDR=address)
        perform(job.pk)
        event = AuditEvent.objects.filter(action="export").latest("pk")
        assert (event.actor, event.details["source_address"]) == ("curator", expected)
    User.objects.filter(pk=curator.user.pk).delete()
    JobRun.objects.update(state="queued")
    perform(job.pk)
    assert "source_address" not in AuditEvent.objects.filter(action="export").latest("pk").details


def test_cancel_and_retry(curator: Any, dataset: Dataset, empty_queue: None) -> None:
    job = JobRun.objects.create(
        operation="export_dataset", dataset=dataset, state="queued", queued_at=timezone.now()
    )
    curator.post(reverse("admin:datasets_app_jobrun_cancel", args=[job.pk]))
    job.refresh_from_db()
    assert job.state == "cancelled"
    curator.post(reverse("admin:datasets_app_jobrun_retry", args=[job.pk]))
    job.refresh_from_db()
    assert job.state == "queued"


def test_a_prepared_import_leads_to_its_preview(curator: Any, db: None) -> None:
    job = JobRun.objects.create(operation="import_dataset", actor=curator.user)
    response = curator.get(reverse("admin:datasets_app_jobrun_change", args=[job.pk]))
    assert response.status_code in {200, 302}


def test_exports_and_checks_start_jobs(curator: Any, dataset: Dataset, empty_queue: None) -> None:
    curator.post(
        reverse("admin:datasets_app_dataset_export", args=[dataset.pk]),
        {"format": "csv", "tag": "a", "gzip": "on"},
    )
    curator.post(reverse("admin:datasets_app_dataset_run_checks", args=[dataset.pk]))
    export, check = JobRun.objects.order_by("id")
    assert export.parameters == {
        "format": "csv",
        "persona": None,
        "tag": "a",
        "gzip": True,
        "package": False,
        "labels": True,
        "selection": None,
        "version": None,
        "split": None,
    }
    assert (export.operation, export.state, export.dataset) == ("export_dataset", "queued", dataset)
    assert (check.operation, check.state, check.actor) == ("check_dataset", "queued", curator.user)


def test_list_actions_start_a_job_for_each_dataset(curator: Any, dataset: Dataset, empty_queue: None) -> None:
    address = reverse("admin:datasets_app_dataset_changelist")
    for action in ("check_selected", "export_selected"):
        curator.post(address, {"action": action, "_selected_action": [dataset.pk]})
    assert list(JobRun.objects.order_by("id").values_list("operation", flat=True)) == [
        "check_dataset",
        "export_dataset",
    ]


def test_the_dataset_page_follows_its_own_jobs(sign_in: Any, dataset: Dataset) -> None:
    mine = JobRun.objects.create(operation="export_dataset", dataset=dataset, state="running")
    other = JobRun.objects.create(operation="check_dataset", state="running")
    overview = reverse("admin:datasets_app_dataset_change", args=[dataset.pk])
    client = sign_in("lead")
    address = f"{reverse('admin:datasets_app_jobrun_active')}?dataset={dataset.pk}"
    assert f'hx-get="{address}"' in client.get(overview).content.decode()
    html = client.get(address).content.decode()
    assert str(mine) in html
    assert str(other) not in html
    assert "active-jobs" not in sign_in("viewer").get(overview).content.decode()


def test_what_a_command_ran_is_not_retried_here(curator: Any, dataset: Dataset) -> None:
    job = JobRun.objects.create(
        operation="export_dataset", dataset=dataset, state="failed", foreground=True, worker="host:1"
    )
    assert "Retry" not in fragment(curator, job)
    curator.post(reverse("admin:datasets_app_jobrun_retry", args=[job.pk]))
    job.refresh_from_db()
    assert job.state == "failed"


def test_who_sees_a_new_dataset_is_said_in_words(curator: Any, dataset: Dataset) -> None:
    result = {"turns": 4, "restricted": True}
    job = JobRun.objects.create(operation="import_dataset", dataset=dataset, state="done", result=result)
    html = fragment(curator, job)
    assert "<dt>Access</dt>" in html
    assert "only people with a grant and people who can limit access see it" in html
    assert "<dt>Restricted</dt>" not in html


def test_counts_of_a_split_are_in_a_fixed_order() -> None:
    stored = {"test": 1, "train": 2, "sessions": 4, "placed_now": 4, "validation": 1, "kept_together": 0}
    shown = result_facts(JobRun(operation="split_dataset"), stored)
    assert list(shown) == ["sessions", "placed_now", "train", "validation", "test", "kept_together"]
    assert shown == stored
