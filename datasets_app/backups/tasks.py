"""The jobs of this package; a restore is one of a command."""

from typing import Any

from datasets_app.backups.schedule import make_scheduled_backup
from datasets_app.jobs.parameters import NoParameters
from datasets_app.jobs.registry import Operation, operations, task
from datasets_app.jobs.running import RunningJob

operations["restore"] = Operation(NoParameters, commits_itself=True)


@task(commits_itself=True, permission="datasets_app.apply_retention")
def backup(job: RunningJob[NoParameters]) -> dict[str, Any]:
    return make_scheduled_backup(actor=job.actor, report_progress=job.report_progress)
