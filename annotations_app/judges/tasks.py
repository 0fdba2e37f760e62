"""What a worker does for the operations of this package; see ``datasets_app/jobs/registry.py``."""

from typing import TYPE_CHECKING, Any

from annotations_app.judges.parameters import ImproveParameters, JudgeParameters, JuryParameters
from datasets_app.core.errors import UserError
from datasets_app.jobs.registry import task
from datasets_app.jobs.running import RunningJob

if TYPE_CHECKING:
    from annotations_app.judges.form_jury import FormedJury
    from annotations_app.judges.improve_judge import Improvement
    from annotations_app.judges.keep_run import JudgeOutcome


@task(JudgeParameters, commits_itself=True, permission="annotations_app.change_campaign")
def run_judge(job: RunningJob[JudgeParameters]) -> "JudgeOutcome":
    from annotations_app.judges.judges import get_judge
    from annotations_app.judges.run_jury import run_rater

    options = job.parameters
    campaign = _find_campaign(job.dataset, options.campaign)
    return run_rater(campaign, get_judge(options.judge), options.options, **_describe_actor(job))


@task(JuryParameters, commits_itself=True, permission="annotations_app.change_campaign")
def form_jury(job: RunningJob[JuryParameters]) -> "FormedJury":
    from annotations_app.judges.form_jury import form_jury as form

    campaign = _find_campaign(job.dataset, job.parameters.campaign)
    return form(campaign, **job.parameters.options, **_describe_actor(job))


@task(ImproveParameters, commits_itself=True, permission="annotations_app.change_campaign")
def improve_judge(job: RunningJob[ImproveParameters]) -> "Improvement":
    from annotations_app.judges.improve_judge import improve_judge as improve
    from annotations_app.judges.judges import get_judge

    options = job.parameters
    return improve(
        _find_campaign(job.dataset, options.campaign),
        get_judge(options.judge),
        **options.options,
        state=options.state or None,
        keep_state=lambda state: job.update_parameters(state=state),
        **_describe_actor(job),
    )


def _find_campaign(dataset: Any, name: str) -> Any:
    from annotations_app.models import Campaign

    found = Campaign.objects.select_related("dataset", "persona", "schema")
    campaign = found.filter(name=name, dataset=dataset).first()
    if campaign is None:
        raise UserError("The campaign was deleted, so there is nothing to judge.")
    return campaign


def _describe_actor(job: RunningJob[Any]) -> dict[str, Any]:
    return {
        "override": job.override,
        "actor": job.actor,
        "endpoint_actor": job.endpoint_actor,
        "report_progress": job.report_progress,
    }
