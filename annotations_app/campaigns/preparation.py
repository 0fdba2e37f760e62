"""The job that prepares a campaign, and discarding a campaign that none has prepared."""

from typing import Any

from django.db import transaction

from annotations_app.campaigns.members import lock_campaign
from annotations_app.models import Campaign
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.models import JobRun

_STOPPED = (JobRun.State.FAILED, JobRun.State.CANCELLED)


def find_preparation_job(campaign: Campaign) -> JobRun | None:
    jobs = JobRun.objects.filter(
        operation="create_campaign", dataset=campaign.dataset_id, parameters__campaign=campaign.pk
    )
    return jobs.first()


def is_stopped(campaign: Campaign, job: JobRun | None) -> bool:
    """Whether a campaign stays as it is, because its ``job`` failed, was canceled or declined, or is gone."""
    return campaign.status == Campaign.Status.PREPARING and (job is None or job.state in _STOPPED)


def discard_campaign(campaign: Campaign, *, actor: Any) -> None:
    """Delete a campaign that was never prepared, so that its name is free. Raises UserError for any other."""
    with transaction.atomic():
        row = lock_campaign(campaign)
        if not is_stopped(row, find_preparation_job(row)):
            raise UserError(
                f"{row.name} was prepared or still will be, so it can't be discarded. Close it instead."
            )
        audit.record("discard_campaign", actor=actor, dataset_name=row.dataset.name, campaign=row.name)
        row.delete()
