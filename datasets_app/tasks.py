"""What a worker does for each operation: fetch, call the one operation, say what came of it."""

from typing import Any

from datasets_app.job_runs import RunningJob, task
from datasets_app.models import Dataset


@task
def import_dataset(job: RunningJob) -> dict[str, Any]:
    from datasets_app.operations.import_dataset import import_uploaded

    return import_uploaded(job.row, report_progress=job.report_progress)


@task
def export_dataset(job: RunningJob) -> dict[str, Any]:
    from datasets_app.operations.export_dataset import export_to_job_files

    return export_to_job_files(job.row, report_progress=job.report_progress)


@task
def check_dataset(job: RunningJob) -> dict[str, Any]:
    from datasets_app.operations.check_dataset import check_dataset

    dataset = Dataset.objects.get(pk=job.row.dataset_id)
    report = check_dataset(dataset, actor=job.actor, report_progress=job.report_progress, job_run=job.row)
    return {"report": report.pk, "errors": report.error_count, "warnings": report.warning_count}
