"""What a worker does for the operations of this package; see ``jobs/registry.py``."""

from typing import Any

from datasets_app.jobs.parameters import NoParameters
from datasets_app.jobs.registry import task
from datasets_app.jobs.running import RunningJob


@task(commits_itself=True)
def deliver_events(job: RunningJob[NoParameters]) -> dict[str, Any]:
    from datasets_app.notifications.mails import mail_due
    from datasets_app.webhooks.deliver import deliver_due

    return {"webhooks": deliver_due(job.report_progress), "mails": mail_due(job.report_progress)}
