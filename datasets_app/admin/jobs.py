"""The list of jobs, and a page for each that follows its progress."""

from datetime import timedelta
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST
from unfold.decorators import display

from datasets_app import hooks
from datasets_app.admin import request_pages
from datasets_app.admin.dataset_pages import list_active_jobs
from datasets_app.admin.job_facts import (
    WITHHELD_ERROR,
    parameter_rows,
    result_facts,
    token_usage,
    withhold_result,
)
from datasets_app.catalog import raw_access
from datasets_app.core.web.model_admin import Pages, ReadOnlyAdmin
from datasets_app.core.web.pages import (
    dataset_url,
    get_visible_dataset,
    parse_pk,
    read_back,
    render_fragment,
    render_page,
    require_permissions,
)
from datasets_app.core.web.reauthentication import require_recent_sign_in
from datasets_app.core.web.redaction import get_hidden_names, redact_json
from datasets_app.core.web.refusals import show_refusal
from datasets_app.importing.pages import stored_upload
from datasets_app.jobs import queue, runs
from datasets_app.jobs.permissions import (
    can_download,
    can_read_upload,
    needs_override_permission,
    start_permission,
)
from datasets_app.jobs.registry import describe_saved_work, get_operation, sensitive_permission
from datasets_app.models import CheckReport, JobFile, JobRun
from datasets_app.templatetags.datasets_display import sentence_case
from datasets_app.templatetags.values import ago

STATE_COLORS = {
    "prepared": "",
    "approval": "warning",
    "queued": "info",
    "running": "info",
    "done": "success",
    "failed": "danger",
    "cancelled": "",
}
# The tab of the dataset that shows the result of a job.
RESULT_TABS = {
    "canary_dataset": ("scrub", "See the result"),
    "split_dataset": ("splits", "See the splits"),
    "send_case": ("export", "Export the cases"),
    "release_dataset": ("releases", "See the versions"),
    "verify_releases": ("releases", "See the versions"),
}
# Parts of a job's result that the page shows outside the list of facts.
KEYS_SHOWN_ELSEWHERE = {
    "problems",
    "problem_total",
    "report",
    "dataset",
    "size",
    "sha256",
    "scrub",
    "campaign",
    "certificates",
    "handed_out",
}


@admin.register(JobRun)
class JobRunAdmin(ReadOnlyAdmin):
    list_display = ["show_job", "show_state", "show_dataset", "show_actor", "progress", "show_created"]
    list_filter = ["state", "operation"]
    list_select_related = ["actor"]

    def get_queryset(self, request: HttpRequest) -> Any:
        # An upload that isn't imported isn't a job yet: the import page lists it.
        uploads = JobFile.objects.filter(job_run=OuterRef("pk"), kind=JobFile.Kind.UPLOAD).exclude(file="")
        is_preview = Q(state=JobRun.State.PREPARED, operation="import_dataset") & Exists(uploads)
        return super().get_queryset(request).visible_to(request.user).exclude(is_preview)

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        request.crumbs = [("Jobs", None)]  # type: ignore[attr-defined]  # see admin/pages.py
        return super().changelist_view(request, {**(extra_context or {}), "title": "Jobs"})

    @display(description="Job")
    def show_job(self, job: JobRun) -> str:
        return str(job)

    @display(description="State", label=STATE_COLORS)
    def show_state(self, job: JobRun) -> tuple[str, str]:
        return job.state, job.state_label

    @display(description="Dataset")
    def show_dataset(self, job: JobRun) -> str:
        return job.dataset_name or "–"

    @display(description="Started by")
    def show_actor(self, job: JobRun) -> str:
        return job.actor_name

    @display(description="Progress")
    def progress(self, job: JobRun) -> str:
        return f"{job.percent} %" if job.percent is not None else "–"

    @display(description="When", ordering="created_at")
    def show_created(self, job: JobRun) -> str:
        return ago(job.created_at)

    def get_pages(self) -> Pages:
        return [
            ("active/", active_jobs_panel, "active"),
            ("requests/", request_pages.requests, "requests"),
            ("<int:pk>/approve/", request_pages.approve, "approve"),
            ("<int:pk>/decline/", request_pages.decline, "decline"),
            ("<int:pk>/change/", job_page, "change"),
            ("<int:pk>/progress/", progress, "progress"),
            ("<int:pk>/cancel/", cancel, "cancel"),
            ("<int:pk>/retry/", retry, "retry"),
        ]


