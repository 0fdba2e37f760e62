"""What was planted is, after an erasure and after retention, nowhere: database, queue, logs, files, disk."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import connection
from django.test import override_settings
from django.utils import timezone

from annotations_app.labels.import_annotations import import_annotations
from datasets_app.auditing.heads import heads_path
from datasets_app.catalog import text_gates
from datasets_app.exporting.parameters import ExportParameters
from datasets_app.importing.parameters import ImportParameters
from datasets_app.jobs import recovery, runs
from datasets_app.jobs.parameters import JobParameters, NoParameters
from datasets_app.models import (
    AuditEvent,
    Dataset,
    JobFile,
    JobRun,
    Release,
    RetentionPolicy,
    Session,
    Source,
    Turn,
)
from datasets_app.nightly.run_nightly import start_if_due
from datasets_app.releasing.parameters import ReleaseParameters
from datasets_app.retention.dry_run import preview_retention
from datasets_app.retention.parameters import EraseParameters
from datasets_app.scrubbing.marks import mark_not_personal
from datasets_app.scrubbing.parameters import ScrubParameters
from datasets_app.sources.otlp_body import JSON
from datasets_app.sources.receive import receive
from tests.campaigns import lease_for, make_campaign, submit
from tests.conftest import as_owner
from tests.environment import VAR_DIR
from tests.factories import encode_jsonl, make_turn, write_jsonl
from tests.operations.test_scrub_canaries import all_files, everything_in_redis, rows_of_all_tables
from tests.spans import encode_request, make_span

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

# Fills several pages of every table.
FILLERS = 1_200
PLACES = (
    "text",
    "tag",
    "key",
    "value",
    "otherkey",
    "othervalue",
    "persona",
    "session",
    "note",
    "decision",
    "span",
)
OF_THE_DATASET = ("mark", "source", "filename")


def canary(owner: str, place: str) -> str:
    return f"wex{owner}{place}quill"


def canaries(owner: str) -> set[str]:
    more = OF_THE_DATASET if owner == "two" else ()
    return {canary(owner, place) for place in (*PLACES, *more)}


def planted(owner: str) -> list[dict[str, Any]]:
    """A session that says its canaries wherever a session can."""
    fields = {
        "tags": [canary(owner, "tag")],
        "metadata": {canary(owner, "key"): 1, "comment": canary(owner, "value")},
        canary(owner, "otherkey"): canary(owner, "othervalue"),
        "persona_id": canary(owner, "persona"),
    }
    text = f"Please write to {canary(owner, 'text')}@example.org, says {canary(owner, 'text')}."
    return [make_turn(canary(owner, "session"), index, text=text, **fields) for index in (1, 2)]


def lines() -> list[dict[str, Any]]:
    fillers = [
        make_turn(f"filler-{number}", 1, text=f"Order {number % 50} has come.") for number in range(FILLERS)
    ]
    return [*planted("one"), *planted("two"), *fillers]


def note(owner: str) -> dict[str, Any]:
    said = planted(owner)[1]
    return {
        **{key: said[key] for key in ("session_id", "turn_index", "text")},
        "label": 1,
        "persona_id": "default_v1",
        "notes": canary(owner, "note"),
    }


def where_found(owner: str, media_root: Path, log: Path) -> dict[str, set[str]]:
    wanted = {text.encode() for text in canaries(owner)}
    found: dict[str, set[str]] = {}
    logs = iter([(str(log), log.read_bytes())])
    for source in (rows_of_all_tables(), everything_in_redis(), all_files(VAR_DIR, media_root), logs):
        for place, held in source:
            if hits := {needle.decode() for needle in wanted if needle in held}:
                found[place] = hits
    return found


@pytest.fixture(autouse=True)
def no_heads_of_other_trails() -> Iterator[None]:
    """Where the audit trail ended in other tests' nights is nothing to this one, nor this one's to theirs."""
    heads_path().unlink(missing_ok=True)
    yield
    heads_path().unlink(missing_ok=True)


def finished(job: JobRun) -> str:
    job.refresh_from_db()
    return job.state if job.is_finished else ""


def upload(content: bytes, **parameters: Any) -> JobRun:
    job = runs.create_job(
        "import_dataset", actor=None, dataset_name="support", parameters=ImportParameters(**parameters)
    )
    name = f"{canary('two', 'filename')}.jsonl"
    job_file = JobFile(job_run=job, kind="upload", name=name, size=len(content))
    job_file.file.save(f"{job.pk}/upload/support", ContentFile(content))
    return job


def receive_spans() -> None:
    """What waits to be added to the dataset, of conversations that it has begun."""
    source = Source.objects.create(name="collector", kind="otlp", dataset_name="support")
    for number, owner in enumerate(("one", "two"), 1):
        asked = {"question": canary(owner, "span"), "conversation": canary(owner, "session")}
        receive(source, encode_request(*[make_span(number, span, **asked) for span in (1, 2)]), JSON)
        with override_settings(OTLP_MAX_SPANS=1):
            receive(source, encode_request(*[make_span(number, span, **asked) for span in (3, 4)]), JSON)


@contextmanager
def standing(session: Session) -> Iterator[None]:
    """Nobody deletes this row meanwhile: whoever comes to it waits."""
    settings = connection.settings_dict
    with psycopg.connect(host=settings["HOST"], dbname=settings["NAME"], user="postgres") as other:
        other.execute("SELECT FROM datasets_app_session WHERE id = %s FOR UPDATE", [session.pk])
        yield


def is_anybody_waiting() -> bool:
    """For a lock on a table."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'relation' AND NOT granted)")
        return bool(cursor.fetchone()[0])


