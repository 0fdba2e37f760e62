"""Agreement of one campaign, or of a dataset's labels for a persona.

Measuring a million labels takes seconds, so the page loads first and then fetches the report. Nothing is
cached: the report says when it was measured, and from how many labels.
"""

import time
from itertools import pairwise
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from annotations_app.agreement import charts
from annotations_app.agreement.criteria import measure_criteria
from annotations_app.agreement.dataset_panel import annotations_panel
from annotations_app.agreement.dispute_pages import DisputeQueue
from annotations_app.agreement.disputed_list import list_most_disputed
from annotations_app.agreement.figures import (
    MAX_TIMED_LABELS,
    measure_alphas,
    median_seconds_by_annotator,
)
from annotations_app.agreement.measure import measure_agreement, note_answers
from annotations_app.agreement.scope_pages import AgreementScope, ScopeOf, campaign_scope, dataset_scope
from annotations_app.campaigns.pages_common import (
    render_campaign_page,
    render_fragment,
    require_permissions,
    visible_campaigns,
)
from annotations_app.domain.agreement.agreement_report import AgreementReport, Statistic
from annotations_app.labels import label_counts
from annotations_app.labels.balance import count_exported
from annotations_app.labels.random_sample import counts_all_labels
from annotations_app.labels.versions import LabelVersion, list_versions
from annotations_app.models import Campaign
from datasets_app.catalog import raw_access
from datasets_app.core.web.dataset_page import frame_context
from datasets_app.core.web.pages import (
    dataset_breadcrumbs,
    get_visible_dataset,
    parse_pk,
    render_page,
    wants_fragment,
)

# Fetched after the report: each part has intervals of its own.
BREAKDOWNS = ("tag", "split", "month")
# The command prints all rows.
MAX_ROWS = 50
MAX_PERSONAS = 100
MAX_ALPHAS = 100


def campaign_agreement(request: HttpRequest, pk: int) -> HttpResponse:
    scope = campaign_scope(request, pk)
    assert scope.campaign is not None
    versions = list_versions(scope.campaign)
    context = {
        "report_url": scope.url("measured"),
        "quality_url": scope.url("quality"),
        "versions": _describe_versions(versions) if len(versions) > 1 else [],
        "version": scope.version,
        "width": scope.width,
    }
    return render_campaign_page(request, scope.campaign, "agreement", "Agreement", context)


def show_alphas(request: HttpRequest) -> HttpResponse:
    """The alphas of the listed campaigns. The list asks for them once it is shown, because labels are
    counted. A campaign with a schema has one for each criterion, so its agreement page has them."""
    require_permissions(request, "view_campaign")
    keys = [parse_pk(key) for key in request.GET.getlist("campaign")[:MAX_ALPHAS]]
    listed = list(visible_campaigns(request.user).filter(pk__in=keys, schema=None))
    alphas = measure_alphas([one for one in listed if counts_all_labels(one)])
    rows = [(one, alphas[one.pk] if one.pk in alphas else _measure_alpha(one)) for one in listed]
    return render_fragment(request, "_campaign_alphas", {"rows": rows})


def _measure_alpha(campaign: Campaign) -> Statistic:
    """Where not all labels count."""
    return measure_agreement(campaign=campaign, resamples=0, consensus=False).headline.krippendorff_alpha


def _describe_versions(versions: list[LabelVersion]) -> list[tuple[LabelVersion, str]]:
    """With what changed since the one before."""
    described = []
    for before, version in pairwise([None, *versions]):
        names = ("persona_digest", "guidelines_digest", "schema")
        changed = [
            name.removesuffix("_digest")
            for name in names
            if before is not None and getattr(before, name) != getattr(version, name)
        ]
        described.append((version, ", ".join(changed)))
    return described


def dataset_agreement(request: HttpRequest, pk: int) -> HttpResponse:
    """Without ``?persona=`` of the first persona that has labels."""
    scope = dataset_scope(request, pk)
    dataset = scope.dataset
    personas = label_counts.list_personas(dataset.pk)[:MAX_PERSONAS]
    personas = raw_access.filter_personas(request.user, dataset, personas)
    if not scope.persona_id and personas:
        scope = scope._replace(persona_id=personas[0])
    may_adjudicate = request.user.has_perm("annotations_app.adjudicate")
    context = {
        "personas": sorted({*personas, scope.persona_id} - {""}),
        "notes": note_answers(dataset),
        "report_url": scope.url("measured"),
        "disputes_url": _disputes(scope).address() if may_adjudicate and scope.persona_id else "",
    }
    return _render_dataset_page(request, scope, context)


def _render_dataset_page(
    request: HttpRequest, scope: AgreementScope, context: dict[str, Any]
) -> HttpResponse:
    frame = {**frame_context(request, scope.dataset, "agreement"), "persona": scope.persona_id}
    crumbs = dataset_breadcrumbs(scope.dataset, ("Agreement", None))
    return render_page(request, "annotations_app/agreement_dataset.html", crumbs, {**frame, **context})


def dataset_labels(request: HttpRequest, pk: int) -> HttpResponse:
    """The labels by persona and the campaigns of a dataset."""
    dataset = get_visible_dataset(request, pk)
    panel = annotations_panel(dataset, request.user)
    if panel is None:
        raise PermissionDenied
    if personas := panel["context"]["personas"]:
        raw_access.record_access(dataset, request.user, place="labels", personas=len(personas))
    crumbs = dataset_breadcrumbs(dataset, ("Labels", None))
    context = {**frame_context(request, dataset, "labels"), **panel["context"]}
    return render_page(request, "annotations_app/dataset_labels.html", crumbs, context)