def _get_visible_job(request: HttpRequest, pk: int) -> JobRun:
    """Users may follow jobs that they started; those of others need the permission. Jobs of hidden datasets
    give a 404."""
    visible = JobRun.objects.visible_to(request.user)
    job = get_object_or_404(visible.select_related("actor", "dataset"), pk=pk)
    if job.actor_id != request.user.pk or request.user.pk is None:
        require_permissions(request, "view_jobrun")
    return job


def _can_control(request: HttpRequest, job: JobRun) -> bool:
    """Users who may start such a job may cancel it."""
    return request.user.has_perm(start_permission(job.operation))


def _can_repeat(request: HttpRequest, job: JobRun) -> bool:
    """Not an override without the permission, nor the import of somebody else's upload."""
    is_own = job.operation != "import_dataset" or can_read_upload(job, request.user)
    return is_own and not needs_override_permission(job, request.user)


def job_page(request: HttpRequest, pk: int) -> HttpResponse:
    job = _get_visible_job(request, pk)
    if job.state == JobRun.State.PREPARED and stored_upload(job):
        if request.user.has_perm("datasets_app.import_dataset") and can_read_upload(job, request.user):
            return redirect("admin:datasets_app_dataset_import_preview", job.pk)
        raise PermissionDenied
    crumbs = [("Jobs", reverse("admin:datasets_app_jobrun_changelist")), (str(job), None)]
    context = {**_job_context(request, job), "back": read_back(request)}
    return render_page(request, "datasets_app/job_run.html", crumbs, context)


def progress(request: HttpRequest, pk: int) -> HttpResponse:
    """The part of the job's page that changes; it reloads itself until the job has ended."""
    job = _get_visible_job(request, pk)
    return render_fragment(request, "datasets_app/_job_run.html", _job_context(request, job))


def active_jobs_panel(request: HttpRequest) -> HttpResponse:
    """Running and queued jobs, for the home page, or for the page of ``?dataset=``."""
    require_permissions(request, "view_jobrun")
    dataset_pk = parse_pk(request.GET.get("dataset", ""))
    dataset = get_visible_dataset(request, dataset_pk) if dataset_pk is not None else None
    context = {
        "dataset": dataset,
        "active_jobs": list_active_jobs(request.user, dataset.pk if dataset else None),
    }
    return render_fragment(request, "datasets_app/_active_jobs.html", context)


def _job_context(request: HttpRequest, job: JobRun) -> dict[str, Any]:
    hidden = get_hidden_names(request.user)
    withheld = not raw_access.may_read_job(request.user, job)
    has = request.user.has_perm
    result = dict(redact_json(job.result or {}, hidden))
    if withheld:
        result = withhold_result(result)
    elif job.operation == "import_dataset" and result.get("problems"):
        raw_access.record_job_access(job, request.user, problems=len(result["problems"]))
    # Only an import lists its files; a verification counts them, which is a fact like others.
    imported_files = result.pop("files", []) if job.operation == "import_dataset" else []
    return {
        "job": job,
        "dataset": job.dataset if has("datasets_app.view_dataset") else None,
        "withheld": withheld,
        "notes": _job_notes(job, withheld=withheld),
        # Filters, and names of the files that a command imported.
        "parameters": [] if withheld else redact_json([list(pair) for pair in parameter_rows(job)], hidden),
        "may": _allowed_actions(request, job),
        "progress": _progress_facts(job),
        "tokens": token_usage(job),
        "imported_files": imported_files,
        "result": {
            key: value for key, value in result_facts(job, result).items() if key not in KEYS_SHOWN_ELSEWHERE
        },
        "links": _result_links(request, job),
        "handed_out": result.get("handed_out") if _can_see_recipients(request) else None,
        "problems": result.get("problems") or [],
        "problem_total": result.get("problem_total") or 0,
        "files": _file_rows(request, job, withheld=withheld),
    }


def _allowed_actions(request: HttpRequest, job: JobRun) -> dict[str, bool]:
    if not _can_control(request, job):
        return {}
    ended_early = job.state in {"failed", "cancelled"}
    return {
        "cancel": job.state in {"approval", "queued", "running"} and not job.cancel_requested,
        "retry": ended_early and not job.foreground and _can_repeat(request, job),
        "reopen": ended_early and can_read_upload(job, request.user) and stored_upload(job) is not None,
        "resume": _can_resume(job),
    }


def _file_rows(request: HttpRequest, job: JobRun, *, withheld: bool) -> list[dict[str, Any]]:
    """Names of files are withheld with their contents."""
    return [
        {
            "row": row,
            "name": f"{row.get_kind_display()} {row.pk}" if withheld else row.name,
            "may_download": not withheld and can_download(job, row.kind, request.user),
        }
        for row in job.files.all()
    ]


