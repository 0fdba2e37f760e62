"""A dataset on legal hold keeps every text: each operation either leaves it alone or refuses."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.db import OperationalError, connection, transaction
from django.utils import timezone

from annotations_app.cases.draft_variants import draft_variants
from annotations_app.cases.send_case import send_case
from datasets_app.core.errors import UserError
from datasets_app.domain.generation.families import ORIGIN
from datasets_app.domain.pii.policy import Policy
from datasets_app.housekeeping import delete_expired_files
from datasets_app.jobs.registry import operations
from datasets_app.model_calls.parameters import ModelParameters
from datasets_app.models import Dataset, JobFile, JobRun, ScrubRun, Turn
from datasets_app.retention.apply import apply_retention
from datasets_app.retention.erase_session import erase_session
from datasets_app.retention.holds import change_hold
from datasets_app.scrubbing import chunks as scrub_chunks
from datasets_app.scrubbing.scrub_dataset import scrub_dataset, scrub_part, set_lock_timeout
from tests.factories import make_dataset, make_turn

pytestmark = pytest.mark.django_db(transaction=True)

# No name model to load.
QUICK = Policy(kinds=("EMAIL",))

# What may be done to a held dataset by a job: adds to it, reads it, or places its sessions in splits.
HARMLESS = {
    "activate_retention",
    "add_to_campaign",
    "attest_dataset",
    "backup",
    "bootstrap_dataset",
    "canary_dataset",
    "change_origin",
    "check_dataset",
    "compare_releases",
    "create_campaign",
    "deliver_events",
    "exclude_sessions",
    "exempt_value",
    "export_annotations",
    "export_audit",
    "export_dataset",
    "form_jury",
    "import_annotations",
    "import_dataset",
    "improve_judge",
    "pull_source",
    "store_spans",
    "release_dataset",
    "run_judge",
    # Only into an empty installation, or one that is given up as a whole.
    "restore",
    "sample_dataset",
    "scan_text",
    "sign_review",
    "split_dataset",
    "tag_sessions",
    "verify_audit",
    "verify_releases",
}


def start_and_help(dataset: Dataset) -> None:
    """The helper of a scrub that began before the hold."""
    job = JobRun.objects.create(operation="scrub_dataset", dataset=dataset, state="running")
    scrub = ScrubRun.objects.create(dataset=dataset, job_run=job, policy=QUICK.as_json())
    scrub_chunks.make_chunks(scrub)
    scrub_part(scrub.pk)


def make_and_send_case(dataset: Dataset) -> None:
    Turn.objects.filter(dataset=dataset).update(metadata={ORIGIN: {}})
    send_case(dataset, "late-parcel", [])


# Operation → what it would do; "nightly" deletes what is due, as apply_retention does.
DESTROYING: dict[str, Callable[[Dataset], Any]] = {
    "apply_retention": lambda dataset: apply_retention(dataset=dataset, reason="No longer needed"),
    "erase_session": lambda dataset: erase_session(dataset.sessions.get(), "Request of 3 May"),
    "reapply_erasures": lambda dataset: erase_session(dataset.sessions.get(), "Erased before"),
    "nightly": lambda dataset: apply_retention(dataset=dataset),
    "scrub_dataset": lambda dataset: scrub_dataset(dataset, QUICK),
    "scrub_part": start_and_help,
    "send_case": make_and_send_case,
    "draft_variants": lambda dataset: draft_variants(dataset, ModelParameters("openai:tiny")),
}


@pytest.fixture
def held(tmp_path: Path) -> Dataset:
    lines = [make_turn("a", number, text=f"Mail user{number}@example.org.") for number in (1, 2)]
    dataset = make_dataset(tmp_path, lines, origin="production")
    change_hold(dataset, "Case 7-2026", held=True)
    return dataset


def read_texts() -> list[str]:
    return list(Turn.objects.in_order().values_list("text", flat=True))


def test_every_operation_is_known_to_keep_or_to_respect_a_hold() -> None:
    assert set(operations) == HARMLESS | DESTROYING.keys()


@pytest.mark.parametrize("operation", DESTROYING)
def test_nothing_destroys_what_a_hold_protects(operation: str, held: Dataset) -> None:
    before = read_texts()
    with pytest.raises(UserError, match=r"support is on legal hold \(Case 7-2026\)"):
        DESTROYING[operation](held)
    assert read_texts() == before


def test_a_preview_of_a_scrub_changes_nothing_and_is_allowed(held: Dataset) -> None:
    assert scrub_dataset(held, QUICK, dry_run=True)["findings"] == 2


def test_a_hold_stops_a_running_scrub_before_the_next_chunk(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(scrub_chunks, "MAX_TURNS_PER_CHUNK", 1)
    lines = [make_turn(name, text=f"Mail {name}@example.org.") for name in ("a", "b", "c")]
    dataset = make_dataset(tmp_path, lines, origin="production")

    def hold_after_the_first(done: int, total: int | None = None) -> None:
        if done == 1 and not Dataset.objects.get().legal_hold:
            change_hold(dataset, "Case 7-2026", held=True)

    with pytest.raises(UserError, match="on legal hold"):
        scrub_dataset(dataset, QUICK, report_progress=hold_after_the_first)
    assert read_texts() == ["Mail [EMAIL].", "Mail b@example.org.", "Mail c@example.org."]
    change_hold(dataset, "Case closed", held=False)
    scrub_dataset(dataset, QUICK)  # resumes
    assert read_texts() == ["Mail [EMAIL]."] * 3
    assert ScrubRun.objects.count() == 1


def test_a_hold_that_comes_after_the_last_chunk_keeps_the_files(tmp_path: Path) -> None:
    dataset = make_dataset(tmp_path, [make_turn(text="Mail jo@example.org.")], origin="production")
    kept = store_file(dataset)

    def hold_at_the_end(done: int, total: int | None = None) -> None:
        if done == 1 and not Dataset.objects.get().legal_hold:
            change_hold(dataset, "Case 7-2026", held=True)

    with pytest.raises(UserError, match="on legal hold"):
        scrub_dataset(dataset, QUICK, report_progress=hold_at_the_end)
    kept.refresh_from_db()
    assert kept.file.read() == b"excluded lines"
    assert Dataset.objects.get().status == "raw"


def store_file(dataset: Dataset) -> JobFile:
    """Quarantined lines of an import by a command, whose row names the dataset only by its name."""
    job = JobRun.objects.create(operation="import_dataset", dataset_name=dataset.name, state="done")
    row = JobFile(job_run=job, kind="quarantine", name="a.jsonl", expires_at=timezone.now())
    row.file.save("a", ContentFile(b"excluded lines"), save=True)
    return row


def test_files_of_a_held_dataset_stay_after_their_date(held: Dataset) -> None:
    kept = store_file(held)
    JobFile.objects.update(expires_at=timezone.now() - timedelta(days=1))
    assert delete_expired_files() == 0
    assert kept.file.storage.exists(kept.file.name)
    change_hold(held, "Case closed", held=False)
    assert delete_expired_files() == 1


def test_a_hold_waits_for_the_chunk_that_is_being_written(held: Dataset) -> None:
    change_hold(held, "Case closed", held=False)
    scrub = ScrubRun.objects.create(dataset=held, policy=QUICK.as_json())
    with transaction.atomic():
        scrub_chunks._refuse_during_hold(scrub)
        with ThreadPoolExecutor(1) as other:
            assert other.submit(hold_without_waiting, held).result() == "55P03"  # the lock is taken


def hold_without_waiting(dataset: Dataset) -> str:
    try:
        with transaction.atomic():
            set_lock_timeout(timedelta(milliseconds=50))
            change_hold(dataset, "Case 8-2026", held=True)
    except OperationalError as error:
        return str(getattr(error.__cause__, "sqlstate", ""))
    finally:
        connection.close()
    return "held"
