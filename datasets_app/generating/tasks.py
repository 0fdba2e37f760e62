"""What a worker does for the operations of this package; see ``jobs/registry.py``."""

from typing import Any

from datasets_app.core.errors import UserError
from datasets_app.generating.parameters import GenerationParameters
from datasets_app.jobs import runs
from datasets_app.jobs.registry import task
from datasets_app.jobs.running import RunningJob


@task(GenerationParameters, commits_itself=True, permission="datasets_app.generate_dataset", unit="sessions")
def bootstrap_dataset(job: RunningJob[GenerationParameters]) -> dict[str, Any]:
    """Whether the address of a model may be called is checked again: much can have changed since the form."""
    from datasets_app.catalog.personas import load_persona
    from datasets_app.generating.bootstrap_by_model import generate_dataset
    from datasets_app.generating.generation import prepare_generation

    options, name = job.parameters, job.row.dataset_name
    generation = prepare_generation(load_persona(options.persona or ""), options, actor=job.endpoint_actor)
    _keep_plan(job, generation.plan.digest)
    result = generate_dataset(
        name,
        generation,
        resume=options.resume,
        actor=job.actor,
        job_run=job.row,
        report_progress=job.report_progress,
    )
    runs.request_text_scan_of(name, actor=job.actor)
    return result


def _keep_plan(job: RunningJob[GenerationParameters], digest: str) -> None:
    """A job that runs again resumes only if it would write the same: with another text of the persona, other
    prompts or another version of the writer it would begin anew and leave half of each."""
    if (job.parameters.plan or digest) != digest:
        raise UserError(
            "The persona or the writer has changed since this job began, so it can't resume. Start a new one."
        )
    job.update_parameters(plan=digest)
