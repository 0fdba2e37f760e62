"""Rows and messages of earlier versions: stored for years, and queued while the application is upgraded."""

import json
from datetime import timedelta
from typing import Any

import django_rq
import pytest
from django.utils import timezone
from rq import Queue
from rq.serializers import PickleSerializer

from datasets_app.jobs import recovery, runs
from datasets_app.jobs.parameters import read_parameters
from datasets_app.jobs.registry import get_operation, operations
from datasets_app.models import JobRun
from tests.factories import make_dataset, make_sessions

POLICY = {
    "seed": None,
    "allow": ["hub"],
    "kinds": ["CREDENTIAL", "EMAIL", "NAME"],
    "missed": [],
    "patterns": [["CASE", "\\b1[0-9]{3}\\b"]],
    "name_models": ["builtin"],
    "fuzz_seconds": 3600,
    "placeholders": "numbered",
    "drop_timestamps": False,
    "hash_session_ids": True,
}
SETTINGS = {"seed": 7, "ratios": [60.0, 20.0, 20.0], "stratify": "scenario", "similarity": 0.9}
GENERATION = {"plan": "5d57", "seed": 31, "turns": [4, 6], "persona": "default_v1", "sessions": 15}
# (operation, its parameters as a row of an earlier version has them, what its page shows of them)
ROWS: list[tuple[str, dict[str, Any], dict[str, str]]] = [
    (
        "import_dataset",
        {"append": False, "format": "auto", "origin": "production", "persona": "p", "on_error": "quarantine"},
        {
            "Origin": "Production",
            "Persona": "p",
            "If there are problems": "Import the valid sessions and quarantine the others in a file",
        },
    ),
    (
        "import_dataset",
        {"files": ["a.jsonl", "b.jsonl"], "format": "openai", "persona": None, "quarantine": True},
        {"Format": "OpenAI chat JSONL, one session a line", "Files": "a.jsonl, b.jsonl", "Quarantine": "yes"},
    ),
    (
        "export_dataset",
        {"tag": None, "gzip": True, "split": "train", "format": "turns", "package": False, "version": None},
        {
            "Format": "Conversation JSONL, one turn a line",
            "Only this split": "Train",
            "Compress with gzip": "yes",
        },
    ),
    (
        "export_dataset",
        {"format": None, "package": True, "version": "1.1.0"},
        {"Package": "yes", "Version": "1.1.0"},
    ),
    (
        "export_dataset",
        {"format": "csv", "override": "The processor needs the originals"},
        {
            "Format": "CSV for spreadsheets",
            "Reason for exporting it unscrubbed": "The processor needs the originals",
        },
    ),
    (
        "sample_dataset",
        {"of": "support", "size": 10, "by": "tag", "seed": 7},
        {"Of": "support", "Size": "10", "By": "tag", "Seed": "7"},
    ),
    (
        "split_dataset",
        {},
        {"What": "Sessions without a split", "How": "Like the sessions that are split already"},
    ),
    (
        "split_dataset",
        {"again": True, "override": "A better seed", "settings": SETTINGS},
        {"Reason": "A better seed"},
    ),
    (
        "scrub_dataset",
        {"policy": POLICY, "sample": 10, "dry_run": True},
        {"Sessions previewed": "10", "Never scrubbed": "1 term"},
    ),
    ("scrub_part", {"scrub": 2}, {"Scrub": "2"}),
    (
        "bootstrap_dataset",
        {**GENERATION, "model": "offline", "edge_case_share": 0.1},
        {"Seed": "31", "Turns per session": "4 to 6", "Shares": "Edge cases 10 %", "Writer": "offline"},
    ),
    (
        "bootstrap_dataset",
        {
            **GENERATION,
            "model": "openai:m",
            "resume": False,
            "base_url": "http://127.0.0.1:9/v1",
            "model_run": {
                "plan": "5d57",
                "used": {"prompt": 1, "completion": 2},
                "sessions": 3,
                "whole": False,
            },
            "concurrency": 2,
            "temperature": 0.5,
            "max_tokens_total": 50000,
        },
        {"Endpoint": "http://127.0.0.1:9/v1", "Token budget": "50,000", "Temperature": "0.5"},
    ),
    (
        "release_dataset",
        {"bump": "", "notes": "n", "override": "r"},
        {"Notes": "n", "Reason for releasing with open problems": "r"},
    ),
    ("compare_releases", {"after": "", "before": "1.0.0"}, {"Before": "1.0.0"}),
    (
        "erase_session",
        {"copies": [], "erased": [{"dataset": "d"}], "reason": "Letter", "session": 6},
        {"Reason": "Letter"},
    ),
    ("apply_retention", {"reason": "Old"}, {"Reason": "Old"}),
    (
        "export_audit",
        {"since": "2020-01-01", "action": "import", "format": "csv"},
        {"Since": "2020-01-01", "Action": "import", "Format": "csv"},
    ),
    ("nightly", {"night": "2026-05-01"}, {"Night": "2026-05-01"}),
    ("create_campaign", {"campaign": 6}, {"Campaign": "6"}),
    (
        "export_annotations",
        {"labels": "all", "persona": "p", "campaign": "c", "override": "r"},
        {"Labels": "all", "Persona": "p"},
    ),
    (
        "import_annotations",
        {"file": "l.jsonl", "persona": None, "create": True, "adjudicated": False},
        {"File": "l.jsonl", "Create": "yes"},
    ),
    *((name, {}, {}) for name in ("check_dataset", "verify_releases", "verify_audit")),
    # New with this version: rows of earlier ones have none of them.
    *((name, {}, {}) for name in ("add_to_campaign", "backup", "deliver_events", "exclude_sessions")),
    *((name, {}, {}) for name in ("restore", "tag_sessions")),
    *((name, {}, {}) for name in ("reapply_erasures", "sign_review", "change_origin", "pull_source")),
    *(
        (name, {}, {})
        for name in ("store_spans", "run_judge", "improve_judge", "send_case", "draft_variants", "form_jury")
    ),
    *(
        (name, {}, {})
        for name in ("attest_dataset", "exempt_value", "scan_text", "canary_dataset", "activate_retention")
    ),
]


