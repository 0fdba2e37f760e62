"""Scrubbing a dataset in place: chunk by chunk, by any number of workers, whoever of them dies."""

import json
import random
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from io import BytesIO
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from alignmenter_site.keys.hash_key import hash_key
from annotations_app.labels.export_annotations import export_annotations
from annotations_app.labels.import_annotations import import_annotations
from annotations_app.models import Annotation
from datasets_app.checking.check_dataset import check_dataset, current_report
from datasets_app.core.errors import UserError
from datasets_app.core.progress import OperationCanceled
from datasets_app.domain.pii import scrubber
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.pii.session_ids import format_key_statement, hash_session_id
from datasets_app.jobs import runs
from datasets_app.models import (
    AuditEvent,
    CheckFinding,
    Dataset,
    JobFile,
    JobRun,
    ScrubFinding,
    ScrubRun,
    Session,
    Turn,
)
from datasets_app.releasing.sharing.checklist import build_checklist
from datasets_app.scrubbing import chunks as scrub_chunks
from datasets_app.scrubbing.parameters import ScrubParameters
from datasets_app.scrubbing.scrub_dataset import scrub_dataset
from tests.conftest import as_owner
from tests.factories import import_file, make_dataset, make_session, make_turn, write_jsonl

pytestmark = pytest.mark.django_db(transaction=True)

POLICY = Policy()
TURNS_SCRUBBED_WHILE_KILLED = 12_000
# No model to load for each worker that is started anew.
QUICK = Policy(kinds=("EMAIL",))


def texts() -> list[str]:
    return list(Turn.objects.in_order().values_list("text", flat=True))


def mails(count: int, turns: int = 2) -> list[dict[str, Any]]:
    """Sessions of which every turn has one address."""
    return [
        make_turn(f"s{number}", index, text=f"Write to user{number}x{index}@example.org about it.")
        for number in range(1, count + 1)
        for index in range(1, turns + 1)
    ]


@pytest.fixture
def small_chunks(monkeypatch: Any) -> None:
    monkeypatch.setattr(scrub_chunks, "MAX_TURNS_PER_CHUNK", 4)


@contextmanager
def every_update_counted(pause: float = 0.0) -> Iterator[Any]:
    """Gives a function that tells how often turns have been written to: {times: turns}. Each time takes
    ``pause`` seconds, in which nothing is computed."""
    with as_owner() as cursor:
        cursor.execute("CREATE TABLE turn_update (turn bigint)")
        cursor.execute("GRANT ALL ON turn_update TO PUBLIC")
        cursor.execute(
            "CREATE FUNCTION note_update() RETURNS trigger LANGUAGE plpgsql AS $$"
            f" BEGIN PERFORM pg_sleep({pause}); INSERT INTO turn_update VALUES (NEW.id); RETURN NEW; END $$"
        )
        cursor.execute(
            "CREATE TRIGGER note_update AFTER UPDATE ON datasets_app_turn"
            " FOR EACH ROW EXECUTE FUNCTION note_update()"
        )

    def counts() -> dict[int, int]:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT times, count(*) FROM (SELECT count(*) AS times FROM turn_update GROUP BY turn) t"
                " GROUP BY times"
            )
            return dict(cursor.fetchall())

    try:
        yield counts
    finally:
        with as_owner() as cursor:
            cursor.execute("DROP FUNCTION note_update CASCADE")
            cursor.execute("DROP TABLE turn_update")


def stop_after(turns: int) -> Any:
    def progress(done: int, total: int | None = None) -> None:
        if done >= turns:
            raise OperationCanceled

    return progress


