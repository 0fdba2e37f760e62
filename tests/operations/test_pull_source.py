"""Sources: what they deliver comes into a restricted production dataset, once."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from datasets_app.core.progress import OperationCanceled
from datasets_app.jobs import runs
from datasets_app.jobs.perform import perform
from datasets_app.models import (
    AuditEvent,
    CheckReport,
    Dataset,
    DatasetGrant,
    JobFile,
    JobRun,
    ReceivedSpan,
    Session,
    Source,
    Turn,
)
from datasets_app.retention.delete_contents import count_contents, delete_dataset_rows
from datasets_app.retention.erase_session import erase_session
from datasets_app.sources import otlp_body, received
from datasets_app.sources.due import start_due_assembly, start_nightly_pulls
from datasets_app.sources.parameters import PullParameters
from datasets_app.sources.pull import pull_source
from datasets_app.sources.receive import receive as receive_request
from tests.factories import run_task
from tests.spans import encode_request, make_span

pytestmark = pytest.mark.django_db


def make_source(kind: str = "otlp", **fields: Any) -> Source:
    return Source.objects.create(name=f"the-{kind}", kind=kind, dataset_name="prod", **fields)


def pull(source: Source, **parameters: Any) -> dict[str, Any]:
    parameters_of_job = PullParameters(source=source.pk, **parameters)
    job = runs.create_job(
        "pull_source", actor=None, dataset_name=source.dataset_name, parameters=parameters_of_job
    )
    return run_task(job)


def receive(source: Source, *spans: dict[str, Any], minutes_ago: int = 20) -> int:
    before = set(ReceivedSpan.objects.values_list("pk", flat=True))
    assert receive_request(source, encode_request(*spans), otlp_body.JSON) == 0
    new = ReceivedSpan.objects.exclude(pk__in=before)
    return new.update(received_at=timezone.now() - timedelta(minutes=minutes_ago))


def texts() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for turn in Turn.objects.select_related("session").order_by("session__pk", "turn_index"):
        found.setdefault(turn.session.session_id, []).append(turn.text)
    return found


def test_spans_of_a_conversation_are_put_together_once_it_is_quiet() -> None:
    owner = User.objects.create(username="ada")
    source = make_source(created_by=owner)
    receive(source, make_span(1, 2, question="And then?", answer="Done.", conversation="c"), minutes_ago=20)
    receive(source, make_span(2, 1, question="Bye", answer="Bye!", conversation="c"), minutes_ago=1)
    receive(source, make_span(3, 1, question="Alone?", answer="Yes."), minutes_ago=11)
    assert start_due_assembly() == 1
    assert start_due_assembly() == 0  # it is waiting
    result = run_task(JobRun.objects.get())
    assert (result["sessions"], result["more"]) == (1, False)
    assert texts() == {f"{3:032x}": ["Alone?", "Yes."]}
    dataset = Dataset.objects.get()
    assert (dataset.origin, dataset.restricted, dataset.status) == ("production", True, "raw")
    assert DatasetGrant.objects.get().user == owner
    ReceivedSpan.objects.update(received_at=timezone.now() - timedelta(minutes=11))
    assert start_due_assembly() == 0  # it has just been done
    assert pull(source)["sessions"] == 1
    assert texts()["c"] == ["And then?", "Done.", "Bye", "Bye!"]
    assert not ReceivedSpan.objects.exists()
    assert pull(source) == {"sessions": 0, "more": False}


def test_the_same_span_adds_nothing_and_a_late_one_is_not_lost() -> None:
    source = make_source()
    spans = [
        make_span(1, 1, conversation="c"),
        make_span(1, 2, question="More?", answer="No.", conversation="c"),
    ]
    assert receive(source, *spans) == 2
    assert receive(source, *spans) == 0
    pull(source)
    assert receive(source, *spans) == 0
    before = texts()
    late = make_span(1, 3, question="Late?", answer="Never.", conversation="c")
    assert receive(source, *spans, late) == 1
    pull(source)
    after = texts()
    assert before == {"c": ["How do I export it?", "Choose Export.", "More?", "No."]}
    assert [after.pop("c"), *after.values()] == [before["c"], ["Late?", "Never."]]


def test_what_never_pauses_is_taken_after_a_day_and_much_in_several_pulls(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(received, "MAX_BYTES", 100)
    source = make_source()
    receive(source, make_span(1, 1, conversation="c"), minutes_ago=25 * 60)
    receive(source, make_span(2, 1, conversation="c"), minutes_ago=0)
    receive(source, make_span(3, 1))
    assert pull(source)["more"]
    follow_up = JobRun.objects.get(state="queued")
    assert (follow_up.operation, follow_up.parameters["source"]) == ("pull_source", source.pk)
    assert not run_task(follow_up)["more"]
    assert set(texts()) == {"c", f"{3:032x}"}
    assert JobRun.objects.filter(operation="scan_text").count() == 1


def test_the_event_and_the_job_hold_counts_only() -> None:
    source = make_source(rate=0.0)
    receive(source, make_span(1, 1, question="wexcanaryquill", conversation="wexsessionquill"))
    assert pull(source) == {"conversations": 1, "not_sampled": 1, "sessions": 0, "more": False}
    event = AuditEvent.objects.get(action="pull_source")
    assert event.details == {"source": "the-otlp", "conversations": 1, "not_sampled": 1, "sessions": 0}
    assert not ReceivedSpan.objects.exists()
    with connection.cursor() as cursor:
        cursor.execute("SELECT string_agg(t::text, '') FROM datasets_app_jobrun t")
        assert "quill" not in cursor.fetchone()[0]


def test_the_last_of_several_pulls_scrubs_if_a_rule_of_the_dataset_says_so() -> None:
    source, other = make_source(scrub=True), Source.objects.create(name="b", kind="otlp", dataset_name="prod")
    assert start_nightly_pulls() == 2
    first, last = JobRun.objects.order_by("pk")
    receive(source, make_span(1, 1))
    run_task(first)
    assert JobRun.objects.count() == 2
    JobRun.objects.filter(pk=first.pk).update(state="done")
    run_task(last)
    scrub = JobRun.objects.get(operation="scrub_dataset")
    assert (scrub.state, scrub.parameters["check"], scrub.dataset) == ("queued", True, Dataset.objects.get())
    JobRun.objects.all().delete()
    receive(other, make_span(2, 1))
    assert start_due_assembly() == 1
    run_task(JobRun.objects.get())
    assert sorted(JobRun.objects.values_list("operation", flat=True)) == ["pull_source", "scan_text"]


def test_an_erased_session_is_erased_from_what_waits_and_stays_away() -> None:
    source = make_source()
    receive(source, make_span(1, 1, conversation="c"), make_span(2, 1, conversation="d"))
    pull(source)
    receive(source, make_span(3, 1, answer="More of c.", conversation="c"), make_span(3, 2))
    receive(source, make_span(4, 1, conversation="d"))
    dataset = Dataset.objects.get()
    session = Session.objects.get(dataset=dataset, session_id="c")
    erased = erase_session(session, "a request")
    assert erased["received_spans"] == 2
    assert ReceivedSpan.objects.count() == 1
    receive(source, make_span(5, 1, answer="Again.", conversation="c"))
    assert pull(source)["erased_sessions"] == 1
    assert "c" not in texts()


def test_retention_deletes_what_waits() -> None:
    source = make_source()
    receive(source, make_span(1, 1))
    pull(source)
    receive(source, make_span(2, 1))
    dataset = Dataset.objects.get()
    assert count_contents(dataset)["received_spans"] == 1
    Dataset.objects.update(status=Dataset.Status.EXPIRED)
    assert delete_dataset_rows(dataset)["received_spans"] == 1
    assert not ReceivedSpan.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_pull_leads_to_a_verified_scrub_and_a_check(empty_queue: None) -> None:
    source = make_source(scrub=True)
    receive(source, make_span(1, 1, answer="Write to ada@example.org."))
    assert start_nightly_pulls() == 1
    for operation in ("pull_source", "scrub_dataset", "check_dataset"):
        job = JobRun.objects.get(state="queued")
        assert job.operation == operation
        perform(job.pk)
        job.refresh_from_db()
        assert job.state == "done", job.error
    assert Dataset.objects.get().status == "scrubbed"
    assert Turn.objects.get(role="assistant").text == "Write to [EMAIL]."
    assert CheckReport.objects.exists()


def test_a_pull_that_stops_at_any_step_has_saved_nothing(tmp_path: Path) -> None:
    source = make_source()
    receive(source, make_span(1, 1), make_span(2, 1))
    done = stopped = 0

    def stop(_: int, total: int | None = None) -> None:
        nonlocal done
        done += 1
        if done > stopped:
            raise OperationCanceled

    for stopped in range(100):  # noqa: B007
        done, folder = 0, tmp_path / str(stopped)
        folder.mkdir()
        try:
            result = pull_source(source, folder=folder, report_progress=stop)
            break
        except OperationCanceled:
            assert (ReceivedSpan.objects.count(), Session.objects.count()) == (2, 0)
            assert not AuditEvent.objects.exists()
    assert result["sessions"] == 2
    assert stopped > 3
    assert not ReceivedSpan.objects.exists()


def test_a_conversation_that_can_not_be_stored_is_quarantined() -> None:
    source = make_source()
    receive(source, make_span(1, 1, answer="With \0 NUL.", conversation="bad"), make_span(2, 1))
    result = pull(source)
    assert (result["unreadable"], result["sessions"]) == (1, 1)
    kept = JobFile.objects.get(kind="quarantine")
    lines = [json.loads(line) for line in kept.file.read().splitlines()]
    assert [(line["session_id"], line["text"]) for line in lines] == [
        ("bad", "How do I export it?"),
        ("bad", "With \0 NUL."),
    ]
    assert pull(source) == {"sessions": 0, "more": False}
