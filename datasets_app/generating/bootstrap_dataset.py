"""Sessions of a plan, written and put into a file or into a dataset, with where they are from."""

from collections.abc import Generator, Iterable
from contextlib import ExitStack, closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

from django.db import transaction

from datasets_app.catalog import facts
from datasets_app.catalog.files import (
    DigestWriter,
    TurnFileWriter,
    gzip_writer,
    write_turn_file,
    write_with_metadata,
)
from datasets_app.catalog.tombstones import ErasedSessions
from datasets_app.core import audit
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.conversations.jsonl import encode_line
from datasets_app.domain.conversations.reading import data_stem
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.generation.plan import OFF_BRAND, ON_BRAND
from datasets_app.domain.generation.writer import WrittenSession
from datasets_app.domain.metadata.metadata import METADATA_FIELDS, DatasetMetadata, render_metadata
from datasets_app.generating.generation import Generation
from datasets_app.generating.insert_sessions import DEFAULT_LICENSE, DEFAULT_SOURCE, insert_sessions
from datasets_app.models import Dataset

GENERATOR_ANNOTATOR = "generator"
# Sessions that are committed together: a worker that is killed has at most these to write again.
SESSION_BATCH_SIZE = 200


class GenerationResult(NamedTuple):
    """What was written. ``labels`` counts (on-brand, off-brand) of the labels file, if one was requested."""

    sessions: int
    turns: int
    sha256: str
    labels: tuple[int, int] | None = None


# --- into a file -----------------------------------------------------------------------------------


def bootstrap_file(
    generation: Generation,
    out: Path,
    *,
    labels: Path | None = None,
    license_id: str = DEFAULT_LICENSE,
    report_progress: ProgressCallback = ignore_progress,
) -> GenerationResult:
    """Write ``out``, its ``.meta.yaml`` and, if requested, the intended labels: all, or nothing.

    Needs no database, and memory does not grow with the sessions. Progress is in sessions.
    """
    with closing(generate_sessions(generation, report_progress)) as sessions:
        return write_file(sessions, out, generation.provenance(), labels=labels, license_id=license_id)


def generate_sessions(
    generation: Generation, report_progress: ProgressCallback
) -> Generator[list[TurnRecord], None, None]:
    """Every session of the plan as it comes."""
    for number, written in enumerate(generation.writer.write_all(generation.plan), 1):
        yield written.turns
        report_progress(number, len(generation.plan))


def write_file(
    sessions: Iterable[list[TurnRecord]],
    out: Path,
    provenance: dict[str, Any],
    *,
    labels: Path | None = None,
    license_id: str = DEFAULT_LICENSE,
) -> GenerationResult:
    """Put ``sessions`` into ``out``, gzipped if it is named so, with their metadata beside it."""
    metadata = build_file_metadata(data_stem(out.name), provenance, license_id)
    with ExitStack() as stack:
        writer = stack.enter_context(write_turn_file(out, metadata))
        label_counts = None
        if labels:
            label_file, label_metadata = stack.enter_context(write_with_metadata(labels))
            digest = DigestWriter(label_file)
            with gzip_writer(digest, labels.suffix.lower() == ".gz") as target:
                label_counts = _write_with_labels(sessions, writer, target)
            stated = replace(metadata, name=data_stem(labels.name), sha256=digest.hex)
            label_metadata.write(render_metadata(stated).encode())
        else:
            for session in sessions:
                writer.write(session)
    return GenerationResult(writer.sessions, writer.turns, writer.sha256, label_counts)


def _write_with_labels(
    sessions: Iterable[list[TurnRecord]], writer: TurnFileWriter, labels: IO[bytes]
) -> tuple[int, int]:
    """Write sessions and labels; returns the number of on-brand and off-brand labels.

    All off-brand replies get a label, and the same number of on-brand replies near them, since calibration
    needs balanced labels.
    """
    on = off = 0
    for session in sessions:
        writer.write(session)
        for turn in session:
            if OFF_BRAND in turn.tags:
                off += 1
                labels.write(_encode_label(turn, 0))
            elif ON_BRAND in turn.tags and on <= off and "scenario:safety_trap" not in turn.tags:
                on += 1
                labels.write(_encode_label(turn, 1))
    return on, off