@pytest.mark.traces
def test_values_are_replaced_in_place_and_the_dataset_is_scrubbed(tmp_path: Path) -> None:
    stored = make_dataset(
        tmp_path,
        [
            make_turn(
                "a", 1, text="Mail jo@example.org or 192.168.3.17.", tags=["user:kim@example.org", "ok"]
            ),
            make_turn("a", 2, text="Nothing here.", metadata={"to": "jo@example.org", "n": 1.5e20}),
            make_turn("b", 1, text="Nothing at all.", mood="call 212-555-0147"),
        ],
        origin="production",
    )
    result = scrub_dataset(stored, POLICY)
    assert texts() == ["Mail [EMAIL] or [IP].", "Nothing here.", "Nothing at all."]
    first, second, third = Turn.objects.in_order()
    assert "kim" not in str(first.tags)
    assert second.metadata == {"to": "[EMAIL]", "n": 1.5e20}
    assert third.extra == {"mood": "call [PHONE]"}
    assert (result["turns"], result["sessions"], result["changed_turns"]) == (3, 2, 3)
    assert result["turns_verified"] == 3
    assert "traces" not in result
    stored.refresh_from_db()
    assert stored.status == "scrubbed"
    assert "e-mail addresses" in stored.provenance["anonymization"][0]
    assert "personal data scrubbed" in stored.provenance["modifications"]
    scrub = stored.scrubs.get()
    assert scrub.verified_at is not None
    assert scrub.finished_at is not None
    assert scrub.finding_count == scrub.findings.count() == result["findings"]
    assert AuditEvent.objects.get(action="scrub").details["findings"] == result["totals"]


def test_a_finding_tells_where_the_placeholder_stands(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, [make_turn(text="Mail jo@example.org, then 😀 192.168.3.17!")])
    scrub_dataset(stored, POLICY)
    (text,) = texts()
    places = {
        (f.kind, text[f.start : f.start + f.length], f.original_length) for f in ScrubFinding.objects.all()
    }
    assert places == {("EMAIL", "[EMAIL]", 14), ("IP", "[IP]", 12)}


def test_a_second_scrub_changes_nothing_more_and_hashes_no_hash(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, mails(3))
    policy = Policy(hash_session_ids=True)
    scrub_dataset(stored, policy)
    key = hash_key()
    ids = set(Session.objects.values_list("session_id", flat=True))
    assert ids == {hash_session_id(f"s{number}", key) for number in (1, 2, 3)}
    assert not Session.objects.filter(id_hashed=False).exists()
    before = texts()
    with every_update_counted() as counts:
        again = scrub_dataset(stored, policy)
        assert counts() == {}
    assert (again["findings"], again["changed_turns"]) == (0, 0)
    assert set(Session.objects.values_list("session_id", flat=True)) == ids
    assert texts() == before
    assert ScrubFinding.objects.count() == 6  # of the first: their places hold


def test_a_scrub_leaves_what_scrubs_state_and_scrubs_what_people_state(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, mails(1))
    stored.provenance["anonymization"] = ["checked by jo@example.org"]
    stored.save()
    policy = Policy(
        hash_session_ids=True, fuzz_seconds=60, patterns=(("WORD", "hashes|offset|anonymization"),)
    )
    for _ in range(2):
        scrub_dataset(stored, policy)
        stored.refresh_from_db()
        theirs, *ours = stored.provenance["anonymization"]
        assert theirs == "checked by [EMAIL]"
        key = format_key_statement(hash_key())
        assert ours == [*policy.describe(), key, "names of people looked for in English"]
    assert {item.title: item.answer for item in build_checklist(stored)}[
        "Metadata identifies no one"
    ] == "yes"


def test_a_session_whose_hash_looks_like_a_key_can_be_scrubbed(tmp_path: Path) -> None:
    policy = Policy(hash_session_ids=True)
    key = hash_key()
    unlucky = next(
        name for name in (f"session-{n}" for n in count()) if hash_session_id(name, key).startswith("4b1d")
    )
    stored = make_dataset(tmp_path, [make_turn(unlucky, text=f"My session id: {unlucky}")])
    scrub_dataset(stored, policy)
    stored.refresh_from_db()
    assert stored.status == Dataset.Status.SCRUBBED
    assert Session.objects.get().session_id == hash_session_id(unlucky, key)
    assert texts() == [f"My session id: {hash_session_id(unlucky, key)}"]
    assert scrub_dataset(stored, policy)["findings"] == 0
    assert check_dataset(stored, actor=None).error_count == 0


