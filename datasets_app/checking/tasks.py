"""What a worker does for the operations of this package; see ``jobs/registry.py``."""

from typing import Any

from django.conf import settings

from datasets_app.jobs.parameters import NoParameters
from datasets_app.jobs.registry import task
from datasets_app.jobs.running import RunningJob
from datasets_app.models import CheckReport


@task(commits_itself=True, permission="datasets_app.view_dataset", unit="turns")
def scan_text(job: RunningJob[NoParameters]) -> dict[str, Any]:
    from datasets_app.catalog.text_gates import scan_and_describe

    return {"text": scan_and_describe(job.dataset, job.report_progress)}


@task(unit="turns")
def check_dataset(job: RunningJob[NoParameters]) -> CheckReport:
    from datasets_app.checking.check_dataset import check_dataset

    return check_dataset(
        job.dataset,
        actor=job.actor,
        name_models=settings.NAME_MODELS,
        report_progress=job.report_progress,
        job_run=job.row,
    )
