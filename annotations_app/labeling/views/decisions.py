"""Receives decisions: from the script, which keeps them until they are acknowledged, or as a plain form."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from annotations_app.labeling import decide as operation
from annotations_app.labeling.judgments import find_shown_schema
from annotations_app.labeling.views.access import (
    is_script_request,
    list_typed,
    refuse,
    require_past_or_present_member,
)
from annotations_app.labeling.views.decision_form import DecisionForm
from annotations_app.labeling.views.queue import lease_more
from annotations_app.models import Assignment, Campaign, CampaignMember
from datasets_app.core.errors import UserError


@require_POST
@require_past_or_present_member
def decide(request: Any, member: CampaignMember) -> HttpResponse:
    try:
        schema = find_shown_schema(member.campaign, request.POST.get("schema", ""))
    except UserError as refusal:
        return refuse(request, member, refusal.message)
    form = DecisionForm(request.POST, schema and schema.content)
    if not form.is_valid():
        return refuse(request, member, form.first_error())
    pk = form.cleaned_data["assignment"]
    own = Assignment.objects.filter(pk=pk, campaign=member.campaign_id, annotator=request.user)
    if not own.exists() and (is_script_request(request) or not list_typed(request)):
        raise Http404  # the script holds the decision
    try:
        outcome = operation.decide(pk, request.user, schema=schema, **form.decide_arguments())
    except UserError as refusal:
        return refuse(request, member, refusal.message)
    notice = _late_message(member) if outcome.what == "late" else ""
    if notice and not is_script_request(request):
        messages.warning(request, notice)
    return lease_more(request, member, notice)


def _late_message(member: CampaignMember) -> str:
    not_counted = gettext("Your decision is saved, but it doesn't count.")
    if not member.active:
        reason = gettext("You are no longer an annotator of this campaign.")
    elif member.campaign.status == Campaign.Status.CLOSED:
        reason = gettext("This campaign is closed.")
    else:
        reason = gettext("This reply was already reassigned.")
    return f"{reason} {not_counted}"
