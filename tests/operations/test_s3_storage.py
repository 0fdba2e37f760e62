"""Files in a bucket instead of a folder: against a real server that speaks S3."""

import gzip
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from alignmenter_site import file_storage
from alignmenter_site.env import EnvironmentVariableError
from datasets_app.core.errors import UserError
from datasets_app.exporting.parameters import ExportParameters
from datasets_app.housekeeping import delete_expired_files
from datasets_app.jobs import runs
from datasets_app.jobs.perform import perform
from datasets_app.models import AuditEvent, JobFile, JobRun, Release, ReleaseFile
from datasets_app.releasing import files
from datasets_app.releasing.release_dataset import release_dataset
from datasets_app.releasing.verify import verify_releases
from datasets_app.retention.apply import apply_retention
from datasets_app.retention.find_person import find_everywhere
from tests import factories
from tests.conftest import PROJECT, RunManage

RCLONE = Path(sys.executable).with_name("rclone")


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.fixture
def bucket(tmp_path: Path, settings: Any, monkeypatch: Any) -> Iterator[Path]:
    """A bucket of a server of its own; the folder in which that keeps it."""
    place, port = tmp_path / "s3" / "datasets", _free_port()
    place.mkdir(parents=True)
    command = [str(RCLONE), "serve", "s3", "--addr", f"127.0.0.1:{port}", "--auth-key", "key,secret-of-tests"]
    command += [str(place.parent)]
    environment = os.environ | {"RCLONE_CONFIG": str(tmp_path / "none.conf")}
    server = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret-of-tests")
    _wait_for(port)
    url = f"s3://datasets/house?endpoint_url=http://127.0.0.1:{port}&region_name=us-east-1"
    settings.STORAGES = file_storage.storage_settings(url)
    yield place
    server.kill()
    server.wait()


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("the server does not answer")


@pytest.mark.django_db(transaction=True)
def test_releases_and_files_of_jobs_live_in_a_bucket(
    bucket: Path, empty_queue: None, tmp_path: Path, monkeypatch: Any
) -> None:
    dataset = factories.make_dataset(tmp_path, factories.make_sessions(3), origin="synthetic")
    (tmp_path / "work").mkdir()
    made = release_dataset(dataset, folder=tmp_path / "work", override="a test", actor=None)
    release = Release.objects.get(pk=made.release)
    there = _files(bucket)
    assert len(there) == 5
    assert all(path.is_relative_to(bucket / "house" / "releases") for path in there)
    assert verify_releases(actor=None).faults == []
    _one_byte_is_found(release)
    _downloaded(release)
    _job_files(dataset, bucket)

    files.destroy_files(release, reason="a test")
    assert [path for path in _files(bucket) if "releases" in path.parts] == []
    with pytest.raises(UserError, match="destroyed"):
        files.open_file(files.get_file(release, "data"))
    _left_is_deleted(dataset, monkeypatch)


def _files(place: Path) -> list[Path]:
    return sorted(path for path in place.rglob("*") if path.is_file())


def _one_byte_is_found(release: Release) -> None:
    stored = default_storage.bucket.Object(f"house/{files.get_file(release, 'data').file.name}")
    whole = stored.get()["Body"].read()
    stored.put(Body=whole[:20] + bytes([whole[20] ^ 1]) + whole[21:])
    assert [fault.message for fault in verify_releases(actor=None).faults] == [
        "support_v1.0.0.jsonl.gz was changed after the release: its SHA-256 differs."
    ]
    stored.delete()
    assert "missing in the storage" in verify_releases(actor=None).faults[0].message
    stored.put(Body=whole)
    assert verify_releases(actor=None).faults == []


def _downloaded(release: Release) -> None:
    client = Client()
    client.force_login(User.objects.create(username="root", is_superuser=True, is_staff=True))
    data = files.get_file(release, "data")
    answer = client.get(reverse("download_release", args=[data.pk]))
    with files.open_file(data) as stored:
        assert b"".join(answer) == stored.read()  # type: ignore[call-overload]
    assert AuditEvent.objects.get(action="download").details["release"] == "1.0.0"


def _job_files(dataset: Any, bucket: Path) -> None:
    job = runs.start_job("export_dataset", actor=User.objects.get(), dataset=dataset)
    perform(job.pk)
    assert JobRun.objects.get(pk=job.pk).state == "done"
    made = job.files.get(kind="export")
    client = Client()
    client.force_login(User.objects.get())
    answer = client.get(reverse("download", args=[made.pk]))
    assert b"".join(answer).count(b"\n") == dataset.turn_count  # type: ignore[call-overload]
    before = len(_files(bucket))
    JobFile.objects.filter(job_run=job).update(expires_at=timezone.now())
    assert delete_expired_files() == 2
    assert len(_files(bucket)) == before - 2
    assert client.get(reverse("download", args=[made.pk])).status_code == 410


