"""What a worker does for the operations of this package; see ``datasets_app/jobs/registry.py``."""

from typing import Any

from django.contrib.auth.models import AnonymousUser

from annotations_app.cases.parameters import CaseParameters, VariantParameters
from datasets_app.jobs.registry import task
from datasets_app.jobs.running import RunningJob


@task(CaseParameters, commits_itself=True)
def send_case(job: RunningJob[CaseParameters]) -> dict[str, Any]:
    from annotations_app.cases.send_case import send_case

    asked = job.parameters
    campaign, alike = send_case(
        job.dataset,
        asked.case,
        [name for name in asked.annotators.split(",") if name],
        actor=job.actor,
        job_run=job.row,
        report_progress=job.report_progress,
    )
    sent = {"campaign": campaign.pk, "replies": campaign.item_count} if campaign else {}
    return {"case": asked.case, **({"alike_after_scrub": alike} if alike else {}), **sent}


@task(VariantParameters, commits_itself=True)
def draft_variants(job: RunningJob[VariantParameters]) -> dict[str, Any]:
    # A person whose account was deleted is not the command line.
    who = {"actor": job.actor, "endpoint_actor": job.actor or AnonymousUser()}
    outcome = run_drafting(job, job.dataset, **who)._asdict()
    return {name: value for name, value in outcome.items() if value or name == "drafted"}


def run_drafting(job: RunningJob[VariantParameters], dataset: Any, **who: Any) -> Any:
    """For commands as well."""
    from annotations_app.cases.draft_variants import draft_variants
    from datasets_app.domain.model_calls.budget import TokensUsed

    asked = job.parameters
    return draft_variants(
        dataset,
        asked.request,
        asked.kinds,
        case=asked.case,
        used=TokensUsed(**(asked.used or {})),
        keep_used=lambda used: job.update_parameters(used=used),
        job_run=job.row,
        report_progress=job.report_progress,
        **who,
    )
