"""The pages of one campaign: overview, flagged replies, stale labels, settings."""

from typing import Any

from django.contrib import messages
from django.db.models import Count, F, OuterRef, Subquery
from django.db.models.functions import Left
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from annotations_app.admin.campaign_form import CampaignSettingsForm, add_refusal
from annotations_app.agreement.figures import (
    LabelingRate,
    count_unassignable,
    member_stats,
    recent_labeling_rates,
    say_time_left,
)
from annotations_app.campaigns.edit import edit_campaign
from annotations_app.campaigns.pages_common import (
    campaign_url,
    render_campaign_page,
    render_fragment,
    require_permissions,
    visible_campaign,
    warn_of_annotators,
)
from annotations_app.campaigns.preparation import discard_campaign, find_preparation_job, is_stopped
from annotations_app.campaigns.rows import describe_unpaired
from annotations_app.labeling.drift import find_drifts, find_paces, pause_and_requeue
from annotations_app.labeling.requeue_stale import requeue_stale
from annotations_app.labels.balance import count_exported
from annotations_app.labels.label_counts import LabelScope
from annotations_app.labels.versions import list_unchanged_criteria
from annotations_app.models import Annotation, Assignment, Campaign, Decision
from annotations_app.models.querysets import STALE_CAUSES
from datasets_app.catalog import gates, raw_access
from datasets_app.core.errors import UserError
from datasets_app.core.web.pages import parse_pk
from datasets_app.core.web.paging import paginate_newest_first
from datasets_app.core.web.refusals import show_refusal
from datasets_app.domain.wording import format_count
from datasets_app.models import Dataset

MAX_TEXT_CHARACTERS = 300


# --- overview ----------------------------------------------------------------------------------


def overview(request: HttpRequest, pk: int) -> HttpResponse:
    campaign = visible_campaign(request, pk)
    if campaign.status == Campaign.Status.PREPARING:
        return render_campaign_page(request, campaign, "change", "", _preparation_context(campaign))
    see = request.user.has_perm("annotations_app.view_annotation")
    # Nobody else sees how single people do.
    may_lead = see and request.user.has_perm("annotations_app.adjudicate")
    other = Dataset.objects.visible_to(request.user).filter(pk=campaign.other_dataset_id)
    context = {
        "progress": _progress_context(campaign),
        "balance": _label_balance(campaign) if see and campaign.schema is None else None,
        "stale": _count_stale(campaign) if see else [],
        "drifts": find_drifts(campaign) if may_lead else [],
        "paces": find_paces(campaign) if may_lead else [],
        "withheld": not raw_access.may_read(request.user, campaign.dataset),
        "raw": [] if campaign.overridden else _list_raw(campaign),
        "compared_with": other.first(),
        "unpaired": describe_unpaired(campaign.unpaired),
    }
    return render_campaign_page(request, campaign, "change", "", context)


def _list_raw(campaign: Campaign) -> list[tuple[str, str]]:
    """What stops the queue: (dataset, what it contains). Not everybody may know the name of the other one."""
    names = [campaign.dataset.name, "The dataset to compare with"]
    facts = [gates.load_facts(dataset).raw_because for dataset in campaign.datasets]
    return [(name, because) for name, because in zip(names, facts, strict=False) if because]


def _count_stale(campaign: Campaign) -> list[tuple[str, int]]:
    """(cause, labels) where there are any; a label may have several causes."""
    counts = [(cause, campaign.own_labels.stale(campaign, [cause]).count()) for cause in STALE_CAUSES]
    return [(cause, count) for cause, count in counts if count]


def _progress_context(campaign: Campaign) -> dict[str, Any]:
    people = member_stats(campaign)
    members = [figures.member for figures in people]
    total = {
        field: sum(getattr(member, field) for member in members)
        for field in ("labelled", "gold_labelled", "repeated", "skipped", "flagged")
    }
    plain = campaign.item_count - campaign.gold_count
    target = campaign.count_places(sum(member.active for member in members))
    done = min(total["labelled"], target)
    rate = recent_labeling_rates([campaign.pk], timezone.now())[campaign.pk]
    unassignable = count_unassignable([campaign.pk])[campaign.pk]
    return {
        "people": people,
        "total": total,
        "plain": plain,
        "target": target,
        "done": done,
        "percent": 100 * done // target if target else 0,
        "unassignable": unassignable,
        "outlook": _outlook(target - done, unassignable, target, rate),
    }


def _outlook(remaining: int, unassignable: int, target: int, rate: LabelingRate) -> str:
    if not target:
        return "There is nothing to label."
    if not remaining:
        return "Every reply has its labels."
    if remaining <= unassignable:
        return "Its annotators have nothing left to label."
    if not rate.per_day:
        return "No labels in the last seven days, so there is no estimate yet."
    time_left = say_time_left(remaining - unassignable, rate)
    return f"{format_count(rate.labels, 'label')} in the last seven days; at that pace {time_left}."


def _label_balance(campaign: Campaign) -> dict[str, Any]:
    return count_exported(LabelScope(campaign.dataset_id, campaign.persona.persona_id, campaign.pk))


def preparation_status(request: HttpRequest, pk: int) -> HttpResponse:
    """The progress of the job; reloads the whole page when the items are there."""
    campaign = visible_campaign(request, pk)
    response = render_fragment(request, "_campaign_preparing", _preparation_context(campaign))
    if campaign.status != Campaign.Status.PREPARING:
        response["HX-Refresh"] = "true"
    return response


def _preparation_context(campaign: Campaign) -> dict[str, Any]:
    job = find_preparation_job(campaign)
    return {"campaign": campaign, "job": job, "is_stopped": is_stopped(campaign, job)}