def _job_notes(job: JobRun, *, withheld: bool) -> list[tuple[str, str]]:
    """(level, sentence) of what users should know about the state of a job."""
    saved = describe_saved_work(job.operation)
    notes = []
    if job.state == JobRun.State.QUEUED and not queue.is_reachable():
        notes.append(("warn", "The queue can't be reached. The job will start once it is available again."))
    if job.state == JobRun.State.APPROVAL:
        text = f"A second person has to approve this by {job.expires_at:%-d %b %Y}, on the page Requests."
        notes.append(("warn", text))
    if job.is_stalled:
        text = "The worker has stopped responding. If it is gone, another worker takes over automatically."
        notes.append(("warn", text))
    if job.cancel_requested and not job.is_finished:
        notes.append(("info", f"Canceling: the job stops at its next step; {saved}."))
    if job.error:
        notes.append(("bad", WITHHELD_ERROR if withheld else job.error))
    if job.state == JobRun.State.CANCELLED:
        notes.append(("info", f"The job was canceled; {saved}."))
    return notes


def _result_links(request: HttpRequest, job: JobRun) -> list[tuple[str, str]]:
    """(title, address) of the pages that show what a job made."""
    if job.dataset is None:
        return []
    has = request.user.has_perm
    links = []
    if job.operation in {"scrub_dataset", "scrub_part"} and has("datasets_app.view_scrubrun"):
        links.append(("See findings", dataset_url(job.dataset, "scrub")))
    report = (job.result or {}).get("report")
    if report and CheckReport.objects.filter(pk=report).exists():
        links.append(("See findings", f"{dataset_url(job.dataset, 'checks')}?report={report}"))
    tab, title = RESULT_TABS.get(job.operation, ("", ""))
    if tab and (tab != "releases" or has("datasets_app.view_release")):
        links.append((title, dataset_url(job.dataset, tab)))
    if title := {"send_case": "Draft variants by a model", "draft_variants": "Review the drafts"}.get(
        job.operation
    ):
        links.append((title, hooks.panels.label_url(job.dataset, "variants")))
    return links + hooks.panels.list_job_links(job, request.user)


def _can_see_recipients(request: HttpRequest) -> bool:
    """Recipients are shown to users who read the audit log or have to notify them after an erasure."""
    has = request.user.has_perm
    return has("datasets_app.view_auditevent") or has("datasets_app.erase_session")


def _can_resume(job: JobRun) -> bool:
    """Whether a generation has unwritten sessions, which can be requested again with other options."""
    if job.operation != "bootstrap_dataset" or job.foreground:
        return False
    result = job.result or {}
    remaining = result.get("sessions_left") or result.get("failed_sessions")
    return job.state in {"failed", "cancelled"} or bool(job.state == "done" and remaining)


def _progress_facts(job: JobRun) -> dict[str, Any]:
    """``rate``: units per second up to the last heartbeat; ``remaining``: the time left at that rate."""
    facts: dict[str, Any] = {
        # Imports count bytes over several passes, so their page shows only the percentage.
        "unit": get_operation(job.operation).unit,
        "heartbeat_age": timezone.now() - job.heartbeat_at if job.heartbeat_at else None,
        "took": job.finished_at - job.started_at if job.finished_at and job.started_at else None,
    }
    end = job.finished_at or job.heartbeat_at
    seconds = (end - job.started_at).total_seconds() if end and job.started_at else 0
    if seconds >= 1 and job.done:
        facts["rate"] = int(job.done / seconds)
        if job.total and not job.is_finished:
            facts["remaining"] = timedelta(seconds=(job.total - job.done) * seconds / job.done)
    return facts


@require_POST
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    job = _get_visible_job(request, pk)
    if not _can_control(request, job):
        raise PermissionDenied
    runs.request_cancellation(job, actor=request.user)
    return redirect("admin:datasets_app_jobrun_change", pk)


@require_POST
def retry(request: HttpRequest, pk: int) -> HttpResponse:
    job = _get_visible_job(request, pk)
    if not _can_control(request, job) or not _can_repeat(request, job):
        raise PermissionDenied
    if sensitive_permission(job):
        require_recent_sign_in(request)
    with show_refusal(request):
        if not runs.retry_job(job, actor=request.user):
            messages.warning(
                request, f"{sentence_case(job.operation)} is {job.state_label.lower()} and can't be retried."
            )
    return redirect("admin:datasets_app_jobrun_change", pk)
