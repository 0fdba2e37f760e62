"""What of labeling waits for a lead; for the start page, in a few queries that stay small."""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count
from django.utils import timezone

from annotations_app.agreement.figures import count_recent_disputes, last_decision_times
from annotations_app.campaigns.pages_common import admin_url, campaign_url, visible_campaigns
from annotations_app.models import Assignment, Campaign
from datasets_app.hooks import AttentionItem
from datasets_app.templatetags.datasets_display import short_datetime

# An open campaign without a decision for so long stands still.
STALLED_AFTER = timedelta(days=3)
MAX_CAMPAIGNS = 50
MAX_ITEMS = 6


def campaigns_needing_attention(user: Any) -> list[AttentionItem]:
    """Campaigns with something to settle or to look at, and open ones that stand still."""
    if not user.has_perm("annotations_app.view_campaign"):
        return []
    campaigns = list(_unfinished_campaigns(user))
    keys = [campaign.pk for campaign in campaigns]
    # Little is ever flagged: this reads an index of nothing else.
    flagged = Assignment.objects.filter(campaign__in=keys, state=Assignment.State.FLAGGED)
    flags = dict(flagged.order_by().values_list("campaign").annotate(Count("id")))
    last, disputed = last_decision_times(keys), {}
    if user.has_perm("annotations_app.adjudicate"):
        disputed = count_recent_disputes(keys)
    told = []
    for campaign in campaigns:
        told += _attention_items(
            campaign, disputed.get(campaign.pk, 0), flags.get(campaign.pk, 0), last.get(campaign.pk)
        )
    return told[:MAX_ITEMS]


def _unfinished_campaigns(user: Any) -> Any:
    campaigns = visible_campaigns(user).exclude(status__in=["preparing", "closed"])
    return campaigns.order_by("-id")[:MAX_CAMPAIGNS]


def _attention_items(
    campaign: Campaign, disputed: int, flagged: int, last_decision: datetime | None
) -> list[AttentionItem]:
    items = []
    if disputed:
        items.append(
            _attention_item(
                campaign,
                "balance",
                f"has {disputed:,} disputed repl{'y' if disputed == 1 else 'ies'} among its latest labels",
                f"{admin_url('campaign_adjudicate')}?campaign={campaign.pk}",
                "Adjudicate",
            )
        )
    if flagged:
        text = f"has {flagged:,} flagged repl{'y' if flagged == 1 else 'ies'}"
        items.append(
            _attention_item(campaign, "flag", text, campaign_url(campaign, "flagged"), "View flagged replies")
        )
    begun = max(filter(None, (last_decision, campaign.created_at)))
    if campaign.status == Campaign.Status.OPEN and timezone.now() - begun > STALLED_AFTER:
        text = f"has had no decisions since {short_datetime(begun)}"
        items.append(_attention_item(campaign, "hourglass_empty", text, campaign_url(campaign), "Open"))
    return items


def _attention_item(campaign: Campaign, icon: str, text: str, url: str, link_text: str) -> AttentionItem:
    return AttentionItem("warn", icon, campaign.name, text, url, link_text)
