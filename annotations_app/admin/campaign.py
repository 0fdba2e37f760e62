"""The list of campaigns, and the URLs of their pages."""

from functools import partial
from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.http import urlencode
from unfold.decorators import display

from annotations_app.admin import campaign_create, campaign_pages, campaign_sessions, schema_pages
from annotations_app.agreement import adjudication_pages, calibration_pages, failure_mode_pages, scope_pages
from annotations_app.agreement import pages as agreement_pages
from annotations_app.agreement.figures import count_unassignable, recent_labeling_rates, say_time_left
from annotations_app.calibrating.pages import dataset_calibration
from annotations_app.campaigns.pages_common import visible_campaigns, with_label_counts
from annotations_app.campaigns.preparation import find_preparation_job, is_stopped
from annotations_app.cases import pages as case_pages
from annotations_app.cases import variant_pages
from annotations_app.demo import pages as demo_pages
from annotations_app.estimates.pages import campaign_quality, order_campaign
from annotations_app.judges import pages as judge_pages
from annotations_app.labels import export_pages
from annotations_app.models import Campaign, CampaignMember
from annotations_app.review.pages import dataset_review
from datasets_app.core.web.model_admin import Pages, ReadOnlyAdmin, VisibleRelatedFilter
from datasets_app.core.web.pages import dataset_breadcrumbs, parse_pk
from datasets_app.models import Dataset
from datasets_app.templatetags.values import ago


class AssignmentFilter(admin.SimpleListFilter):
    title, parameter_name = "assignment", "assigned"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("me", "Assigned to me")]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        if self.value() != "me":
            return queryset
        mine = CampaignMember.objects.filter(user=request.user, active=True)
        return queryset.filter(pk__in=mine.values("campaign"))


STATUS_COLORS = {
    "preparing": "info",
    "stopped": "danger",
    "open": "success",
    "paused": "warning",
    "closed": "",
}


