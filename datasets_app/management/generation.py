"""bootstrap_dataset, from its arguments to what it tells."""

import os
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from django.conf import settings

from datasets_app.catalog.personas import DEFAULT_ID, Read, default_persona, named_persona, persona_of
from datasets_app.domain.conversations.lines import Limits, UnreadableFile
from datasets_app.domain.conversations.reading import ConversationFile
from datasets_app.domain.generation.offline import OfflineWriter
from datasets_app.domain.generation.plan import Plan, Profile
from datasets_app.domain.generation.source_profile import SourceError, profile
from datasets_app.domain.metadata.metadata import metadata_path
from datasets_app.domain.personas.persona import PersonaDocument
from datasets_app.generating.bootstrap_by_model import offline_or_none
from datasets_app.generating.bootstrap_dataset import (
    bootstrap_dataset,
    bootstrap_file,
    offline_writer,
    plan_for,
    provenance_of,
    wish_of,
    write_lines,
    written_sessions,
)
from datasets_app.generating.factory import is_model
from datasets_app.management import generation_by_model, terminal
from datasets_app.management.files import read_text
from datasets_app.management.terminal import could_not_run, counted


class Call(NamedTuple):
    """What was asked for, read and looked over; ``plan`` is that of the offline writer."""

    given: dict[str, Any]
    persona: PersonaDocument
    persona_sha256: str
    profile: Profile | None
    writer: OfflineWriter
    stdout: Any
    stderr: Any


def run(given: dict[str, Any], stdout: Any, stderr: Any) -> None:
    _check(given)
    persona, sha256 = _persona(given["persona"])
    source = _profile(given["source"]) if given["source"] else None
    if is_model(given["model"]):
        _by_model(given, persona, sha256, source, stdout, stderr)
        return
    call = Call(given, persona, sha256, source, offline_writer(persona), stdout, stderr)
    plan = plan_for(_wish(call), call.writer, persona_sha256=sha256, profile=source)
    if given["dataset"] is not None:
        _into_dataset(call, plan)
    elif given["out"] == "-":
        _to_standard_output(call, plan)
    else:
        _into_file(call, plan)


def _check(given: dict[str, Any]) -> None:
    if given["labels"] and (given["out"] in (None, "-")):
        raise could_not_run("--labels goes with --out FILE.")
    if given["labels"]:
        labels, out = (metadata_path(Path(given[name]).resolve()) for name in ("labels", "out"))
        if labels == out:
            raise could_not_run(
                "--labels and --out would share a metadata file; give the labels another name."
            )
    if given["out"] not in (None, "-") and Path(given["out"]).is_dir():
        raise could_not_run(f"{given['out']} is a directory; name a file in it.")


def _by_model(
    given: dict[str, Any],
    persona: PersonaDocument,
    sha256: str,
    source: Profile | None,
    stdout: Any,
    stderr: Any,
) -> None:
    writer = generation_by_model.model_writer(given, persona)
    wish = wish_of(_asked(given), persona, offline_or_none(persona))
    plan = plan_for(wish, writer, persona_sha256=sha256, profile=source)
    work = generation_by_model.into_file
    if given["dataset"] is not None:
        work = generation_by_model.into_dataset
    work(
        given,
        plan,
        writer,
        lambda: provenance_of(plan, writer, persona=persona, persona_sha256=sha256),
        stdout,
        stderr,
    )


def _persona(given: str | None) -> Read:
    """A file if there is one of that name or it looks like one, else an id."""
    if given is None:
        return default_persona()
    if Path(given).exists() or os.sep in given or given.lower().endswith((".yaml", ".yml")):
        return persona_of(read_text(given), given)
    return default_persona() if given == DEFAULT_ID else named_persona(given)


def _profile(given: str) -> Profile:
    progress = terminal.Progress(f"Reading {given}")
    with terminal.local_file(given) as path:
        try:
            limits = Limits(settings.MAX_LINE_BYTES, settings.MAX_UNPACKED_BYTES)
            file = ConversationFile(path, limits=limits, name=Path(given).name)
            return profile(file, lambda done: progress(done, file.bytes_total))
        except (UnreadableFile, SourceError) as error:
            raise could_not_run(f"{given}: {error}.".replace("..", ".")) from None
        finally:
            progress.clear()


def _wish(call: Call) -> Any:
    return wish_of(_asked(call.given), call.persona, call.writer)


def _asked(given: dict[str, Any]) -> dict[str, Any]:
    names = ("sessions", "safety_trap_ratio", "brand_trap_ratio", "edge_case_share", "seed", "persona_id")
    return {name: given[name] for name in names} | {"turns": given["turns_per_session"]}


def _provenance(call: Call, plan: Plan) -> dict[str, Any]:
    return provenance_of(plan, call.writer, persona=call.persona, persona_sha256=call.persona_sha256)


def _into_file(call: Call, plan: Plan) -> None:
    given = call.given
    progress = terminal.Progress("Writing", "sessions")
    try:
        result = bootstrap_file(
            plan,
            call.writer,
            Path(given["out"]),
            provenance=_provenance(call, plan),
            labels=Path(given["labels"]) if given["labels"] else None,
            licence=given["license"],
            report_progress=progress,
        )
    finally:
        progress.clear()
    _tell_plan(call, plan)
    call.stdout.write(
        f"{given['out']}: {counted(result.turns, 'turn')} in {counted(result.sessions, 'session')}. "
        f"sha256 {result.sha256}"
    )
    if result.labels:
        on, off = result.labels
        call.stdout.write(
            f"{given['labels']}: {counted(on + off, 'label')}, {on:,} on-brand and {off:,} off."
        )


def _to_standard_output(call: Call, plan: Plan) -> None:
    with ExitStack() as stack:
        sessions = written_sessions(plan, call.writer, terminal.Progress("Writing", "sessions"))
        stack.callback(sessions.close)
        target = terminal.standard_output()
        write_lines(sessions, target)
        target.flush()


def _into_dataset(call: Call, plan: Plan) -> None:
    from datasets_app.jobs import runs

    name, progress = call.given["dataset"], terminal.Progress("Writing", "sessions")
    try:
        result = runs.run_here_in_steps(
            "bootstrap_dataset",
            lambda row, report: bootstrap_dataset(
                name,
                plan,
                call.writer,
                provenance=_provenance(call, plan),
                licence=call.given["license"],
                report_progress=report,
            ),
            dataset_name=name,
            parameters={
                "sessions": len(plan),
                "seed": plan.wish.seed,
                "persona": call.persona.id,
                "plan": plan.digest,
            },
            report_progress=progress,
        )
    finally:
        progress.clear()
    _tell_plan(call, plan)
    there = result["sessions_already_there"]
    known = f" {counted(there, 'session')} stood there already." if there else ""
    added = f"{counted(result['turns'], 'turn')} in {counted(result['sessions'], 'session')} added."
    call.stdout.write(f"{name}: {added}{known}")


def _tell_plan(call: Call, plan: Plan) -> None:
    safety, brand, edge, ordinary = plan.counts
    call.stdout.write(
        f"Planned: {counted(safety, 'safety trap')}, {counted(brand, 'brand trap')}, "
        f"{counted(edge, 'look-alike')}, {ordinary:,} ordinary; plan {plan.digest[:12]}."
    )
