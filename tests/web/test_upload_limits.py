"""What one person may upload and start, and whose an upload is."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from datasets_app.core.errors import UserError
from datasets_app.exporting.parameters import ExportParameters
from datasets_app.jobs import runs
from datasets_app.models import Dataset, JobFile, JobRun
from datasets_app.retention.parameters import EraseParameters
from tests.factories import encode_jsonl, make_sessions
from tests.web.conftest import SignIn
from tests.web.test_import_pages import OPTIONS

FORM = reverse("admin:datasets_app_dataset_import")
CONTENT = encode_jsonl(make_sessions(1))


def send(client: Client, name: str = "support.jsonl") -> Any:
    return client.post(FORM, {**OPTIONS, "file": SimpleUploadedFile(name, CONTENT)}, follow=True)


@pytest.mark.parametrize(
    ("setting", "value", "complaint"),
    [
        ("MAX_PENDING_UPLOADS", 2, "You have 2 uploads that are not imported."),
        (
            "MAX_PENDING_UPLOAD_BYTES",
            3 * len(CONTENT) - 1,
            "your uploads that are not imported would be larger",
        ),
    ],
)
def test_uploads_of_one_person_are_limited_until_they_are_imported(
    sign_in: SignIn, settings: Any, setting: str, value: int, complaint: str
) -> None:
    curator = sign_in("curator")
    setattr(settings, setting, value)
    for _ in range(2):
        send(curator)
    assert complaint in send(curator).content.decode()
    assert JobFile.objects.count() == JobRun.objects.count() == 2
    # Somebody else's are their own, and one that is discarded no longer counts.
    send(sign_in("superuser"))
    last = JobRun.objects.filter(actor=curator.user).first()  # type: ignore[attr-defined,misc]
    curator.post(reverse("admin:datasets_app_dataset_import_discard", args=[last.pk]))
    send(curator)
    assert JobFile.objects.count() == 3


@pytest.fixture
def upload(sign_in: SignIn) -> JobFile:
    send(sign_in("curator"))
    job = JobRun.objects.get()
    JobFile.objects.create(job_run=job, kind="quarantine", name="q.jsonl", file=job.files.get().file.name)
    return job.files.get(kind="upload")  # type: ignore[no-any-return]


@pytest.fixture
def colleague(sign_in: SignIn, upload: JobFile) -> Client:
    """Another curator."""
    upload.job_run.actor.username = "ada"
    upload.job_run.actor.save()
    return sign_in("curator")


def test_a_colleague_reads_neither_an_upload_nor_its_quarantine(colleague: Client, upload: JobFile) -> None:
    for file in upload.job_run.files.all():
        assert colleague.get(reverse("download", args=[file.pk])).status_code == 403
    page = reverse("admin:datasets_app_dataset_import_preview", args=[upload.job_run_id])
    assert colleague.get(page).status_code == colleague.post(page, {"import": "1"}).status_code == 403
    for action in ("discard", "reopen"):
        address = reverse(f"admin:datasets_app_dataset_import_{action}", args=[upload.job_run_id])
        assert colleague.post(address).status_code == 403
    job_page = reverse("admin:datasets_app_jobrun_change", args=[upload.job_run_id])
    assert colleague.get(job_page).status_code == 403
    JobRun.objects.update(state="failed")
    retry = reverse("admin:datasets_app_jobrun_retry", args=[upload.job_run_id])
    assert colleague.post(retry).status_code == 403
    response = colleague.get(job_page)
    assert response.status_code == 200
    assert retry not in response.content.decode()
    for file in upload.job_run.files.all():
        assert reverse("download", args=[file.pk]) not in response.content.decode()
    assert JobFile.objects.exclude(file="").count() == 2


def test_its_owner_and_a_privacy_officer_read_it(sign_in: SignIn, upload: JobFile) -> None:
    owner = Client()
    owner.force_login(upload.job_run.actor)
    for client in (owner, sign_in("privacy officer"), sign_in("superuser")):
        for file in upload.job_run.files.all():
            response = client.get(reverse("download", args=[file.pk]))
            assert b"".join(response.streaming_content) == CONTENT  # type: ignore[attr-defined]
    assert sign_in("lead").get(reverse("download", args=[upload.pk])).status_code == 403


def test_a_prepared_import_whose_file_expired_has_a_page(sign_in: SignIn, upload: JobFile) -> None:
    JobFile.objects.update(file="")
    owner = Client()
    owner.force_login(upload.job_run.actor)
    page = reverse("admin:datasets_app_dataset_import_preview", args=[upload.job_run_id])
    assert owner.get(page, follow=True).status_code == 200


# --- jobs -----------------------------------------------------------------------------------------------


def test_the_second_press_leads_to_the_first_job(sign_in: SignIn, dataset: Dataset) -> None:
    client = sign_in("curator")
    address = reverse("admin:datasets_app_dataset_run_checks", args=[dataset.pk])
    first, second = client.post(address), client.post(address)
    job = JobRun.objects.get()
    assert (
        first["Location"] == second["Location"] == reverse("admin:datasets_app_jobrun_change", args=[job.pk])
    )
    other = sign_in("superuser").post(address)
    assert other["Location"] != first["Location"]
    JobRun.objects.update(state="done")
    assert client.post(address)["Location"] != first["Location"]


def test_only_identical_jobs_that_have_not_ended_are_one(sign_in: SignIn, dataset: Dataset) -> None:
    user = sign_in("curator").user  # type: ignore[attr-defined]

    def start(**parameters: Any) -> JobRun:
        return runs.start_job(
            "export_dataset", actor=user, dataset=dataset, parameters=ExportParameters(**parameters)
        )

    job = start(format="turns")
    assert start(format="turns") == job
    assert start(format="csv") != job
    assert start(format="turns", override="for the audit") != job
    runs.request_cancellation(job, actor=user)
    assert start(format="turns") != job


def test_a_job_that_stored_its_progress_is_still_the_same(sign_in: SignIn, dataset: Dataset) -> None:
    user = sign_in("curator").user  # type: ignore[attr-defined]
    parameters = EraseParameters(session=1, reason="asked")
    job = runs.start_job("erase_session", actor=user, dataset=dataset, parameters=parameters)
    JobRun.objects.update(state="running", parameters=job.parameters | {"erased": [{"session": 1}]})
    assert runs.start_job("erase_session", actor=user, dataset=dataset, parameters=parameters) == job


def test_jobs_of_one_person_are_limited(sign_in: SignIn, dataset: Dataset, settings: Any) -> None:
    settings.MAX_ACTIVE_JOBS = 2
    client = sign_in("curator")
    user = client.user  # type: ignore[attr-defined]
    for format in ("turns", "csv"):
        runs.start_job(
            "export_dataset", actor=user, dataset=dataset, parameters=ExportParameters(format=format)
        )
    check = reverse("admin:datasets_app_dataset_run_checks", args=[dataset.pk])
    response = client.post(check, follow=True)
    assert "2 of your jobs are running or waiting" in response.content.decode()
    send(client)
    upload = JobRun.objects.get(operation="import_dataset")
    preview = reverse("admin:datasets_app_dataset_import_preview", args=[upload.pk])
    response = client.post(preview, {**OPTIONS, "dataset_name": "other", "import": "1"}, follow=True)
    assert "2 of your jobs are running or waiting" in response.content.decode()
    failed = JobRun.objects.create(operation="check_dataset", actor=user, dataset=dataset, state="failed")
    response = client.post(reverse("admin:datasets_app_jobrun_retry", args=[failed.pk]), follow=True)
    assert "2 of your jobs are running or waiting" in response.content.decode()
    with pytest.raises(UserError):
        runs.retry_job(failed, actor=user)
    failed.refresh_from_db()
    assert failed.state == "failed"
    assert sign_in("superuser").post(check).status_code == 302
    JobRun.objects.filter(parameters__format="csv").update(state="done")
    client.post(check)
    assert JobRun.objects.filter(operation="check_dataset", actor=user, state="queued").count() == 1