@admin.register(Campaign)
class CampaignAdmin(ReadOnlyAdmin):
    """The list only: campaigns are created and changed on pages of their own."""

    list_display = [
        "name",
        "show_dataset",
        "show_status",
        "show_progress",
        "show_alpha",
        "show_annotators",
        "show_created",
    ]
    list_filter = ["status", AssignmentFilter, ("dataset", VisibleRelatedFilter)]
    search_fields = ["name", "dataset__name", "persona__persona_id"]
    list_after_template = "annotations_app/campaign_list_after.html"
    search_help_text = "Part of the name of a campaign, dataset or persona"

    def get_queryset(self, request: HttpRequest) -> Any:
        return with_label_counts(visible_campaigns(request.user)).order_by("-id")

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        wanted = parse_pk(request.GET.get("dataset__id__exact", ""))
        dataset = Dataset.objects.visible_to(request.user).filter(pk=wanted).first()
        crumbs = dataset_breadcrumbs(dataset, ("Campaigns", None)) if dataset else [("Campaigns", None)]
        request.crumbs = crumbs  # type: ignore[attr-defined]  # see core/web/pages.py
        extra = {"title": "Campaigns", "may_add": request.user.has_perm("annotations_app.add_campaign")}
        return super().changelist_view(request, {**(extra_context or {}), **extra})

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        changelist = super().get_changelist_instance(request)
        rows = list(changelist.result_list)
        keys = [row.pk for row in rows]
        rates, unassignable = recent_labeling_rates(keys, timezone.now()), count_unassignable(keys)
        for row in rows:
            row.rate, row.unassignable = rates[row.pk], unassignable[row.pk]
        changelist.result_list = rows
        address = reverse("admin:annotations_app_campaign_alphas")
        changelist.alphas_url = f"{address}?{urlencode({'campaign': keys}, doseq=True)}" if keys else ""
        return changelist

    # --- list ---

    @display(description="Dataset, persona", ordering="dataset__name")
    def show_dataset(self, campaign: Campaign) -> str:
        return format_html(
            '{}<br><span dir="auto" class="ad-subtle ad-anywhere">{}</span>',
            campaign.dataset.name,
            campaign.persona.persona_id,
        )

    @display(description="Status", ordering="status", label=STATUS_COLORS)
    def show_status(self, campaign: Campaign) -> tuple[str, str]:
        if campaign.status == Campaign.Status.PREPARING and is_stopped(
            campaign, find_preparation_job(campaign)
        ):
            return "stopped", "Not prepared"
        return campaign.status, campaign.get_status_display()

    @display(description="Labels")
    def show_progress(self, campaign: Any) -> str:
        labels, target = campaign.labels, campaign.count_places(campaign.people)
        if not target:
            return "–"
        percent = min(100, 100 * labels // target)
        left = ""
        if campaign.status == Campaign.Status.OPEN and labels < target:
            remaining = target - labels - campaign.unassignable
            left = say_time_left(remaining, campaign.rate) if remaining > 0 else "needs another annotator"
        bar = '<progress class="ad-progress" value="{}" max="100" aria-hidden="true"></progress>'
        text = '<span>{} of {} ({} %)</span> <span class="ad-subtle">{}</span>'
        return format_html(
            f'<div class="ad-grow">{bar}{text}</div>', percent, f"{labels:,}", f"{target:,}", percent, left
        )

    @display(description="Agreement")
    def show_alpha(self, campaign: Campaign) -> str:
        """An empty place: the page asks for ``show_alphas``. Schemas have an alpha for each criterion."""
        if campaign.schema_id:
            address = reverse("admin:annotations_app_campaign_agreement", args=[campaign.pk])
            return format_html('<a class="ad-link" href="{}">by criterion</a>', address)
        return format_html('<span id="alpha-{}"></span>', campaign.pk)

    @display(description="Annotators")
    def show_annotators(self, campaign: Any) -> str:
        return f"{campaign.people:,}"

    @display(description="Created", ordering="created_at")
    def show_created(self, campaign: Campaign) -> str:
        return ago(campaign.created_at)

    # --- URLs ---

    def get_pages(self) -> Pages:
        report, breakdown = agreement_pages.agreement_report, agreement_pages.agreement_breakdown
        campaign, dataset = scope_pages.campaign_scope, scope_pages.dataset_scope
        return [
            ("add/", campaign_create.add_campaign, "add"),
            ("alphas/", agreement_pages.show_alphas, "alphas"),
            ("add/estimate/", campaign_create.estimate_campaign, "estimate"),
            ("sessions/<int:selection_pk>/", campaign_sessions.add_sessions, "sessions"),
            ("schemas/", schema_pages.list_schemas, "schemas"),
            ("schemas/edit/", schema_pages.edit_schema, "schema_edit"),
            ("schemas/preview/", schema_pages.preview_schema, "schema_preview"),
            ("schemas/<int:pk>/", schema_pages.show_schema, "schema"),
            ("guidelines/", campaign_create.preview_guidelines, "guidelines"),
            ("adjudicate/", adjudication_pages.adjudicate_reply, "adjudicate"),
            ("adjudicate/counted/", adjudication_pages.adjudication_progress, "counted"),
            ("cases/<int:session_pk>/", case_pages.show_case, "case"),
            ("variants/<int:pk>/", variant_pages.dataset_variants, "dataset_variants"),
            ("demo/", demo_pages.load_demo_data, "load_demo"),
            ("dataset/<int:pk>/", agreement_pages.dataset_labels, "dataset_labels"),
            ("agreement/<int:pk>/", agreement_pages.dataset_agreement, "dataset_agreement"),
            ("review/<int:pk>/", dataset_review, "dataset_review"),
            ("calibration/<int:pk>/", dataset_calibration, "dataset_calibration"),
            ("agreement/<int:pk>/measured/", partial(report, scope_of=dataset), "dataset_measured"),
            ("agreement/<int:pk>/parts/", partial(breakdown, scope_of=dataset), "dataset_parts"),
            ("<int:pk>/agreement/parts/", partial(breakdown, scope_of=campaign), "parts"),
            ("<int:pk>/change/", campaign_pages.overview, "change"),
            ("<int:pk>/preparing/", campaign_pages.preparation_status, "preparing"),
            ("<int:pk>/discard/", campaign_pages.discard, "discard"),
            ("<int:pk>/agreement/", agreement_pages.campaign_agreement, "agreement"),
            ("<int:pk>/agreement/measured/", partial(report, scope_of=campaign), "measured"),
            ("<int:pk>/agreement/quality/", campaign_quality, "quality"),
            ("<int:pk>/order/", order_campaign, "order"),
            ("<int:pk>/judges/", judge_pages.judges, "judges"),
            ("<int:pk>/judges/reveal/", judge_pages.reveal, "reveal"),
            ("<int:pk>/judges/jury/", judge_pages.jury, "jury"),
            ("<int:pk>/judges/improve/", judge_pages.improve, "improve"),
            ("<int:pk>/judges/<int:run_pk>/certify/", judge_pages.certify, "certify"),
            ("<int:pk>/judges/<int:run_pk>/replies/", judge_pages.judged_replies, "judged"),
            ("<int:pk>/calibration/", calibration_pages.show_round, "calibration"),
            ("<int:pk>/notes/", failure_mode_pages.show_notes, "notes"),
            ("<int:pk>/flagged/", campaign_pages.flagged_replies, "flagged"),
            ("<int:pk>/stale/", campaign_pages.stale_labels, "stale"),
            ("<int:pk>/pause/", campaign_pages.pause_annotator, "pause"),
            ("<int:pk>/export/", export_pages.export_labels, "export"),
            ("<int:pk>/settings/", campaign_pages.campaign_settings, "settings"),
            ("<int:pk>/status/", campaign_pages.set_status, "status"),
        ]
