"""The page that creates a campaign: its form, the estimate and the preview of the guidelines."""

from typing import Any

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_POST
from msgspec import UNSET

from annotations_app.admin.campaign_form import CampaignForm, add_refusal
from annotations_app.campaigns import rows
from annotations_app.campaigns.create import prepare_campaign
from annotations_app.campaigns.members import list_without_access
from annotations_app.campaigns.pages_common import (
    campaign_crumbs,
    campaign_url,
    render_fragment,
    require_permissions,
    visible_campaigns,
    warn_of_annotators,
)
from annotations_app.campaigns.parameters import CampaignParameters
from annotations_app.campaigns.settings import MIN_NEW_SHARE
from annotations_app.domain.assignment import gold_item_target
from annotations_app.domain.guidelines import render_guidelines
from annotations_app.models import Campaign
from annotations_app.models.campaign import MAX_GUIDELINES_LENGTH
from datasets_app.catalog import gates, raw_access
from datasets_app.core.errors import UserError
from datasets_app.core.web.pages import parse_pk, render_page
from datasets_app.core.web.reauthentication import require_recent_sign_in
from datasets_app.jobs import runs

# A usual pace, for the estimate before anybody has started.
LABELS_PER_HOUR = 300


def add_campaign(request: HttpRequest) -> HttpResponse:
    require_permissions(request, "add_campaign")
    if request.method == "POST":
        form = CampaignForm(request.POST, user=request.user)
        campaign = _start_campaign(request, form) if form.is_valid() else None
        if campaign:
            return redirect(campaign_url(campaign))
    else:
        form = CampaignForm(user=request.user, initial=_initial_values(request))
    context = {"form": form}
    return render_page(
        request, "annotations_app/campaign_add.html", campaign_crumbs(None, ("New campaign", None)), context
    )


def _initial_values(request: HttpRequest) -> dict[str, Any]:
    """A link from the page of a dataset or schema names it; one for a test of a judge names the split and a
    campaign to be like."""
    like = visible_campaigns(request.user).filter(pk=parse_pk(request.GET.get("like", ""))).first()
    if like and request.user.has_perm("annotations_app.view_campaign"):
        same = {
            name: getattr(like, name) for name in ("dataset", "persona", "schema", "guidelines", "overlap")
        }
        return same | {"split": request.GET.get("split", "")}
    return {name: pk for name in ("dataset", "schema") if (pk := parse_pk(request.GET.get(name, "")))}


def _start_campaign(request: HttpRequest, form: CampaignForm) -> Campaign | None:
    """Prepare the campaign and start the job that fills it; None with an error on the form if refused."""
    override = form.cleaned_data.get("override", "")
    if override:
        require_recent_sign_in(request)
    try:
        with transaction.atomic():
            names = [user.get_username() for user in form.cleaned_data["annotators"]]
            campaign = prepare_campaign(form.make_campaign(), names, override=override, actor=request.user)
            runs.start_job(
                "create_campaign",
                actor=request.user,
                dataset=campaign.dataset,
                parameters=CampaignParameters(campaign=campaign.pk, override=override or UNSET),
            )
    except UserError as refusal:
        add_refusal(form, refusal)
        return None
    messages.success(request, f"{campaign.name} is being prepared.")
    warn_of_annotators(request, campaign, form.cleaned_data["annotators"])
    return campaign


@require_POST
def estimate_campaign(request: HttpRequest) -> HttpResponse:
    """Replies, labels and hours of the campaign, as far as the form is filled in. Creates nothing."""
    require_permissions(request, "add_campaign")
    form = CampaignForm(request.POST, user=request.user)
    # Each valid answer counts; the form need not be complete.
    form.is_valid()
    answers = form.cleaned_data
    dataset = answers.get("dataset")
    # The number of replies would tell which tags there are.
    ignores_tag = bool(answers.get("tag") and dataset and not raw_access.may_read(request.user, dataset))
    if ignores_tag:
        del answers["tag"]
    context = {**_estimate_context(answers), "ignores_tag": ignores_tag}
    return render_fragment(request, "_campaign_estimate", context)


def _estimate_context(answers: dict[str, Any]) -> dict[str, Any]:
    dataset, persona = answers.get("dataset"), answers.get("persona")
    if not dataset:
        return {}
    gold, repeats = (answers.get("gold") or 0) / 100, (answers.get("repeats") or 0) / 100
    columns = {name: answers.get(name) for name in ("dataset", "persona", "schema")}
    columns |= {name: answers.get(name, "") for name in ("tag", "split")}
    replies, known = rows.count_replies(Campaign(**columns, gold_share=gold if persona else 0.0))
    replies = min(replies, answers.get("max_replies") or replies)
    overlap, people = answers.get("overlap") or 0, len(answers.get("annotators") or ())
    labels = (replies - gold_item_target(replies, known, gold)) * overlap
    # Gold replies and repeats come on top of the new ones.
    shown = labels / max(MIN_NEW_SHARE, 1 - gold - repeats)
    return {
        "dataset": dataset,
        "facts": gates.load_facts(dataset),
        "replies": replies,
        "known": known,
        "is_gold_requested": bool(persona) and gold > 0,
        "overlap": overlap,
        "labels": labels,
        "shown": round(shown),
        "people": people,
        "without_access": list_without_access(dataset, answers.get("annotators") or ()),
        "each": round(shown / people) if people else None,
        "hours": shown / people / LABELS_PER_HOUR if people else None,
        "per_hour": LABELS_PER_HOUR,
    }


@require_POST
def preview_guidelines(request: HttpRequest) -> HttpResponse:
    """The guidelines as annotators will read them."""
    require_permissions(request, "view_campaign")
    text = request.POST.get("guidelines", "")[:MAX_GUIDELINES_LENGTH]
    return render_fragment(
        request,
        "_campaign_guidelines",
        {"html": mark_safe(render_guidelines(text)) if text.strip() else ""},  # sanitized by nh3 # nosec B308 B703
    )
