"""The pages of one dataset: overview, checks, sessions, jobs, history."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.views.decorators.http import require_POST

from datasets_app import hooks
from datasets_app.browsing.selection_pages import may_change, may_select
from datasets_app.catalog import raw_access
from datasets_app.catalog.facts import describe_provenance
from datasets_app.catalog.rows.attach_sessions import attach_sessions
from datasets_app.checking.check_dataset import why_outdated
from datasets_app.core.web.dataset_page import render_dataset_page
from datasets_app.core.web.pages import get_visible_dataset, parse_pk, render_fragment, require_permissions
from datasets_app.core.web.paging import (
    PAGE_SIZE,
    paginate_by_field_and_id,
    paginate_latest_first,
    paginate_newest_first,
    parse_page_request,
)
from datasets_app.core.web.redaction import get_hidden_names, redact_json
from datasets_app.domain.splits.splits import SPLITS
from datasets_app.jobs.pages import start_and_show_job
from datasets_app.models import AuditEvent, CheckFinding, Dataset, JobRun
from datasets_app.scrubbing.proposals import load_check_excerpts
from datasets_app.splitting.rows import count_splits


def list_active_jobs(user: Any, dataset_pk: int | None = None) -> list[JobRun]:
    """Queued and running jobs of one dataset, or of all datasets that the user may see."""
    unfinished = JobRun.objects.active().visible_to(user).exclude(operation="deliver_events")
    if dataset_pk is not None:
        unfinished = unfinished.filter(dataset=dataset_pk)
    return list(unfinished.select_related("actor", "dataset").order_by("-id")[:10])


def step_bars(request: HttpRequest) -> HttpResponse:
    """The steps of the listed datasets. The list asks for them once it is shown, because each dataset takes
    several queries."""
    require_permissions(request, "view_dataset")
    keys = [parse_pk(key) for key in request.GET.getlist("dataset")[:PAGE_SIZE]]
    listed = Dataset.objects.visible_to(request.user).filter(pk__in=keys)
    rows = [(dataset, hooks.next_steps.find_next_steps(dataset, request.user)) for dataset in listed]
    return render_fragment(request, "datasets_app/_step_bars.html", {"rows": rows})


def overview(request: HttpRequest, pk: int) -> HttpResponse:
    dataset = get_visible_dataset(request, pk)
    may_see_jobs = request.user.has_perm("datasets_app.view_jobrun")
    panel = hooks.panels.annotations_panel(dataset, request.user)
    report = dataset.check_reports.first()
    context = {
        "withheld": not raw_access.may_read(request.user, dataset),
        "report": report,
        "outdated": why_outdated(report, dataset) if report else "",
        "provenance": describe_provenance(dataset),
        "source_files": dataset.source_files.order_by("-imported_at")[:PAGE_SIZE],
        "active_jobs": list_active_jobs(request.user, dataset.pk) if may_see_jobs else [],
        "panel": panel,
        "panel_html": render_to_string(panel["template"], panel["context"], request) if panel else "",
        "splits": count_sessions_by_split(dataset),
        "excluded": dataset.sessions.filter(excluded=True).count(),
    }
    return render_dataset_page(request, dataset, "overview", "", context)


def count_sessions_by_split(dataset: Dataset) -> dict[str, int]:
    """Sessions by split, with those added since the last split as "none"; empty if never split."""
    if not dataset.split_settings:
        return {}
    counts = count_splits(dataset)
    return {split or "none": counts[split] for split in (*SPLITS, None) if split in counts}


# --- checks ------------------------------------------------------------------------------------


def checks(request: HttpRequest, pk: int) -> HttpResponse:
    dataset = get_visible_dataset(request, pk)
    reports = dataset.check_reports.all()
    report_pk = parse_pk(request.GET.get("report", ""))
    report = get_object_or_404(reports, pk=report_pk) if report_pk is not None else reports.first()
    code = request.GET.get("code", "")[:4]
    findings = CheckFinding.objects.filter(report=report, **({"code": code} if code else {}))
    page_request = parse_page_request(request.GET)
    page = paginate_by_field_and_id(findings, "code", page_request)
    attach_sessions(dataset.pk, page.rows)
    withheld = not raw_access.may_read(request.user, dataset)
    if withheld:
        for finding in page.rows:
            raw_access.withhold_finding(finding)
    elif page.rows:
        raw_access.record_access(dataset, request.user, place="checks", findings=len(page.rows))
        if request.user.has_perm("datasets_app.view_turn"):
            load_check_excerpts(dataset.pk, page.rows)
    context = {
        "withheld": withheld,
        "report": report,
        "outdated": why_outdated(report, dataset) if report and report_pk is None else "",
        "is_latest": report_pk is None,
        "may_change": may_change(request.user),
        "may_select": request.user.has_perm("datasets_app.view_session") and may_select(request.user),
        "code": code,
        "totals": sorted(report.totals.items()) if report else [],
        "page": page,
        "earlier_reports": reports[:10],
        "check_job": dataset.job_runs.active().filter(operation="check_dataset").first(),
    }
    return render_dataset_page(request, dataset, "checks", "Checks", context)


@require_POST
def run_checks(request: HttpRequest, pk: int) -> HttpResponse:
    return start_and_show_job(request, "check_dataset", get_visible_dataset(request, pk, "check_dataset"))


# --- jobs, history -------------------------------------------------------------------


def jobs(request: HttpRequest, pk: int) -> HttpResponse:
    dataset = get_visible_dataset(request, pk, "view_jobrun")
    rows = JobRun.objects.filter(dataset=dataset).select_related("actor")
    return render_dataset_page(
        request, dataset, "jobs", "Jobs", {"page": paginate_newest_first(rows, request.GET)}
    )


def history(request: HttpRequest, pk: int) -> HttpResponse:
    dataset = get_visible_dataset(request, pk)
    events = AuditEvent.objects.filter(dataset_name=dataset.name)
    page, hidden = paginate_latest_first(events, request.GET), get_hidden_names(request.user)
    may_trace = request.user.has_perm("datasets_app.view_auditevent")
    for event in page.rows:
        event.details = redact_json(event.details, hidden)
        if not may_trace:
            # Where colleagues work is for those who read the audit log.
            event.details.pop("source_address", None)
    return render_dataset_page(request, dataset, "history", "History", {"page": page})
