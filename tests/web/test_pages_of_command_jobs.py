"""Every job that a command leaves behind has a page, however the job ended."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from datasets_app.jobs.registry import operations
from datasets_app.models import Dataset, JobRun, Source
from tests.campaigns import make_annotators, make_persona
from tests.conftest import PROJECT, RunManage
from tests.factories import make_session, make_turn, write_jsonl
from tests.llm_server import LlmServer

MAIL = make_turn("mail", 1, text="Write to ana@example.com, please.")
LABEL = {"session_id": "s1", "turn_index": 2, "text": "", "label": 1, "persona_id": "warm_v1"}
# Exit code, command and arguments, in an order in which each has what it needs.
COMMANDS: list[tuple[int, str]] = [
    (0, "import_dataset good.jsonl more.jsonl --name support --origin synthetic --persona warm_v1"),
    (0, "import_dataset good.jsonl --name support"),
    (0, "import_dataset mixed.jsonl --name parts --on-error quarantine"),
    (1, "import_dataset mixed.jsonl --name refused"),
    (0, "import_dataset mail.jsonl --name scrubbed --origin production"),
    (1, "sanitize_dataset --dataset scrubbed --dry-run --scrub-patterns email"),
    (0, "sanitize_dataset --dataset scrubbed --scrub-patterns email --allow terms.txt"),
    (0, "bootstrap_dataset --dataset written --sessions 10"),
    (0, "bootstrap_dataset --dataset modeled --sessions 2 --model openai:tiny --base-url {endpoint}"),
    (0, "validate_dataset --dataset written"),
    (0, "split_dataset --dataset written --ratios 80,20 --stratify persona"),
    (0, "sample_dataset support --size 2 --as few"),
    (2, "sample_dataset support --size 0 --as none"),
    (0, "import_annotations labels.jsonl --dataset support"),
    (1, "import_annotations mail.jsonl --dataset support"),
    (0, "export_annotations support --persona warm_v1 --out labels-out.jsonl"),
    (0, "create_campaign tone --dataset support --persona warm_v1 --annotators ana --overlap 1"),
    (2, "create_campaign tone --dataset support --persona warm_v1 --annotators ana --overlap 2"),
    (0, "run_judge tone"),
    (2, "improve_judge tone --judge offline"),
    (2, "form_jury tone --name panel --members offline"),
    (0, "make_case support s2 --turn 2 --into cases --rubric Short --annotators ana"),
    (2, "make_case support s2 --turn 1 --into cases"),
    (2, "draft_variants cases --model openai:tiny --base-url {endpoint}"),
    (0, "export_dataset support --out all.jsonl"),
    (0, "release_dataset written --notes First --override Trial"),
    (2, "release_dataset written"),
    (0, "export_dataset written --version 1.0.0 --out released.jsonl.gz"),
    (0, "export_dataset written --package --override Trial --out package"),
    (0, "canary_dataset written --n 20 --upper 99.9%"),
    (0, "verify_releases written"),
    (0, "verify_releases"),
    (0, "erase_session support s1 --reason Asked"),
    (2, "erase_session support nobody --reason Asked"),
    (0, "pull_source received"),
    (0, "apply_retention"),
    (0, "apply_retention --dataset few --now --reason Ended"),
    (0, "reapply_erasures"),
]


@pytest.fixture
def given_files(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "good.jsonl", make_session("s1"))
    write_jsonl(tmp_path / "more.jsonl", [*make_session("s2"), *make_session("s3")])
    write_jsonl(tmp_path / "mixed.jsonl", [*make_session("s1"), b"{broken", *make_session("s2")])
    write_jsonl(tmp_path / "mail.jsonl", [MAIL, make_turn("mail", 2)])
    write_jsonl(tmp_path / "labels.jsonl", [LABEL])
    (tmp_path / "terms.txt").write_text("Ana\nBen\n")


def load(client: Client, job: JobRun, name: str) -> str:
    """The job's page ("change"), or the part that renews itself ("progress"): all that depends on the job."""
    answer = client.get(reverse(f"admin:datasets_app_jobrun_{name}", args=[job.pk]))
    assert answer.status_code == 200, (job, name)
    return answer.content.decode()


def commands_operations() -> set[str]:
    """The operations for which a command in our source makes a job."""
    call = re.compile(r'run_job\(\s*"(\w+)"')
    sources = [path for app in ("datasets_app", "annotations_app") for path in (PROJECT / app).rglob("*.py")]
    return {name for path in sources for name in call.findall(path.read_text())}


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_each_command_leaves_a_job_with_a_page(
    empty_queue: None, given_files: None, manage: RunManage, sign_in: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_persona()
    make_annotators("ana")
    Source.objects.create(name="received", kind=Source.Kind.OTLP, dataset_name="received")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
    admin, curator = sign_in("superuser"), sign_in("curator")
    with LlmServer(key="sk-of-a-test") as server:
        for code, line in COMMANDS:
            done = manage(*line.format(endpoint=server.url).split())
            assert done.returncode == code, (line, done.stdout, done.stderr)
    # Production data starts restricted; then its jobs have no page for a curator without a grant.
    Dataset.objects.update(restricted=False)
    seen: set[tuple[str, str]] = set()
    for job in JobRun.objects.all():
        states = [job.state, *{JobRun.State.FAILED, JobRun.State.CANCELLED} - {job.state}]
        # What one job has left differs from what the next has; how it ended differs by operation only.
        for state in states[:1] + [state for state in states[1:] if (job.operation, state) not in seen]:
            seen.add((job.operation, state))
            JobRun.objects.filter(pk=job.pk).update(
                state=state, error="Something failed." * (state == "failed")
            )
            for client in (admin, curator):
                assert str(job) in load(client, job, "change" if state == job.state else "progress")
    # A restore replaces all of this database; tests of backups run both.
    assert {operation for operation, _ in seen} == commands_operations() - {"backup", "restore"}


@pytest.mark.parametrize("state", ["queued", "running", "done", "failed", "cancelled"])
def test_the_part_of_a_page_that_renews_itself(state: str, empty_queue: None, sign_in: Any) -> None:
    job = JobRun.objects.create(operation="import_dataset", state=state)
    part = load(sign_in("superuser"), job, "progress")
    assert str(job) in part
    assert "<html" not in part


@pytest.mark.parametrize("state", ["queued", "running", "done", "failed", "cancelled"])
def test_no_operation_needs_the_parameters_or_results_of_today(
    state: str, empty_queue: None, sign_in: Any
) -> None:
    """Rows stay for years: those of earlier versions name other things, and hold other kinds of values."""
    admin = sign_in("superuser")
    odd = {"files": ["a", "b"], "policy": {}, "old": {"some": [1, None]}, "limit": 3, "on": True}
    odd["problems"] = [{"message": "A file is missing."}]
    known = sorted({*operations, *commands_operations()})
    assert len(known) > 10
    for operation in known:
        for values in ({}, odd):
            job = JobRun.objects.create(
                operation=operation, state=state, parameters=values, result=values or None, foreground=True
            )
            assert str(job) in load(admin, job, "change" if state == "done" else "progress")