def filled(tmp_path: Path, wait_until: Any, admin_user: Any) -> Dataset:
    """The dataset, and whatever is made of one: labels, reports, exports, a release, a preview of a scrub."""
    twice = [*planted("one"), *planted("two"), planted("one")[0], planted("two")[0]]
    refused = upload(encode_jsonl(twice))
    kept = upload(
        encode_jsonl([*lines(), {"session_id": "bad", "text": canary("two", "text")}]), on_error="quarantine"
    )
    for job, state in ((refused, "failed"), (kept, "done")):
        runs.enqueue_job(job)
        assert wait_until(lambda job=job: finished(job), 60) == state, job.error
    stored = Dataset.objects.get()
    upload(encode_jsonl(lines()), persona="a preview that nobody has confirmed")
    receive_spans()
    default_storage.save("table-imports/waiting", ContentFile(encode_jsonl(planted("one") + planted("two"))))
    import_annotations(
        write_jsonl(tmp_path / "labels.jsonl", [note("one"), note("two")]), dataset_name="support"
    )
    text_gates.attest(stored, actor=None, reason="Invented values.")
    made = make_campaign(stored, "ana")
    for _ in ("one", "two"):
        current = lease_for(made, "ana").current
        assert current is not None
        owner = "one" if current.item.session.session_id == canary("one", "session") else "two"
        submit(current, "flag", notes=canary(owner, "decision"))
        submit(current, "undo")
        submit(current)
    mark_not_personal(stored, term=canary("two", "mark"), actor=admin_user)
    Dataset.objects.update(source=canary("two", "source"))
    asked: dict[str, JobParameters] = {
        "check_dataset": NoParameters(),
        "export_dataset": ExportParameters(format="turns", tag=canary("two", "tag")),
        "release_dataset": ReleaseParameters(override="a test"),
        "scrub_dataset": ScrubParameters(dry_run=True),
    }
    for operation, parameters in asked.items():
        job = runs.start_job(operation, actor=admin_user, dataset=stored, parameters=parameters)
        assert wait_until(lambda job=job: finished(job), 60) == "done", (operation, job.error)
    with as_owner() as cursor:
        cursor.execute("ANALYZE")
    return stored


def test_what_is_deleted_is_nowhere(
    processes: Any, wait_until: Any, tmp_path: Path, media_root: Path, admin_user: Any
) -> None:
    processes.environment["LOG_LEVEL"] = "DEBUG"
    worker = processes.start("worker")
    stored = filled(tmp_path, wait_until, admin_user)
    for owner in ("one", "two"):
        before = where_found(owner, media_root, processes.log)
        assert set().union(*before.values()) == canaries(owner)
        assert any(str(media_root) in place for place in before)

    session = Session.objects.get(session_id=canary("one", "session"))
    erasing = runs.start_job(
        "erase_session",
        actor=admin_user,
        dataset=stored,
        parameters=EraseParameters(session=session.pk, reason="Asked for by letter."),
    )
    assert wait_until(lambda: finished(erasing), 90) == "done", erasing.error
    assert "traces" not in erasing.result
    assert where_found("one", media_root, processes.log) == {}
    assert where_found("two", media_root, processes.log)
    assert [release.version for release in Release.objects.filter(destroyed_at=None)] == ["1.0.1"]

    RetentionPolicy.objects.create(position=1, pattern="*", retention="30 days", active=True)
    Dataset.objects.update(created_at=timezone.now() - timedelta(days=40))
    said = preview_retention().deletions[0].counts
    last = Session.objects.order_by("-pk")[0]
    with standing(last):
        night = start_if_due()
        assert night is not None
        assert wait_until(is_anybody_waiting, 60)
        processes.kill(worker)
    assert not AuditEvent.objects.filter(action="retention").exists()
    JobRun.objects.filter(pk=night.pk).update(heartbeat_at=timezone.now() - timedelta(minutes=1))
    assert recovery.recover_jobs() == 1
    processes.start("worker")
    assert wait_until(lambda: finished(night), 90) == "done", night.error
    assert not Turn.objects.exists()
    assert where_found("two", media_root, processes.log) == {}
    (certificate,) = AuditEvent.objects.filter(action="retention")
    assert certificate.details["deleted"] == said
    assert "traces" not in certificate.details