def test_ids_that_were_hashed_in_a_file_are_not_hashed_again(tmp_path: Path) -> None:
    policy = Policy(hash_session_ids=True)
    key = hash_key()
    (tmp_path / "support.meta.yaml").write_text(f"anonymization: ['{format_key_statement(key)}']\n")
    scrub_dataset(make_dataset(tmp_path, [make_turn(hash_session_id("s1", key)), make_turn("s2")]), policy)
    assert list(Session.objects.order_by("pk").values_list("session_id", "id_hashed")) == [
        (hash_session_id("s1", key), True),
        (hash_session_id("s2", key), True),
    ]


def test_chunks_hold_whole_sessions_and_every_turn_once(tmp_path: Path, small_chunks: None) -> None:
    stored = make_dataset(tmp_path, [*mails(5), *make_session("long", 11), *make_session("last", 1)])
    with every_update_counted() as counts:
        result = scrub_dataset(stored, POLICY)
        assert counts() == {1: 10}
    chunks = list(ScrubRun.objects.get().chunks.values_list("session_keys", "turn_count", "done"))
    assert [count for _, count, _ in chunks] == [4, 4, 13, 1]
    keys = [key for some, _, _ in chunks for key in some]
    assert keys == sorted(Session.objects.values_list("pk", flat=True))
    assert result["turns"] == 22


def test_a_scrub_that_was_stopped_goes_on_where_it_was(tmp_path: Path, small_chunks: None) -> None:
    stored = make_dataset(tmp_path, mails(6))
    with every_update_counted() as counts:
        with pytest.raises(OperationCanceled):
            scrub_dataset(stored, POLICY, report_progress=stop_after(4))
        assert counts() == {1: 4}
        stored.refresh_from_db()
        assert stored.status == "raw"
        result = scrub_dataset(stored, POLICY)
        assert counts() == {1: 12}
    assert result["findings"] == ScrubFinding.objects.count() == 12
    assert ScrubRun.objects.count() == 1


def test_a_job_whose_worker_died_after_the_last_step_tells_what_it_has_done(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, mails(3))
    job = runs.create_job("scrub_dataset", actor=None, dataset=stored)
    JobRun.objects.filter(pk=job.pk).update(state="running", heartbeat_at=timezone.now())
    done = scrub_dataset(stored, QUICK, job_run=job)
    assert done["findings"] == 6
    assert scrub_dataset(stored, QUICK, job_run=job) == done
    assert ScrubRun.objects.count() == 1


def test_sessions_that_came_after_a_stop_are_scrubbed_too(tmp_path: Path, small_chunks: None) -> None:
    stored = make_dataset(tmp_path, mails(4))
    with pytest.raises(OperationCanceled):
        scrub_dataset(stored, POLICY, report_progress=stop_after(4))
    import_file(
        write_jsonl(tmp_path / "more.jsonl", [make_turn("new", text="I am new@example.org")]), append=True
    )
    assert scrub_dataset(stored, POLICY)["findings"] == 9
    assert texts()[-1] == "I am [EMAIL]"


def test_another_policy_begins_anew(tmp_path: Path, small_chunks: None) -> None:
    stored = make_dataset(tmp_path, mails(4))
    with pytest.raises(OperationCanceled):
        scrub_dataset(stored, POLICY, report_progress=stop_after(4))
    result = scrub_dataset(stored, Policy(placeholders="numbered"))
    assert ScrubRun.objects.get().pk == result["scrub"]
    assert sum("[EMAIL_1]" in text for text in texts()) == 2
    assert sum("[EMAIL]" in text for text in texts()) == 4


def test_what_is_left_of_a_pattern_stops_the_chunk_before_it_is_written(
    tmp_path: Path, small_chunks: None, monkeypatch: Any
) -> None:
    stored = make_dataset(tmp_path, [*make_session("a", 4), *mails(2)])
    before = texts()
    monkeypatch.setattr(scrubber.SessionScrub, "run_round", lambda work: False)  # nothing is taken out
    with pytest.raises(UserError, match="4 × EMAIL") as caught:
        scrub_dataset(stored, POLICY)
    assert re.search(
        r"session #\d+ turn 1, EMAIL in text at column \d+ \(\d+ characters\)", str(caught.value)
    )
    assert "exempt_term" in str(caught.value)
    assert texts() == before
    assert "example" not in ScrubRun.objects.get().error
    stored.refresh_from_db()
    assert stored.status == "raw"
    monkeypatch.undo()
    scrub_dataset(stored, POLICY)
    assert not any("@" in text for text in texts())


