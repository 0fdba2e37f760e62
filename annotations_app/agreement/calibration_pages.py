"""The page of a calibration round: agreement, differences to discuss, and the button that opens the rest."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from annotations_app.agreement.calibration import end_round, list_differences, measure_round
from annotations_app.agreement.shown_replies import list_shown_replies
from annotations_app.campaigns.calibration import MAX_REASON_LENGTH
from annotations_app.campaigns.pages_common import (
    campaign_url,
    may_read_replies,
    record_replies,
    render_campaign_page,
    require_permissions,
    visible_campaign,
)
from annotations_app.models import Campaign
from datasets_app.core.web.refusals import show_refusal
from datasets_app.models import Turn

MAX_TEXT_CHARACTERS = 3_000


def show_round(request: HttpRequest, pk: int) -> HttpResponse:
    """POST opens the rest, with a reason while the annotators don't agree."""
    campaign = visible_campaign(request, pk, "view_annotation")
    state = measure_round(campaign) if campaign.is_calibrating else None
    if request.method == "POST":
        require_permissions(request, "change_campaign")
        return _open(request, campaign)
    differences = list_differences(campaign)
    withheld = not may_read_replies(request.user, campaign)
    turns = {} if withheld else _read_turns(campaign, [one.turn for one in differences])
    record_replies(request, campaign, "calibration", len(turns))
    context = {
        "state": state,
        "differences": [(one, turns.get(one.turn)) for one in differences],
        "withheld": withheld,
        "max_reason_length": MAX_REASON_LENGTH,
    }
    return render_campaign_page(request, campaign, "calibration", "Calibration", context)


def _open(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    with show_refusal(request):
        end_round(campaign, reason=request.POST.get("reason", ""), actor=request.user)
        messages.success(request, "The other replies are open.")
    return redirect(campaign_url(campaign, "calibration"))


def _read_turns(campaign: Campaign, keys: list[int]) -> dict[int, Any]:
    turns = Turn.objects.filter(dataset=campaign.dataset_id, pk__in=keys).select_related("session")
    turns = turns.filter(session__dataset=campaign.dataset_id)
    shown = list_shown_replies(campaign, found := list(turns), MAX_TEXT_CHARACTERS)
    for turn in found:
        turn.replies = shown.get(turn.pk, [])
    return {turn.pk: turn for turn in found}
