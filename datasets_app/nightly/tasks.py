"""What a worker does for the operations of this package; see ``jobs/registry.py``."""

from typing import Any

from datasets_app.jobs.registry import task
from datasets_app.jobs.running import RunningJob
from datasets_app.nightly.parameters import NightlyParameters


@task(NightlyParameters, commits_itself=True, permission="datasets_app.apply_retention")
def nightly(job: RunningJob[NightlyParameters]) -> dict[str, Any]:
    from datasets_app.nightly.run_nightly import run_nightly

    return run_nightly(job_run=job.row, report_progress=job.report_progress)