def test_a_dataset_is_scrubbed_only_once_its_rows_have_been_read_again(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, mails(2))
    with as_owner() as cursor:  # the database does not do what it was told
        cursor.execute(
            "CREATE FUNCTION keep_text() RETURNS trigger LANGUAGE plpgsql AS $$"
            " BEGIN NEW.text = OLD.text; RETURN NEW; END $$"
        )
        cursor.execute(
            "CREATE TRIGGER keep_text BEFORE UPDATE ON datasets_app_turn"
            " FOR EACH ROW EXECUTE FUNCTION keep_text()"
        )
    try:
        with pytest.raises(UserError, match="4 × EMAIL"):
            scrub_dataset(stored, POLICY)
    finally:
        with as_owner() as cursor:
            cursor.execute("DROP FUNCTION keep_text CASCADE")
    stored.refresh_from_db()
    assert stored.status == "raw"
    scrub = ScrubRun.objects.get()
    assert scrub.verification["remaining"] == {"EMAIL": 4}
    assert scrub.verified_at is None
    assert scrub_dataset(stored, POLICY)["turns_verified"] == 4
    stored.refresh_from_db()
    assert stored.status == "scrubbed"


def test_a_scrub_of_some_classes_only_does_not_make_the_dataset_scrubbed(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, mails(1))
    result = scrub_dataset(stored, Policy(kinds=("EMAIL",)))
    stored.refresh_from_db()
    assert stored.status == "raw"
    assert "Some types were not selected" in result["notice"]
    assert texts()[0] == "Write to [EMAIL] about it."


def test_what_is_added_is_raw_again(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, mails(1))
    scrub_dataset(stored, POLICY)
    import_file(write_jsonl(tmp_path / "more.jsonl", mails(2)[2:]), append=True)
    stored.refresh_from_db()
    assert stored.status == "raw"


# --- previews -------------------------------------------------------------------------------------------


def test_a_preview_changes_nothing_and_tells_the_places_in_the_raw_text(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, [*mails(3), *make_session("quiet", 2)], origin="production")
    before = texts()
    result = scrub_dataset(stored, POLICY, dry_run=True)
    assert texts() == before
    stored.refresh_from_db()
    assert stored.status == "raw"
    assert (result["turns"], result["changed_turns"], result["totals"]) == (8, 6, {"EMAIL": 6})
    run = ScrubRun.objects.get()
    assert (run.turn_count, run.changed_turns) == (8, 6)
    for finding in ScrubFinding.objects.all():
        text = Turn.objects.get(session=finding.session, turn_index=finding.turn_index).text
        assert text[finding.start : finding.start + finding.length].endswith("@example.org")
    scrub_dataset(stored, POLICY)
    assert not ScrubRun.objects.filter(dry_run=True).exists()  # its places are void


def test_a_sample_is_drawn_by_its_seed(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, mails(40))

    def drawn(seed: int) -> list[int]:
        result = scrub_dataset(stored, Policy(seed=seed), dry_run=True, sample=5)
        assert (result["sessions"], result["turns"]) == (5, 10)
        return sorted(set(ScrubFinding.objects.values_list("session", flat=True)))

    first = drawn(1)
    assert drawn(1) == first
    assert drawn(2) != first
    with pytest.raises(UserError, match="sample"):
        scrub_dataset(stored, POLICY, sample=5)


# --- what else there is -----------------------------------------------------------------------------------


def labelled(tmp_path: Path, stored: Dataset, count: int) -> None:
    lines = [
        {
            "session_id": f"s{number}",
            "turn_index": 1,
            "text": Turn.objects.get(session__session_id=f"s{number}", turn_index=1).text,
            "label": 1,
            "persona_id": "default_v1",
            "notes": f"as user{number}x1@example.org said, and kim@example.org",
            "seen": ["10.1.2.3", 4],
        }
        for number in range(1, count + 1)
    ]
    import_annotations(write_jsonl(tmp_path / "labels.jsonl", lines), dataset_name=stored.name)


