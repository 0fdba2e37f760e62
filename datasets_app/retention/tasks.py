"""What a worker does for the operations of this package; see ``jobs/registry.py``."""

from typing import Any

from datasets_app.core.errors import UserError
from datasets_app.jobs.parameters import NoParameters
from datasets_app.jobs.registry import Operation, operations, task
from datasets_app.jobs.running import RunningJob
from datasets_app.retention.parameters import ActivationParameters, EraseParameters, RetentionParameters

# Only a command runs it; its parameters are shown on the job's page.
operations["reapply_erasures"] = Operation(NoParameters, commits_itself=True)


@task(RetentionParameters, commits_itself=True, unit="turns")
def apply_retention(job: RunningJob[RetentionParameters]) -> dict[str, Any]:
    from datasets_app.retention.apply import apply_retention

    return apply_retention(
        actor=job.actor,
        dataset=job.row.dataset,
        reason=job.parameters.reason,
        job_run=job.row,
        report_progress=job.report_progress,
    )


@task(EraseParameters, commits_itself=True)
def erase_session(job: RunningJob[EraseParameters]) -> dict[str, Any]:
    from datasets_app.retention.erase_session import erase_by_keys

    return erase_by_keys(
        job.parameters, actor=job.actor, job_run=job.row, report_progress=job.report_progress
    )


@task(ActivationParameters, permission="datasets_app.activate_retentionpolicy")
def activate_retention(job: RunningJob[ActivationParameters]) -> dict[str, Any]:
    from datasets_app.models import RetentionPolicy
    from datasets_app.retention.activate import activate_retention

    asked = job.parameters
    policy = RetentionPolicy.objects.filter(pk=asked.policy).first()
    if policy is None:
        raise UserError("The rule was deleted since the request.")
    activate_retention([policy], expected_digest=asked.seen, actor=job.actor)
    return {"pattern": policy.pattern}
