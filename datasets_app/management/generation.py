"""bootstrap_dataset: from its options to what it prints, for both kinds of writer."""

import os
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from django.core.management.base import CommandError

from datasets_app.catalog.personas import (
    DEFAULT_ID,
    LoadedPersona,
    load_default_persona,
    load_persona,
    parse_persona_text,
)
from datasets_app.command_line.streams import EXIT_FINDINGS, Progress, get_standard_output
from datasets_app.domain.conversations.jsonl import encode_turn
from datasets_app.domain.generation.model_writer import ModelWriter
from datasets_app.domain.generation.plan import SESSION_KINDS, Profile
from datasets_app.domain.generation.source_profile import SourceError, build_profile
from datasets_app.domain.metadata.metadata import metadata_path
from datasets_app.domain.wording import format_count
from datasets_app.generating.bootstrap_by_model import generate_dataset, generate_file_with_model
from datasets_app.generating.bootstrap_dataset import GenerationResult, bootstrap_file, generate_sessions
from datasets_app.generating.generation import Generation, prepare_generation
from datasets_app.generating.journal import journal_path
from datasets_app.generating.parameters import GenerationParameters
from datasets_app.jobs.perform import run_job
from datasets_app.management.base import BaseCommand
from datasets_app.management.files import (
    check_metadata_target,
    check_target,
    open_conversations,
    read_text,
    refuse_folder,
)
from datasets_app.management.terminal import command_error, print_limited
from datasets_app.model_calls.requests import is_model

MAX_FAILURES_SHOWN = 20


class GenerationCall(NamedTuple):
    """A checked call of the command; ``options`` are those of the command line."""

    command: BaseCommand
    options: dict[str, Any]
    generation: Generation

    @property
    def file_options(self) -> dict[str, Any]:
        labels = self.options["labels"]
        return {"labels": Path(labels) if labels else None, "license_id": self.options["license"]}

    def print(self, line: str) -> None:
        self.command.stdout.write(line)


def run(command: BaseCommand, options: dict[str, Any]) -> None:
    _check_options(options)
    profile = _load_profile(options["source"]) if options["source"] else None
    generation = prepare_generation(
        _load_persona(options["persona"]),
        GenerationParameters.from_options(options, turns=options["turns_per_session"]),
        actor=None,
        persona_id=options["persona_id"],
        profile=profile,
    )
    call, writer = GenerationCall(command, options, generation), generation.writer
    if isinstance(writer, ModelWriter):
        (_write_file_with_model if options["dataset"] is None else _write_dataset_with_model)(call, writer)
    elif options["dataset"] is not None:
        _write_dataset(call)
    elif options["out"] == "-":
        _write_stdout(call)
    else:
        _write_file(call)


def _check_options(options: dict[str, Any]) -> None:
    out, labels = options["out"], options["labels"]
    if labels and out in (None, "-"):
        raise command_error("Labels are written beside a file of conversations; name one with --out FILE.")
    if labels and metadata_path(Path(labels).resolve()) == metadata_path(Path(out).resolve()):
        raise command_error("--labels and --out would share a metadata file; give the labels another name.")
    refuse_folder(out)
    if options["source"] and out not in (None, "-"):
        check_target(out, options["source"])
        check_metadata_target(out, options["source"])
    if out == "-" and is_model(options["model"]):
        raise command_error(
            "A model can't write to standard output, because an interrupted run must be resumable; "
            "name a file with --out."
        )


def _load_persona(path_or_id: str | None) -> LoadedPersona:
    """A file if one of that name exists or it looks like a file's name, else a persona id."""
    if path_or_id is None or (path_or_id == DEFAULT_ID and not Path(path_or_id).exists()):
        return load_default_persona()
    if Path(path_or_id).exists() or os.sep in path_or_id or path_or_id.lower().endswith((".yaml", ".yml")):
        return parse_persona_text(read_text(path_or_id), path_or_id)
    return load_persona(path_or_id)


def _load_profile(file_name: str) -> Profile:
    with open_conversations(file_name) as file, Progress(f"Reading {file_name}") as progress:
        try:
            return build_profile(file, lambda done: progress(done, file.bytes_total))
        except SourceError as error:
            raise command_error(f"{file_name}: {str(error).rstrip('.')}.") from None


# --- by the offline writer -------------------------------------------------------------------------


def _write_file(call: GenerationCall) -> None:
    out = Path(call.options["out"])
    with Progress("Writing", "sessions") as progress:
        result = bootstrap_file(call.generation, out, report_progress=progress, **call.file_options)
    _print_plan(call)
    _print_file(call, result)


def _write_stdout(call: GenerationCall) -> None:
    with closing(generate_sessions(call.generation, Progress("Writing", "sessions"))) as sessions:
        target = get_standard_output()
        for session in sessions:
            target.write(b"".join(map(encode_turn, session)))
        target.flush()


