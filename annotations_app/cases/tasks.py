"""What a worker does for the operations of this package; see ``datasets_app/jobs/registry.py``."""

from typing import Any

from annotations_app.cases.parameters import CaseParameters
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
