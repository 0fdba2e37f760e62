"""Sessions that a page has asked a model for, written by real workers, which are killed."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.utils import timezone
from msgspec import structs

from datasets_app.core.errors import UserError
from datasets_app.generating.parameters import GenerationParameters
from datasets_app.jobs import runs
from datasets_app.jobs.perform import perform
from datasets_app.models import AuditEvent, Dataset, JobRun, Session
from tests.factories import run_task
from tests.llm_server import FAULTS, LlmServer

KEY = "sk-planted-9b1d"


def curator() -> User:
    made = User.objects.create_user("cu")
    made.groups.add(Group.objects.get(name="curator"))
    return made


def parameters(**more: Any) -> GenerationParameters:
    asked = GenerationParameters(sessions=60, model="openai:tiny", persona="default_v1", concurrency=3)
    return structs.replace(asked, **more)


def ended(job: JobRun) -> str:
    job.refresh_from_db()
    return job.state if job.is_finished else ""


@pytest.mark.slow
def test_a_killed_worker_is_followed_by_one_that_asks_for_nothing_twice(
    processes: Any, wait_until: Any
) -> None:
    with LlmServer(latency=0.1, key=KEY, faults=FAULTS, share=0.005, seed=6) as server:
        processes.environment |= {
            "ALIGNMENTER_LLM_ENDPOINTS": server.url,
            "OPENAI_API_KEY": KEY,
            "ALIGNMENTER_LLM_TIMEOUT": "1",
            "OPENAI_LOG": "debug",
        }
        processes.start("scheduler")
        worker = processes.start("worker")
        job = runs.start_job(
            "bootstrap_dataset", actor=curator(), dataset_name="made", parameters=parameters()
        )
        for wanted in (10, 30):
            wait_until(lambda many=wanted: Session.objects.count() >= many, 60)
            processes.kill(worker)
            standing = Session.objects.count()
            job.refresh_from_db()
            assert job.parameters["model_run"]["sessions"] == standing
            # So that a death need not take all the silence after which one is noticed.
            late = timezone.now() - timedelta(seconds=16)
            JobRun.objects.filter(state="running").update(heartbeat_at=late)
            worker = processes.start("worker")
        assert wait_until(lambda: ended(job), 90) == "done", job.error
        answered = server.answered()
    dataset = Dataset.objects.get(name="made")
    failed = job.result.get("failed_sessions", 0)
    assert dataset.session_count == dataset.sessions.count() == 60 - failed
    assert set(answered) == set(dataset.sessions.values_list("session_id", flat=True))
    # What was on its way at a kill may be asked for once more: one answer for each call in flight.
    assert sum(answered.values()) - len(answered) <= 2 * 3
    assert job.result["tokens"] >= sum(
        dataset.provenance["tokens"][kind] for kind in ("prompt", "completion")
    )
    assert (dataset.origin, job.dataset_id) == ("synthetic", dataset.pk)
    stored = [*JobRun.objects.values(), *AuditEvent.objects.values(), *Dataset.objects.values()]
    assert "planted-" not in str(stored) + processes.log.read_text()


@pytest.mark.django_db(transaction=True)
def test_an_address_that_is_not_configured_is_not_asked_for_a_curator_nor_for_nobody(settings: Any) -> None:
    with LlmServer() as server, LlmServer() as configured:
        settings.LLM_ENDPOINTS = [configured.url]
        for actor in (curator(), None):
            job = runs.create_job(
                "bootstrap_dataset",
                actor=actor,
                dataset_name="made",
                parameters=parameters(base_url=server.url, sessions=2),
            )
            JobRun.objects.filter(pk=job.pk).update(state="running", attempt=1)
            job.refresh_from_db()
            with pytest.raises(UserError, match="at the configured addresses only"):
                run_task(job)
        assert server.asked == []
        job.parameters = parameters(sessions=2).as_json()
        assert run_task(job)["sessions"] == 2
        assert len(configured.asked) == 2
    assert Dataset.objects.get(name="made").session_count == 2


@pytest.mark.django_db(transaction=True)
def test_nothing_written_is_a_failed_job_with_a_sentence(settings: Any) -> None:
    with LlmServer(key="sk-another") as server:
        settings.LLM_ENDPOINTS = [server.url]
        job = runs.create_job("bootstrap_dataset", actor=None, dataset_name="made", parameters=parameters())
        runs.enqueue_job(job)
        perform(job.pk)
        assert (ended(job), job.error[:38]) == ("failed", "The endpoint does not accept the key, ")
        assert len(server.asked) <= 3
