"""The pages of one dataset: overview, checks, sessions, jobs, history."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.loader import render_to_string
from django.views.decorators.http import require_POST

from datasets_app import hooks
from datasets_app.core.web.dataset_page import render_dataset_page
from datasets_app.core.web.pages import get_visible_dataset, require_permissions
from datasets_app.core.web.paging import (
    PAGE_SIZE,
    Page,
    PageRequest,
    paginate_by,
    paginate_by_field_and_id,
    paginate_latest_first,
    paginate_newest_first,
    parse_page_request,
)
from datasets_app.core.web.redaction import get_hidden_names, redact_json
from datasets_app.domain.splits.splits import SPLITS
from datasets_app.jobs import runs
from datasets_app.models import AuditEvent, CheckFinding, CheckReport, Dataset, JobRun, Session
from datasets_app.splitting.rows import count_splits


def list_active_jobs(user: Any, dataset_pk: int | None = None) -> list[JobRun]:
    """What runs and waits, of one dataset or of all that the user may see."""
    unfinished = JobRun.objects.visible_to(user).filter(state__in=["queued", "running"])
    if dataset_pk is not None:
        unfinished = unfinished.filter(dataset=dataset_pk)
    return list(unfinished.select_related("actor", "dataset").order_by("-id")[:10])


def overview(request: HttpRequest, pk: int) -> HttpResponse:
    dataset = get_visible_dataset(request, pk)
    panels = [panel(dataset, request.user) for panel in hooks.dataset_panels]
    shown = [
        {"title": panel["title"], "html": render_to_string(panel["template"], panel["context"], request)}
        for panel in panels
        if panel
    ]
    context = {
        "report": dataset.check_reports.first(),
        "source_files": dataset.source_files.order_by("-imported_at")[:PAGE_SIZE],
        "active_jobs": list_active_jobs(request.user, dataset.pk)
        if request.user.has_perm("datasets_app.view_jobrun")
        else [],
        "panels": shown,
        "splits": count_sessions_by_split(dataset),
    }
    return render_dataset_page(request, dataset, "overview", "", context)


def count_sessions_by_split(dataset: Dataset) -> dict[str, int]:
    """Sessions in each split, and in "none" those that came since; nothing if it was never split."""
    if not dataset.split_settings:
        return {}
    counts = count_splits(dataset)
    return {split or "none": counts[split] for split in (*SPLITS, None) if split in counts}


# --- checks ------------------------------------------------------------------------------------


def checks(request: HttpRequest, pk: int) -> HttpResponse:
    dataset = get_visible_dataset(request, pk)
    reports = dataset.check_reports.all()
    wanted = request.GET.get("report", "")
    report = get_object_or_404(reports, pk=wanted) if wanted.isdecimal() else reports.first()
    code = request.GET.get("code", "")[:4]
    context = {
        "report": report,
        "is_latest": not wanted,
        "code": code,
        "totals": sorted(report.totals.items()) if report else [],
        "page": _paginate_findings(report, code, parse_page_request(request.GET)) if report else None,
        "earlier_reports": reports[:10],
        "check_job": dataset.job_runs.filter(
            operation="check_dataset", state__in=["queued", "running"]
        ).first(),
    }
    return render_dataset_page(request, dataset, "checks", "Checks", context)


def _paginate_findings(report: CheckReport, code: str, wanted: PageRequest) -> Page:
    findings = CheckFinding.objects.filter(report=report).select_related("session")
    return paginate_by_field_and_id(findings.filter(code=code) if code else findings, "code", wanted)


@require_POST
def run_checks(request: HttpRequest, pk: int) -> HttpResponse:
    require_permissions(request, "check_dataset")
    job = runs.start_job("check_dataset", actor=request.user, dataset=get_visible_dataset(request, pk))
    return redirect("admin:datasets_app_jobrun_change", job.pk)


# --- sessions, jobs, history -------------------------------------------------------------------


def sessions(request: HttpRequest, pk: int) -> HttpResponse:
    require_permissions(request, "view_session")
    dataset = get_visible_dataset(request, pk)
    prefix = request.GET.get("q", "").strip()
    if prefix:
        page = paginate_by(
            Session.objects.with_id_prefix(dataset, prefix), "session_id", parse_page_request(request.GET)
        )
    else:
        page = paginate_by(Session.objects.of(dataset), "id", parse_page_request(request.GET))
    return render_dataset_page(request, dataset, "sessions", "Sessions", {"page": page, "prefix": prefix})


def jobs(request: HttpRequest, pk: int) -> HttpResponse:
    require_permissions(request, "view_jobrun")
    dataset = get_visible_dataset(request, pk)
    rows = JobRun.objects.filter(dataset=dataset).select_related("actor")
    return render_dataset_page(
        request, dataset, "jobs", "Jobs", {"page": paginate_newest_first(rows, request.GET)}
    )


def history(request: HttpRequest, pk: int) -> HttpResponse:
    dataset = get_visible_dataset(request, pk)
    events = AuditEvent.objects.filter(dataset_name=dataset.name)
    page, hidden = paginate_latest_first(events, request.GET), get_hidden_names(request.user)
    for event in page.rows:
        event.details = redact_json(event.details, hidden)
    return render_dataset_page(request, dataset, "history", "History", {"page": page})
