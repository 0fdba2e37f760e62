"""The calibration round of a campaign: all annotators label the same replies before the others are given."""

from typing import Any

from django.db import transaction
from django.utils import timezone

from annotations_app.campaigns.members import lock_campaign, lock_members
from annotations_app.models import Campaign, CampaignItem, CampaignMember
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.core.queries import execute

MAX_REASON_LENGTH = 500
# Who was removed leaves no place open; their labels stay.
_COUNT_PLACES_SQL = """
UPDATE annotations_app_campaignitem i SET open = greatest(0, %(people)s - (
    SELECT count(*) FROM annotations_app_assignment a JOIN annotations_app_campaignmember m
      ON m.campaign_id = a.campaign_id AND m.user_id = a.annotator_id AND m.active
    WHERE a.item_id = i.id AND NOT a.repeat AND a.state IN ('leased', 'labelled')))
WHERE i.campaign_id = %(campaign)s AND i.calibration
"""


def open_rest(campaign: Campaign, *, reason: str = "", actor: Any) -> None:
    """End the round: the other replies are given to annotators. Raises UserError if there is none."""
    with transaction.atomic():
        row = lock_campaign(campaign)
        if not row.is_calibrating or row.status == Campaign.Status.PREPARING:
            raise UserError(f"{row.name} is in no calibration round.")
        lock_members(row)
        others = CampaignItem.objects.filter(campaign=row, gold=False, calibration=False)
        opened = others.update(open=row.overlap)
        start_over(row)
        row.calibrated_at = timezone.now()
        row.save(update_fields=["calibrated_at"])
        audit.record(
            "end_calibration",
            actor=actor,
            dataset_name=row.dataset.name,
            campaign=row.name,
            replies=opened,
            reason=reason[:MAX_REASON_LENGTH],
        )


def count_round_places(campaign: Campaign, people: int) -> None:
    """After annotators were added or removed."""
    execute(_COUNT_PLACES_SQL, {"campaign": campaign.pk, "people": people})
    start_over(campaign)


def start_over(campaign: Campaign) -> None:
    """Let all annotators search from the first reply, because their cursors have passed replies that are open
    again."""
    CampaignMember.objects.filter(campaign=campaign).update(
        cursor=0, returned_seen=None, session=None, searched_at=None
    )
