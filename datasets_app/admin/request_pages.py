"""The page "Requests": jobs that wait for a second person, one's own, and those that were decided."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from datasets_app.admin.job_facts import parameter_rows
from datasets_app.core.web.pages import render_page, require_permissions
from datasets_app.core.web.reauthentication import require_recent_sign_in
from datasets_app.core.web.refusals import show_refusal
from datasets_app.jobs import approvals, runs
from datasets_app.models import JobRun

MAX_DECIDED_SHOWN = 50


def requests(request: HttpRequest) -> HttpResponse:
    require_permissions(request, "view_dataset")
    waiting = approvals.list_waiting(request.user)
    mine = [job for job in waiting if job.actor_id == request.user.pk]
    others = [job for job in waiting if approvals.can_decide(request.user, job)]
    context = {
        "waiting": [{"job": job, "parameters": parameter_rows(job)} for job in others],
        "mine": mine,
        "decided": _list_decided(request.user),
    }
    return render_page(request, "datasets_app/requests.html", [("Requests", None)], context)


def _list_decided(user: Any) -> list[JobRun]:
    """Those that the user requested or decided; with the permission to see jobs, all of them."""
    jobs = JobRun.objects.visible_to(user).exclude(decided_at=None).select_related("actor", "decided_by")
    if not user.has_perm("datasets_app.view_jobrun"):
        jobs = jobs.filter(Q(actor=user) | Q(decided_by=user))
    return list(jobs.order_by("-decided_at")[:MAX_DECIDED_SHOWN])


@require_POST
def approve(request: HttpRequest, pk: int) -> HttpResponse:
    def run(job: JobRun) -> None:
        approved = approvals.approve(job, actor=request.user)
        runs.send_to_queue(approved)

    return _decide(request, pk, run, "Approved. The job starts as soon as a worker is free.")


@require_POST
def decline(request: HttpRequest, pk: int) -> HttpResponse:
    return _decide(
        request, pk, lambda job: approvals.decline(job, actor=request.user), "Declined. Nothing was changed."
    )


def _decide(request: HttpRequest, pk: int, act: Callable[[JobRun], None], done: str) -> HttpResponse:
    require_permissions(request, "view_dataset")
    job = get_object_or_404(JobRun.objects.visible_to(request.user), pk=pk)
    if approvals.can_decide(request.user, job):
        require_recent_sign_in(request)
    with show_refusal(request):
        act(job)
        messages.success(request, done)
    return redirect("admin:datasets_app_jobrun_requests")
