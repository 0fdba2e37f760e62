"""bootstrap_dataset with a model, in processes of its own, against a real endpoint."""

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from datasets_app.domain.metadata.metadata import metadata_path, read_metadata
from datasets_app.models import AuditEvent, Dataset, JobRun
from tests import preloaded
from tests.llm_server import FAULTS, LlmServer
from tests.terminal import decode_output, run_in_process

KEY = "sk-planted-77aa01"
NO_DATABASE = {"DATABASE_URL": "postgresql:///nowhere?host=/nowhere", "REDIS_URL": "unix:///nowhere"}


@pytest.fixture
def bootstrap(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """The command on files, where there is no database."""

    def run(server: LlmServer, *arguments: Any) -> subprocess.CompletedProcess[str]:
        return preloaded.run(*given(server, *arguments), text=True, cwd=tmp_path, env=environment())

    return run


@pytest.fixture
def here(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """The same in this process."""
    settings.LLM_TIMEOUT = 1
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return lambda server, *arguments: decode_output(run_in_process(*given(server, *arguments), cwd=tmp_path))


def given(server: LlmServer, *arguments: Any) -> list[str]:
    return ["bootstrap_dataset", "--model", "openai:tiny", "--base-url", server.url, *map(str, arguments)]


def environment() -> dict[str, str]:
    return {
        **os.environ,
        **NO_DATABASE,
        "OPENAI_API_KEY": KEY,
        "ALIGNMENTER_LLM_TIMEOUT": "1",
        "LOG_LEVEL": "DEBUG",
        "OPENAI_LOG": "debug",
    }


def test_a_file_is_written_named_what_failed_and_gone_on_with(bootstrap: Any, tmp_path: Path) -> None:
    out = tmp_path / "made.jsonl"
    asked_for = ("--out", out, "--sessions", 24, "--seed", 3, "--labels", tmp_path / "labels.jsonl")
    with LlmServer(key=KEY, first=["wrong_schema"] * 16, latency=0.02) as server:
        first = bootstrap(server, *asked_for, "--concurrency", 1)
        assert first.returncode == 1, first.stderr
        assert "8 sessions failed. Run the same command with --resume to continue." in first.stderr
        assert first.stderr.count("7 turns instead of 6 (and 6 more)") == 8
        assert "96 turns in 16 sessions" in first.stdout
        stated = read_metadata(metadata_path(out))
        assert stated is not None
        assert stated.extra["failed_sessions"] == 8
        assert stated.safety_traps == count(out, "scenario:safety_trap")
        for again, said in (((), "16 finished sessions of an earlier run"), (("--seed", 4), "another plan")):
            refused = bootstrap(server, *asked_for, *again)
            assert (refused.returncode, said in refused.stderr) == (2, True), refused.stderr
        last = bootstrap(server, *asked_for, "--resume")
        assert last.returncode == 0, last.stderr
        assert set(server.answered().values()) == {1}
        asked = len(server.asked)
        whole = bootstrap(server, *asked_for)
        assert (whole.returncode, "may have been paid for" in whole.stderr) == (2, True)
        assert "the model was not called" in bootstrap(server, *asked_for, "--resume").stdout
        assert len(server.asked) == asked
    assert not (tmp_path / "made.jsonl.journal").exists()
    stated = read_metadata(metadata_path(out))
    assert stated is not None
    assert (stated.generator, stated.model, stated.total_sessions) == ("openai-compatible", "tiny", 24)
    assert (stated.safety_traps, stated.brand_traps, stated.seed) == (4, 5, 3)
    told = stated.extra
    assert told["tokens"] == {"prompt": told["tokens"]["prompt"], "completion": told["tokens"]["completion"]}
    assert sum(told["tokens"].values()) == server.tokens
    assert (told["endpoint"], told["calls"]) == (f"127.0.0.1:{server.port}", asked)
    assert {"prompt_sha256", "generated_at", "plan", "persona"} <= told.keys()
    assert "failed_sessions" not in told
    numbers = [json.loads(line)["session_id"] for line in out.read_text().splitlines()]
    assert numbers == sorted(numbers)
    checked = preloaded.run("validate_dataset", out, "--strict", text=True, env=environment())
    assert checked.returncode == 0, checked.stdout
    everything = [first, last, whole]
    told_all = "".join(each.stdout + each.stderr for each in everything)
    told_all += "".join(path.read_text() for path in tmp_path.iterdir())
    assert "planted-" not in told_all


def count(path: Path, tag: str) -> int:
    turns = map(json.loads, path.read_text().splitlines())
    return len({turn["session_id"] for turn in turns if tag in turn["tags"]})


def test_a_killed_command_is_gone_on_with_and_one_that_is_stopped_says_how(
    bootstrap: Any, tmp_path: Path, wait_until: Any
) -> None:
    out = tmp_path / "made.jsonl"
    asked_for = ("--out", out, "--sessions", 40, "--concurrency", 4)
    journal = tmp_path / "made.jsonl.journal"

    def finished() -> int:
        return journal.read_bytes().count(b'"texts"') if journal.exists() else 0

    with LlmServer(latency=0.05, faults=FAULTS, share=0.01, seed=4) as server:
        for number, (ending, wanted) in enumerate([(signal.SIGKILL, 8), (signal.SIGTERM, 20)]):
            process = preloaded.Popen(
                *given(server, *asked_for, *(["--resume"] if number else [])),
                cwd=tmp_path,
                env=environment(),
                stderr=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                text=True,
            )
            wait_until(lambda many=wanted: finished() >= many)
            process.send_signal(ending)
            said = process.communicate(timeout=30)[1]
            assert not out.exists()
            if ending != signal.SIGKILL:
                assert process.returncode == 130, said
                assert "run the same command with --resume" in said
                assert "Traceback" not in said
        kept = finished()
        last = bootstrap(server, *asked_for, "--resume")
    assert last.returncode in {0, 1}, last.stderr
    answered = server.answered()
    # What was on its way at an end may be asked for once more: one answer for each call in flight.
    assert sum(answered.values()) - len(answered) <= 2 * 4
    assert 20 <= kept < 40
    assert count(out, "brand:on") >= 35


def test_the_budget_ends_a_run_with_a_sentence(here: Any, tmp_path: Path) -> None:
    out = tmp_path / "made.jsonl"
    asked_for = ("--out", out, "--sessions", 40, "--max-tokens-total", 8000)
    with LlmServer(latency=0.01) as server:
        ended = here(server, *asked_for)
        assert ended.returncode == 1
        assert "The token budget is spent" in ended.stderr
        assert "sessions left. Run the same command with --resume to continue." in ended.stderr
        assert server.tokens <= 8000
        asked = len(server.asked)
        assert here(server, *asked_for, "--resume").returncode == 1
        assert len(server.asked) == asked
    assert 0 < count(out, "brand:on") < 40


def test_a_key_that_is_not_accepted_leaves_nothing_behind(bootstrap: Any, tmp_path: Path) -> None:
    with LlmServer(key="sk-another") as server:
        refused = bootstrap(server, "--out", "made.jsonl", "--sessions", 9)
    assert refused.returncode == 2
    assert "The endpoint does not accept the key, or asks for one (401)" in refused.stderr
    assert "planted-" not in refused.stdout + refused.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--out", "-"), "can't write to standard output"),
        (("--out", "a.jsonl", "--model", "gpt-4o"), "openai:NAME"),
        (("--out", "a.jsonl", "--base-url", "http://me:hunter2@host/v1"), "no user and no password"),
        (("--out", "a.jsonl", "--temperature", "9"), "temperature must be"),
        (("--out", "nowhere/a.jsonl"), "No such file"),
    ],
)
def test_what_can_not_be_is_told(here: Any, arguments: tuple[str, ...], said: str) -> None:
    with LlmServer() as server:
        refused = here(server, "--sessions", 3, *arguments)
        assert server.asked == []
    assert (refused.returncode, said in refused.stderr) == (2, True), refused.stderr
    assert "hunter2" not in refused.stderr
    assert "Traceback" not in refused.stderr