@require_POST
def discard(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a campaign whose preparation failed, or was canceled or declined."""
    campaign = visible_campaign(request, pk, "add_campaign")
    with show_refusal(request):
        discard_campaign(campaign, actor=request.user)
        messages.success(request, f"{campaign.name} was discarded.")
        return redirect("admin:annotations_app_campaign_changelist")
    return redirect(campaign_url(campaign))


# --- flagged -----------------------------------------------------------------------------------


def flagged_replies(request: HttpRequest, pk: int) -> HttpResponse:
    """Flagged replies with the annotators' reasons, newest first."""
    campaign = visible_campaign(request, pk, "view_annotation")
    reason = Decision.objects.filter(assignment=OuterRef("pk"), kind=Decision.Kind.FLAG).order_by("-id")
    rows = (
        Assignment.objects.filter(campaign=campaign, state=Assignment.State.FLAGGED)
        .filter(item__turn__dataset=campaign.dataset_id, item__session__dataset=campaign.dataset_id)
        .select_related("annotator", "item__session")
        .annotate(
            reason=Subquery(reason.values("notes")[:1]),
            turn_index=F("item__turn__turn_index"),
            start=Left("item__turn__text", MAX_TEXT_CHARACTERS),
        )
    )
    page = paginate_newest_first(rows, request.GET)
    withheld = not raw_access.may_read(request.user, campaign.dataset)
    if withheld:
        _withhold_flags(page.rows)
    elif page.rows:
        raw_access.record_access(
            campaign.dataset, request.user, place="flagged", campaign=campaign.pk, turns=len(page.rows)
        )
    context = {"page": page, "withheld": withheld}
    return render_campaign_page(request, campaign, "flagged", "Flagged", context)


def _withhold_flags(rows: list[Any]) -> None:
    for row in rows:
        row.reason = row.start = raw_access.WITHHELD
        raw_access.withhold_session(row.item.session)


# --- stale labels ------------------------------------------------------------------------------


def stale_labels(request: HttpRequest, pk: int) -> HttpResponse:
    """Labels made under an earlier persona, guidelines or schema, by annotator. POST requeues the replies of
    those with one of the chosen causes."""
    campaign = visible_campaign(request, pk, "view_annotation")
    if request.method == "POST":
        require_permissions(request, "change_campaign")
        return _requeue_labels(request, campaign)
    name = "rater__name" if campaign.schema else "annotator"
    rows = campaign.own_labels.stale(campaign).order_by().values(who=F(name)).annotate(labels=Count("id"))
    by_annotator = list(rows.order_by("-labels", "who"))
    total = sum(row["labels"] for row in by_annotator)
    context = {
        "by_annotator": by_annotator,
        "total": total,
        "causes": _count_stale(campaign),
        "unknown": 0 if campaign.schema else _count_without_guidelines(campaign),
        "kept": list_unchanged_criteria(campaign),
        "asks": "again" in request.GET and total,
    }
    return render_campaign_page(request, campaign, "stale", "Stale labels", context)


def _count_without_guidelines(campaign: Campaign) -> int:
    """Labels that don't record their guidelines: those made before the application did that."""
    return Annotation.objects.countable().filter(campaign=campaign, guidelines_digest=None).count()


def _requeue_labels(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    with show_refusal(request):
        causes = [cause for cause in STALE_CAUSES if cause in request.POST.getlist("cause")]
        count = requeue_stale(campaign, causes=causes or STALE_CAUSES, actor=request.user)
        messages.success(request, f"Requeued {format_count(count, 'reply', 'replies')}.")
    return redirect(campaign_url(campaign, "stale"))


@require_POST
def pause_annotator(request: HttpRequest, pk: int) -> HttpResponse:
    """Take the posted annotator out, and requeue what they labeled since their checks changed."""
    campaign = visible_campaign(request, pk, "change_campaign", "adjudicate")
    member = get_object_or_404(campaign.members, user=parse_pk(request.POST.get("user", "")) or 0)
    with show_refusal(request):
        count = pause_and_requeue(campaign, member.user, actor=request.user)
        labels = format_count(count, "label")
        messages.success(request, f"{member.user.get_username()} is paused, and {labels} requeued.")
    return redirect(campaign_url(campaign))


# --- settings ----------------------------------------------------------------------------------


def campaign_settings(request: HttpRequest, pk: int) -> HttpResponse:
    campaign = visible_campaign(request, pk, "change_campaign")
    form = CampaignSettingsForm(request.POST or None, campaign=campaign)
    if request.method == "POST" and form.is_valid() and _save_settings(request, campaign, form):
        messages.success(request, "Saved.")
        return redirect(campaign_url(campaign, "settings"))
    return render_campaign_page(request, campaign, "settings", "Settings", {"form": form})


def _save_settings(request: HttpRequest, campaign: Campaign, form: CampaignSettingsForm) -> bool:
    """Whether the changes were saved; otherwise the form has the error."""
    try:
        edit_campaign(campaign, changes=form.changes(), actor=request.user)
    except UserError as refusal:
        add_refusal(form, refusal)
        return False
    if "annotators" in form.changed_data:
        before = form.initial["annotators"]
        added = [user for user in form.cleaned_data["annotators"] if user.pk not in before]
        warn_of_annotators(request, campaign, added)
    return True


@require_POST
def set_status(request: HttpRequest, pk: int) -> HttpResponse:
    """Pause, reopen or close."""
    campaign = visible_campaign(request, pk, "change_campaign")
    status = request.POST.get("status", "")
    with show_refusal(request):
        edit_campaign(campaign, changes={"status": status}, actor=request.user)
        campaign.refresh_from_db()
        messages.success(request, f"{campaign.name} is {campaign.get_status_display().lower()}.")
    return redirect(campaign_url(campaign, "settings"))
