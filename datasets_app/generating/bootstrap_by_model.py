"""Sessions of a plan written by a model: into a file, with a journal beside it, or into a dataset."""

from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from django.contrib.auth.models import AnonymousUser

from datasets_app.catalog.personas import named_persona
from datasets_app.core.errors import Refused
from datasets_app.core.progress import ProgressCallback, ignore
from datasets_app.domain.generation.model_writer import ModelWriter
from datasets_app.domain.generation.offline import OfflineWriter
from datasets_app.domain.generation.plan import Plan
from datasets_app.domain.generation.writer import shape_of
from datasets_app.domain.metadata.metadata import MetadataError, metadata_path, read_metadata
from datasets_app.domain.personas.persona import PersonaDocument
from datasets_app.generating.bootstrap_dataset import (
    LICENCE,
    Generated,
    offline_writer,
    plan_for,
    provenance_of,
    wish_of,
    write_file,
)
from datasets_app.generating.factory import ModelWish, make_model_writer
from datasets_app.generating.journal import Journal, journal_path
from datasets_app.generating.model_sessions import COUNTED_KINDS, DatasetSessions
from datasets_app.generating.write import Keeper, Outcome, write_by_model
from datasets_app.models import Dataset, JobRun

# What the writer tells of itself when all is written, beside what is known before.
Provenance = Callable[[], dict[str, Any]]


class FileByModel(NamedTuple):
    """``generated`` is None if there was nothing to put into a file, or nothing to do."""

    generated: Generated | None
    outcome: Outcome


def file_by_model(
    plan: Plan,
    writer: ModelWriter,
    out: Path,
    *,
    provenance: Provenance,
    resume: bool = False,
    labels: Path | None = None,
    licence: str = LICENCE,
    report_progress: ProgressCallback = ignore,
) -> FileByModel:
    """Have ``writer`` write what is missing, and put all there is into ``out``, in the order of the plan.

    Needs no database. The journal stays as long as anything is missing, or if this is left by an exception.
    Raises Refused, and OSError for a journal that can't be written.
    """
    if out.exists() and not out.is_file():
        raise Refused(f"{out} is no file; what a model writes goes into one, so that it can be gone on with.")
    if _is_whole(out, plan):
        if resume:
            return FileByModel(None, Outcome(len(plan), len(plan), [], 0, ""))
        raise Refused(
            f"{out} holds the sessions of this very plan, which may have been paid for. To have others "
            "written choose another seed, or remove it."
        )
    with closing(Journal(journal_path(out), plan, shape_of(writer.describe()), resume=resume)) as journal:
        try:
            outcome = write_by_model(writer, plan, journal, report_progress=report_progress)
        finally:
            if not journal.is_of_use:
                journal.delete()
        if not journal.finished:
            return FileByModel(None, outcome)
        generated = write_file(
            journal.sessions(),
            out,
            provenance=_as_it_came_out(plan, journal, provenance(), outcome),
            labels=labels,
            licence=licence,
        )
        if outcome.is_whole:
            journal.delete()
    return FileByModel(generated, outcome)


def _is_whole(out: Path, plan: Plan) -> bool:
    """Whether the file that stands there is all of ``plan``, as its metadata say."""
    try:
        stated = read_metadata(metadata_path(out)) if out.exists() else None
    except MetadataError:
        return False
    if stated is None or stated.extra.get("plan") != plan.digest:
        return False
    return stated.total_sessions == len(plan)


def _as_it_came_out(
    plan: Plan, keeper: Keeper, provenance: dict[str, Any], outcome: Outcome
) -> dict[str, Any]:
    """``provenance``, with the number of each kind that there is, and not that was planned."""
    told = provenance | outcome.as_facts()
    told["generated_at"] = datetime.now(UTC).isoformat(timespec="seconds")
    if not outcome.is_whole:
        standing = [planned.kind for planned in plan if keeper.is_finished(planned.number)]
        told |= {key: standing.count(kind) for key, kind in COUNTED_KINDS.items()}
    return told


def dataset_by_model(
    name: str,
    plan: Plan,
    writer: ModelWriter,
    *,
    provenance: Provenance,
    resume: bool = False,
    licence: str = LICENCE,
    actor: Any = None,
    job_run: JobRun | None = None,
    report_progress: ProgressCallback = ignore,
) -> dict[str, Any]:
    """Add what ``writer`` writes to the dataset ``name``, which is made if need be; returns what came of it.

    Commits for itself, each bunch as it comes. ``job_run`` remembers the plan and the tokens. Raises Refused.
    """
    made_by = shape_of(writer.describe())
    keeper = DatasetSessions(
        name, plan, made_by, resume=resume, licence=licence, actor=actor, job_run=job_run
    )
    with closing(keeper):
        outcome = write_by_model(writer, plan, keeper, report_progress=report_progress)
        if outcome.stopped and outcome.sessions == outcome.before:
            raise Refused(outcome.stopped, outcome.as_facts())
        keeper.finish(_as_it_came_out(plan, keeper, provenance(), outcome))
    return {
        "dataset": name,
        "sessions": outcome.sessions - outcome.before,
        "sessions_already_there": outcome.before,
        "tokens": writer.used.total,
        **outcome.as_facts(),
    }


def by_model_for_job(job_run: JobRun, *, report_progress: ProgressCallback = ignore) -> dict[str, Any]:
    """The generation by a model that a page asked for: ``parameters`` has the fields of ``Wish`` and of
    ``ModelWish``, "persona", and "resume" to go on with that of another job.

    Whether the address may be asked is looked at again: much can have changed since the form.
    """
    given = job_run.parameters
    persona, persona_sha256 = named_persona(str(given.get("persona") or ""))
    # A person who has been deleted since is not the command line.
    actor = job_run.actor or AnonymousUser()
    named = {name: given[name] for name in ModelWish._fields if given.get(name) not in (None, "")}
    writer = make_model_writer(ModelWish(**named), actor=actor, persona=persona)
    wish = wish_of(given, persona, offline_or_none(persona))
    plan = plan_for(wish, writer, persona_sha256=persona_sha256)
    if given.setdefault("plan", plan.digest) != plan.digest:
        raise Refused("The persona or the prompts have changed since this job began; start a new one.")
    result = dataset_by_model(
        job_run.dataset_name,
        plan,
        writer,
        provenance=lambda: provenance_of(plan, writer, persona=persona, persona_sha256=persona_sha256),
        resume=bool(given.get("resume")),
        actor=job_run.actor,
        job_run=job_run,
        report_progress=report_progress,
    )
    JobRun.objects.filter(pk=job_run.pk).update(dataset=Dataset.objects.get(name=job_run.dataset_name))
    return result


def offline_or_none(persona: PersonaDocument) -> OfflineWriter | None:
    """A model may write for a persona that the grammar can't."""
    try:
        return offline_writer(persona)
    except Refused:
        return None
