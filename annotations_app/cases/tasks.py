"""What a worker does for the operations of this package; see ``datasets_app/jobs/registry.py``."""

from typing import TYPE_CHECKING, Any

from annotations_app.cases.parameters import CaseParameters, VariantParameters
from datasets_app.jobs.registry import task
from datasets_app.jobs.running import RunningJob

if TYPE_CHECKING:
    from annotations_app.cases.draft_variants import DraftedVariants


@task(CaseParameters, commits_itself=True, permission="datasets_app.import_dataset")
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


@task(VariantParameters, commits_itself=True, permission="datasets_app.import_dataset", unit="variants")
def draft_variants(job: RunningJob[VariantParameters]) -> "DraftedVariants":
    from annotations_app.cases.draft_variants import draft_variants
    from datasets_app.domain.model_calls.budget import TokensUsed

    asked = job.parameters
    return draft_variants(
        job.dataset,
        asked,
        asked.kinds,
        case=asked.case,
        used=TokensUsed(**(asked.used or {})),
        keep_used=lambda used: job.update_parameters(used=used),
        actor=job.actor,
        endpoint_actor=job.endpoint_actor,
        job_run=job.row,
        report_progress=job.report_progress,
    )