def test_every_operation_has_a_row_here() -> None:
    assert {name for name, _, _ in ROWS} == set(operations)


@pytest.mark.parametrize(("operation", "stored", "shown"), ROWS)
def test_parameters_of_earlier_versions_are_read(
    operation: str, stored: dict[str, Any], shown: dict[str, str]
) -> None:
    job = JobRun(operation=operation, parameters={**stored, "of_a_later_version": 1})
    parameters = read_parameters(job, get_operation(operation).parameters)
    written = json.loads(json.dumps(parameters.as_json()))
    assert {key: written[key] for key in stored} == stored
    rows = dict(parameters.describe())
    assert rows.items() >= shown.items()
    # Written again, they say the same: an earlier version's worker could still run the job.
    again = JobRun(operation=operation, parameters=parameters.as_json())
    assert read_parameters(again, type(parameters)) == parameters


@pytest.mark.django_db(transaction=True)
def test_a_job_that_was_queued_before_an_upgrade_still_runs(
    processes: Any, wait_until: Any, tmp_path: Any
) -> None:
    """Its message was pickled, so it is dropped unread; recovery sends the number from the row."""
    stored = make_dataset(tmp_path, make_sessions(3))
    queued_at = timezone.now() - timedelta(minutes=1)
    job = JobRun.objects.create(
        operation="split_dataset",
        dataset=stored,
        dataset_name=stored.name,
        parameters={"settings": SETTINGS},
        state="queued",
        queued_at=queued_at,
    )
    queue = Queue("default", connection=django_rq.get_connection("default"), serializer=PickleSerializer)
    old = queue.enqueue_call(
        "datasets_app.job_runs.perform", args=(job.pk,), job_id=runs.message_id(job), result_ttl=0
    )
    assert queue.connection.exists(old.key)
    assert recovery.recover_jobs() == 1
    assert not queue.connection.exists(old.key)
    processes.start("worker")

    def state() -> str:
        job.refresh_from_db()
        return job.state

    wait_until(lambda: state() in {"done", "failed"}, 60)
    assert (state(), job.error, job.result["sessions"]) == ("done", "", 3)