def _write_dataset(call: GenerationCall) -> None:
    name, plan = call.options["dataset"], call.generation.plan
    result = _run_job(
        call, Progress("Writing", "sessions"), persona=call.generation.persona.id, plan=plan.digest
    )
    _print_plan(call)
    added = f"{format_count(result['turns'], 'turn')} in {format_count(result['sessions'], 'session')}"
    call.print(f"{name}: {added} added.{_existing_sessions(result)}")


def _run_job(call: GenerationCall, progress: Progress, **parameters: Any) -> dict[str, Any]:
    name, plan = call.options["dataset"], call.generation.plan
    return run_job(
        "bootstrap_dataset",
        lambda job: generate_dataset(
            name,
            call.generation,
            resume=call.options["resume"],
            license_id=call.options["license"],
            job_run=job.row,
            report_progress=job.report_progress,
        ),
        progress=progress,
        dataset_name=name,
        parameters=GenerationParameters(sessions=len(plan), seed=plan.request.seed, **parameters),
    )


# --- by a model ------------------------------------------------------------------------------------


class TokenProgress(Progress):
    """Shows the tokens a model has used as well."""

    def __init__(self, writer: ModelWriter) -> None:
        super().__init__("Writing", "sessions")
        self._writer = writer

    def __call__(self, done: int, total: int | None = None) -> None:
        self.unit = f"sessions, {self._writer.used.total:,} tokens"
        super().__call__(done, total)


def _write_file_with_model(call: GenerationCall, writer: ModelWriter) -> None:
    out = Path(call.options["out"])
    try:
        with TokenProgress(writer) as progress:
            result, outcome = generate_file_with_model(
                call.generation,
                writer,
                out,
                resume=call.options["resume"],
                report_progress=progress,
                **call.file_options,
            )
    except KeyboardInterrupt:
        call.command.stderr.write(
            f"Finished sessions are kept in {journal_path(out)}; run the same command with --resume."
        )
        raise
    if result is not None:
        _print_file(call, result)
    elif outcome.is_complete:
        call.print(f"{out} is complete; the model was not called.")
    _print_outcome(call, outcome.as_facts(), [*outcome.failed], writer)


def _write_dataset_with_model(call: GenerationCall, writer: ModelWriter) -> None:
    name = call.options["dataset"]
    try:
        result = _run_job(call, TokenProgress(writer), model=call.options["model"])
    except KeyboardInterrupt:
        call.command.stderr.write(
            "Finished sessions are kept in the dataset; run the same command with --resume."
        )
        raise
    call.print(f"{name}: {format_count(result['sessions'], 'session')} added.{_existing_sessions(result)}")
    failures = [tuple(line.split(": ", 1)) for line in result.get("failures", [])]
    _print_outcome(call, result, failures, writer)


# --- output ----------------------------------------------------------------------------------------


def _print_plan(call: GenerationCall) -> None:
    plan = call.generation.plan
    safety, brand, edge, ordinary = (plan.counts[kind] for kind in SESSION_KINDS)
    call.print(
        f"Planned: {format_count(safety, 'safety trap')}, {format_count(brand, 'brand trap')}, "
        f"{format_count(edge, 'over-refusal probe')}, {ordinary:,} ordinary; plan {plan.digest[:12]}."
    )


def _print_file(call: GenerationCall, result: GenerationResult) -> None:
    call.print(
        f"{call.options['out']}: {format_count(result.turns, 'turn')} in "
        f"{format_count(result.sessions, 'session')}. sha256 {result.sha256}"
    )
    if result.labels:
        on, off = result.labels
        call.print(
            f"{call.options['labels']}: {format_count(on + off, 'label')}, {on:,} on-brand and {off:,} off."
        )


def _existing_sessions(result: dict[str, Any]) -> str:
    count = result["sessions_already_there"]
    return f" {format_count(count, 'session')} existed already." if count else ""


def _print_outcome(
    call: GenerationCall, facts: dict[str, Any], failures: list[tuple[str, ...]], writer: ModelWriter
) -> None:
    """Print what was used and what is missing; raises with exit code 1 if anything is."""
    used = writer.used
    if used.calls:
        estimated = f", {used.estimated:,} of them estimated" if used.estimated else ""
        call.print(
            f"{format_count(used.total, 'token')} in {format_count(used.calls, 'call')} of "
            f"{writer.model.name}{estimated}."
        )
    failed, missing = facts.get("failed_sessions", 0), facts.get("sessions_left", 0)
    lines = [f"{session_id}: {reason}" for session_id, reason in failures[:MAX_FAILURES_SHOWN]]
    print_limited(lines, failed, call.command.stderr.write)
    if not (failed or missing):
        return
    if not used.total and not facts.get("sessions"):
        raise command_error(facts.get("stopped") or "No session was written.")
    parts = [f"{format_count(failed, 'session')} failed."] if failed else []
    parts += [f"{facts['stopped']} {format_count(missing, 'session')} left."] if missing else []
    raise CommandError(
        f"{' '.join(parts)} Run the same command with --resume to continue.", returncode=EXIT_FINDINGS
    )
