"""Campaigns that need attention, for the home page; a few queries of constant cost."""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count
from django.utils import timezone

from annotations_app.agreement.figures import count_recent_disputes, last_decision_times
from annotations_app.campaigns.pages_common import admin_url, campaign_url, visible_campaigns
from annotations_app.models import Assignment, Campaign
from datasets_app.domain.wording import format_count
from datasets_app.hooks import AttentionItem
from datasets_app.templatetags.values import short_datetime

# An open campaign without decisions for so long is stalled.
STALLED_AFTER = timedelta(days=3)
MAX_CAMPAIGNS = 50
MAX_ITEMS = 6


def campaigns_needing_attention(user: Any) -> list[AttentionItem]:
    """Campaigns with disputed or flagged replies, and open ones that are stalled."""
    if not user.has_perm("annotations_app.view_campaign"):
        return []
    campaigns = list(_unfinished_campaigns(user))
    keys = [campaign.pk for campaign in campaigns]
    # Reads an index of flagged assignments only.
    flagged = Assignment.objects.filter(campaign__in=keys, state=Assignment.State.FLAGGED)
    flags = dict(flagged.order_by().values_list("campaign").annotate(Count("id")))
    last, disputed = last_decision_times(keys), {}
    if user.has_perm("annotations_app.adjudicate"):
        disputed = count_recent_disputes(keys)
    items = []
    for campaign in campaigns:
        items += _attention_items(
            campaign, disputed.get(campaign.pk, 0), flags.get(campaign.pk, 0), last.get(campaign.pk)
        )
    return items[:MAX_ITEMS]


def _unfinished_campaigns(user: Any) -> Any:
    campaigns = visible_campaigns(user).exclude(status__in=["preparing", "closed"])
    return campaigns.order_by("-id")[:MAX_CAMPAIGNS]


def _attention_items(
    campaign: Campaign, disputed: int, flagged: int, last_decision: datetime | None
) -> list[AttentionItem]:
    items = []
    if disputed:
        text = f"has {format_count(disputed, 'disputed reply', 'disputed replies')} among its latest labels"
        url = f"{admin_url('campaign_adjudicate')}?campaign={campaign.pk}"
        items.append(("balance", text, url, "Resolve"))
    if flagged:
        text = f"has {format_count(flagged, 'flagged reply', 'flagged replies')}"
        items.append(("flag", text, campaign_url(campaign, "flagged"), "Review"))
    active_at = max(filter(None, (last_decision, campaign.created_at)))
    if campaign.status == Campaign.Status.OPEN and timezone.now() - active_at > STALLED_AFTER:
        text = f"has had no decisions since {short_datetime(active_at)}"
        items.append(("hourglass_empty", text, campaign_url(campaign), "Open"))
    return [AttentionItem("warn", icon, campaign.name, text, url, link) for icon, text, url, link in items]