def _encode_label(turn: TurnRecord, label: int) -> bytes:
    return encode_line(
        {
            "text": turn.text,
            "label": label,
            "persona_id": turn.persona_id,
            "session_id": turn.session_id,
            "turn_index": turn.turn_index,
            "annotator": GENERATOR_ANNOTATOR,
            "labeler": GENERATOR_ANNOTATOR,
        }
    )


def build_file_metadata(name: str, provenance: dict[str, Any], license_id: str) -> DatasetMetadata:
    """The metadata of a generated file, without counts and digest."""
    known = METADATA_FIELDS - {"extra"}
    stated = {key: value for key, value in provenance.items() if key in known}
    extra = {key: value for key, value in provenance.items() if key not in known}
    return DatasetMetadata(
        name=name,
        version="1.0.0",
        source=DEFAULT_SOURCE,
        license=license_id,
        extra={**extra, "origin": Dataset.Origin.SYNTHETIC.value},
        **stated,
    )


# --- into a dataset --------------------------------------------------------------------------------


def bootstrap_dataset(
    name: str,
    generation: Generation,
    *,
    license_id: str = DEFAULT_LICENSE,
    actor: Any = None,
    report_progress: ProgressCallback = ignore_progress,
) -> dict[str, Any]:
    """Add the sessions of ``plan`` to the dataset ``name``, which is created if needed.

    Don't call it in a transaction: every few hundred sessions are committed. Sessions that exist already are
    kept, so running it again adds only what is missing. Raises UserError.
    """
    facts.check_dataset_name(name)
    plan, provenance = generation.plan, generation.provenance()
    record = partial(
        audit.record,
        "generate",
        actor=actor,
        dataset_name=name,
        plan=provenance["plan"],
        made_by=provenance["generator"],
    )
    sessions = turns = 0
    batch: list[WrittenSession] = []
    # The writer also writes sessions that exist already: each depends on those before it in the plan.
    for number, written in enumerate(generation.writer.write_all(plan), 1):
        batch.append(written)
        report_progress(number, len(plan))
        if len(batch) < SESSION_BATCH_SIZE and number < len(plan):
            continue
        with transaction.atomic():
            dataset, _ = facts.lock_or_create_dataset(name, origin=Dataset.Origin.SYNTHETIC, actor=actor)
            if missing := _list_missing(dataset, batch):
                turns += insert_sessions(dataset, missing, license_id)
                if not sessions:
                    _add_provenance(dataset, provenance)
                    record(state="begun")
                dataset.save()
                sessions += len(missing)
            # Together with the last sessions: a run that is killed after them has nothing to add, and no end.
            if sessions and number == len(plan):
                record(state="ended", sessions=sessions, turns=turns, planned=len(plan))
        batch = []
    already_there = len(plan) - sessions
    return {"dataset": name, "sessions": sessions, "turns": turns, "sessions_already_there": already_there}


def _list_missing(dataset: Dataset, batch: list[WrittenSession]) -> list[WrittenSession]:
    """Sessions that the dataset doesn't have yet, without erased ones. Checked under its lock, since a worker
    that was taken for dead may still be writing."""
    ids = [written.planned.session_id for written in batch]
    existing = set(dataset.sessions.filter(session_id__in=ids).values_list("session_id", flat=True))
    existing |= set(filter(ErasedSessions(dataset.name).check_id, ids))
    return [written for written in batch if written.planned.session_id not in existing]


def _add_provenance(dataset: Dataset, provenance: dict[str, Any]) -> None:
    """Record a plan once. Counts of several plans add up; other values are those of the last plan."""
    stored, plan = dataset.provenance, provenance["plan"]
    plans = stored.setdefault("plans", [])
    if plan in plans:
        return
    plans.append(plan)
    for key in ("safety_traps", "brand_traps", "edge_cases"):
        before = stored.get(key)
        stored[key] = provenance[key] + (before if isinstance(before, int) else 0)
    stored.update({key: value for key, value in provenance.items() if key not in stored})
    stored.update({key: provenance[key] for key in ("plan", "seed", "generator", "model")})
