"""How far labels can be trusted: of one campaign, or of a dataset's labels for a persona.

Measuring a million labels takes seconds. The page is there at once and fetches what was measured, so nothing
is kept that could be out of date; it says when it was measured, and of how many labels.
"""

import time
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils import timezone

from annotations_app.agreement import charts as charts
from annotations_app.agreement.dispute_pages import DisputeQueue
from annotations_app.agreement.disputed_list import list_most_disputed
from annotations_app.agreement.figures import MAX_TIMED_LABELS, median_seconds_by_annotator
from annotations_app.agreement.measure import measure_agreement
from annotations_app.campaigns.pages_common import (
    admin_url,
    campaign_url,
    render_campaign_page,
    render_fragment,
    require_permissions,
    visible_campaign,
)
from annotations_app.labels import label_counts
from annotations_app.models import Campaign
from datasets_app.core.web.pages import dataset_breadcrumbs, dataset_url, get_visible_dataset, render_page
from datasets_app.models import Dataset

# Measured by themselves, after the rest is shown: each part has intervals of its own.
BREAKDOWNS = ("tag", "split", "month")
# More rows than these nobody reads on a page; the command prints all.
MAX_ROWS = 50
MAX_PERSONAS = 100


class AgreementScope(NamedTuple):
    """Whose labels: a dataset's for a persona, or only those of a campaign."""

    dataset: Dataset
    persona_id: str
    campaign: Campaign | None

    @property
    def asked(self) -> dict[str, Any]:
        if self.campaign:
            return {"campaign": self.campaign}
        return {"dataset": self.dataset, "persona_id": self.persona_id}

    def address(self, page: str) -> str:
        """Of "measured" or "parts"."""
        if self.campaign:
            return campaign_url(self.campaign, page)
        query = urlencode({"persona": self.persona_id})
        return f"{admin_url(f'campaign_dataset_{page}', self.dataset.pk)}?{query}"


# --- of a campaign ---


def campaign_agreement(request: HttpRequest, pk: int) -> HttpResponse:
    campaign = visible_campaign(request, pk)
    require_permissions(request, "view_annotation")
    scope = AgreementScope(campaign.dataset, campaign.persona.persona_id, campaign)
    context = {"report_url": scope.address("measured")}
    return render_campaign_page(request, campaign, "agreement", "Agreement", context)


def campaign_report(request: HttpRequest, pk: int) -> HttpResponse:
    campaign = visible_campaign(request, pk)
    require_permissions(request, "view_annotation")
    return _render_report(request, AgreementScope(campaign.dataset, campaign.persona.persona_id, campaign))


def campaign_breakdown(request: HttpRequest, pk: int) -> HttpResponse:
    campaign = visible_campaign(request, pk)
    require_permissions(request, "view_annotation")
    return _render_breakdown(request, AgreementScope(campaign.dataset, campaign.persona.persona_id, campaign))


# --- of a dataset ---


def dataset_agreement(request: HttpRequest, pk: int) -> HttpResponse:
    """``?persona=`` chooses one; without it the first that has labels is shown."""
    dataset = get_visible_dataset(request, pk)
    require_permissions(request, "view_annotation")
    personas = labeled_personas(dataset)
    chosen = request.GET.get("persona", "").replace("\0", "") or (personas[0] if personas else "")
    if chosen and chosen not in personas:
        personas = sorted([*personas, chosen])
    context = {
        "dataset": dataset,
        "persona": chosen,
        "personas": personas,
        "report_url": AgreementScope(dataset, chosen, None).address("measured"),
        "may_adjudicate": request.user.has_perm("annotations_app.adjudicate"),
        "dataset_address": dataset_url(dataset),
    }
    crumbs = dataset_breadcrumbs(dataset, ("Agreement", None))
    return render_page(request, "annotations_app/agreement_dataset.html", crumbs, context)


def labeled_personas(dataset: Dataset) -> list[str]:
    return label_counts.list_personas(dataset.pk)[:MAX_PERSONAS]


def dataset_report(request: HttpRequest, pk: int) -> HttpResponse:
    dataset = get_visible_dataset(request, pk)
    require_permissions(request, "view_annotation")
    return _render_report(
        request, AgreementScope(dataset, request.GET.get("persona", "").replace("\0", ""), None)
    )


def agreement_url(dataset: Dataset, persona_id: str, campaign: Campaign | None) -> str:
    """Where the agreement of these labels is told."""
    if campaign:
        return campaign_url(campaign, "agreement")
    query = QueryDict(mutable=True)
    query["persona"] = persona_id
    return f"{admin_url('campaign_dataset_agreement', dataset.pk)}?{query.urlencode()}"


def dataset_breakdown(request: HttpRequest, pk: int) -> HttpResponse:
    dataset = get_visible_dataset(request, pk)
    require_permissions(request, "view_annotation")
    return _render_breakdown(
        request, AgreementScope(dataset, request.GET.get("persona", "").replace("\0", ""), None)
    )


# --- measured ---


def _render_report(request: HttpRequest, scope: AgreementScope) -> HttpResponse:
    begun = time.monotonic()
    report = measure_agreement(**scope.asked)
    measured = report.headline
    if not measured.labels:
        return render_fragment(request, "_agreement_none", {})
    disputes = DisputeQueue(scope.dataset, scope.persona_id, scope.campaign, tie=False, flagged=False)
    may_adjudicate = request.user.has_perm("annotations_app.adjudicate")
    context = {
        "report": report,
        "took": time.monotonic() - begun,
        "at": timezone.now(),
        "again": request.get_full_path(),
        "breakdown_url": scope.address("parts"),
        "headline": charts.headline_rows(measured),
        "rated_count": measured.items - measured.single,
        "balance": _label_balance(measured.labels, measured.prevalence.value),
        "heat_map": charts.build_heat_map(report.pairs),
        "timed_labels": MAX_TIMED_LABELS,
        "times": median_seconds_by_annotator(scope.campaign) if scope.campaign else {},
        "disputes_url": disputes.address() if may_adjudicate else "",
        "disputed": list_most_disputed(disputes, request.user),
    }
    return render_fragment(request, "_agreement_report", context)


def _render_breakdown(request: HttpRequest, scope: AgreementScope) -> HttpResponse:
    """The same by month, tag and split; it takes longer, so it comes after the rest."""
    begun = time.monotonic()
    report = measure_agreement(**scope.asked, by=BREAKDOWNS, consensus=False)
    months, drift_rows = charts.build_drift_table(report.drift)
    context = {
        "labels": report.headline.labels,
        "notes": report.notes,
        "took": time.monotonic() - begun,
        "at": timezone.now(),
        "drift": charts.drift_chart(report.drift),
        "months": months,
        "drift_rows": drift_rows,
        "parts": [(kind, *_largest_parts(report.by[kind])) for kind in BREAKDOWNS if kind in report.by],
    }
    return render_fragment(request, "_agreement_parts", context)


def _label_balance(labels: int, share: float | None) -> dict[str, Any]:
    on_brand = round((share or 0.0) * labels)
    return {"labels": labels, "on_brand": on_brand, "off_brand": labels - on_brand, "share": share or 0.0}


def _largest_parts(parts: dict[str, Any]) -> tuple[list[tuple[str, Any]], int]:
    """The parts with the most labels, and how many more there are. Months stand in their order."""
    largest = sorted(parts.items(), key=lambda part: -part[1].labels)[:MAX_ROWS]
    kept = {value for value, _ in largest}
    return [(value, part) for value, part in parts.items() if value in kept], len(parts) - len(largest)
