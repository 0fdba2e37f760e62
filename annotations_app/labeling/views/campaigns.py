"""The campaigns of an annotator."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.formats import number_format
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_safe

from annotations_app.labeling.views.access import require_annotator
from annotations_app.models import Campaign, CampaignMember

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
            "status": gettext(str(member.campaign.get_status_display())),
            "replies": _count_replies(member.campaign.item_count),
            "work": _describe_work(member),
        }
        for member in members
    ]
    return render(request, "annotations_app/queue_campaigns.html", {"rows": rows})


def _describe_work(member: CampaignMember) -> str:
    """ "13 labeled by you, 2 skipped". Gold items and repeats count like any other reply."""
    labeled = member.labelled + member.gold_labelled + member.repeated
    parts = [ngettext("%(count)s labeled by you", "%(count)s labeled by you", labeled) % _count(labeled)]
    if member.skipped:
        parts.append(
            ngettext("%(count)s skipped", "%(count)s skipped", member.skipped) % _count(member.skipped)
        )
    if member.flagged:
        parts.append(
            ngettext("%(count)s flagged", "%(count)s flagged", member.flagged) % _count(member.flagged)
        )
    return ", ".join(parts)


def _count_replies(count: int) -> str:
    return ngettext("%(count)s reply", "%(count)s replies", count) % _count(count)


def _count(count: int) -> dict[str, str]:
    return {"count": number_format(count, force_grouping=True)}
