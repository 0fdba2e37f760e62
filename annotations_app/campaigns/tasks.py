"""What a worker does for the operations of this package; see ``datasets_app/jobs/registry.py``."""

from typing import Any

from annotations_app.campaigns.parameters import AddToCampaignParameters, CampaignParameters
from annotations_app.models import Campaign
from datasets_app.core.errors import UserError
from datasets_app.jobs.registry import task
from datasets_app.jobs.running import RunningJob


@task(CampaignParameters, permission="annotations_app.add_campaign")
def create_campaign(job: RunningJob[CampaignParameters]) -> Campaign:
    from annotations_app.campaigns.create import fill_campaign

    campaign = Campaign.objects.filter(pk=job.parameters.campaign or 0).first()
    if campaign is None:
        raise UserError("The campaign was deleted, so there is nothing to prepare.")
    return fill_campaign(
        campaign, override=job.override, actor=job.actor, report_progress=job.report_progress
    )


@task(AddToCampaignParameters, permission="annotations_app.change_campaign")
def add_to_campaign(job: RunningJob[AddToCampaignParameters]) -> dict[str, Any]:
    from annotations_app.campaigns.add_replies import add_replies
    from datasets_app.catalog.selections import read_selection

    campaign = Campaign.objects.filter(pk=job.parameters.campaign, dataset=job.dataset).first()
    if campaign is None:
        raise UserError("The campaign was deleted, so nothing can be added to it.")
    sessions, turns = read_selection(job.dataset, job.parameters.selection)
    return add_replies(campaign, sessions, turns=turns, override=job.override, actor=job.actor)
