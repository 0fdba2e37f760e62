"""bootstrap_dataset with a model, from its arguments to what it tells."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from datasets_app.domain.generation.model_writer import ModelWriter
from datasets_app.domain.generation.plan import Plan
from datasets_app.generating.bootstrap_by_model import (
    ProvenanceSource,
    generate_dataset_with_model,
    generate_file_with_model,
)
from datasets_app.generating.factory import ModelRequest, make_model_writer
from datasets_app.generating.journal import journal_path
from datasets_app.management import terminal
from datasets_app.management.terminal import EXIT_FINDINGS, command_error, pluralize

MAX_FAILURES_SHOWN = 20


def build_model_writer(options: dict[str, Any], persona: Any) -> ModelWriter:
    wish = ModelRequest(
        options["model"],
        options["base_url"],
        options["temperature"],
        options["concurrency"],
        options["max_tokens_total"],
    )
    return make_model_writer(wish, actor=None, persona=persona)


class TokenProgress:
    """Progress of a model: the sessions there are, and the tokens they have taken."""

    def __init__(self, writer: ModelWriter) -> None:
        self._writer, self._shown = writer, terminal.Progress("Writing", "sessions")

    def __call__(self, done: int, total: int | None = None) -> None:
        self._shown.unit = f"sessions, {self._writer.used.total:,} tokens"
        self._shown(done, total)

    def clear(self) -> None:
        self._shown.clear()


def write_file(
    options: dict[str, Any],
    plan: Plan,
    writer: ModelWriter,
    provenance: ProvenanceSource,
    stdout: Any,
    stderr: Any,
) -> None:
    if options["out"] == "-":
        raise command_error("What a model writes goes into a file, so that it can be gone on with; name one.")
    out, progress = Path(options["out"]), TokenProgress(writer)
    try:
        generated, outcome = generate_file_with_model(
            plan,
            writer,
            out,
            provenance=provenance,
            resume=options["resume"],
            labels=Path(options["labels"]) if options["labels"] else None,
            license_id=options["license"],
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
            f"{out}: {pluralize(generated.turns, 'turn')} in {pluralize(generated.sessions, 'session')}. "
            f"sha256 {generated.sha256}"
        )
        if generated.labels:
            on, off = generated.labels
            stdout.write(
                f"{options['labels']}: {pluralize(on + off, 'label')}, {on:,} on-brand and {off:,} off."
            )
    elif outcome.is_complete:
        stdout.write(f"{out} is whole; nothing was asked for.")
    _print_outcome(outcome.as_facts(), [*outcome.failed], writer, stdout, stderr)


def write_dataset(
    options: dict[str, Any],
    plan: Plan,
    writer: ModelWriter,
    provenance: ProvenanceSource,
    stdout: Any,
    stderr: Any,
) -> None:
    from datasets_app.jobs import runs

    name, progress = options["dataset"], TokenProgress(writer)
    try:
        result = runs.run_in_foreground_steps(
            "bootstrap_dataset",
            lambda row, report: generate_dataset_with_model(
                name,
                plan,
                writer,
                provenance=provenance,
                resume=options["resume"],
                license_id=options["license"],
                job_run=row,
                report_progress=report,
            ),
            dataset_name=name,
            parameters={"sessions": len(plan), "seed": plan.request.seed, "model": options["model"]},
            report_progress=progress,
        )
    except KeyboardInterrupt:
        progress.clear()
        stderr.write("What is finished stays in the dataset; the same command with --resume goes on.")
        raise
    finally:
        progress.clear()
    there = result["sessions_already_there"]
    known = f" {pluralize(there, 'session')} stood there already." if there else ""
    stdout.write(f"{name}: {pluralize(result['sessions'], 'session')} added.{known}")
    failed = [tuple(each.split(": ", 1)) for each in result.get("failures", [])]
    _print_outcome(result, failed, writer, stdout, stderr)


def _print_outcome(
    facts: dict[str, Any], failed: list[tuple[str, ...]], writer: ModelWriter, stdout: Any, stderr: Any
) -> None:
    """What was used, and what is missing: then the exit code is 1."""
    used = writer.used
    if used.calls:
        guessed = f", {used.estimated:,} of them estimated" if used.estimated else ""
        stdout.write(
            f"{pluralize(used.total, 'token')} in {pluralize(used.calls, 'call')} of {writer.model}{guessed}."
        )
    for session_id, reason in failed[:MAX_FAILURES_SHOWN]:
        stderr.write(f"{session_id}: {reason}")
    count, left = facts.get("failed_sessions", 0), facts.get("sessions_left", 0)
    if count > MAX_FAILURES_SHOWN:
        stderr.write(f"… and {count - MAX_FAILURES_SHOWN:,} more.")
    if not (count or left):
        return
    if not writer.used.total and not facts.get("sessions"):
        raise command_error(facts.get("stopped") or "No session was written.")
    parts = [f"{pluralize(count, 'session')} failed."] if count else []
    parts += [f"{facts['stopped']} {pluralize(left, 'session')} left."] if left else []
    raise CommandError(f"{' '.join(parts)} The same command with --resume goes on.", returncode=EXIT_FINDINGS)
