"""What a worker does for the operations of this app; see datasets_app/tasks.py."""

from typing import Any

from datasets_app.jobs.runs import RunningJob, task


@task
def create_campaign(job: RunningJob) -> dict[str, Any]:
    """``parameters`` of the job: {"campaign": primary key of a prepared campaign}."""
    from annotations_app.campaigns.create import run_fill_job

    return run_fill_job(job.row.parameters["campaign"], report_progress=job.report_progress)


@task
def export_annotations(job: RunningJob) -> dict[str, Any]:
    """``parameters``: persona, labels, and perhaps campaign (its name) and override."""
    from annotations_app.labels.export_annotations import run_export_job

    return run_export_job(job.row, report_progress=job.report_progress)
