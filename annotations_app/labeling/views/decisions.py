"""What an annotator has pressed comes in: from the script, which keeps it until it is acknowledged, or as
a plain form."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from annotations_app.labeling import decide as operation
from annotations_app.labeling.views.access import for_members_once, is_script, refused
from annotations_app.labeling.views.decision_form import DecisionForm
from annotations_app.labeling.views.queue import update
from annotations_app.models import Assignment, Campaign, CampaignMember
from datasets_app.core.errors import Refused

KEPT = "Your decision is kept, but it is not counted."
LATE = f"That reply had gone to others meanwhile. {KEPT}"
CLOSED = f"This campaign is closed. {KEPT}"
REMOVED = f"You are no annotator of this campaign any more. {KEPT}"


@require_POST
@for_members_once
def decide(request: Any, member: CampaignMember) -> HttpResponse:
    form = DecisionForm(request.POST)
    if not form.is_valid():
        return _refusal(request, member, form.sentence())
    pk = form.cleaned_data["assignment"]
    get_object_or_404(
        Assignment.objects.only("pk"), pk=pk, campaign=member.campaign_id, annotator=request.user
    )
    try:
        outcome = operation.decide(pk, request.user, **form.for_operation())
    except Refused as refusal:
        return _refusal(request, member, refusal.message)
    told = _why_late(member) if outcome.what == "late" else ""
    if is_script(request):
        return update(request, member, told)
    if told:
        messages.warning(request, told)
    return _back(member)


def _why_late(member: CampaignMember) -> str:
    if not member.active:
        return REMOVED
    return CLOSED if member.campaign.status == Campaign.Status.CLOSED else LATE


def _back(member: CampaignMember) -> HttpResponse:
    """To the queue; who has none any more, to what they have."""
    return (
        redirect("annotate:queue", member.campaign.name) if member.active else redirect("annotate:campaigns")
    )


def _refusal(request: Any, member: CampaignMember, sentence: str) -> HttpResponse:
    if is_script(request):
        return refused(sentence)
    messages.error(request, sentence)
    return _back(member)
