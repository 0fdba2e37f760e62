"""What a worker does for the operations of this package; see ``datasets_app/jobs/registry.py``."""

from typing import Any

from django.contrib.auth.models import AnonymousUser

from annotations_app.judges.parameters import JudgeParameters
from datasets_app.core.errors import UserError
from datasets_app.jobs.registry import task
from datasets_app.jobs.running import RunningJob


@task(JudgeParameters, commits_itself=True)
def run_judge(job: RunningJob[JudgeParameters]) -> dict[str, Any]:
    from annotations_app.judges.judges import get_judge
    from annotations_app.judges.run_judge import run_judge as judge_replies
    from annotations_app.models import Campaign

    options = job.parameters
    found = Campaign.objects.select_related("dataset", "persona", "schema")
    campaign = found.filter(name=options.campaign, dataset=job.dataset).first()
    if campaign is None:
        raise UserError("The campaign was deleted, so there is nothing to judge.")
    outcome = judge_replies(
        campaign,
        get_judge(options.judge),
        options.options,
        override=job.override,
        actor=job.actor,
        # A person whose account was deleted is not the command line.
        endpoint_actor=job.actor or AnonymousUser(),
        report_progress=job.report_progress,
    )
    return outcome._asdict()
