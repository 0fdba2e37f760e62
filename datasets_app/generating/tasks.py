"""What a worker does for the operations of this package; see ``jobs/registry.py``."""

from typing import Any

from datasets_app.core.errors import UserError
from datasets_app.generating.parameters import GenerationParameters
from datasets_app.jobs import runs
from datasets_app.jobs.registry import task
from datasets_app.jobs.running import RunningJob


@task(GenerationParameters, commits_itself=True)
def bootstrap_dataset(job: RunningJob[GenerationParameters]) -> dict[str, Any]:
    from datasets_app.model_calls.requests import OFFLINE, is_model

    generate = _generate_with_model if is_model(job.parameters.model or OFFLINE) else _generate_offline
    result = generate(job)
    runs.request_text_scan_of(job.row.dataset_name, actor=job.actor)
    return result


def _generate_offline(job: RunningJob[GenerationParameters]) -> dict[str, Any]:
    from datasets_app.catalog.personas import load_persona
    from datasets_app.generating import bootstrap_dataset as generation

    persona, persona_sha256 = load_persona(job.parameters.persona or "")
    writer = generation.make_offline_writer(persona)
    request = generation.build_request(job.parameters.request_options(), persona, writer)
    plan = generation.make_plan(request, writer, persona_sha256=persona_sha256)
    _keep_plan(job, plan.digest)
    return generation.bootstrap_dataset(
        job.row.dataset_name,
        plan,
        writer,
        provenance=generation.build_provenance(plan, writer, persona=persona, persona_sha256=persona_sha256),
        actor=job.actor,
        report_progress=job.report_progress,
    )


def _generate_with_model(job: RunningJob[GenerationParameters]) -> dict[str, Any]:
    """Whether the address may be called is checked again: much can have changed since the form."""
    from datasets_app.catalog.personas import load_persona
    from datasets_app.generating import bootstrap_by_model as by_model
    from datasets_app.generating import bootstrap_dataset as generation
    from datasets_app.generating.factory import make_model_writer

    options = job.parameters
    persona, persona_sha256 = load_persona(options.persona or "")
    writer = make_model_writer(options, actor=job.endpoint_actor, persona=persona)
    request = generation.build_request(
        options.request_options(), persona, by_model.try_offline_writer(persona)
    )
    plan = generation.make_plan(request, writer, persona_sha256=persona_sha256)
    _keep_plan(job, plan.digest)
    return by_model.generate_dataset_with_model(
        job.row.dataset_name,
        plan,
        writer,
        provenance=lambda: generation.build_provenance(
            plan, writer, persona=persona, persona_sha256=persona_sha256
        ),
        resume=options.resume,
        actor=job.actor,
        job_run=job.row,
        report_progress=job.report_progress,
    )


def _keep_plan(job: RunningJob[GenerationParameters], digest: str) -> None:
    """A job that runs again resumes only if it would write the same: with another text of the persona, other
    prompts or another version of the writer it would begin anew and leave half of each."""
    if (job.parameters.plan or digest) != digest:
        raise UserError(
            "The persona or the writer has changed since this job began, so it can't resume. Start a new one."
        )
    job.update_parameters(plan=digest)
