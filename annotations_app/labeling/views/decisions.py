"""What an annotator has pressed comes in: from the script, which keeps it until it is acknowledged, or as
a plain form."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from annotations_app.labeling import decide as operation
from annotations_app.labeling.views.access import (
    is_script_request,
    refuse_submission,
    require_past_or_present_member,
)
from annotations_app.labeling.views.decision_form import DecisionForm
from annotations_app.labeling.views.queue import render_update
from annotations_app.models import Assignment, Campaign, CampaignMember
from datasets_app.core.errors import UserError

NOT_COUNTED_MESSAGE = "Your decision is kept, but it is not counted."
LATE_MESSAGE = f"That reply had gone to others meanwhile. {NOT_COUNTED_MESSAGE}"
CLOSED_MESSAGE = f"This campaign is closed. {NOT_COUNTED_MESSAGE}"
REMOVED_MESSAGE = f"You are no annotator of this campaign any more. {NOT_COUNTED_MESSAGE}"


@require_POST
@require_past_or_present_member
def decide(request: Any, member: CampaignMember) -> HttpResponse:
    form = DecisionForm(request.POST)
    if not form.is_valid():
        return _refuse(request, member, form.sentence())
    pk = form.cleaned_data["assignment"]
    get_object_or_404(
        Assignment.objects.only("pk"), pk=pk, campaign=member.campaign_id, annotator=request.user
    )
    try:
        outcome = operation.decide(pk, request.user, **form.decide_arguments())
    except UserError as refusal:
        return _refuse(request, member, refusal.message)
    told = _late_message(member) if outcome.what == "late" else ""
    if is_script_request(request):
        return render_update(request, member, told)
    if told:
        messages.warning(request, told)
    return _redirect_to_queue(member)


def _late_message(member: CampaignMember) -> str:
    if not member.active:
        return REMOVED_MESSAGE
    return CLOSED_MESSAGE if member.campaign.status == Campaign.Status.CLOSED else LATE_MESSAGE


def _redirect_to_queue(member: CampaignMember) -> HttpResponse:
    """To the queue; who has none any more, to what they have."""
    return (
        redirect("annotate:queue", member.campaign.name) if member.active else redirect("annotate:campaigns")
    )


def _refuse(request: Any, member: CampaignMember, message: str) -> HttpResponse:
    if is_script_request(request):
        return refuse_submission(message)
    messages.error(request, message)
    return _redirect_to_queue(member)