def test_labels_of_a_conversation_file_keep_neither_its_times_nor_its_personas(tmp_path: Path) -> None:
    own = {"persona_id": "jo@example.org", "timestamp": "2026-05-01T10:00:00Z"}
    dataset = make_dataset(tmp_path, [make_turn("a", 1, label=1, **own), make_turn("a", 2, **own)])
    later = {"text": "x", "label": 0, "session_id": "a", "turn_index": 1, "timestamp": "2026-06-01"}
    labels = write_jsonl(tmp_path / "labels.jsonl", [{**later, "persona_id": "p"}])
    import_annotations(labels, dataset_name="support")
    scrub_dataset(dataset, Policy(fuzz_seconds=86_400))
    first, other = Annotation.objects.order_by("pk")
    assert (first.persona_id, first.timestamp) == (dataset.sessions.get().persona_id, first.turn.timestamp)
    assert first.persona_id == "[EMAIL]"
    assert first.timestamp != own["timestamp"]
    assert (other.persona_id, other.timestamp) == ("p", "2026-06-01")


def test_annotators_of_a_file_are_kept_apart_without_their_addresses(tmp_path: Path) -> None:
    names = ["ana@example.org", "ben@example.org", "Ana Silva"]
    lines = [make_turn("s1", 1, label=1, persona_id="p", annotator=names[0])]
    stored = make_dataset(tmp_path, lines)
    more = [{"text": lines[0]["text"], "label": 0, "persona_id": "p", "annotator": name} for name in names]
    import_annotations(write_jsonl(tmp_path / "labels.jsonl", more), dataset_name=stored.name)
    scrub_dataset(stored, Policy())
    kept = list(Annotation.objects.order_by("pk").values_list("annotator", flat=True))
    assert (kept[0], kept[3], len({*kept})) == (kept[1], "Ana Silva", 3)
    assert all(name.startswith("annotator-") for name in kept[:3])


def test_notes_of_labels_are_scrubbed_with_their_session(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, mails(2))
    labelled(tmp_path, stored, 2)
    Annotation.objects.filter(pk=Annotation.objects.latest("pk").pk).update(
        extra={"original_session_id": "elsewhere"}
    )
    policy = Policy(hash_session_ids=True, placeholders="numbered")
    scrub_dataset(stored, policy)
    first, second = Annotation.objects.order_by("pk")
    assert first.notes == "as [EMAIL_1] said, and [EMAIL_3]"  # the first is that of the text
    assert first.extra["seen"] == ["[IP_1]", 4]
    assert second.extra == {"original_session_id": hash_session_id("elsewhere", hash_key())}
    assert ScrubFinding.objects.filter(field="beside.notes", turn_index=1).count() == 4
    scrub_dataset(stored, policy)
    assert Annotation.objects.latest("pk").extra == second.extra


def test_the_place_of_a_label_without_a_turn_is_hashed_with_the_session_ids(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, mails(2))
    line = {"session_id": "elsewhere", "turn_index": 7, "text": "Unheard of", "label": 1, "persona_id": "p"}
    import_annotations(write_jsonl(tmp_path / "labels.jsonl", [line]), dataset_name=stored.name)
    policy = Policy(hash_session_ids=True)
    place = {"session_id": hash_session_id("elsewhere", hash_key()), "turn_index": 7}
    for _ in range(2):
        scrub_dataset(stored, policy)
        assert Annotation.objects.get().extra == place
    stored.refresh_from_db()
    out = BytesIO()
    export_annotations(stored, persona="p", out=out)
    assert place.items() <= json.loads(out.getvalue()).items()
    # The export goes in again without a trace, though its line has another text and id than the first.
    again = import_annotations(
        write_jsonl(tmp_path / "again.jsonl", [line | place]), dataset_name=stored.name
    )
    assert again.saved.added == 0


