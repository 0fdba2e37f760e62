"""What a worker does for each operation: fetch, call the one operation, say what came of it."""

from typing import Any

from django.conf import settings

from datasets_app.jobs import queue, runs
from datasets_app.jobs.runs import RunningJob, task
from datasets_app.models import Dataset, JobRun, ScrubRun


@task
def import_dataset(job: RunningJob) -> dict[str, Any]:
    from datasets_app.importing.import_dataset import import_for_job

    return import_for_job(job.row, report_progress=job.report_progress)


@task
def export_dataset(job: RunningJob) -> dict[str, Any]:
    from datasets_app.releasing.sharing.export_request import export_to_job_files

    return export_to_job_files(job.row, report_progress=job.report_progress)


@task
def split_dataset(job: RunningJob) -> dict[str, Any]:
    from datasets_app.splitting.split_dataset import split_for_job

    return split_for_job(job.row, report_progress=job.report_progress)


@task
def check_dataset(job: RunningJob) -> dict[str, Any]:
    from datasets_app.checking.check_dataset import check_dataset

    dataset = Dataset.objects.get(pk=job.row.dataset_id)
    report = check_dataset(
        dataset,
        actor=job.actor,
        name_models=settings.NAME_MODELS,
        report_progress=job.report_progress,
        job_run=job.row,
    )
    return {"report": report.pk, "errors": report.error_count, "warnings": report.warning_count}


@task(commits_itself=True)
def scrub_dataset(job: RunningJob) -> dict[str, Any]:
    from datasets_app.scrubbing.scrub_dataset import parse_policy, scrub_dataset

    given = job.row.parameters
    return scrub_dataset(
        Dataset.objects.get(pk=job.row.dataset_id),
        parse_policy(given.get("policy")),
        actor=job.actor,
        dry_run=bool(given.get("dry_run")),
        sample=given.get("sample"),
        job_run=job.row,
        report_progress=job.report_progress,
        start_helpers=start_helper_jobs,
    )


@task(commits_itself=True)
def scrub_part(job: RunningJob) -> dict[str, Any]:
    from datasets_app.scrubbing.scrub_part import scrub_part

    return scrub_part(job.row.parameters["scrub"], report_progress=job.report_progress)


def start_helper_jobs(scrub: ScrubRun, chunks: int) -> None:
    """A job for each worker but the one that asks, unless it has one from an earlier try."""
    there = JobRun.objects.filter(
        operation="scrub_part", parameters__scrub=scrub.pk, state__in=["queued", "running"]
    )
    wanted = min(queue.worker_count() - 1, chunks - 1) - there.count()
    actor = scrub.job_run.actor if scrub.job_run else None
    for _ in range(wanted):
        runs.start_job("scrub_part", actor=actor, dataset=scrub.dataset, parameters={"scrub": scrub.pk})


@task(commits_itself=True)
def bootstrap_dataset(job: RunningJob) -> dict[str, Any]:
    from datasets_app.generating.bootstrap_dataset import bootstrap_for_job

    return bootstrap_for_job(job.row, report_progress=job.report_progress)


@task
def release_dataset(job: RunningJob) -> dict[str, Any]:
    from datasets_app.releasing.release_dataset import release_for_job

    return release_for_job(job.row, report_progress=job.report_progress)


@task
def verify_releases(job: RunningJob) -> dict[str, Any]:
    from datasets_app.releasing.verify import verify_releases

    verified = verify_releases(job.row.dataset, actor=job.actor, report_progress=job.report_progress)
    return verified.facts()


@task
def compare_releases(job: RunningJob) -> dict[str, Any]:
    from datasets_app.releasing.compare import compare_for_job

    return compare_for_job(job.row, report_progress=job.report_progress)


@task(commits_itself=True)
def nightly(job: RunningJob) -> dict[str, Any]:
    from datasets_app.nightly import run_nightly

    return run_nightly(job_run=job.row, report_progress=job.report_progress)


@task(commits_itself=True)
def apply_retention(job: RunningJob) -> dict[str, Any]:
    """``parameters``: {"reason": why}, if the job is of one dataset."""
    from datasets_app.retention.apply import apply_retention

    return apply_retention(
        actor=job.actor,
        dataset=job.row.dataset,
        reason=job.row.parameters.get("reason"),
        job_run=job.row,
        report_progress=job.report_progress,
    )


@task(commits_itself=True)
def erase_session(job: RunningJob) -> dict[str, Any]:
    from datasets_app.retention.erase_session import erase_for_job

    return erase_for_job(job.row, report_progress=job.report_progress)


@task
def export_audit(job: RunningJob) -> dict[str, Any]:
    from datasets_app.auditing.export_audit import export_audit_for_job

    return export_audit_for_job(job.row, report_progress=job.report_progress)


@task
def verify_audit(job: RunningJob) -> dict[str, Any]:
    from datasets_app.auditing.heads import verify_audit_for_job

    return verify_audit_for_job(report_progress=job.report_progress)
