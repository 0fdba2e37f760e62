"""What the scheduler finds out about campaigns every minute."""

from django.utils import timezone

from annotations_app.agreement.figures import count_recent_disputes
from annotations_app.campaigns.announce import announce_disputes, announce_end, list_completed
from annotations_app.models import Campaign

MAX_CAMPAIGNS = 200


def announce_campaigns() -> None:
    """Completed campaigns, and those with disagreements. No decision has to look for either."""
    for campaign in list_completed():
        announce_end(campaign, complete=True)
    unfinished = Campaign.objects.filter(status__in=[Campaign.Status.OPEN, Campaign.Status.PAUSED])
    campaigns = {
        campaign.pk: campaign
        for campaign in unfinished.select_related("dataset").order_by("-pk")[:MAX_CAMPAIGNS]
    }
    week = f"{timezone.now():%G-W%V}"
    for pk, replies in count_recent_disputes(list(campaigns)).items():
        if replies:
            announce_disputes(campaigns[pk], replies, week)