def test_a_chunk_takes_a_fixed_number_of_queries(tmp_path: Path) -> None:
    counts = []
    for size in (2, 30):
        stored = make_dataset(tmp_path, mails(size), f"of-{size}")
        labelled(tmp_path, stored, 2)
        with CaptureQueriesContext(connection) as queries:
            scrub_dataset(stored, POLICY, dry_run=True)
        counts.append(len(queries))
        Session.objects.all().delete()
    assert counts[0] == counts[1]


def test_what_told_of_the_raw_text_is_gone(tmp_path: Path, media_root: Path) -> None:
    stored = make_dataset(tmp_path, mails(2))
    import_file(write_jsonl(tmp_path / "of jo@example.org.jsonl", [make_turn("c")]), renumber=True)
    check_dataset(stored, actor=None)
    job = JobRun.objects.create(
        operation="import_dataset",
        dataset_name=stored.name,
        state="failed",
        error="No session has tag 'kim@example.org'.",
        parameters={"tag": "kim@example.org"},
        result={
            "problems": [{"message": "session 'jo@example.org' …"}],
            "problem_total": 1,
            "size": 536228731,
            "files": [{"name": "jo@example.org.jsonl", "sha256": 64 * "7"}],
        },
    )
    job_file = JobFile(job_run=job, kind="upload", name="jo@example.org.jsonl")
    job_file.file.save(f"{job.pk}/upload/x", ContentFile(b"canary"))
    path = Path(job_file.file.path)
    scrub_dataset(Dataset.objects.get(), POLICY)
    assert not CheckFinding.objects.exists()
    assert current_report(stored) is None
    assert not path.exists()
    job.refresh_from_db()
    assert job.result == {
        "problem_total": 1,
        "size": 536228731,
        "files": [{"name": "[EMAIL]", "sha256": 64 * "7"}],
    }
    assert job.error == "No session has tag '[EMAIL]'."
    stored.refresh_from_db()
    told = [*stored.source_files.values_list("name", flat=True), job.files.get().name, job.parameters]
    assert "@" not in str(told) + str(stored.provenance)
    assert AuditEvent.objects.get(action="scrub")


# --- who waits for whom ------------------------------------------------------------------------------------


def running(operation: str, stored: Dataset, **fields: Any) -> JobRun:
    return JobRun.objects.create(
        operation=operation,
        dataset=stored,
        dataset_name=stored.name,
        state="running",
        heartbeat_at=timezone.now(),
        **fields,
    )


@pytest.mark.parametrize("operation", ["import_dataset", "export_dataset", "check_dataset"])
def test_a_scrub_does_not_begin_beside_what_reads_or_brings_raw_text(tmp_path: Path, operation: str) -> None:
    stored = make_dataset(tmp_path, mails(1))
    job = running(operation, stored, foreground=True)
    with pytest.raises(UserError, match=f"job {job.pk}"):
        scrub_dataset(stored, POLICY)
    assert not ScrubRun.objects.exists()
    # A command that was killed says nothing any more.
    JobRun.objects.update(heartbeat_at=timezone.now() - timedelta(minutes=1))
    assert scrub_dataset(stored, POLICY)["findings"] == 2


def test_nothing_is_added_to_or_read_from_a_dataset_that_is_being_scrubbed(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, mails(1))
    job = running("scrub_dataset", stored)
    scrub = ScrubRun.objects.create(dataset=stored, job_run=job, policy=POLICY.as_json())
    with pytest.raises(UserError, match="is being scrubbed"):
        import_file(write_jsonl(tmp_path / "more.jsonl", [make_turn("new")]), append=True)
    with pytest.raises(UserError, match="is being scrubbed"):
        labelled(tmp_path, stored, 1)
    with pytest.raises(UserError, match="is being scrubbed"):
        check_dataset(stored, actor=None)
    with pytest.raises(UserError, match=f"Scrub #{scrub.pk}"):
        scrub_dataset(stored, POLICY)
    JobRun.objects.update(state="failed")
    import_file(write_jsonl(tmp_path / "more.jsonl", [make_turn("new")]), append=True)