# --- datasets and workers ----------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
def test_a_dataset_is_added_to_and_the_key_is_in_no_table(
    manage: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with LlmServer(key=KEY, first=["wrong_schema"] * 4) as server:
        given = ["bootstrap_dataset", "--dataset", "made", "--sessions", 10, "--model", "openai:tiny"]
        given += ["--base-url", server.url, "--concurrency", 1]
        first = manage(*given)
        assert first.returncode == 1, first.stderr
        assert "made: 8 sessions added." in first.stdout
        assert "2 sessions failed." in first.stderr
        again = manage(*given)
        assert (again.returncode, "already holds 8 sessions of this plan" in again.stderr) == (2, True)
        last = manage(*given, "--resume")
        assert last.returncode == 0, last.stderr
        assert "made: 2 sessions added. 8 sessions existed already." in last.stdout
        assert set(server.answered().values()) == {1}
    dataset = Dataset.objects.get(name="made")
    assert (dataset.session_count, dataset.turn_count, dataset.license) == (10, 60, "Apache-2.0")
    assert (dataset.provenance["safety_traps"], dataset.provenance["brand_traps"]) == (2, 2)
    assert "failures" not in dataset.provenance
    stored = [*JobRun.objects.values(), *AuditEvent.objects.values(), *Dataset.objects.values()]
    assert "planted-" not in str(stored) + first.stdout + first.stderr + last.stdout + last.stderr
