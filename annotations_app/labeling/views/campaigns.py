"""The campaigns of an annotator."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from annotations_app.labeling.views.access import require_annotator
from annotations_app.models import Campaign, CampaignMember


@require_safe
@require_annotator
def list_campaigns(request: Any) -> HttpResponse:
    """All of them; whoever has but one is taken there."""
    members = CampaignMember.objects.filter(user=request.user, active=True)
    members = members.select_related("campaign__persona", "campaign__dataset")
    for member in members:
        # Nothing tells what of it were gold items or repeats.
        member.judged = member.labelled + member.gold_labelled + member.repeated  # type: ignore[attr-defined]
    shown = sorted(members, key=lambda member: (_STATUS_ORDER[member.campaign.status], -member.campaign_id))
    if len(shown) == 1 and "all" not in request.GET:
        return redirect("annotate:queue", shown[0].campaign.name)
    return render(request, "annotations_app/queue_campaigns.html", {"members": shown})


_STATUS_ORDER = {
    Campaign.Status.OPEN: 0,
    Campaign.Status.PAUSED: 1,
    Campaign.Status.PREPARING: 2,
    Campaign.Status.CLOSED: 3,
}
