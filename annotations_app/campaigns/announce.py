"""Outgoing events about campaigns."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Exists, OuterRef, Q

from annotations_app.models import Assignment, Campaign, CampaignItem
from datasets_app.core import outgoing
from datasets_app.models import Notification


def announce_assignment(campaign: Campaign, users: Sequence[Any]) -> None:
    """Annotators were added to an open campaign, or it was opened."""
    if users and campaign.status == Campaign.Status.OPEN:
        _emit(outgoing.Kind.CAMPAIGN_ASSIGNED, campaign, recipients=users, annotators=len(users))


def withdraw_assignment(campaign: Campaign, users: Sequence[Any]) -> None:
    """Annotators were removed: they hear no more of the campaign."""
    Notification.objects.filter(
        event__kind=outgoing.Kind.CAMPAIGN_ASSIGNED,
        event__data__campaign_id=campaign.pk,
        user__in=[user.pk for user in users],
    ).delete()


def announce_end(campaign: Campaign, *, complete: bool) -> None:
    """All replies are done, or the campaign was closed before. Only the first of the two is an event."""
    _emit(
        outgoing.Kind.CAMPAIGN_FINISHED,
        campaign,
        recipients=[campaign.created_by],
        once=f"{campaign.pk}:{campaign.item_count}:{campaign.overlap}",
        replies=campaign.item_count,
        complete=complete,
    )


def announce_disputes(campaign: Campaign, replies: int, week: str) -> None:
    """Once a week, as long as there are some."""
    _emit(outgoing.Kind.DISPUTES_WAITING, campaign, once=f"{campaign.pk}:{week}", replies=replies)


def announce_drift(campaign: Campaign, user: int, since: str) -> None:
    """Once for each change; whose checks they are is said on the page alone."""
    _emit(outgoing.Kind.CHECKS_CHANGED, campaign, once=f"drift:{campaign.pk}:{user}:{since}")


def list_completed() -> Any:
    """Open campaigns in which nothing is left to assign or in progress."""
    items = CampaignItem.objects.filter(campaign=OuterRef("pk"), open__gt=0)
    leased = Assignment.objects.filter(campaign=OuterRef("pk"), state=Assignment.State.LEASED)
    campaigns = Campaign.objects.filter(status=Campaign.Status.OPEN, item_count__gt=0)
    campaigns = campaigns.exclude(list_calibrating())
    return campaigns.exclude(Exists(items)).exclude(Exists(leased)).select_related("dataset", "created_by")


def list_calibrating() -> Q:
    """Campaigns in a calibration round."""
    return Q(calibration_replies__isnull=False, calibrated_at=None)


def _emit(kind: str, campaign: Campaign, **facts: Any) -> None:
    outgoing.emit(kind, dataset=campaign.dataset, campaign=campaign.name, campaign_id=campaign.pk, **facts)
