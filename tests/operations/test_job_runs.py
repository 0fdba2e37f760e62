"""Background jobs with real workers on a real queue; workers are killed as the kernel kills them."""

import os
import random
import signal
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import django_rq
import pytest
from django.core.files.base import ContentFile
from django.core.management import call_command
from django.db import OperationalError, connection
from django.utils import timezone

from alignmenter_site.embedded import EmbeddedServiceError
from datasets_app.command_line.streams import Progress
from datasets_app.core.errors import UserError
from datasets_app.core.progress import OperationCanceled
from datasets_app.exporting.parameters import ExportParameters
from datasets_app.housekeeping import delete_expired_files
from datasets_app.importing.parameters import ImportParameters
from datasets_app.jobs import queue, recovery, registry, runs
from datasets_app.jobs.ending import finish
from datasets_app.jobs.perform import claim_job, perform, run_job
from datasets_app.jobs.running import ClaimLost, RunningJob
from datasets_app.management.commands import scheduler
from datasets_app.models import AuditEvent, Dataset, JobFile, JobRun, Session, Turn
from datasets_app.scrubbing.parameters import ScrubParameters
from tests.factories import encode_jsonl, make_dataset, make_sessions, make_turn

pytestmark = pytest.mark.django_db(transaction=True)


def upload(
    content: bytes, dataset_name: str = "support", *, name: str = "support.jsonl", **parameters: Any
) -> JobRun:
    job = runs.create_job(
        "import_dataset", actor=None, dataset_name=dataset_name, parameters=ImportParameters(**parameters)
    )
    job_file = JobFile(job_run=job, kind="upload", name=name, size=len(content))
    job_file.file.save(f"{job.pk}/upload/{name}", ContentFile(content))
    return job


def state_of(job: JobRun) -> str:
    job.refresh_from_db()
    return job.state


def test_a_worker_imports_an_upload_and_says_what_is_wrong_with_another(
    processes: Any, wait_until: Any
) -> None:
    job = upload(encode_jsonl(make_sessions(50)))
    bad = upload(encode_jsonl([make_turn("a", 1, role="system", text="canary-77"), make_turn("b", 4)]), "bad")
    for each in (job, bad):
        runs.enqueue_job(each)
        assert state_of(each) == "queued"  # nothing ran in this process
    processes.start("worker")
    wait_until(lambda: state_of(bad) == "failed")
    assert state_of(job) == "done"
    assert (job.result["sessions"], job.result["turns"]) == (50, 100)
    assert job.dataset == Dataset.objects.get()
    assert job.percent == 100
    assert not job.files.get(kind="upload").file
    assert [problem["code"] for problem in bad.result["problems"]] == ["E103", "E201"]
    assert "Nothing was imported" in bad.error
    assert "Traceback" not in processes.log.read_text()
    assert "canary" not in processes.log.read_text() + str(bad.result) + bad.error


def test_quarantined_lines_are_kept_for_download(empty_queue: None) -> None:
    job = upload(encode_jsonl([make_turn("a", 3), *make_sessions(2)]), on_error="quarantine")
    runs.enqueue_job(job)
    perform(job.pk)
    assert state_of(job) == "done"
    kept = {file.name: file.file.read() for file in job.files.filter(kind="quarantine")}
    assert kept["support.quarantine.jsonl"] == encode_jsonl([make_turn("a", 3)])
    assert Session.objects.count() == 2


def test_an_export_is_kept_with_its_digest_until_its_date(empty_queue: None, tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_sessions(5))
    job = runs.start_job(
        "export_dataset", actor=None, dataset=stored, parameters=ExportParameters(format="turns", gzip=True)
    )
    perform(job.pk)
    assert state_of(job) == "done"
    export = job.files.get(kind="export")
    assert export.name == "support.jsonl.gz"
    assert export.sha256 == job.result["sha256"]
    assert job.files.filter(kind="metadata").exists()
    job.files.update(expires_at=timezone.now() - timedelta(seconds=1))
    path = Path(export.file.path)
    assert path.exists()
    assert delete_expired_files() == 2
    assert not path.exists()
    assert not job.files.exclude(file="").exists()


def test_a_check_is_kept_as_a_report(empty_queue: None, tmp_path: Path) -> None:
    stored = make_dataset(
        tmp_path, [make_turn(text="Write to jane@example.org"), make_turn("s1", 2, text="")]
    )
    job = runs.start_job("check_dataset", actor=None, dataset=stored)
    perform(job.pk)
    assert state_of(job) == "done"
    report = stored.check_reports.get()
    assert report.totals["E401"] == 1
    assert report.totals["E301"] == 1
    assert not any("jane" in finding.message for finding in report.findings.all())


