"""Generation as a job: cancelled, killed and gone on with, never doubled; samples of datasets."""

from pathlib import Path
from typing import Any

import pytest

from datasets_app.catalog.personas import load_default_persona
from datasets_app.core.errors import UserError
from datasets_app.core.progress import OperationCanceled
from datasets_app.domain.conversations.reading import ConversationFile
from datasets_app.exporting.sample_dataset import (
    SampleOptions,
    sample_file,
    sample_to_dataset,
    sample_to_file,
)
from datasets_app.generating import bootstrap_dataset as operation
from datasets_app.generating.generation import prepare_generation
from datasets_app.generating.parameters import GenerationParameters
from datasets_app.jobs import runs
from datasets_app.jobs.perform import perform
from datasets_app.models import AuditEvent, Dataset, JobRun, Persona, Session, Turn
from tests import factories
from tests.conftest import Processes

SESSIONS = 450


def generated(name: str = "eval", count: int = 12, **more: Any) -> dict[str, Any]:
    parameters = GenerationParameters(sessions=count)
    generation = prepare_generation(load_default_persona(), parameters, actor=None)
    return operation.bootstrap_dataset(name, generation, **more)


def is_sound(dataset: Dataset, sessions: int) -> bool:
    rows = Session.objects.filter(dataset=dataset)
    return (
        rows.count() == dataset.session_count == sessions
        and Turn.objects.filter(session__dataset=dataset).count() == dataset.turn_count == 6 * sessions
    )


@pytest.mark.django_db(transaction=True)
def test_what_was_finished_before_a_cancellation_stands_and_is_gone_on_with() -> None:
    def cancel(done: int, total: int | None = None) -> None:
        if done > 250:
            raise OperationCanceled

    with pytest.raises(OperationCanceled):
        generated(count=SESSIONS, report_progress=cancel)
    dataset = Dataset.objects.get()
    assert is_sound(dataset, operation.SESSION_BATCH_SIZE)
    result = generated(count=SESSIONS)
    dataset.refresh_from_db()
    assert is_sound(dataset, SESSIONS)
    assert result["sessions_already_there"] == operation.SESSION_BATCH_SIZE
    # Counted once, however often it was begun.
    assert dataset.provenance["safety_traps"] == 68


@pytest.mark.django_db(transaction=True)
def test_a_generation_that_dies_before_its_end_is_recorded_leaves_its_last_sessions_to_the_next_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    record = operation.audit.record

    def die_at_the_end(action: str, **details: Any) -> None:
        if details.get("state") == "ended":
            raise MemoryError
        record(action, **details)

    with monkeypatch.context() as patched:
        patched.setattr(operation.audit, "record", die_at_the_end)
        with pytest.raises(MemoryError):
            generated()
    assert not Session.objects.exists()
    generated()
    states = AuditEvent.objects.filter(action="generate").values_list("details__state", flat=True)
    assert sorted(states) == ["begun", "ended"]
    assert is_sound(Dataset.objects.get(), 12)


@pytest.mark.django_db(transaction=True)
def test_a_job_writes_for_a_persona_of_the_application() -> None:
    Persona.objects.create(
        persona_id="acme", yaml="{id: acme, lexicon: {preferred: [together], avoid: [lol]}}"
    )
    given = GenerationParameters(sessions=10, persona="acme", seed=3, turns=(4, 4), safety_trap_ratio=0.5)
    row = runs.start_job("bootstrap_dataset", actor=None, dataset_name="eval", parameters=given)
    perform(row.pk)
    row.refresh_from_db()
    assert (row.state, row.error) == ("done", "")
    dataset = Dataset.objects.get()
    assert row.dataset == dataset
    assert row.result["sessions"] == 10
    assert dataset.turn_count == 40
    assert set(Session.objects.values_list("persona_id", flat=True)) == {"acme"}
    assert Session.objects.filter(turns__tags__contains=["scenario:safety_trap"]).distinct().count() == 5


@pytest.mark.django_db(transaction=True)
def test_a_job_whose_persona_has_changed_does_not_go_on() -> None:
    given = GenerationParameters(sessions=2, persona="default_v1", plan="of another time")
    row = runs.start_job("bootstrap_dataset", actor=None, dataset_name="eval", parameters=given)
    perform(row.pk)
    row.refresh_from_db()
    assert row.state == "failed"
    assert "has changed since this job began" in row.error
    assert not Dataset.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_wish_that_can_not_be_fulfilled_is_told_in_the_job() -> None:
    given = GenerationParameters(sessions=2, safety_trap_ratio=0.9, brand_trap_ratio=0.9)
    row = runs.start_job("bootstrap_dataset", actor=None, dataset_name="eval", parameters=given)
    perform(row.pk)
    row.refresh_from_db()
    assert row.state == "failed"
    assert "add up to 1.8" in row.error


