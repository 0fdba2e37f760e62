"""bootstrap_dataset, from its arguments to what it tells."""

import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings

from datasets_app.catalog.personas import (
    DEFAULT_ID,
    LoadedPersona,
    load_default_persona,
    load_persona,
    parse_persona_text,
)
from datasets_app.domain.conversations.lines import Limits, UnreadableFile
from datasets_app.domain.conversations.reading import ConversationFile
from datasets_app.domain.generation.offline import OfflineWriter
from datasets_app.domain.generation.plan import Plan, Profile
from datasets_app.domain.generation.source_profile import SourceError, build_profile
from datasets_app.domain.metadata.metadata import metadata_path
from datasets_app.domain.personas.persona import PersonaDocument
from datasets_app.generating.bootstrap_by_model import try_offline_writer
from datasets_app.generating.bootstrap_dataset import (
    bootstrap_dataset,
    bootstrap_file,
    build_provenance,
    build_request,
    generate_sessions,
    make_offline_writer,
    make_plan,
    write_lines,
)
from datasets_app.generating.factory import is_model
from datasets_app.management import generation_by_model, terminal
from datasets_app.management.files import read_text
from datasets_app.management.terminal import command_error, pluralize


class BootstrapCall(NamedTuple):
    """What was asked for, read and looked over; ``plan`` is that of the offline writer."""

    given: dict[str, Any]
    persona: PersonaDocument
    persona_sha256: str
    profile: Profile | None
    writer: OfflineWriter
    stdout: Any
    stderr: Any


def run(options: dict[str, Any], stdout: Any, stderr: Any) -> None:
    _check_options(options)
    persona, sha256 = _load_persona(options["persona"])
    source = _load_profile(options["source"]) if options["source"] else None
    if is_model(options["model"]):
        _write_with_model(options, persona, sha256, source, stdout, stderr)
        return
    call = BootstrapCall(options, persona, sha256, source, make_offline_writer(persona), stdout, stderr)
    plan = make_plan(_build_request(call), call.writer, persona_sha256=sha256, profile=source)
    if options["dataset"] is not None:
        _write_dataset(call, plan)
    elif options["out"] == "-":
        _write_stdout(call, plan)
    else:
        _write_file(call, plan)


def _check_options(options: dict[str, Any]) -> None:
    if options["labels"] and (options["out"] in (None, "-")):
        raise command_error("--labels goes with --out FILE.")
    if options["labels"]:
        labels, out = (metadata_path(Path(options[name]).resolve()) for name in ("labels", "out"))
        if labels == out:
            raise command_error(
                "--labels and --out would share a metadata file; give the labels another name."
            )
    if options["out"] not in (None, "-") and Path(options["out"]).is_dir():
        raise command_error(f"{options['out']} is a directory; name a file in it.")


def _write_with_model(
    options: dict[str, Any],
    persona: PersonaDocument,
    sha256: str,
    source: Profile | None,
    stdout: Any,
    stderr: Any,
) -> None:
    writer = generation_by_model.build_model_writer(options, persona)
    wish = build_request(_request_options(options), persona, try_offline_writer(persona))
    plan = make_plan(wish, writer, persona_sha256=sha256, profile=source)
    work = generation_by_model.write_file
    if options["dataset"] is not None:
        work = generation_by_model.write_dataset
    work(
        options,
        plan,
        writer,
        lambda: build_provenance(plan, writer, persona=persona, persona_sha256=sha256),
        stdout,
        stderr,
    )


def _load_persona(path_or_id: str | None) -> LoadedPersona:
    """A file if there is one of that name or it looks like one, else an id."""
    if path_or_id is None:
        return load_default_persona()
    if Path(path_or_id).exists() or os.sep in path_or_id or path_or_id.lower().endswith((".yaml", ".yml")):
        return parse_persona_text(read_text(path_or_id), path_or_id)
    return load_default_persona() if path_or_id == DEFAULT_ID else load_persona(path_or_id)