@pytest.mark.slow
def test_ten_workers_killed_at_random_moments_leave_all_or_nothing(processes: Any, wait_until: Any) -> None:
    content = encode_jsonl(make_sessions(6_000, turns=5, tags=["t"], metadata={"k": 1}))
    job = upload(content)
    runs.enqueue_job(job)
    moments = random.Random(7)
    for _ in range(10):
        worker = processes.start("worker")
        wait_until(lambda: state_of(job) in ("running", "done"), 60)
        time.sleep(moments.uniform(0.0, 1.2))
        processes.kill(worker)
        assert Turn.objects.count() in (0, 30_000)
        if state_of(job) == "running":
            # So that ten deaths need not take ten times the silence after which the scheduler notices one.
            JobRun.objects.filter(pk=job.pk).update(heartbeat_at=timezone.now() - timedelta(seconds=16))
            recovery.recover_jobs()
    processes.start("worker")
    wait_until(lambda: state_of(job) == "done", 90)
    assert Turn.objects.count() == 30_000
    assert Dataset.objects.get().turn_count == 30_000
    assert AuditEvent.objects.filter(action="import").count() == 1


@pytest.mark.slow
def test_a_job_goes_on_after_its_database_connection_was_cut(processes: Any, wait_until: Any) -> None:
    job = upload(encode_jsonl(make_sessions(20_000, turns=5)))
    runs.enqueue_job(job)
    processes.start("worker")
    wait_until(lambda: _turn_copies("SELECT count(*)"), 60)
    _turn_copies("SELECT count(pg_terminate_backend(pid))")
    time.sleep(3)
    assert state_of(job) == "running"
    assert not Turn.objects.exists()
    # Its row waits for the silence to be noticed; let that not take fifteen seconds.
    JobRun.objects.filter(pk=job.pk).update(heartbeat_at=timezone.now() - timedelta(seconds=16))
    assert recovery.recover_jobs() == 1
    wait_until(lambda: state_of(job) == "done", 60)
    assert (job.attempt, Turn.objects.count()) == (2, 100_000)
    assert "Traceback" not in processes.log.read_text()


