"""What a model writes is kept as it comes, and gone on with after any end."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from datasets_app.core.errors import UserError
from datasets_app.core.progress import OperationCanceled
from datasets_app.domain.generation.model_writer import ModelWriter
from datasets_app.domain.generation.plan import GenerationRequest, Plan, plan_sessions
from datasets_app.domain.generation.writer import format_shape
from datasets_app.domain.model_calls.endpoint import Endpoint, Model
from datasets_app.domain.model_calls.retry_rules import RetryPolicy
from datasets_app.generating.journal import SessionJournal, journal_path
from datasets_app.generating.model_sessions import DatasetSessionStore
from datasets_app.generating.write import WritingOutcome, write_with_model
from datasets_app.jobs.running import ClaimLost
from datasets_app.models import AuditEvent, Dataset, JobRun, Session
from tests.llm_server import LlmServer

# Long enough that a busy machine never drops an answer that the server has sent.
QUICK = RetryPolicy(timeout=20, initial_wait=0.01, max_wait=0.04)


def writer_at(server: LlmServer, **options: Any) -> ModelWriter:
    own = {name: options.pop(name) for name in Model.__dataclass_fields__ if name in options}
    return ModelWriter(Model(Endpoint(server.url, True), "tiny", retry_policy=QUICK, **own), **options)


def plan_for(writer: ModelWriter, sessions: int = 30, **wish: Any) -> Plan:
    return plan_sessions(GenerationRequest(sessions, **wish), made_by=format_shape(writer.describe()))


def journal_for(out: Path, plan: Plan, writer: ModelWriter, *, resume: bool = False) -> SessionJournal:
    return SessionJournal(journal_path(out), plan, format_shape(writer.describe()), resume=resume)


def run(
    out: Path, server: LlmServer, *, resume: bool = False, sessions: int = 30, **options: Any
) -> tuple[WritingOutcome, SessionJournal]:
    writer = writer_at(server, **options)
    plan = plan_for(writer, sessions)
    journal = journal_for(out, plan, writer, resume=resume)
    try:
        return write_with_model(writer, plan, journal), journal
    finally:
        journal.close()


def cancelling(after: int) -> Callable[[int, int | None], None]:
    def progress(done: int, total: int | None = None) -> None:
        if done >= after:
            raise OperationCanceled

    return progress


# --- beside a file -----------------------------------------------------------------------------


def test_sessions_come_out_in_the_order_of_the_plan(tmp_path: Path) -> None:
    with LlmServer() as server:
        writer = writer_at(server)
        plan = plan_for(writer)
        journal = journal_for(tmp_path / "a.jsonl", plan, writer)
        outcome = write_with_model(writer, plan, journal)
    assert outcome.is_complete
    assert outcome.as_facts() == {}
    numbers = [turns[0].session_id for turns in journal.sessions()]
    assert numbers == [planned.session_id for planned in plan]
    assert journal.used == writer.used
    journal.close()
    journal.delete()
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_was_cut_short_goes_on_and_what_failed_is_asked_for_again(tmp_path: Path) -> None:
    out = tmp_path / "a.jsonl"
    with LlmServer(first=["wrong_schema"] * 6) as server:
        first, journal = run(out, server, max_tokens=14_000, concurrency=1)
        assert len(first.failed) == 3
        assert first.left > 0
        assert first.stopped.startswith("The token budget is spent")
        assert first.as_facts()["failures"][0].endswith("7 turns instead of 6 (and 6 more)")
        asked = server.answered()
        spent = journal.used.total
        # The budget is one of the whole: going on with the same one asks for nothing.
        again, _ = run(out, server, resume=True, max_tokens=14_000)
        assert again.left + len(again.failed) == 30 - journal.finished
        assert server.answered() == asked
        last, journal = run(out, server, resume=True)
    assert last.is_complete
    assert last.before == len(asked)
    assert set(server.answered().values()) == {1}
    assert journal.used.total > spent
    assert sum(server.answered().values()) == 30


def test_without_resume_nothing_that_is_paid_for_is_overwritten(tmp_path: Path) -> None:
    out = tmp_path / "a.jsonl"
    with LlmServer() as server:
        run(out, server, sessions=5)
        before = journal_path(out).read_bytes()
        with pytest.raises(UserError, match="5 finished sessions of an earlier run"):
            run(out, server, sessions=5)
        with pytest.raises(UserError, match="of another plan"):
            run(out, server, sessions=6, resume=True)
        with pytest.raises(UserError, match="another model, version, temperature"):
            run(out, server, sessions=5, resume=True, temperature=0.5)
        assert len(server.answered()) == 5
    assert journal_path(out).read_bytes() == before
    # The journal of a run that has ended before it began stands in nobody's way.
    only_head = before.splitlines(keepends=True)[0]
    out.with_name("c.jsonl.journal").write_bytes(only_head)
    with LlmServer() as server:
        assert run(tmp_path / "c.jsonl", server, sessions=6)[0].is_complete
    out.with_name("b.jsonl.journal").write_text("precious\n")
    with pytest.raises(UserError, match="is not a journal"):
        run(tmp_path / "b.jsonl", server)
    assert out.with_name("b.jsonl.journal").read_text() == "precious\n"


@pytest.mark.parametrize("cut", [1, 7, 60])
def test_a_line_half_written_is_cut_off_and_its_session_asked_for_again(tmp_path: Path, cut: int) -> None:
    out = tmp_path / "a.jsonl"
    with LlmServer() as server:
        run(out, server, sessions=4, concurrency=1)
        raw = journal_path(out).read_bytes()
        last = raw.rstrip(b"\n").rpartition(b"\n")[2]
        assert b"texts" in last
        journal_path(out).write_bytes(raw[:-cut])
        outcome, _ = run(out, server, sessions=4, resume=True)
        assert outcome.is_complete
        assert len(server.asked) == 5
        journal_path(out).write_bytes(raw.replace(b'"texts"', b'"tex', 1))
        with pytest.raises(UserError, match="Line 2 of a.jsonl.journal can't be read"):
            run(out, server, sessions=4, resume=True)


def test_two_runs_never_write_one_journal(tmp_path: Path) -> None:
    with LlmServer() as server:
        writer = writer_at(server)
        plan = plan_for(writer)
        first = journal_for(tmp_path / "a.jsonl", plan, writer)
        with pytest.raises(UserError, match="Another command is at work"):
            journal_for(tmp_path / "a.jsonl", plan, writer, resume=True)
        first.close()
        journal_for(tmp_path / "a.jsonl", plan, writer, resume=True).close()


def test_a_cancelled_run_keeps_what_has_come_in(tmp_path: Path) -> None:
    out = tmp_path / "a.jsonl"
    with LlmServer(latency=0.05) as server:
        writer = writer_at(server, concurrency=4)
        plan = plan_for(writer)
        journal = journal_for(out, plan, writer)
        with pytest.raises(OperationCanceled):
            write_with_model(writer, plan, journal, report_progress=cancelling(after=8))
        journal.close()
        answered = server.answered()
        assert 8 <= sum(answered.values()) <= 16
        assert journal.finished == sum(answered.values())
        outcome, _ = run(out, server, resume=True)
        assert (outcome.is_complete, outcome.before) == (True, journal.finished)
        assert set(server.answered().values()) == {1}


# --- into a dataset ----------------------------------------------------------------------------


def job(**more: Any) -> JobRun:
    return JobRun.objects.create(
        operation="bootstrap_dataset", dataset_name="made", state="running", attempt=1, **more
    )


def into_dataset(
    server: LlmServer, row: JobRun, *, resume: bool = False, sessions: int = 12, **options: Any
) -> WritingOutcome:
    progress = options.pop("report_progress", lambda *_: None)
    writer = writer_at(server, **options)
    plan = plan_for(writer, sessions)
    keeper = DatasetSessionStore("made", plan, format_shape(writer.describe()), resume=resume, job_run=row)
    try:
        outcome = write_with_model(writer, plan, keeper, report_progress=progress)
        keeper.finish(writer.describe() | outcome.as_facts())
        return outcome
    finally:
        keeper.close()


@pytest.mark.django_db(transaction=True)
def test_sessions_of_a_dataset_are_committed_as_they_come_and_gone_on_with() -> None:
    row = job()
    with LlmServer(latency=0.02) as server:
        with pytest.raises(OperationCanceled):
            into_dataset(server, row, concurrency=2, report_progress=cancelling(after=4))
        standing = Session.objects.filter(dataset__name="made").count()
        assert 4 <= standing == sum(server.answered().values()) < 12
        row.refresh_from_db()
        assert row.parameters["model_run"]["sessions"] == standing
        used = row.parameters["model_run"]["used"]
        assert used["prompt"] + used["completion"] == server.tokens
        # Another run must say that it goes on; the same job, run again by a worker, need not.
        with pytest.raises(UserError, match=r"already holds \d+ sessions? of this plan"):
            into_dataset(server, job())
        outcome = into_dataset(server, row)
        assert (outcome.is_complete, outcome.before) == (True, standing)
        assert set(server.answered().values()) == {1}
        row.refresh_from_db()
        used = row.parameters["model_run"]["used"]
        assert used["prompt"] + used["completion"] == server.tokens
        # All done: nothing is asked for any more.
        assert into_dataset(server, job(), resume=True).before == 12
        assert len(server.asked) == 12
    dataset = Dataset.objects.get(name="made")
    assert (dataset.origin, dataset.session_count, dataset.turn_count) == ("synthetic", 12, 72)
    assert dataset.provenance["model"] == "tiny"
    assert dataset.provenance["tokens"] == {"prompt": used["prompt"], "completion": used["completion"]}
    events = AuditEvent.objects.filter(action="generate", dataset_name="made").order_by("pk")
    told = events.values_list("details", flat=True)
    assert [(each["state"], each["sessions"]) for each in told][-1] == ("ended", 12)
    assert "begun" in {each["state"] for each in told}


@pytest.mark.django_db(transaction=True)
def test_a_budget_counts_over_all_runs_and_another_plan_is_not_gone_on_with() -> None:
    with LlmServer() as server:
        outcome = into_dataset(server, job(), max_tokens=4_000, concurrency=2)
        assert outcome.left > 0
        before = len(server.asked)
        outcome = into_dataset(server, job(), max_tokens=4_000, resume=True)
        assert "The token budget is spent" in outcome.stopped
        assert len(server.asked) == before
        assert server.tokens <= 4_000
        with pytest.raises(UserError, match="had another plan"):
            into_dataset(server, job(), resume=True, sessions=13)
        assert "stopped" in Dataset.objects.get(name="made").provenance
        assert into_dataset(server, job(), resume=True).is_complete
        assert "stopped" not in Dataset.objects.get(name="made").provenance


@pytest.mark.django_db(transaction=True)
def test_who_has_lost_the_job_writes_nothing() -> None:
    row = job()
    with LlmServer(latency=0.02) as server:
        JobRun.objects.filter(pk=row.pk).update(attempt=2)
        with pytest.raises(ClaimLost):
            into_dataset(server, row)
    assert not Session.objects.filter(dataset__name="made").exists()
