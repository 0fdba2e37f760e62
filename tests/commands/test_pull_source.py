"""pull_source: what it prints, and its exit codes."""

import json
from typing import Any

import pytest

from datasets_app.models import JobRun, Session, Source
from tests.operations.test_pull_source import receive
from tests.spans import make_span

pytestmark = pytest.mark.django_db(transaction=True)


def test_pull_source(manage: Any) -> None:
    source = Source.objects.create(name="apps", kind="otlp", dataset_name="prod", only_models="gpt-*")
    receive(source, make_span(1, 1), make_span(2, 1), make_span(3, 1, attributes=[]))
    dry = manage("pull_source", "apps", "--dry-run")
    assert (dry.returncode, dry.stdout) == (
        0,
        "apps: 2 conversations read; 2 sessions would be added to prod.\n",
    )
    assert not Session.objects.exists()
    assert manage("pull_source", "apps").stdout == ("apps: 2 conversations read; 2 sessions added to prod.\n")
    again = manage("pull_source", "apps", "--since", "2026-11-01")
    assert again.stdout == "apps: 0 conversations read; 0 sessions added to prod.\n"
    jobs = JobRun.objects.filter(operation="pull_source")
    assert [job.state for job in jobs] == ["done"] * 3
    assert json.dumps([job.parameters for job in jobs]).count('"since": null') == 2


def test_what_can_not_run(manage: Any) -> None:
    Source.objects.create(name="dumps", kind="folder", dataset_name="prod", location="/nowhere")
    for arguments, message in (
        (["none"], "There is no source 'none'. Use one of these: dumps."),
        (["dumps"], "Sources may not read there."),
        (["dumps", "--since", "yesterday"], "--since takes a date"),
        (["dumps", "--since", "2026-13-01"], "--since takes a date"),
    ):
        result = manage("pull_source", *arguments)
        assert result.returncode == 2
        assert message in result.stderr