def _left_is_deleted(dataset: Any, monkeypatch: Any) -> None:
    """What no row names goes after an hour, from both folders, and not before."""
    names = [f"releases/{dataset.pk}/half", "jobs/999999/export/half"]
    for name in names:
        with default_storage.open(name, "wb") as file:
            file.write(b"canary")
    assert delete_expired_files() == 0
    later = timezone.now() + timedelta(hours=2)
    monkeypatch.setattr(timezone, "now", lambda: later)
    assert delete_expired_files() == 2
    assert not any(default_storage.exists(name) for name in names)


PERSON = "Jürgen Müller"


@pytest.mark.django_db(transaction=True)
def test_a_person_and_the_contents_of_a_dataset_leave_the_bucket(
    bucket: Path, empty_queue: None, tmp_path: Path
) -> None:
    """Versions, exports and uploads alike; the certificate counts what was erased."""
    turns = [factories.make_turn(), factories.make_turn("other", text=f"I am {PERSON}.")]
    dataset = factories.make_dataset(tmp_path, turns, origin="synthetic")
    (tmp_path / "work").mkdir()
    release_dataset(dataset, folder=tmp_path / "work", override="a test", actor=None)
    job = runs.start_job("export_dataset", actor=None, dataset=dataset, parameters=ExportParameters("turns"))
    perform(job.pk)
    upload = JobFile(job_run=runs.create_job("import_dataset", actor=None, dataset_name="new"), kind="upload")
    upload.name = "new.jsonl"
    upload.file.save("1/upload/x", ContentFile(json.dumps({"text": PERSON}).encode()), save=True)
    assert any(_names_person(path) for path in _files(bucket))
    call_command("erase_person", PERSON, reason="Asked by letter")
    assert not [path for path in _files(bucket) if _names_person(path)]
    assert verify_releases(actor=None).faults == []
    apply_retention(actor=None, dataset=dataset, reason="a test")
    assert _files(bucket) == []


def _names_person(path: Path) -> bool:
    content = path.read_bytes()
    content = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
    return PERSON.encode() in content or json.dumps(PERSON).encode().strip(b'"') in content


@pytest.mark.django_db(transaction=True)
def test_a_file_that_the_bucket_refuses_is_counted_as_unsearched(
    bucket: Path, empty_queue: None, settings: Any, monkeypatch: Any
) -> None:
    """Nobody is told that a person is nowhere, or that a server failed."""
    upload = JobFile(job_run=runs.create_job("import_dataset", actor=None, dataset_name="new"), kind="upload")
    upload.name = "new.jsonl"
    upload.file.save("1/upload/x", ContentFile(PERSON.encode()), save=True)
    found = find_everywhere(PERSON, None)
    assert (len(found.files), found.unsearched_files) == (1, 0)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")
    settings.STORAGES = {**settings.STORAGES}
    found = find_everywhere(PERSON, None)
    assert (len(found.files), found.unsearched_files) == (0, 1)


@pytest.mark.django_db(transaction=True)
def test_files_in_a_bucket_are_backed_up_to_a_bucket_and_restored(
    bucket: Path, empty_queue: None, tmp_path: Path, manage: RunManage, settings: Any
) -> None:
    address = default_storage.bucket.meta.client.meta.endpoint_url
    place = f"s3://datasets/backups/all.age?endpoint_url={address}&region_name=us-east-1"
    dataset = factories.make_dataset(tmp_path, factories.make_sessions(3), origin="synthetic")
    release_dataset(dataset, folder=tmp_path, override="a test", actor=None)
    stored = {path: path.read_bytes() for path in _files(bucket / "house")}
    public = manage("backup", "--new-key", tmp_path / "key").stdout.strip()
    identity = ("--identity", tmp_path / "key")
    done = manage("backup", "--out", place, "--recipient", public, *identity)
    assert (done.returncode, done.stderr) == (0, "")
    assert "never overwritten" in manage("backup", "--out", place, "--recipient", public).stderr
    for file in ReleaseFile.objects.all():
        default_storage.delete(file.file.name)
    assert _files(bucket / "house") == []
    done = manage("restore", place, *identity, "--replace")
    assert done.returncode == 0, done.stderr
    assert {path: path.read_bytes() for path in _files(bucket / "house")} == stored
    assert verify_releases(actor=None).faults == []
    nowhere = manage("restore", place.replace("all.age", "none"), *identity, "--replace")
    assert "The bucket of none refuses this (NoSuchKey)" in nowhere.stderr


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("gs://bucket", "s3://bucket/prefix"),
        ("s3://", "s3://bucket/prefix"),
        ("s3://key:secret@bucket/x", "no user"),
        ("s3://bucket?secret_key=1", "unknown 'secret_key'"),
    ],
)
def test_a_wrong_address_stops_the_start_with_a_sentence(url: str, told: str) -> None:
    with pytest.raises(EnvironmentVariableError, match=told) as error:
        file_storage.storage_settings(url)
    assert "key:secret" not in str(error.value)


@pytest.mark.parametrize("package", ["boto3", "storages"])
def test_without_its_packages_the_start_names_the_command_that_installs_them(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(EnvironmentVariableError, match=r"pip install -r locks/s3\.txt"):
        file_storage.storage_settings("s3://bucket/prefix")
    assert (PROJECT / file_storage.REQUIREMENTS).exists()
