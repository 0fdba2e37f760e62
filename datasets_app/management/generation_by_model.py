"""bootstrap_dataset with a model, from its arguments to what it tells."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from datasets_app.domain.generation.model_writer import ModelWriter
from datasets_app.domain.generation.plan import Plan
from datasets_app.generating.bootstrap_by_model import Provenance, dataset_by_model, file_by_model
from datasets_app.generating.factory import ModelWish, make_model_writer
from datasets_app.generating.journal import journal_path
from datasets_app.management import terminal
from datasets_app.management.terminal import FINDINGS, could_not_run, counted

FAILURES_TOLD = 20


def model_writer(given: dict[str, Any], persona: Any) -> ModelWriter:
    wish = ModelWish(
        given["model"],
        given["base_url"],
        given["temperature"],
        given["concurrency"],
        given["max_tokens_total"],
    )
    return make_model_writer(wish, actor=None, persona=persona)


class TokensToo:
    """Progress of a model: the sessions there are, and the tokens they have taken."""

    def __init__(self, writer: ModelWriter) -> None:
        self._writer, self._shown = writer, terminal.Progress("Writing", "sessions")

    def __call__(self, done: int, total: int | None = None) -> None:
        self._shown.unit = f"sessions, {self._writer.used.total:,} tokens"
        self._shown(done, total)

    def clear(self) -> None:
        self._shown.clear()


def into_file(
    given: dict[str, Any], plan: Plan, writer: ModelWriter, provenance: Provenance, stdout: Any, stderr: Any
) -> None:
    if given["out"] == "-":
        raise could_not_run("What a model writes goes into a file, so that it can be gone on with; name one.")
    out, progress = Path(given["out"]), TokensToo(writer)
    try:
        generated, outcome = file_by_model(
            plan,
            writer,
            out,
            provenance=provenance,
            resume=given["resume"],
            labels=Path(given["labels"]) if given["labels"] else None,
            licence=given["license"],
            report_progress=progress,
        )
    except KeyboardInterrupt:
        progress.clear()
        stderr.write(f"What is finished is in {journal_path(out)}; the same command with --resume goes on.")
        raise
    finally:
        progress.clear()
    if generated is not None:
        stdout.write(
            f"{out}: {counted(generated.turns, 'turn')} in {counted(generated.sessions, 'session')}. "
            f"sha256 {generated.sha256}"
        )
        if generated.labels:
            on, off = generated.labels
            stdout.write(f"{given['labels']}: {counted(on + off, 'label')}, {on:,} on-brand and {off:,} off.")
    elif outcome.is_whole:
        stdout.write(f"{out} is whole; nothing was asked for.")
    _tell(outcome.as_facts(), [*outcome.failed], writer, stdout, stderr)


def into_dataset(
    given: dict[str, Any],
    plan: Plan,
    writer: ModelWriter,
    provenance: Provenance,
    stdout: Any,
    stderr: Any,
) -> None:
    from datasets_app.jobs import runs

    name, progress = given["dataset"], TokensToo(writer)
    try:
        result = runs.run_here_in_steps(
            "bootstrap_dataset",
            lambda row, report: dataset_by_model(
                name,
                plan,
                writer,
                provenance=provenance,
                resume=given["resume"],
                licence=given["license"],
                job_run=row,
                report_progress=report,
            ),
            dataset_name=name,
            parameters={"sessions": len(plan), "seed": plan.wish.seed, "model": given["model"]},
            report_progress=progress,
        )
    except KeyboardInterrupt:
        progress.clear()
        stderr.write("What is finished stays in the dataset; the same command with --resume goes on.")
        raise
    finally:
        progress.clear()
    there = result["sessions_already_there"]
    known = f" {counted(there, 'session')} stood there already." if there else ""
    stdout.write(f"{name}: {counted(result['sessions'], 'session')} added.{known}")
    failed = [tuple(each.split(": ", 1)) for each in result.get("failures", [])]
    _tell(result, failed, writer, stdout, stderr)


def _tell(
    facts: dict[str, Any], failed: list[tuple[str, ...]], writer: ModelWriter, stdout: Any, stderr: Any
) -> None:
    """What was used, and what is missing: then the exit code is 1."""
    used = writer.used
    if used.calls:
        guessed = f", {used.estimated:,} of them estimated" if used.estimated else ""
        stdout.write(
            f"{counted(used.total, 'token')} in {counted(used.calls, 'call')} of {writer.model}{guessed}."
        )
    for session_id, reason in failed[:FAILURES_TOLD]:
        stderr.write(f"{session_id}: {reason}")
    count, left = facts.get("failed_sessions", 0), facts.get("sessions_left", 0)
    if count > FAILURES_TOLD:
        stderr.write(f"… and {count - FAILURES_TOLD:,} more.")
    if not (count or left):
        return
    if not writer.used.total and not facts.get("sessions"):
        raise could_not_run(facts.get("stopped") or "No session was written.")
    parts = [f"{counted(count, 'session')} failed."] if count else []
    parts += [f"{facts['stopped']} {counted(left, 'session')} left."] if left else []
    raise CommandError(f"{' '.join(parts)} The same command with --resume goes on.", returncode=FINDINGS)
