"""What pages show of labels and campaigns: ``Panels`` of ``datasets_app/hooks.py``."""

from collections import defaultdict
from typing import Any

from django.core.cache import cache
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from annotations_app.agreement.calibration import open_if_agreed
from annotations_app.agreement.dataset_panel import annotations_panel
from annotations_app.agreement.figures import count_recent_disputes
from annotations_app.agreement.unsure_replies import ask_where_unsure
from annotations_app.campaigns.announce import (
    announce_disputes,
    announce_drift,
    announce_end,
    list_calibrating,
    list_completed,
)
from annotations_app.demo import DEMO_DATASET
from annotations_app.hooks.access import ADD as ADD_CAMPAIGN
from annotations_app.hooks.access import ANNOTATE
from annotations_app.hooks.score_panel import score_panel
from annotations_app.hooks.session_labels import list_selection_links
from annotations_app.labeling.drift import find_drifts
from annotations_app.models import Annotation, Campaign
from datasets_app.domain.generation.families import ORIGIN
from datasets_app.hooks import AttentionItem
from datasets_app.models import Turn

MAX_CAMPAIGNS = 200
JUDGE_OPERATIONS = frozenset({"run_judge", "form_jury", "improve_judge"})
# Checks of annotators are looked at once an hour: each takes all of them.
DRIFT_SECONDS = 3600


def announce_campaigns() -> None:
    """Completed campaigns, those with disagreements, finished rounds. No decision has to look for them."""
    for campaign in list_completed():
        announce_end(campaign, complete=True)
    unfinished = Campaign.objects.filter(status__in=[Campaign.Status.OPEN, Campaign.Status.PAUSED])
    campaigns = {
        campaign.pk: campaign
        for campaign in unfinished.select_related("dataset").order_by("-pk")[:MAX_CAMPAIGNS]
    }
    for campaign in unfinished.filter(list_calibrating(), calibration_alpha__isnull=False):
        open_if_agreed(campaign)
    for campaign in unfinished.filter(status=Campaign.Status.OPEN, max_overlap__isnull=False):
        ask_where_unsure(campaign)
    for campaign in unfinished.filter(Q(gold_share__gt=0) | Q(repeat_share__gt=0)).select_related("dataset"):
        if cache.add(f"drift-{campaign.pk}", True, DRIFT_SECONDS):
            for drift in find_drifts(campaign):
                announce_drift(campaign, drift.user.pk, f"{drift.since:%Y-%m-%dT%H:%M}")
    week = f"{timezone.now():%G-W%V}"
    for pk, replies in count_recent_disputes(list(campaigns)).items():
        if replies:
            announce_disputes(campaigns[pk], replies, week)


__all__ = [
    "ADD_CAMPAIGN",
    "ANNOTATE",
    "DEMO_DATASET",
    "DEMO_PAGE",
    "announce_campaigns",
    "annotations_panel",
    "list_selection_links",
    "score_panel",
]

CASE_TITLE = "Make a test case"
MAKES_CASES = [f"datasets_app.{permission}" for permission in ("view_session", "view_turn", "import_dataset")]
CAMPAIGNS_PAGE = "admin:annotations_app_campaign_changelist"
DEMO_PAGE = "admin:annotations_app_campaign_load_demo"
MAX_LABELS = 1_000


def label_url(dataset: Any, page: str) -> str:
    if page == "new_campaign":
        return f"{reverse('admin:annotations_app_campaign_add')}?dataset={dataset.pk}"
    return reverse(f"admin:annotations_app_campaign_dataset_{page}", args=[dataset.pk])


def list_session_links(session: Any, user: Any) -> list[tuple[str, str, str]]:
    if not user.has_perms(MAKES_CASES):
        return []
    return [("t", CASE_TITLE, reverse("admin:annotations_app_campaign_case", args=[session.pk]))]


def turn_label_notes(session: Any, turns: Any, user: Any) -> dict[int, list[str]]:
    """Each turn's labels with their annotators ("on-brand · ada"), without withdrawn ones and repeats."""
    notes: dict[int, list[str]] = defaultdict(list)
    if user.has_perm("annotations_app.view_annotation"):
        shown = Annotation.objects.filter(
            turn__in=[turn.pk for turn in turns], kind__in=["label", "adjudicated"]
        )
        labels = shown.order_by("turn", "id").only("turn", "label", "annotator", "kind")
        for label in labels[:MAX_LABELS]:
            kind = "adjudicated" if label.kind == Annotation.Kind.ADJUDICATED else ""
            parts = [label.get_label_display().lower(), label.annotator, kind]
            notes[label.turn_id].append(" · ".join(filter(None, parts)))
    return notes


def list_label_pages(dataset: Any, user: Any) -> list[tuple[str, str, str]]:
    """The pages of a dataset's tab "Labels"."""
    from annotations_app.campaigns.pages_common import admin_url

    if not user.has_perm("annotations_app.view_annotation"):
        return []
    return [
        ("labels", "Labels", admin_url("campaign_dataset_labels", dataset.pk)),
        ("agreement", "Agreement", admin_url("campaign_dataset_agreement", dataset.pk)),
        ("calibration", "Calibration", admin_url("campaign_dataset_calibration", dataset.pk)),
        ("review", "Review", admin_url("campaign_dataset_review", dataset.pk)),
        *_list_case_pages(dataset, user),
    ]


def _list_case_pages(dataset: Any, user: Any) -> list[tuple[str, str, str]]:
    first = dataset.sessions.order_by("pk").first()
    if first is None or not user.has_perms(MAKES_CASES):
        return []
    cases = Turn.objects.filter(dataset=dataset, session=first, metadata__has_key=ORIGIN)
    address = reverse("admin:annotations_app_campaign_dataset_variants", args=[dataset.pk])
    return [("variants", "Variants", address)] if cases.exists() else []


def list_campaign_attention(user: Any) -> list[AttentionItem]:
    from annotations_app.hooks.waiting import campaigns_needing_attention  # loads modules of pages

    return campaigns_needing_attention(user)


def list_job_links(job: Any, user: Any) -> list[tuple[str, str]]:
    if job.operation not in JUDGE_OPERATIONS or not user.has_perm("annotations_app.view_annotation"):
        return []
    campaign = Campaign.objects.filter(name=job.parameters.get("campaign"), dataset=job.dataset).first()
    if campaign is None:
        return []
    run = (job.result or {}).get("run")
    url = reverse("admin:annotations_app_campaign_judges", args=[campaign.pk])
    return [("See how far to trust it", f"{url}?run={run}") if run else ("Judges of the campaign", url)]
