"""What pages that start jobs share."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from datasets_app.core.web.pages import add_back, dataset_url, read_back
from datasets_app.core.web.reauthentication import require_recent_sign_in
from datasets_app.core.web.refusals import show_refusal
from datasets_app.jobs import runs
from datasets_app.jobs.parameters import JobParameters, NoParameters
from datasets_app.models import Dataset


def start_and_show_job(
    request: HttpRequest,
    operation: str,
    dataset: Dataset | None = None,
    parameters: JobParameters = NoParameters(),  # noqa: B008  (frozen)
    *,
    dataset_name: str = "",
) -> HttpResponse:
    """Start a job as the signed-in user, and redirect to its page; it may be one that they started before.
    That page leads back to where this one was opened from.
    Overrides, signatures, deletions and erasures take a recent sign-in."""
    if parameters.approval_permission:
        require_recent_sign_in(request)
    with show_refusal(request):
        job = runs.start_job(
            operation, actor=request.user, dataset=dataset, dataset_name=dataset_name, parameters=parameters
        )
        page = reverse("admin:datasets_app_jobrun_change", args=[job.pk])
        return redirect(add_back(page, read_back(request)))
    return redirect(dataset_url(dataset) if dataset else "home")
