"""The page that adds selected sessions to a campaign."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from annotations_app.campaigns.pages_common import campaign_crumbs, require_permissions, visible_campaigns
from annotations_app.campaigns.parameters import AddToCampaignParameters
from annotations_app.models import Campaign
from datasets_app.core.web.pages import parse_pk, render_page
from datasets_app.jobs.pages import start_and_show_job
from datasets_app.models import Dataset, SessionSelection


def add_sessions(request: HttpRequest, selection_pk: int) -> HttpResponse:
    require_permissions(request, "view_campaign", "change_campaign")
    visible = Dataset.objects.visible_to(request.user)
    selection = get_object_or_404(
        SessionSelection.objects.select_related("dataset"),
        pk=selection_pk,
        owner=request.user,
        dataset__in=visible,
    )
    campaigns = visible_campaigns(request.user).filter(
        dataset=selection.dataset, status__in=[Campaign.Status.OPEN, Campaign.Status.PAUSED]
    )
    if request.method == "POST":
        campaign = get_object_or_404(campaigns, pk=parse_pk(request.POST.get("campaign", "")))
        parameters = AddToCampaignParameters(campaign=campaign.pk, selection=selection.pk)
        return start_and_show_job(request, "add_to_campaign", selection.dataset, parameters)
    context = {"selection": selection, "campaigns": campaigns}
    crumbs = campaign_crumbs(None, ("Add replies", None))
    return render_page(request, "annotations_app/campaign_sessions.html", crumbs, context)
