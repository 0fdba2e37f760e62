"""What a worker does for the operations of this package; see ``jobs/registry.py``."""

from typing import TYPE_CHECKING, Any

from datasets_app.core.errors import UserError
from datasets_app.jobs import queue, runs
from datasets_app.jobs.registry import task
from datasets_app.jobs.running import RunningJob
from datasets_app.models import JobRun, ScrubRun
from datasets_app.scrubbing.parameters import (
    AttestParameters,
    CanaryParameters,
    ExemptParameters,
    OriginParameters,
    ScrubParameters,
    ScrubPartParameters,
)

if TYPE_CHECKING:
    from datasets_app.domain.pii.canary.measure import Survival


@task(ScrubParameters, commits_itself=True, unit="turns")
def scrub_dataset(job: RunningJob[ScrubParameters]) -> dict[str, Any]:
    from datasets_app.scrubbing.scrub_dataset import parse_policy, scrub_dataset

    options = job.parameters
    result = scrub_dataset(
        job.dataset,
        parse_policy(options.policy),
        actor=job.actor,
        dry_run=options.dry_run,
        sample=options.sample,
        job_run=job.row,
        report_progress=job.report_progress,
        start_helpers=_start_helper_jobs,
    )
    if options.check:
        runs.start_follow_up("check_dataset", actor=job.actor, dataset=job.dataset)
    return result


@task(ScrubPartParameters, commits_itself=True, permission="datasets_app.scrub_dataset", unit="turns")
def scrub_part(job: RunningJob[ScrubPartParameters]) -> dict[str, Any]:
    from datasets_app.scrubbing.scrub_dataset import scrub_part

    return scrub_part(job.parameters.scrub, report_progress=job.report_progress)


@task(CanaryParameters, permission="datasets_app.scrub_dataset", unit="values")
def canary_dataset(job: RunningJob[CanaryParameters]) -> "Survival":
    from datasets_app.scrubbing.canary_dataset import canary_dataset

    options = job.parameters
    return canary_dataset(
        job.dataset,
        count=options.count,
        seed=options.seed,
        limit=options.limit,
        report_progress=job.report_progress,
    )


def _start_helper_jobs(scrub: ScrubRun, chunks: int) -> None:
    """Start a job for each other worker, unless it has one from an earlier attempt."""
    existing = JobRun.objects.active().filter(operation="scrub_part", parameters__scrub=scrub.pk)
    missing = min(queue.worker_count() - 1, chunks - 1) - existing.count()
    actor = scrub.job_run.actor if scrub.job_run else None
    part = ScrubPartParameters(scrub=scrub.pk)
    for _ in range(missing):
        runs.start_follow_up("scrub_part", actor=actor, dataset=scrub.dataset, parameters=part)


@task(AttestParameters, permission="datasets_app.override_gate")
def attest_dataset(job: RunningJob[AttestParameters]) -> dict[str, Any]:
    from datasets_app.catalog import text_gates

    last_session = job.parameters.last_session or 0
    if job.dataset.sessions.filter(pk__gt=last_session).exists():
        raise UserError(f"Sessions were added to {job.dataset.name} since the request. Request it again.")
    text_gates.attest(job.dataset, actor=job.actor, reason=job.override)
    return {}


@task(ExemptParameters, permission="datasets_app.override_gate")
def exempt_value(job: RunningJob[ExemptParameters]) -> dict[str, Any]:
    from datasets_app.models import ScrubFinding
    from datasets_app.scrubbing.marks import mark_not_personal

    findings = ScrubFinding.objects.filter(scrub__dataset=job.dataset).select_related("scrub")
    finding = findings.filter(pk=job.parameters.finding).first()
    if finding is None:
        raise UserError("The preview of the value was deleted. Preview the scrub and request it again.")
    mark_not_personal(job.dataset, finding=finding, actor=job.actor, override=job.override)
    return {}


@task(OriginParameters, permission="datasets_app.override_gate")
def change_origin(job: RunningJob[OriginParameters]) -> dict[str, Any]:
    from datasets_app.catalog.edit import change_origin

    change_origin(job.dataset, job.parameters.origin, override=job.override, actor=job.actor)
    return {"origin": job.parameters.origin}
