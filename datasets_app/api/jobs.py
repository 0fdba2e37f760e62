"""Jobs: their progress, their end, their files."""

from collections.abc import Callable
from typing import Any

from ninja import Router

from datasets_app.admin.job_facts import WITHHELD_ERROR, withhold_result
from datasets_app.api.datasets import After, Limit
from datasets_app.api.file_answers import answer_with_file
from datasets_app.api.problems import ApiError, forbidden, not_found
from datasets_app.api.routing import F, page_latest, require_permissions, route
from datasets_app.api.schemas import JobOut, JobPage
from datasets_app.catalog import raw_access
from datasets_app.core.web.pages import parse_pk
from datasets_app.core.web.redaction import get_hidden_names, redact_json
from datasets_app.downloads import find_job_file, open_job_file
from datasets_app.jobs import runs
from datasets_app.jobs.parameters import JobParameters, NoParameters
from datasets_app.jobs.permissions import can_download, start_permission
from datasets_app.models import Dataset, JobRun

router = Router(tags=["Jobs"])

VIEW_JOBS = ("datasets_app.view_jobrun",)


def job_route(router: Router, path: str, *, needs: tuple[str, ...]) -> Callable[[F], F]:
    """Register a view that starts a job."""
    return route(router, "POST", path, JobOut, needs=needs, status=202, errors=(409,))


@route(router, "GET", "/jobs", JobPage, needs=VIEW_JOBS)
def list_jobs(request: Any, dataset: str = "", after: str = After, limit: int = Limit) -> Any:
    """The latest first, of all datasets or of one."""
    jobs = JobRun.objects.visible_to(request.person).select_related("actor", "dataset")
    if dataset:
        jobs = jobs.filter(dataset_name=dataset)
    return page_latest(jobs.prefetch_related("files"), after, limit, lambda job: describe_job(request, job))


@route(router, "GET", "/jobs/{number}", JobOut)
def get_job(request: Any, number: str) -> Any:
    """Your own, of an operation that the token may start; or any, with `datasets:read`."""
    return describe_job(request, _get_job(request, number))


@route(router, "POST", "/jobs/{number}/cancel", JobOut)
def cancel_job(request: Any, number: str) -> Any:
    """A waiting job ends at once, a running one at its next step. Takes the scope that starts such a job."""
    job = _get_job(request, number)
    require_permissions(request, start_permission(job.operation))
    runs.request_cancellation(job, actor=request.person)
    job.refresh_from_db()
    return describe_job(request, job)


@route(
    router,
    "GET",
    "/jobs/{number}/files/{file}",
    None,
    errors=(206, 409, 410, 416),
    media_type="application/octet-stream",
)
def download_file(request: Any, number: str, file: str) -> Any:
    """A file that a job made, or a part of it (`Range`). The header `ETag` is its SHA-256."""
    job = _get_job(request, number)
    found = find_job_file(request.person, parse_pk(file))
    if found.job_run_id != job.pk:
        raise not_found()
    return answer_with_file(request, found, lambda: open_job_file(found, request.person))


def start_job(
    request: Any,
    operation: str,
    dataset: Dataset | None,
    parameters: JobParameters = NoParameters(),  # noqa: B008  (frozen)
    *,
    dataset_name: str = "",
    scope: str = "",
) -> dict[str, Any]:
    """Start a job as the person of the token. What takes a recent sign-in has no route, but for what a
    ``scope`` of its own allows."""
    require_permissions(request, start_permission(operation))
    if parameters.approval_permission and scope not in request.token.scopes:
        raise ApiError(403, "sign_in_needed", "This takes a recent sign-in: do it on the pages.")
    job = runs.start_job(
        operation, actor=request.person, dataset=dataset, dataset_name=dataset_name, parameters=parameters
    )
    return describe_job(request, job)


def _get_job(request: Any, number: str) -> JobRun:
    visible = JobRun.objects.visible_to(request.person).select_related("actor", "dataset")
    job: JobRun | None = visible.filter(pk=parse_pk(number)).first()
    if job is None:
        raise not_found()
    own = job.actor_id == request.person.pk and request.person.has_perm(start_permission(job.operation))
    if not own and not request.person.has_perm(*VIEW_JOBS):
        require_permissions(request, *VIEW_JOBS)
        raise forbidden(VIEW_JOBS[0], "")
    return job


def describe_job(request: Any, job: JobRun) -> dict[str, Any]:
    """Names and texts that the token may not read are withheld, as on the job's page."""
    user = request.person
    withheld = not raw_access.may_read_job(user, job)
    result = redact_json(job.result, get_hidden_names(user)) if job.result else None
    if withheld:
        result = withhold_result(result) if result else None
    elif job.operation == "import_dataset" and result and result.get("problems"):
        raw_access.record_job_access(job, user, problems=len(result["problems"]))
    files = [] if withheld else [row for row in job.files.all() if can_download(job, row.kind, user)]
    return {
        "id": job.pk,
        "operation": job.operation,
        "dataset": job.dataset_name or None,
        "state": "canceled" if job.state == JobRun.State.CANCELLED else job.state,
        "done": job.done,
        "total": job.total,
        "percent": job.percent,
        "error": (WITHHELD_ERROR if withheld else job.error) if job.error else None,
        "result": result,
        "withheld": withheld,
        "cancel_requested": job.cancel_requested,
        "started_by": job.actor_name,
        "created_at": job.created_at,
        "started_at": job.started_at,
        "finished_at": job.finished_at,
        "files": [row for row in files if row.kind != "part"],
    }
