"""What a person and a script are told when there is no room left for what they send.

The disk is the outside world: /dev/full stands for it, on which the kernel refuses every byte.
"""

import html
import os
import re
import resource
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.core.files import move, uploadedfile
from django.test import Client
from django.urls import reverse

from datasets_app.exporting.parameters import ExportParameters
from datasets_app.jobs.perform import perform
from datasets_app.jobs.runs import start_job
from datasets_app.models import AuditEvent, JobFile, JobRun, Release
from datasets_app.releasing.parameters import ReleaseParameters
from tests.factories import encode_jsonl, make_dataset, make_sessions
from tests.web.test_import_pages import OPTIONS

FORM = reverse("admin:datasets_app_dataset_import")
SMALL, LARGE = encode_jsonl(make_sessions(1)), encode_jsonl(make_sessions(2_000))


@pytest.fixture
def folders(settings: Any, tmp_path: Path) -> list[Path]:
    """Where a file of an upload may lie."""
    settings.FILE_UPLOAD_TEMP_DIR = tmp_path / "uploads"
    settings.FILE_UPLOAD_TEMP_DIR.mkdir()
    settings.MEDIA_ROOT.mkdir()
    return [settings.FILE_UPLOAD_TEMP_DIR, settings.MEDIA_ROOT]


@pytest.fixture
def no_room_for_uploads(folders: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    make = uploadedfile.tempfile.NamedTemporaryFile

    def made(*arguments: Any, **more: Any) -> Any:
        file = make(*arguments, **more)
        fill(file.fileno())
        return file

    monkeypatch.setattr(uploadedfile.tempfile, "NamedTemporaryFile", made)


@pytest.fixture
def no_room_for_media(folders: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """On another file system than the uploads: a file is copied there, and what comes first has room."""
    write = os.write

    def write_once(descriptor: int, data: bytes) -> int:
        count = write(descriptor, data)
        fill(descriptor)
        return count

    def other_file_system(*_: Any) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(move.os, "rename", other_file_system)
    monkeypatch.setattr(move.os, "write", write_once)


def fill(descriptor: int) -> None:
    """From now on, there is no room for what is written to this file."""
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, descriptor)
    os.close(full)


def send(client: Client, lines: bytes = LARGE, **headers: str) -> Any:
    client.raise_request_exception = False
    content = uploadedfile.SimpleUploadedFile("logs.jsonl", lines)
    return client.post(FORM, {**OPTIONS, "file": content}, headers=headers)


def left(folders: list[Path]) -> list[Path]:
    return [path for folder in folders for path in folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize("full", ["no_room_for_uploads", "no_room_for_media"])
def test_an_upload_on_a_full_disk_is_answered_in_words(
    full: str, request: pytest.FixtureRequest, curator: Any, folders: list[Path]
) -> None:
    request.getfixturevalue(full)
    page = send(curator, accept="text/html,*/*;q=0.8")
    assert page.status_code == 507
    assert page["Content-Type"].startswith("text/html")
    html = page.content.decode()
    assert "<h1>The server&#x27;s disk is full</h1>\n        <p>Nothing you sent was saved. Ask" in html
    assert "style-src 'self';" in page["Content-Security-Policy"] + ";"
    told = send(curator, accept="*/*")
    assert (told.status_code, told["Content-Type"]) == (507, "text/plain")
    assert told.content.decode().startswith("The server's disk is full. Nothing you sent was saved. Ask")
    assert left(folders) == []
    assert not JobRun.objects.exists()
    assert not JobFile.objects.exists()


def test_a_file_that_fits_into_the_buffer_fails_at_its_end(
    curator: Any, folders: list[Path], no_room_for_uploads: None
) -> None:
    assert send(curator, SMALL).status_code == 507
    assert left(folders) == []


def test_other_failures_of_the_disk_stay_errors(curator: Any, folders: list[Path]) -> None:
    folders[0].rmdir()
    assert send(curator).status_code == 500


def test_an_upload_that_would_not_leave_the_reserve_is_refused_before_it_is_read(
    curator: Any, folders: list[Path], settings: Any
) -> None:
    settings.MIN_FREE_BYTES = shutil.disk_usage(folders[0]).total
    page = send(curator, SMALL, accept="text/html")
    assert page.status_code == 507
    told = html.unescape(page.content.decode())
    assert re.search(r"The upload needs about [\d.]+.KB of disk space, and 0.bytes is free besides", told)
    assert left(folders) == []


@contextmanager
def no_room_for_more_than(size: int) -> Iterator[None]:
    """As the kernel limits it; the database writes in processes of its own."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("operation", ["export_dataset", "package", "release_dataset"])
def test_a_job_that_finds_no_room_says_so_and_leaves_nothing(
    admin_user: Any, folders: list[Path], tmp_path: Path, operation: str
) -> None:
    dataset = make_dataset(tmp_path, make_sessions(500))
    reason = "a test of a full disk"
    parameters = {
        "export_dataset": ExportParameters(format="turns", override=reason),
        "package": ExportParameters(package=True, override=reason),
        "release_dataset": ReleaseParameters(override=reason, notes=""),
    }[operation]
    name = operation if operation.endswith("_dataset") else "export_dataset"
    job = start_job(name, actor=admin_user, dataset=dataset, parameters=parameters)
    with no_room_for_more_than(2_000):
        perform(job.pk)
    job.refresh_from_db()
    assert job.error in (
        "support.jsonl can't be written: File too large.",
        "support_package.zip can't be written: File too large.",
        "The server's disk is full; nothing was saved. Ask an administrator to free disk space, then retry.",
    )
    assert (job.state, left(folders), JobFile.objects.exists()) == ("failed", [], False)
    assert not Release.objects.exists()
    assert not AuditEvent.objects.filter(action__in=["export", "release"]).exists()