def agreement_report(request: HttpRequest, pk: int, scope_of: ScopeOf) -> HttpResponse:
    scope, started = scope_of(request, pk), time.monotonic()
    if scope.campaign and scope.campaign.schema:
        return _criteria_report(request, scope, scope.campaign, started)
    report = measure_agreement(**scope.arguments)
    headline = report.headline
    if not headline.labels:
        return _render_part(request, scope, "_agreement_none", {"notes": report.notes}, started)
    report, others = _keep_largest(report)
    disputes = _disputes(scope)
    may_adjudicate = request.user.has_perm("annotations_app.adjudicate")
    context = {
        "report": report,
        "other_annotators": others,
        "breakdown_url": scope.url("parts"),
        "headline": charts.chart_headline(headline),
        "balance": count_exported(scope.labels),
        "heat_map": charts.build_heat_map(report.pairs),
        "timed_labels": MAX_TIMED_LABELS,
        "times": median_seconds_by_annotator(scope.campaign) if scope.campaign else {},
        "disputes_url": disputes.address() if may_adjudicate else "",
        "disputed": list_most_disputed(disputes, request.user),
    }
    return _render_part(request, scope, "_agreement_report", context, started)


def _criteria_report(
    request: HttpRequest, scope: AgreementScope, campaign: Campaign, started: float
) -> HttpResponse:
    if not campaign.judgments.exists():
        return _render_part(request, scope, "_agreement_none", {}, started)
    readable = raw_access.may_read(request.user, scope.dataset)
    measured = measure_criteria(campaign, version=scope.version, width=scope.width, by_tag=readable)
    if tags := max(len(one.preference_by_tag) for one in measured.criteria):
        raw_access.record_access(scope.dataset, request.user, place="agreement by tag", tags=tags)
    context = {
        "sections": [charts.build_criterion_section(one) for one in measured.criteria],
        "notes": measured.notes,
    }
    return _render_part(request, scope, "_agreement_criteria", context, started)


def agreement_breakdown(request: HttpRequest, pk: int, scope_of: ScopeOf) -> HttpResponse:
    """Agreement by month, tag and split."""
    scope, started = scope_of(request, pk), time.monotonic()
    readable = raw_access.may_read(request.user, scope.dataset)
    # Tags are part of what a file says.
    kinds = BREAKDOWNS if readable else tuple(kind for kind in BREAKDOWNS if kind != "tag")
    report = measure_agreement(**scope.arguments, by=kinds, consensus=False)
    if readable and report.by.get("tag"):
        raw_access.record_access(
            scope.dataset, request.user, place="agreement by tag", tags=len(report.by["tag"])
        )
    months, drift_rows = charts.build_drift_table(report.drift)
    context = {
        "labels": report.headline.labels,
        "notes": report.notes,
        "drift": charts.chart_drift(report.drift),
        "months": months,
        "drift_rows": drift_rows,
        # A part that is all of the labels tells nothing more than the headline.
        "parts": [
            (kind, charts.chart_parts(kind, parts), parts, more)
            for kind in BREAKDOWNS
            if len(report.by.get(kind, ())) > 1
            for parts, more in [_largest_parts(report.by[kind])]
        ],
    }
    return _render_part(request, scope, "_agreement_parts", context, started)


def _render_part(
    request: HttpRequest, scope: AgreementScope, part: str, context: dict[str, Any], started: float
) -> HttpResponse:
    """With when it was measured, and how long that took."""
    seconds = time.monotonic() - started
    context |= {"seconds": seconds, "at": timezone.now(), "again": request.get_full_path()}
    if wants_fragment(request):  # of scripts; without, its link leads to a whole page
        return render_fragment(request, part, context)
    context |= {"part": f"annotations_app/{part}.html"}
    if scope.campaign:
        return render_campaign_page(request, scope.campaign, "agreement", "Agreement", context)
    return _render_dataset_page(request, scope, context)


def _disputes(scope: AgreementScope) -> DisputeQueue:
    return DisputeQueue(scope.dataset, scope.persona_id, scope.campaign, tie=False, flagged=False)


def _keep_largest(report: AgreementReport) -> tuple[AgreementReport, int]:
    """With the annotators who gave the most labels; and how many others there are. The pairs of a crowd would
    be millions of cells."""
    largest = sorted(report.annotators, key=lambda one: -one.labels)[:MAX_ROWS]
    others = {one.annotator for one in report.annotators} - {one.annotator for one in largest}
    if not others:
        return report, 0
    kept = report._replace(
        annotators=[one for one in report.annotators if one.annotator not in others],
        pairs=[pair for pair in report.pairs if not {pair.a, pair.b} & others],
    )
    if found := report.consensus:
        confusion = {name: said for name, said in found.confusion.items() if name not in others}
        kept = kept._replace(consensus=found._replace(confusion=confusion))
    return kept, len(others)


def _largest_parts(parts: dict[str, Any]) -> tuple[list[tuple[str, Any]], int]:
    """The parts with the most labels, in the report's order, and how many more there are."""
    largest = sorted(parts.items(), key=lambda part: -part[1].labels)[:MAX_ROWS]
    kept = {value for value, _ in largest}
    return [(value, part) for value, part in parts.items() if value in kept], len(parts) - len(largest)
