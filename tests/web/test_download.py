"""Files of jobs: only for those who may, only while they last, always as an attachment."""

import hashlib
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from datasets_app.models import AuditEvent, Dataset, JobFile, JobRun
from tests.web.test_error_pages import find_missing_headers

CONTENT = b'{"text": "<script>alert(1)</script>"}\n'


@pytest.fixture
def job_file(dataset: Dataset) -> JobFile:
    job = JobRun.objects.create(operation="export_dataset", dataset=dataset, dataset_name=dataset.name)
    kept = JobFile(
        job_run=job,
        kind="export",
        name='odd "name" ü.html',
        size=len(CONTENT),
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        expires_at=timezone.now() + timedelta(days=1),
    )
    kept.file.save(f"{job.pk}/export/data.html", ContentFile(CONTENT))
    return kept


def address(job_file: JobFile) -> str:
    return reverse("download", args=[job_file.pk])


def test_the_file_comes_as_an_attachment_and_is_written_down(curator: Any, job_file: JobFile) -> None:
    response = curator.get(address(job_file))
    assert response.status_code == 200
    assert b"".join(response) == CONTENT
    assert response["Content-Disposition"].startswith("attachment; ")
    assert response["Content-Type"] == "application/octet-stream"
    assert not find_missing_headers(response)
    assert "no-store" in response["Cache-Control"]
    event = AuditEvent.objects.get(action="download")
    assert (event.actor, event.dataset_name) == ("curator", "support")
    assert event.details == {
        "file": job_file.name,
        "sha256": job_file.sha256,
        "size": len(CONTENT),
        "job_run": job_file.job_run_id,
        "source_address": "127.0.0.1",
    }


@pytest.mark.parametrize("role", ["viewer", "lead", "annotator", "none", "outsider"])
def test_others_get_nothing(role: str, sign_in: Any, job_file: JobFile) -> None:
    assert sign_in(role).get(address(job_file)).status_code == 403
    assert not AuditEvent.objects.filter(action="download").exists()


@pytest.mark.parametrize(
    ("kind", "allowed"), [("upload", 200), ("quarantine", 200), ("export", 403), ("metadata", 403)]
)
def test_what_came_in_is_for_those_who_import(
    kind: str, allowed: int, sign_in: Any, job_file: JobFile
) -> None:
    from django.contrib.auth.models import Permission

    client = sign_in("none")
    wanted = Permission.objects.filter(codename__in=["import_dataset", "view_dataset"])
    client.user.user_permissions.set(wanted)
    JobFile.objects.filter(pk=job_file.pk).update(kind=kind)
    assert client.get(address(job_file)).status_code == 403
    JobRun.objects.update(actor=client.user)
    assert client.get(address(job_file)).status_code == allowed


def test_nobody_gets_it_without_signing_in(job_file: JobFile) -> None:
    assert Client().get(address(job_file)).status_code == 302


@pytest.mark.parametrize("why", ["expired", "cleaned away", "lost"])
def test_a_file_that_is_gone_says_so(why: str, curator: Any, job_file: JobFile) -> None:
    if why == "expired":
        JobFile.objects.filter(pk=job_file.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    elif why == "cleaned away":
        JobFile.objects.filter(pk=job_file.pk).update(file="")
    else:
        job_file.file.storage.delete(job_file.file.name)
    response = curator.get(address(job_file))
    assert response.status_code == 410
    assert "File no longer available" in response.content.decode()
    assert not AuditEvent.objects.filter(action="download").exists()


def test_only_get_and_only_what_exists(curator: Any, job_file: JobFile) -> None:
    assert curator.post(address(job_file)).status_code == 405
    assert curator.get(reverse("download", args=[10**9])).status_code == 404


def test_what_left_for_a_reason_is_for_those_who_may_give_one(sign_in: Any, job_file: JobFile) -> None:
    """Else whoever may export would have what only a privacy officer may have exported."""
    job = job_file.job_run
    page = reverse("admin:datasets_app_jobrun_change", args=[job.pk])
    JobRun.objects.filter(pk=job.pk).update(parameters={"override": "a claim"}, state="failed")
    curator, officer = sign_in("curator"), sign_in("privacy officer")
    assert curator.get(address(job_file)).status_code == 403
    assert curator.post(reverse("admin:datasets_app_jobrun_retry", args=[job.pk])).status_code == 403
    said = curator.get(page).content.decode()
    assert "retry-job" not in said
    assert address(job_file) not in said
    assert address(job_file) in officer.get(page).content.decode()
    assert b"".join(officer.get(address(job_file))) == CONTENT


def test_the_trail_keeps_no_name_of_what_came_in(curator: Any, job_file: JobFile) -> None:
    JobRun.objects.update(actor=curator.user)
    for kind in ("upload", "quarantine"):
        JobFile.objects.filter(pk=job_file.pk).update(kind=kind, name="jane.doe@example.org.jsonl")
        b"".join(curator.get(address(job_file)))
        event = AuditEvent.objects.filter(action="download").order_by("-id")[0]
        assert "file" not in event.details
        assert event.details["kind"] == kind
