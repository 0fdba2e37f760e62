"""What the pages of campaigns, agreement and adjudication have in common."""

from collections.abc import Iterable
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q, Sum
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse

from annotations_app.campaigns.members import list_without_access
from annotations_app.models import Campaign
from datasets_app.catalog import raw_access
from datasets_app.core.errors import UserError
from datasets_app.core.web import pages
from datasets_app.core.web.pages import Breadcrumbs, render_page
from datasets_app.models import Dataset

_ONLY_LABELS = (
    "You are an annotator of this campaign: you can label its replies. Its other pages need access to its "
    "dataset, which is restricted. Ask a privacy officer for it."
)


def require_permissions(request: HttpRequest, *permissions: str) -> None:
    """403 unless the user has all of these permissions of this app."""
    if not all(request.user.has_perm(f"annotations_app.{permission}") for permission in permissions):
        raise PermissionDenied


def visible_campaigns(user: Any) -> Any:
    return Campaign.objects.filter(dataset__in=Dataset.objects.visible_to(user)).select_related(
        "dataset", "persona", "schema", "created_by"
    )


def with_label_counts(campaigns: Any) -> Any:
    """``labels`` so far, and the active ``people``, which ``count_places`` takes."""
    people = Count("members", filter=Q(members__active=True))
    return campaigns.annotate(people=people, labels=Sum("members__labelled", default=0))


def visible_campaign(request: HttpRequest, pk: int | str, *permissions: str) -> Campaign:
    """For who has all of these permissions and may see campaigns. 404 for one of a dataset that they don't
    see; its annotators are told why."""
    require_permissions(request, "view_campaign")
    user: Any = request.user
    campaign: Campaign | None = visible_campaigns(user).filter(pk=pk).first()
    if campaign is None:
        if user.campaign_memberships.filter(campaign=pk, active=True).exists():
            raise PermissionDenied(_ONLY_LABELS)
        raise Http404
    require_permissions(request, *permissions)
    return campaign


def check_may_read_replies(user: Any, campaign: Campaign) -> None:
    """For notes, failure modes and verdicts: those of a pair are about the replies of both datasets. Raises
    UserError."""
    for dataset in campaign.datasets:
        raw_access.check_may_read(user, dataset)
    hidden = Dataset.objects.hidden_from(user)
    if hidden.filter(pk__in=[dataset.pk for dataset in campaign.datasets]).exists():
        raise UserError("This campaign compares replies with those of a dataset that you have no access to.")


def may_read_replies(user: Any, campaign: Campaign) -> bool:
    try:
        check_may_read_replies(user, campaign)
    except UserError:
        return False
    return True


def record_replies(request: HttpRequest, campaign: Campaign, place: str, turns: int) -> None:
    """That so many replies were shown, if any: those of a pair are of both datasets."""
    for dataset in campaign.datasets if turns else ():
        raw_access.record_access(dataset, request.user, place=place, campaign=campaign.pk, turns=turns)


def warn_of_annotators(request: HttpRequest, campaign: Campaign, users: Iterable[Any]) -> None:
    """Say which of the annotators who were chosen have no access to the dataset."""
    if names := list_without_access(campaign.dataset, users):
        messages.warning(
            request,
            f"{campaign.dataset.name} is restricted, and {', '.join(names[:10])} can see nothing of it but "
            "the replies of this campaign, for labeling. Other pages of the campaign need access to the "
            "dataset.",
        )


def admin_url(page: str, *arguments: Any) -> str:
    return reverse(f"admin:annotations_app_{page}", args=arguments)


def campaign_url(campaign: Campaign, page: str = "change") -> str:
    return admin_url(f"campaign_{page}", campaign.pk)


def campaign_tabs(request: HttpRequest, campaign: Campaign, current: str) -> list[dict[str, Any]]:
    has = request.user.has_perm
    sees_labels = has("annotations_app.view_annotation")
    every = [
        ("change", "Overview", True),
        ("agreement", "Agreement", sees_labels),
        ("judges", "Judges", sees_labels),
        ("calibration", "Calibration", sees_labels and campaign.calibration_replies is not None),
        ("flagged", "Flagged", sees_labels),
        ("notes", "Notes", sees_labels),
        ("stale", "Stale labels", sees_labels),
        ("export", "Export labels", has("annotations_app.export_annotation")),
        ("settings", "Settings", has("annotations_app.change_campaign")),
    ]
    return [
        {"title": title, "address": campaign_url(campaign, page), "current": page == current}
        for page, title, shown in every
        if shown
    ]


def campaign_crumbs(campaign: Campaign | None, *more_crumbs: tuple[str, str | None]) -> Breadcrumbs:
    crumbs: Breadcrumbs = [("Campaigns", admin_url("campaign_changelist"))]
    if campaign:
        crumbs.append((campaign.name, campaign_url(campaign)))
    return [*crumbs, *more_crumbs]


def render_campaign_page(
    request: HttpRequest, campaign: Campaign, page: str, title: str, context: dict[str, Any]
) -> HttpResponse:
    """A page of one campaign, under its tabs; ``page`` is the name of its address."""
    name = "overview" if page == "change" else page
    crumbs = (
        campaign_crumbs(campaign, (title, None)) if title else campaign_crumbs(None, (campaign.name, None))
    )
    has = request.user.has_perm
    frame = {
        "campaign": campaign,
        "tabs": campaign_tabs(request, campaign, page),
        "may_change": has("annotations_app.change_campaign"),
        "may_adjudicate": has("annotations_app.adjudicate")
        and has("annotations_app.view_annotation")
        and not campaign.other_dataset_id,
        "may_read": has("datasets_app.view_turn") and has("datasets_app.view_session"),
        "may_view_personas": has("datasets_app.view_persona"),
    }
    return render_page(request, f"annotations_app/campaign_{name}.html", crumbs, {**frame, **context})


def render_fragment(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    return pages.render_fragment(request, f"annotations_app/{template}.html", context)