def _load_profile(file_name: str) -> Profile:
    progress = terminal.Progress(f"Reading {file_name}")
    with terminal.provide_local_file(file_name) as path:
        try:
            limits = Limits(settings.MAX_LINE_BYTES, settings.MAX_UNPACKED_BYTES)
            file = ConversationFile(path, limits=limits, name=Path(file_name).name)
            return build_profile(file, lambda done: progress(done, file.bytes_total))
        except (UnreadableFile, SourceError) as error:
            raise command_error(f"{file_name}: {error}.".replace("..", ".")) from None
        finally:
            progress.clear()


def _build_request(call: BootstrapCall) -> Any:
    return build_request(_request_options(call.given), call.persona, call.writer)


def _request_options(options: dict[str, Any]) -> dict[str, Any]:
    names = ("sessions", "safety_trap_ratio", "brand_trap_ratio", "edge_case_share", "seed", "persona_id")
    return {name: options[name] for name in names} | {"turns": options["turns_per_session"]}


def _build_provenance(call: BootstrapCall, plan: Plan) -> dict[str, Any]:
    return build_provenance(plan, call.writer, persona=call.persona, persona_sha256=call.persona_sha256)


def _write_file(call: BootstrapCall, plan: Plan) -> None:
    given = call.given
    progress = terminal.Progress("Writing", "sessions")
    try:
        result = bootstrap_file(
            plan,
            call.writer,
            Path(given["out"]),
            provenance=_build_provenance(call, plan),
            labels=Path(given["labels"]) if given["labels"] else None,
            license_id=given["license"],
            report_progress=progress,
        )
    finally:
        progress.clear()
    _print_plan(call, plan)
    call.stdout.write(
        f"{given['out']}: {pluralize(result.turns, 'turn')} in {pluralize(result.sessions, 'session')}. "
        f"sha256 {result.sha256}"
    )
    if result.labels:
        on, off = result.labels
        call.stdout.write(
            f"{given['labels']}: {pluralize(on + off, 'label')}, {on:,} on-brand and {off:,} off."
        )


def _write_stdout(call: BootstrapCall, plan: Plan) -> None:
    with ExitStack() as stack:
        sessions = generate_sessions(plan, call.writer, terminal.Progress("Writing", "sessions"))
        stack.callback(sessions.close)
        target = terminal.get_standard_output()
        write_lines(sessions, target)
        target.flush()


def _write_dataset(call: BootstrapCall, plan: Plan) -> None:
    from datasets_app.jobs import runs

    name, progress = call.given["dataset"], terminal.Progress("Writing", "sessions")
    try:
        result = runs.run_in_foreground_steps(
            "bootstrap_dataset",
            lambda row, report: bootstrap_dataset(
                name,
                plan,
                call.writer,
                provenance=_build_provenance(call, plan),
                license_id=call.given["license"],
                report_progress=report,
            ),
            dataset_name=name,
            parameters={
                "sessions": len(plan),
                "seed": plan.request.seed,
                "persona": call.persona.id,
                "plan": plan.digest,
            },
            report_progress=progress,
        )
    finally:
        progress.clear()
    _print_plan(call, plan)
    there = result["sessions_already_there"]
    known = f" {pluralize(there, 'session')} stood there already." if there else ""
    added = f"{pluralize(result['turns'], 'turn')} in {pluralize(result['sessions'], 'session')} added."
    call.stdout.write(f"{name}: {added}{known}")


def _print_plan(call: BootstrapCall, plan: Plan) -> None:
    safety, brand, edge, ordinary = plan.counts
    call.stdout.write(
        f"Planned: {pluralize(safety, 'safety trap')}, {pluralize(brand, 'brand trap')}, "
        f"{pluralize(edge, 'look-alike')}, {ordinary:,} ordinary; plan {plan.digest[:12]}."
    )
