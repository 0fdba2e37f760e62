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
from annotations_app.agreement.dispute_pages import Disputes
from annotations_app.agreement.disputed_list import most_disputed
from annotations_app.agreement.figures import TIMES_LOOKED_AT, median_seconds
from annotations_app.agreement.measure import measure_agreement
from annotations_app.campaigns.pages_common import (
    campaign_address,
    campaign_page,
    fragment,
    lead_address,
    require,
    visible_campaign,
)
from annotations_app.labels import label_counts
from annotations_app.models import Campaign
from datasets_app.core.web.pages import dataset_address, dataset_crumbs, render_page, visible_dataset
from datasets_app.models import Dataset

# Measured by themselves, after the rest is shown: each part has intervals of its own.
PARTS = ("tag", "split", "month")
# More rows than these nobody reads on a page; the command prints all.
ROWS_SHOWN = 50
PERSONAS_OFFERED = 100


class Scope(NamedTuple):
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
            return campaign_address(self.campaign, page)
        query = urlencode({"persona": self.persona_id})
        return f"{lead_address(f'campaign_dataset_{page}', self.dataset.pk)}?{query}"


# --- of a campaign ---


def of_campaign(request: HttpRequest, pk: int) -> HttpResponse:
    campaign = visible_campaign(request, pk)
    require(request, "view_annotation")
    scope = Scope(campaign.dataset, campaign.persona.persona_id, campaign)
    context = {"measured_address": scope.address("measured")}
    return campaign_page(request, campaign, "agreement", "Agreement", context)


def measured_of_campaign(request: HttpRequest, pk: int) -> HttpResponse:
    campaign = visible_campaign(request, pk)
    require(request, "view_annotation")
    return _measured(request, Scope(campaign.dataset, campaign.persona.persona_id, campaign))


def parts_of_campaign(request: HttpRequest, pk: int) -> HttpResponse:
    campaign = visible_campaign(request, pk)
    require(request, "view_annotation")
    return _parts(request, Scope(campaign.dataset, campaign.persona.persona_id, campaign))


# --- of a dataset ---


def of_dataset(request: HttpRequest, pk: int) -> HttpResponse:
    """``?persona=`` chooses one; without it the first that has labels is shown."""
    dataset = visible_dataset(request, pk)
    require(request, "view_annotation")
    personas = personas_of(dataset)
    chosen = request.GET.get("persona", "").replace("\0", "") or (personas[0] if personas else "")
    if chosen and chosen not in personas:
        personas = sorted([*personas, chosen])
    context = {
        "dataset": dataset,
        "persona": chosen,
        "personas": personas,
        "measured_address": Scope(dataset, chosen, None).address("measured"),
        "may_adjudicate": request.user.has_perm("annotations_app.adjudicate"),
        "dataset_address": dataset_address(dataset),
    }
    crumbs = dataset_crumbs(dataset, ("Agreement", None))
    return render_page(request, "annotations_app/agreement_dataset.html", crumbs, context)


def personas_of(dataset: Dataset) -> list[str]:
    return label_counts.personas_of(dataset.pk)[:PERSONAS_OFFERED]


def measured_of_dataset(request: HttpRequest, pk: int) -> HttpResponse:
    dataset = visible_dataset(request, pk)
    require(request, "view_annotation")
    return _measured(request, Scope(dataset, request.GET.get("persona", "").replace("\0", ""), None))


def agreement_address(dataset: Dataset, persona_id: str, campaign: Campaign | None) -> str:
    """Where the agreement of these labels is told."""
    if campaign:
        return campaign_address(campaign, "agreement")
    query = QueryDict(mutable=True)
    query["persona"] = persona_id
    return f"{lead_address('campaign_dataset_agreement', dataset.pk)}?{query.urlencode()}"


def parts_of_dataset(request: HttpRequest, pk: int) -> HttpResponse:
    dataset = visible_dataset(request, pk)
    require(request, "view_annotation")
    return _parts(request, Scope(dataset, request.GET.get("persona", "").replace("\0", ""), None))


# --- measured ---


def _measured(request: HttpRequest, scope: Scope) -> HttpResponse:
    begun = time.monotonic()
    report = measure_agreement(**scope.asked)
    measured = report.headline
    if not measured.labels:
        return fragment(request, "_agreement_none", {})
    disputes = Disputes(scope.dataset, scope.persona_id, scope.campaign, tie=False, flagged=False)
    may_adjudicate = request.user.has_perm("annotations_app.adjudicate")
    context = {
        "report": report,
        "took": time.monotonic() - begun,
        "at": timezone.now(),
        "again": request.get_full_path(),
        "parts_address": scope.address("parts"),
        "headline": charts.headline(measured),
        "rated": measured.items - measured.single,
        "balance": _balance(measured.labels, measured.prevalence.value),
        "heat": charts.heat_map(report.pairs),
        "times_looked_at": TIMES_LOOKED_AT,
        "times": median_seconds(scope.campaign) if scope.campaign else {},
        "disputes_address": disputes.address() if may_adjudicate else "",
        "disputed": most_disputed(disputes, request.user),
    }
    return fragment(request, "_agreement_report", context)


def _parts(request: HttpRequest, scope: Scope) -> HttpResponse:
    """The same by month, tag and split; it takes longer, so it comes after the rest."""
    begun = time.monotonic()
    report = measure_agreement(**scope.asked, by=PARTS, consensus=False)
    months, drift_rows = charts.drift_table(report.drift)
    context = {
        "labels": report.headline.labels,
        "notes": report.notes,
        "took": time.monotonic() - begun,
        "at": timezone.now(),
        "drift": charts.drift(report.drift),
        "months": months,
        "drift_rows": drift_rows,
        "parts": [(kind, *_rows(report.by[kind])) for kind in PARTS if kind in report.by],
    }
    return fragment(request, "_agreement_parts", context)


def _balance(labels: int, share: float | None) -> dict[str, Any]:
    on_brand = round((share or 0.0) * labels)
    return {"labels": labels, "on_brand": on_brand, "off_brand": labels - on_brand, "share": share or 0.0}


def _rows(parts: dict[str, Any]) -> tuple[list[tuple[str, Any]], int]:
    """The parts with the most labels, and how many more there are. Months stand in their order."""
    largest = sorted(parts.items(), key=lambda part: -part[1].labels)[:ROWS_SHOWN]
    kept = {value for value, _ in largest}
    return [(value, part) for value, part in parts.items() if value in kept], len(parts) - len(largest)