def test_a_scrub_waits_no_longer_than_a_moment_for_an_import(tmp_path: Path, monkeypatch: Any) -> None:
    from concurrent.futures import ThreadPoolExecutor

    from datasets_app.scrubbing import scrub_dataset as module

    monkeypatch.setattr(module, "LOCK_TIMEOUT", timedelta(milliseconds=200))
    stored = make_dataset(tmp_path, mails(1))

    def scrub() -> str:
        try:
            scrub_dataset(stored, POLICY)
        except UserError as refusal:
            return refusal.message
        finally:
            connection.close()
        return ""

    with ThreadPoolExecutor(1) as other, transaction.atomic():
        Dataset.objects.select_for_update(no_key=True).get()
        assert "An import into support is running." in other.submit(scrub).result(20)
    assert not ScrubRun.objects.exists()


# --- with workers ------------------------------------------------------------------------------------------


def ended(job: JobRun) -> str:
    job.refresh_from_db()
    return job.state if job.is_finished else ""


def test_free_workers_join_in(processes: Any, wait_until: Any, tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, mails(1_000, turns=4))
    for _ in range(2):
        processes.start("worker")
    from datasets_app.jobs import queue

    wait_until(lambda: queue.worker_count() == 2)
    with every_update_counted(pause=0.001) as counts:
        job = runs.start_job(
            "scrub_dataset", actor=None, dataset=stored, parameters=ScrubParameters(policy=POLICY.as_json())
        )
        assert wait_until(lambda: ended(job), 120) == "done", job.error
        assert counts() == {1: 4_000}
    assert job.result["findings"] == 4_000
    part = JobRun.objects.get(operation="scrub_part")
    wait_until(lambda: ended(part))
    assert 0 < part.result["chunks"] < 4
    assert (job.done, job.total) == (4_000, 4_000)


def test_a_scrub_job_is_cancelled_between_chunks_and_retried(
    processes: Any, wait_until: Any, tmp_path: Path
) -> None:
    stored = make_dataset(tmp_path, mails(1_000, turns=4))
    processes.start("worker")
    with every_update_counted(pause=0.001) as counts:
        job = runs.start_job("scrub_dataset", actor=None, dataset=stored)
        wait_until(lambda: ScrubFinding.objects.exists(), 60)
        runs.request_cancellation(job, actor=None)
        assert wait_until(lambda: ended(job), 60) == "cancelled"
        done = ScrubFinding.objects.count()
        assert 0 < done < 4_000
        assert done % 1000 == 0
        assert runs.retry_job(job, actor=None)
        assert wait_until(lambda: ended(job), 120) == "done", job.error
        assert counts() == {1: 4_000}
    assert ScrubFinding.objects.count() == 4_000


@pytest.mark.slow
def test_two_workers_killed_ten_times_scrub_every_turn_once(
    processes: Any, wait_until: Any, tmp_path: Path
) -> None:
    turns = TURNS_SCRUBBED_WHILE_KILLED
    stored = make_dataset(tmp_path, mails(turns // 5, turns=5))
    processes.start("scheduler")
    workers = [processes.start("worker") for _ in range(2)]
    moments = random.Random(11)
    with every_update_counted(pause=0.001) as counts:
        job = runs.start_job(
            "scrub_dataset", actor=None, dataset=stored, parameters=ScrubParameters(policy=QUICK.as_json())
        )
        for number in range(10):
            wait_until(lambda: JobRun.objects.filter(state="running").exists() or ended(job), 60)
            time.sleep(moments.uniform(0.3, 1.5))
            victim = workers.pop(0)
            processes.kill(victim)
            assert set(counts()) <= {1}, number
            # So that ten deaths need not take ten times the silence after which one is noticed.
            JobRun.objects.filter(
                state="running", heartbeat_at__lt=timezone.now() - timedelta(seconds=2)
            ).update(heartbeat_at=timezone.now() - timedelta(seconds=16))
            workers.append(processes.start("worker"))
        assert wait_until(lambda: ended(job), 240) == "done", job.error
        assert counts() == {1: turns}
    assert ScrubFinding.objects.count() == turns == job.result["findings"]
    assert not any("@" in text for text in texts())
    assert AuditEvent.objects.filter(action="scrub").count() == 1
