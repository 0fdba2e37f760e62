"""Sessions of a plan written by a model: into a file, with a journal beside it, or into a dataset."""

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.generation.model_writer import ModelWriter
from datasets_app.domain.generation.offline import OfflineWriter
from datasets_app.domain.generation.plan import Plan
from datasets_app.domain.generation.writer import format_shape
from datasets_app.domain.metadata.metadata import MetadataError, metadata_path, read_metadata
from datasets_app.generating.bootstrap_dataset import GenerationResult, bootstrap_dataset, write_file
from datasets_app.generating.generation import KIND_COUNTERS, Generation
from datasets_app.generating.insert_sessions import DEFAULT_LICENSE
from datasets_app.generating.journal import SessionJournal, journal_path
from datasets_app.generating.model_sessions import DatasetSessionStore
from datasets_app.generating.write import SessionStore, WritingOutcome, write_with_model
from datasets_app.models import JobRun


def generate_file_with_model(
    generation: Generation,
    writer: ModelWriter,
    out: Path,
    *,
    resume: bool = False,
    labels: Path | None = None,
    license_id: str = DEFAULT_LICENSE,
    report_progress: ProgressCallback = ignore_progress,
) -> tuple[GenerationResult | None, WritingOutcome]:
    """Have ``writer``, that of ``generation``, write what is missing, and put all there is into ``out``, in
    the order of the plan.

    Returns None for the file if there was nothing to put into it, or nothing to do. Needs no database. The
    journal stays as long as anything is missing, or if this is left by an exception.
    Raises UserError, and OSError for a journal that can't be written.
    """
    plan = generation.plan
    if out.exists() and not out.is_file():
        raise UserError(
            f"{out} is not a file. A model must write to a file, so that an interrupted run can resume."
        )
    if _is_complete(out, plan):
        if resume:
            return None, WritingOutcome(len(plan), len(plan), [], 0, "")
        raise UserError(
            f"{out} holds the sessions of this very plan, which may have been paid for. To have others "
            "written choose another seed, or remove it."
        )
    with closing(
        SessionJournal(journal_path(out), plan, format_shape(writer.describe()), resume=resume)
    ) as journal:
        try:
            outcome = write_with_model(writer, plan, journal, report_progress=report_progress)
        finally:
            if not journal.has_content:
                journal.delete()
        if not journal.finished:
            return None, outcome
        generated = write_file(
            journal.sessions(),
            out,
            _actual_provenance(generation, journal, outcome),
            labels=labels,
            license_id=license_id,
        )
        if outcome.is_complete:
            journal.delete()
    return generated, outcome


def _is_complete(out: Path, plan: Plan) -> bool:
    """Whether the existing file holds all of ``plan``, according to its metadata."""
    try:
        stated = read_metadata(metadata_path(out)) if out.exists() else None
    except MetadataError:
        return False
    if stated is None or stated.extra.get("plan") != plan.digest:
        return False
    return stated.total_sessions == len(plan)


def _actual_provenance(
    generation: Generation, keeper: SessionStore, outcome: WritingOutcome
) -> dict[str, Any]:
    """The provenance once everything is written, with the number of each kind that there is, and not that was
    planned."""
    told = generation.provenance() | outcome.as_facts()
    told["generated_at"] = datetime.now(UTC).isoformat(timespec="seconds")
    if not outcome.is_complete:
        standing = [planned.kind for planned in generation.plan if keeper.is_finished(planned.number)]
        told |= {key: standing.count(kind) for key, kind in KIND_COUNTERS.items()}
    return told


def generate_dataset(
    name: str,
    generation: Generation,
    *,
    resume: bool,
    license_id: str = DEFAULT_LICENSE,
    actor: Any = None,
    job_run: JobRun,
    report_progress: ProgressCallback,
) -> dict[str, Any]:
    """Add the sessions to the dataset ``name``, which is made if need be; returns what came of it.

    Commits for itself: what a model writes, each bunch as it comes. ``job_run`` remembers its plan and its
    tokens, with which ``resume`` goes on. Raises UserError.
    """
    plan, writer = generation.plan, generation.writer
    if isinstance(writer, OfflineWriter):
        return bootstrap_dataset(
            name, generation, license_id=license_id, actor=actor, report_progress=report_progress
        )
    made_by = format_shape(writer.describe())
    keeper = DatasetSessionStore(
        name, plan, made_by, resume=resume, license_id=license_id, actor=actor, job_run=job_run
    )
    with closing(keeper):
        outcome = write_with_model(writer, plan, keeper, report_progress=report_progress)
        if outcome.stopped and outcome.sessions == outcome.before:
            raise UserError(outcome.stopped, outcome.as_facts())
        keeper.finish(_actual_provenance(generation, keeper, outcome))
    return {
        "dataset": name,
        "sessions": outcome.sessions - outcome.before,
        "sessions_already_there": outcome.before,
        "tokens": writer.used.total,
        **outcome.as_facts(),
    }