def _turn_copies(select: str) -> int:
    """``select`` over the other connections that are just copying turns in."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"{select} FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid()"
            " AND datname = current_database() AND query LIKE '%COPY datasets_app_turn%'"
        )
        return int(cursor.fetchone()[0])


def test_a_worker_of_an_earlier_try_is_never_taken_for_a_later_one(empty_queue: None) -> None:
    job = upload(encode_jsonl(make_sessions(2)))
    runs.enqueue_job(job)
    stalled = claim_job(job.pk)
    assert stalled is not None
    JobRun.objects.filter(pk=job.pk).update(state="failed")
    assert runs.retry_job(job, actor=None)
    assert claim_job(job.pk) is not None
    with pytest.raises(ClaimLost):
        finish(stalled, "done")
    assert state_of(job) == "running"


def test_what_a_command_ran_is_not_run_again_by_a_worker(empty_queue: None) -> None:
    def refuse(job: Any) -> None:
        raise UserError("no")

    with pytest.raises(UserError):
        run_job("export_dataset", refuse, progress=Progress("Exporting"), dataset_name="x")
    job = JobRun.objects.get()
    assert (job.state, job.error) == ("failed", "no")
    assert not runs.retry_job(job, actor=None)


def test_what_a_killed_worker_left_of_a_job_is_deleted(
    empty_queue: None, settings: Any, tmp_path: Path
) -> None:
    settings.VAR_DIR = tmp_path
    job = upload(encode_jsonl(make_sessions(2)))
    left = tmp_path / "tmp" / f"job-{job.pk}-abcd"
    left.mkdir(parents=True)
    (left / "half.jsonl").write_text("canary")
    JobRun.objects.filter(pk=job.pk).update(state="running")
    delete_expired_files()
    assert left.exists()  # it may be at work
    JobRun.objects.filter(pk=job.pk).update(state="failed")
    delete_expired_files()
    assert not left.exists()


def test_a_storage_that_is_away_does_not_end_the_scheduler(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, empty_queue: None
) -> None:
    def fail() -> None:
        raise OSError("the address of a bucket")

    monkeypatch.setattr(scheduler, "delete_expired_files", fail)
    monkeypatch.setattr(scheduler, "STEP_SECONDS", 0.01)
    # The heartbeat of the second step ends it.
    monkeypatch.setattr(queue, "record_scheduler_heartbeat", lambda: os.kill(os.getpid(), signal.SIGTERM))
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        call_command("scheduler")
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert "a step of the scheduler failed: OSError" in caplog.text
    assert "bucket" not in caplog.text


@pytest.mark.slow
def test_a_killed_worker_is_noticed_within_thirty_seconds(processes: Any, wait_until: Any) -> None:
    job = upload(encode_jsonl(make_sessions(12_000, turns=5)))
    runs.enqueue_job(job)
    processes.start("scheduler")
    worker = processes.start("worker")
    wait_until(lambda: state_of(job) == "running")
    processes.kill(worker)
    killed = time.monotonic()
    processes.start("worker")
    wait_until(lambda: (state_of(job), job.attempt) == ("running", 2), 30)
    assert time.monotonic() - killed < 30
    wait_until(lambda: state_of(job) == "done", 60)


def test_a_running_job_is_cancelled_and_leaves_nothing(processes: Any, wait_until: Any) -> None:
    job = upload(encode_jsonl(make_sessions(60_000, turns=5)))
    runs.enqueue_job(job)
    processes.start("worker")
    wait_until(lambda: state_of(job) == "running" and job.done > 0)
    runs.request_cancellation(job, actor=None)
    wait_until(lambda: state_of(job) == "cancelled")
    assert not Dataset.objects.exists()
    assert AuditEvent.objects.filter(action="cancel_job").exists()


def test_a_worker_performs_a_job_once_whatever_happened_to_its_message(
    processes: Any, wait_until: Any
) -> None:
    """The queue forgot it, it was canceled and tried again, or it was sent several times."""
    jobs = [upload(encode_jsonl(make_sessions(2)), name) for name in ("forgotten", "again", "often")]
    forgotten, again, often = jobs
    runs.enqueue_job(forgotten)
    django_rq.get_queue("default").empty()
    assert recovery.recover_jobs() == 0  # it may just be on its way
    JobRun.objects.filter(pk=forgotten.pk).update(queued_at=timezone.now() - timedelta(seconds=11))
    assert recovery.recover_jobs() == 1
    runs.enqueue_job(again)
    runs.request_cancellation(again, actor=None)
    assert state_of(again) == "cancelled"
    assert runs.retry_job(again, actor=None)
    runs.enqueue_job(often)
    for _ in range(3):
        django_rq.get_queue("default").enqueue_call(perform, args=(often.pk,))
    processes.start("worker")
    wait_until(lambda: not django_rq.get_queue("default").count)
    for job in jobs:
        wait_until(lambda job=job: state_of(job) == "done")
    assert not runs.retry_job(again, actor=None)
    assert [job.attempt for job in (forgotten, often)] == [1, 1]
    assert AuditEvent.objects.filter(action="import").count() == len(jobs)
    assert Turn.objects.count() == 4 * len(jobs)


def test_a_job_whose_workers_always_die_is_given_up(empty_queue: None) -> None:
    job = runs.start_job("check_dataset", actor=None)
    JobRun.objects.filter(pk=job.pk).update(
        state="running", attempt=recovery.MAX_ATTEMPTS, heartbeat_at=timezone.now() - timedelta(minutes=1)
    )
    recovery.recover_jobs()
    assert state_of(job) == "failed"
    assert "without an error message" in job.error


def test_a_worker_that_lost_its_claim_saves_nothing(empty_queue: None) -> None:
    job = upload(encode_jsonl(make_sessions(2)))
    runs.enqueue_job(job)
    claimed = claim_job(job.pk)
    assert claimed is not None
    JobRun.objects.filter(pk=job.pk).update(state="queued")  # the scheduler took it back …
    perform(job.pk)  # … and another worker does it
    with pytest.raises(ClaimLost):
        finish(claimed, "done")
    assert state_of(job) == "done"
    assert job.attempt == 2


def test_the_queue_holds_nothing_but_the_number_of_the_job(empty_queue: None) -> None:
    job = upload(encode_jsonl([make_turn(text="canary-4411")]), name="canary-name.jsonl")
    runs.enqueue_job(job)
    server = django_rq.get_connection("default")
    held = b"".join(
        b"".join(server.hgetall(key).values())
        for key in server.scan_iter("rq:job:*")
        if server.type(key) == b"hash"
    )
    assert held
    assert b"canary" not in held


def test_what_a_killed_web_server_has_received_is_deleted(
    empty_queue: None, settings: Any, tmp_path: Path
) -> None:
    settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path)
    left, coming = tmp_path / "tmpa.upload.jsonl", tmp_path / "tmpb.upload.jsonl"
    for path in (left, coming):
        path.write_text("canary")
    os.utime(left, (0, time.time() - 3700))
    assert delete_expired_files() == 1
    assert not left.exists()
    assert coming.exists()


def test_a_file_that_a_killed_worker_left_is_deleted_and_no_other(
    empty_queue: None, media_root: Path
) -> None:
    job = upload(encode_jsonl(make_sessions(2)))
    kept = Path(job.files.get().file.path)
    left = media_root / "jobs" / str(job.pk) / "export" / "half.jsonl"
    left.parent.mkdir(parents=True)
    left.write_text("canary")
    assert delete_expired_files() == 0  # it may be being stored just now
    two_hours_ago = time.time() - 7200
    os.utime(left, (two_hours_ago, two_hours_ago))
    os.utime(kept, (two_hours_ago, two_hours_ago))
    assert delete_expired_files() == 1
    assert kept.exists()
    assert not left.exists()


@pytest.mark.parametrize(
    ("error", "state", "told"),
    [
        (UserError("no"), "failed", "no"),
        (ValueError("canary-1"), "failed", "what was finished is kept"),
        (OperationCanceled(), "cancelled", ""),
    ],
)
def test_what_a_task_has_committed_for_itself_stands_however_it_ends(
    empty_queue: None, monkeypatch: Any, error: Exception, state: str, told: str
) -> None:
    def commit_and_fail(job: Any) -> dict[str, Any]:
        Dataset.objects.create(name=f"step-{job.attempt}")
        if job.attempt == 1:
            raise error
        return {"steps": 2}

    monkeypatch.setattr(registry, "operations", {})
    registry.task(commits_itself=True)(commit_and_fail)
    job = runs.start_job("commit_and_fail", actor=None)
    perform(job.pk)
    assert state_of(job) == state
    assert told in job.error
    assert "canary" not in job.error
    assert Dataset.objects.filter(name="step-1").exists()
    assert runs.retry_job(job, actor=None)
    perform(job.pk)
    assert (state_of(job), job.result) == ("done", {"steps": 2})
    assert Dataset.objects.filter(name="step-2").exists()


@pytest.mark.parametrize("error", [OperationalError("canary-1"), EmbeddedServiceError("canary-1")])
def test_a_job_without_a_database_is_queued_again(
    empty_queue: None, monkeypatch: Any, error: Exception
) -> None:
    """Also if the embedded server was killed a second time, while it recovered."""

    def fail_once(job: Any) -> dict[str, Any]:
        if job.attempt == 1:
            raise error
        return {}

    monkeypatch.setattr(registry, "operations", {})
    registry.task()(fail_once)
    job = runs.start_job("fail_once", actor=None)
    perform(job.pk)
    assert state_of(job) == "running"
    JobRun.objects.filter(pk=job.pk).update(heartbeat_at=timezone.now() - timedelta(seconds=16))
    assert recovery.recover_jobs() == 1
    perform(job.pk)
    assert state_of(job) == "done"


def test_a_command_that_commits_for_itself_is_given_its_row(empty_queue: None) -> None:
    def count(job: RunningJob[ScrubParameters]) -> dict[str, Any]:
        assert job.parameters.dry_run
        job.report_progress(3, 3)
        return {"row": job.row.pk}

    parameters = ScrubParameters(dry_run=True)
    result = run_job(
        "scrub_dataset", count, progress=Progress("Scrubbing"), dataset_name="x", parameters=parameters
    )
    job = JobRun.objects.get()
    assert (job.state, job.result, job.done, job.foreground) == ("done", {"row": job.pk}, 3, True)
    assert result == job.result


# A worker with less patience than those of an installation.
WORKER = """
import django, os
os.environ["DJANGO_SETTINGS_MODULE"] = "alignmenter_site.settings"
django.setup()
from datasets_app.jobs import queue, recovery
queue.DRAIN_SECONDS = queue.ROLLBACK_SECONDS = 0.3
queue.run_worker(recovery.give_back)
"""


def test_a_worker_that_is_told_to_stop_gives_its_job_back(
    processes: Any, wait_until: Any, subprocess_environment: dict[str, str]
) -> None:
    job = upload(encode_jsonl(make_sessions(6_000, turns=5, tags=["t"], metadata={"k": 1})))
    runs.enqueue_job(job)
    worker = subprocess.Popen([sys.executable, "-c", WORKER], env=subprocess_environment)
    wait_until(lambda: state_of(job) == "running")
    worker.terminate()
    assert worker.wait(timeout=10) == 0
    assert state_of(job) == "queued"
    assert (job.attempt, job.attempts_before) == (1, 1)
    assert not Session.objects.exists()
    processes.start("worker")  # nobody recovers it: it is in the queue again
    wait_until(lambda: state_of(job) == "done")
    assert Session.objects.count() == 6_000


def test_a_job_that_was_given_back_can_save_nothing(empty_queue: None) -> None:
    row = runs.start_job("nightly", actor=None)
    job = claim_job(row.pk)
    assert job is not None
    assert not recovery.give_back(row.pk, os.getpid() + 1)
    assert recovery.give_back(row.pk, os.getpid())
    assert state_of(row) == "queued"
    with pytest.raises(ClaimLost):
        finish(job, "done")
    job.send_heartbeat()
    with pytest.raises(ClaimLost):
        job.report_progress(1)
    JobRun.objects.update(state="running", cancel_requested=True)
    assert recovery.give_back(row.pk, os.getpid())
    assert state_of(row) == "cancelled"
