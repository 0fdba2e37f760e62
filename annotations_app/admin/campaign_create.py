"""The page on which a campaign begins: the form, what it would come to, the guidelines as they will look."""

from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_POST

from annotations_app.admin.campaign_form import SPLITS, CampaignForm, UnfinishedForm
from annotations_app.campaigns import rows
from annotations_app.campaigns.create import prepare_campaign
from annotations_app.campaigns.pages_common import campaign_address, campaign_crumbs, fragment, require
from annotations_app.campaigns.validation import FEWEST_NEW
from annotations_app.domain.assignment import gold_items_wanted
from annotations_app.domain.guidelines import rendered
from annotations_app.models import Campaign
from datasets_app.catalog import policies
from datasets_app.core.errors import Refused
from datasets_app.core.web.pages import render_page
from datasets_app.jobs import runs

# What somebody gets through in an hour, to tell how long it would take before anybody has begun.
LABELS_AN_HOUR = 300
LONGEST_PREVIEW = 50_000


def create(request: HttpRequest) -> HttpResponse:
    require(request, "add_campaign")
    if request.method == "POST":
        form = CampaignForm(request.POST, user=request.user)
        campaign = _prepared(request, form) if form.is_valid() else None
        if campaign:
            return redirect(campaign_address(campaign))
    else:
        form = CampaignForm(user=request.user, initial=_suggested(request))
    context = {"form": form, "splits": SPLITS}
    return render_page(
        request, "annotations_app/campaign_add.html", campaign_crumbs(None, ("New campaign", None)), context
    )


def _suggested(request: HttpRequest) -> dict[str, Any]:
    """From a dataset's page its number comes along."""
    dataset = request.GET.get("dataset", "")
    return {"dataset": dataset} if dataset.isascii() and dataset.isdigit() and len(dataset) < 19 else {}


def _prepared(request: HttpRequest, form: CampaignForm) -> Campaign | None:
    """The campaign with the job that fills it; None if it was refused, which the form tells."""
    try:
        with transaction.atomic():
            campaign = prepare_campaign(**form.asked(), actor=request.user)
            runs.start(
                "create_campaign",
                actor=request.user,
                dataset=campaign.dataset,
                parameters={"campaign": campaign.pk},
            )
    except Refused as refusal:
        form.add_error(None, refusal.message)
        return None
    messages.success(request, f"{campaign.name} is being prepared.")
    return campaign


@require_POST
def estimate(request: HttpRequest) -> HttpResponse:
    """What a campaign would come to, as far as the form is filled in. Nothing is made."""
    require(request, "add_campaign")
    form = UnfinishedForm(request.POST, user=request.user)
    form.is_valid()
    return fragment(request, "_campaign_estimate", _estimated(form.cleaned_data))


def _estimated(said: dict[str, Any]) -> dict[str, Any]:
    dataset, persona = said.get("dataset"), said.get("persona")
    if not dataset:
        return {}
    gold, repeats = (said.get("gold") or 0) / 100, (said.get("repeats") or 0) / 100
    replies, known = rows.count(
        rows.Choice(
            dataset.pk,
            persona.persona_id if persona else "",
            said.get("tag", ""),
            said.get("split", ""),
            bool(persona) and gold > 0,
        )
    )
    overlap, people = said.get("overlap") or 0, len(said.get("annotators") or ())
    labels = (replies - gold_items_wanted(replies, known, gold)) * overlap
    # What is new is only a part of what somebody looks at.
    shown = labels / max(FEWEST_NEW, 1 - gold - repeats)
    return {
        "dataset": dataset,
        "gate_closed": not policies.is_scrubbed(dataset),
        "replies": replies,
        "known": known,
        "wants_gold": bool(persona) and gold > 0,
        "overlap": overlap,
        "labels": labels,
        "shown": round(shown),
        "people": people,
        "each": round(shown / people) if people else None,
        "hours": shown / people / LABELS_AN_HOUR if people else None,
        "per_hour": LABELS_AN_HOUR,
    }


@require_POST
def preview_guidelines(request: HttpRequest) -> HttpResponse:
    """The guidelines as annotators will read them."""
    require(request, "view_campaign")
    text = request.POST.get("guidelines", "")[:LONGEST_PREVIEW]
    return fragment(
        request, "_campaign_guidelines", {"html": mark_safe(rendered(text)) if text.strip() else ""}
    )
