"""Downloads of job files and release files."""

from collections.abc import Callable
from typing import IO, Any

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import FileResponse, Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from datasets_app.catalog import raw_access
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.exporting.parameters import ExportParameters
from datasets_app.jobs.parameters import read_parameters
from datasets_app.jobs.permissions import can_download
from datasets_app.models import Dataset, JobFile, JobRun, Release, ReleaseFile
from datasets_app.releasing import files
from datasets_app.releasing.parameters import CompareParameters
from datasets_app.releasing.sharing import share_gate
from datasets_app.releasing.versions import find_release


class FileGone(UserError):
    """The file was deleted, or never stored here."""

    def __init__(self, file: JobFile | ReleaseFile) -> None:
        super().__init__("This file was deleted.")
        self.file = file


@require_GET
@login_required
def download_job_file(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Send an input or output file of a job, always as an attachment, and record the download."""
    return _send_file(request, pk, find_job_file, open_job_file)


def find_job_file(user: Any, pk: int) -> JobFile:
    """A file of a job that the user may have. Raises Http404, PermissionDenied, or UserError with what keeps
    it from leaving."""
    # Files of hidden datasets first: a refusal would tell that there are such.
    not_hidden = JobFile.objects.filter(job_run__in=JobRun.objects.visible_to(user))
    job_file = get_object_or_404(not_hidden.select_related("job_run"), pk=pk)
    job = job_file.job_run
    if not can_download(job, job_file.kind, user):
        raise PermissionDenied
    if not can_see_job(user, job):
        raise Http404
    if not raw_access.may_read_job(user, job):
        raise PermissionDenied
    if refusal := _find_copy_refusal(user, job, job_file):
        raise UserError(refusal)
    return job_file


def open_job_file(job_file: JobFile, user: Any) -> IO[bytes]:
    """Open it, and record the download. Raises FileGone."""
    job = job_file.job_run
    if job_file.is_expired or not job_file.file:
        raise FileGone(job_file)
    try:
        file: IO[bytes] = job_file.file.open("rb")
    except FileNotFoundError:
        raise FileGone(job_file) from None
    audit.record(
        "download",
        actor=user,
        dataset_name=job.dataset_name,
        **_audit_file_details(job_file),
        sha256=job_file.sha256,
        size=job_file.size,
        job_run=job.pk,
        # The audit log answers who received which release.
        **_release_details(job),
    )
    return file


def _find_copy_refusal(user: Any, job: JobRun, job_file: JobFile) -> str:
    """Why the user may not have an exported file; empty if they may."""
    is_export = job_file.kind in {JobFile.Kind.EXPORT, JobFile.Kind.METADATA}
    if job.operation == "compare_releases" and job.dataset:
        return _find_comparison_refusal(user, job, job.dataset)
    if job.operation != "export_dataset" or not is_export or job.dataset is None:
        return ""
    version = read_parameters(job, ExportParameters).version
    try:
        if version:
            share_gate.check_release_copy(find_release(job.dataset, version), user)
        else:
            share_gate.check_export_copy(job.dataset, user)
    except UserError as refusal:
        return refusal.message
    return ""


def _find_comparison_refusal(user: Any, job: JobRun, dataset: Dataset) -> str:
    """A comparison names the sessions of two versions."""
    compared = read_parameters(job, CompareParameters)
    versions = Release.objects.filter(dataset=dataset)
    named = [version for version in versions if version.version in {compared.before, compared.after}]
    if all(raw_access.may_read_release(user, version) for version in named):
        return ""
    return "One of the versions contains raw text, and you don't have permission to read it. Ask a curator."


def _release_details(job: JobRun) -> dict[str, str]:
    version = read_parameters(job, ExportParameters).version if job.operation == "export_dataset" else None
    return {"release": version} if version else {}


@require_GET
@login_required
def download_release(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Send a file of a release, byte for byte as it was released, and record the download."""
    return _send_file(request, pk, find_release_file, open_release_file)


def find_release_file(user: Any, pk: int) -> ReleaseFile:
    """Like :func:`find_job_file`, of a version."""
    not_hidden = ReleaseFile.objects.exclude(release__dataset__in=Dataset.objects.hidden_from(user))
    release_file = get_object_or_404(not_hidden.select_related("release__dataset"), pk=pk)
    if not (user.has_perm("datasets_app.release_dataset") or user.has_perm("datasets_app.export_dataset")):
        raise PermissionDenied
    if not Dataset.objects.visible_to(user).filter(pk=release_file.release.dataset_id).exists():
        raise Http404
    share_gate.check_release_copy(release_file.release, user)
    return release_file


def open_release_file(release_file: ReleaseFile, user: Any) -> IO[bytes]:
    """Open it, and record the download. Raises FileGone."""
    release = release_file.release
    try:
        file = files.open_file(release_file)
    except UserError:
        raise FileGone(release_file) from None
    audit.record(
        "download",
        actor=user,
        dataset_name=release.dataset.name,
        release=release.version,
        kind=release_file.kind,
        file=release_file.name,
        sha256=release_file.sha256,
        size=release_file.size,
    )
    return file


def _audit_file_details(job_file: JobFile) -> dict[str, str]:
    """Names of uploaded files may identify people, and the audit log would keep them forever."""
    if job_file.kind in {JobFile.Kind.UPLOAD, JobFile.Kind.QUARANTINE}:
        return {"kind": job_file.kind}
    return {"file": job_file.name}


def can_see_job(user: Any, job: JobRun) -> bool:
    """Whether a user may see a job's files. An import has no dataset yet, but its name may be that of a
    hidden one."""
    if job.dataset_id and not Dataset.objects.visible_to(user).filter(pk=job.dataset_id).exists():
        return False
    visible: bool = JobRun.objects.visible_to(user).filter(pk=job.pk).exists()
    return visible


def _send_file(
    request: HttpRequest, pk: int, find: Callable[[Any, int], Any], open_file: Callable[[Any, Any], IO[bytes]]
) -> HttpResponseBase:
    try:
        found = find(request.user, pk)
        file = open_file(found, request.user)
    except FileGone as gone:
        context = {"file": gone.file, "release": getattr(gone.file, "release", None)}
        return render(request, "datasets_app/file_gone.html", context, status=410)
    except UserError as refusal:
        context = {"message": refusal.message}
        return render(request, "datasets_app/file_refused.html", context, status=403)
    response = FileResponse(
        file, as_attachment=True, filename=found.name, content_type="application/octet-stream"
    )
    response["X-Content-Type-Options"] = "nosniff"
    return response
