"""A release as a job: all of it or nothing, whatever happens to the worker."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.storage import default_storage

from datasets_app.jobs import runs
from datasets_app.jobs.perform import perform
from datasets_app.models import AuditEvent, Dataset, JobRun, Release
from datasets_app.releasing import files
from datasets_app.releasing.parameters import CompareParameters, ReleaseParameters
from datasets_app.releasing.verify import verify_releases
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def actor(transactional_db: None) -> User:
    return User.objects.create(username="root", is_superuser=True)


def start(dataset: Dataset, actor: User) -> JobRun:
    return runs.start_job(
        "release_dataset",
        actor=actor,
        dataset=dataset,
        parameters=ReleaseParameters(override="a test", notes=""),
    )


def stored_files() -> list[Path]:
    place = Path(default_storage.path("releases"))
    return [path for path in place.rglob("*") if path.is_file()]


@pytest.mark.slow
def test_a_worker_killed_in_mid_release_leaves_no_half_release(
    processes: Any, wait_until: Any, actor: User, tmp_path: Path
) -> None:
    dataset = factories.make_dataset(tmp_path, factories.make_sessions(2_000, turns=5))
    job = start(dataset, actor)
    worker = processes.start("worker")

    def row() -> JobRun:
        return JobRun.objects.get(pk=job.pk)

    wait_until(lambda: row().state == "running" and row().done > 0, 60)
    processes.kill(worker)
    assert row().state == "running"
    assert not Release.objects.exists()
    assert not stored_files()
    assert not AuditEvent.objects.filter(action__in=["release", "override"]).exists()
    # As the scheduler does when the heart has stopped: another worker takes it up from the start.
    JobRun.objects.filter(pk=job.pk).update(state="queued")
    perform(job.pk)
    assert row().state == "done"
    assert Release.objects.get().turn_count == 10_000
    assert len(stored_files()) == 5
    assert verify_releases(actor=None).faults == []
    assert AuditEvent.objects.filter(action="release").count() == 1


def test_a_release_that_fails_at_its_end_leaves_nothing(
    empty_queue: None, actor: User, tmp_path: Path, monkeypatch: Any
) -> None:
    """The files are stored, and then the storage gives up: the rows go back, the sweep deletes the files."""
    dataset = factories.make_dataset(tmp_path, factories.make_sessions(2))
    store = files.store_file

    def full(release: Release, kind: str, path: Path) -> Any:
        if kind == "signature":
            raise OSError("no space left")
        return store(release, kind, path)

    monkeypatch.setattr(files, "store_file", full)
    job = start(dataset, actor)
    perform(job.pk)
    assert JobRun.objects.get(pk=job.pk).state == "failed"
    assert not Release.objects.exists()
    dataset.refresh_from_db()
    assert dataset.status == "raw"
    assert files.destroy_orphans(dataset) == len(stored_files()) + 4
    assert not stored_files()


def test_jobs_verify_and_compare_without_a_text_in_their_rows(
    empty_queue: None, actor: User, tmp_path: Path
) -> None:
    dataset = factories.make_dataset(tmp_path, factories.make_sessions(2, text="canary-1"))
    perform(start(dataset, actor).pk)
    dataset.sessions.get(session_id="s2").turns.filter(turn_index=2).update(text="canary-2")
    verify = runs.start_job("verify_releases", actor=actor, dataset=dataset)
    compare = runs.start_job(
        "compare_releases",
        actor=actor,
        dataset=dataset,
        parameters=CompareParameters(before="1.0.0", after=""),
    )
    for job in (verify, compare):
        perform(job.pk)
        job.refresh_from_db()
        assert job.state == "done", job.error
    assert verify.result["faults"] == 0
    assert compare.result["sessions_changed"] == 1
    listed = compare.files.get().file.read()
    assert b'"session_id": "s2"' in listed
    assert b"canary" not in listed + str(JobRun.objects.values_list("result", "parameters")).encode()
