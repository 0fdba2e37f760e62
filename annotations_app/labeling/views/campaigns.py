"""The campaigns of an annotator."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from annotations_app.labeling.views.access import require_annotator
from annotations_app.models import Campaign, CampaignMember
from datasets_app.domain.wording import format_count

_STATUS_ORDER = [
    Campaign.Status.OPEN,
    Campaign.Status.PAUSED,
    Campaign.Status.PREPARING,
    Campaign.Status.CLOSED,
]


@require_safe
@require_annotator
def list_campaigns(request: Any) -> HttpResponse:
    """List their campaigns; if there is only one, go straight to it."""
    members = list(
        CampaignMember.objects.filter(user=request.user, active=True).select_related(
            "campaign__persona", "campaign__dataset"
        )
    )
    if len(members) == 1 and "all" not in request.GET:
        return redirect("annotate:queue", members[0].campaign.name)
    members.sort(
        key=lambda member: (_STATUS_ORDER.index(member.campaign.status), -member.campaign_id)  # type: ignore[arg-type]
    )
    rows = [
        {
            "campaign": member.campaign,
            "replies": format_count(member.campaign.item_count, "reply", "replies"),
            "work": _describe_work(member),
        }
        for member in members
    ]
    return render(request, "annotations_app/queue_campaigns.html", {"rows": rows})


def _describe_work(member: CampaignMember) -> str:
    """ "13 labeled by you, 2 skipped". Gold items and repeats count like any other reply."""
    labeled = member.labelled + member.gold_labelled + member.repeated
    counts = {"labeled by you": labeled, "skipped": member.skipped, "flagged": member.flagged}
    return ", ".join(
        f"{count:,} {name}" for name, count in counts.items() if count or name == "labeled by you"
    )