@pytest.mark.slow
def test_a_killed_worker_s_job_goes_on_without_doubling(processes: Processes, wait_until: Any) -> None:
    parameters = GenerationParameters(sessions=3000, seed=1)
    row = runs.start_job("bootstrap_dataset", actor=None, dataset_name="eval", parameters=parameters)
    worker = processes.start("worker")
    wait_until(lambda: 0 < Session.objects.count() < 2500)
    processes.kill(worker)
    standing = Session.objects.count()
    assert 0 < standing < 3000
    # As the scheduler does when the heart has been silent.
    JobRun.objects.filter(pk=row.pk).update(state="queued")
    perform(row.pk)
    row.refresh_from_db()
    assert (row.state, row.result["sessions"]) == ("done", 3000 - standing)
    assert is_sound(Dataset.objects.get(), 3000)


# --- samples -------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_a_sample_is_a_dataset_of_its_own(tmp_path: Path) -> None:
    generated(count=60)
    dataset = Dataset.objects.get()
    result = sample_to_dataset(dataset, "few", SampleOptions(18, "trap"))
    few = Dataset.objects.get(name="few")
    assert is_sound(few, 18)
    assert sum(result.groups.values()) == 18
    assert len(result.groups) == 10
    assert few.origin == "synthetic"
    assert few.provenance["modifications"] == [
        "sampled: 18 of 60 sessions, balanced by trap, seed 42, of eval"
    ]
    taken = list(few.sessions.order_by("id").values_list("session_id", flat=True))
    assert taken == sorted(taken)
    for session in few.sessions.all():
        given = Session.objects.get(dataset=dataset, session_id=session.session_id)
        assert list(session.turns.order_by("turn_index").values_list("turn_index", "text", "tags")) == list(
            given.turns.order_by("turn_index").values_list("turn_index", "text", "tags")
        )
    assert AuditEvent.objects.filter(action="sample", dataset_name="few").count() == 1
    with pytest.raises(UserError, match="The dataset few already exists"):
        sample_to_dataset(dataset, "few", SampleOptions(3))
    with pytest.raises(UserError, match="at least one session"):
        sample_to_dataset(dataset, "none", SampleOptions(0))


@pytest.mark.django_db(transaction=True)
def test_a_file_s_sample_and_its_dataset_s_are_the_same(tmp_path: Path) -> None:
    from datasets_app.exporting.export_dataset import export_to_path

    generated(count=40)
    dataset = Dataset.objects.get()
    export_to_path(dataset, tmp_path / "all.jsonl")
    of_dataset = sample_to_file(dataset, tmp_path / "one.jsonl", SampleOptions(9, "scenario", 5))
    of_file = sample_file(
        ConversationFile(tmp_path / "all.jsonl"), tmp_path / "two.jsonl", SampleOptions(9, "scenario", 5)
    )
    assert of_dataset == of_file
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()
    assert "sampled: 9 of 40 sessions" in (tmp_path / "two.meta.yaml").read_text()


@pytest.mark.django_db(transaction=True)
def test_unscrubbed_production_data_is_not_sampled_into_a_file(tmp_path: Path) -> None:
    dataset = factories.make_dataset(tmp_path / "", factories.make_sessions(3), "logs", origin="production")
    with pytest.raises(UserError, match="without a verified scrub"):
        sample_to_file(dataset, tmp_path / "out.jsonl", SampleOptions(1))
    assert not (tmp_path / "out.jsonl").exists()
    sample_to_dataset(dataset, "few", SampleOptions(1))
    assert Dataset.objects.get(name="few").origin == "production"
    assert Dataset.objects.get(name="few").status == "raw"


def test_a_file_with_lines_that_are_no_turns_is_not_sampled(tmp_path: Path) -> None:
    path = factories.write_jsonl(tmp_path / "bad.jsonl", [*factories.make_sessions(2), b"not json"])
    with pytest.raises(UserError, match="bad.jsonl:5: E101"):
        sample_file(ConversationFile(path), tmp_path / "out.jsonl", SampleOptions(1))
    assert not (tmp_path / "out.jsonl").exists()
