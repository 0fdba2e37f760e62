"""What of labelling waits for a lead; for the start page, in a few queries that stay small."""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count
from django.utils import timezone

from annotations_app.agreement.figures import disputed_lately, last_decisions
from annotations_app.campaigns.pages_common import campaign_address, lead_address, visible_campaigns
from annotations_app.models import Assignment, Campaign
from datasets_app.templatetags.datasets_display import moment

# An open campaign without a decision for so long stands still.
STILL = timedelta(days=3)
CAMPAIGNS_LOOKED_AT = 50
SHOWN = 6


def campaigns_waiting(user: Any) -> list[dict[str, Any]]:
    """Campaigns with something to settle or to look at, and open ones that stand still."""
    if not user.has_perm("annotations_app.view_campaign"):
        return []
    campaigns = list(_unfinished(user))
    keys = [campaign.pk for campaign in campaigns]
    # Little is ever flagged: this reads an index of nothing else.
    flagged = Assignment.objects.filter(campaign__in=keys, state=Assignment.State.FLAGGED)
    flags = dict(flagged.order_by().values_list("campaign").annotate(Count("id")))
    last, disputed = last_decisions(keys), {}
    if user.has_perm("annotations_app.adjudicate"):
        disputed = disputed_lately(keys)
    told = []
    for campaign in campaigns:
        told += _told(
            campaign, disputed.get(campaign.pk, 0), flags.get(campaign.pk, 0), last.get(campaign.pk)
        )
    return told[:SHOWN]


def _unfinished(user: Any) -> Any:
    campaigns = visible_campaigns(user).exclude(status__in=["preparing", "closed"])
    return campaigns.order_by("-id")[:CAMPAIGNS_LOOKED_AT]


def _told(campaign: Campaign, disputed: int, flagged: int, last: datetime | None) -> list[dict[str, Any]]:
    items = []
    if disputed:
        items.append(
            _item(
                campaign,
                "balance",
                f"has {disputed:,} disputed repl{'y' if disputed == 1 else 'ies'} among its latest labels",
                f"{lead_address('campaign_adjudicate')}?campaign={campaign.pk}",
                "Settle",
            )
        )
    if flagged:
        text = f"has {flagged:,} flagged repl{'y' if flagged == 1 else 'ies'}"
        items.append(_item(campaign, "flag", text, campaign_address(campaign, "flagged"), "See them"))
    begun = max(filter(None, (last, campaign.created_at)))
    if campaign.status == Campaign.Status.OPEN and timezone.now() - begun > STILL:
        text = f"has stood still since {moment(begun)}"
        items.append(_item(campaign, "hourglass_empty", text, campaign_address(campaign), "Open"))
    return items


def _item(campaign: Campaign, icon: str, text: str, address: str, link: str) -> dict[str, Any]:
    return {
        "kind": "warn",
        "icon": icon,
        "name": campaign.name,
        "text": text,
        "address": address,
        "link": link,
    }
