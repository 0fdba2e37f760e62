"""Import: an upload form, a preview of what was detected, and the start of the job.

The upload is stored as a file of a prepared job. Only its first lines are read within a request.
"""

import hashlib
from itertools import groupby
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST
from msgspec import structs

from datasets_app.catalog import raw_access
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.core.web.pages import dataset_breadcrumbs, render_page, require_permissions
from datasets_app.core.web.reauthentication import require_recent_sign_in
from datasets_app.core.web.refusals import show_refusal, show_refusal_in
from datasets_app.core.web.turns import PreviewedTurn, format_turns
from datasets_app.core.web.uploads import accepts_files
from datasets_app.domain.traces.table_columns import format_columns
from datasets_app.importing.forms import PreviewForm, UploadForm, dataset_name_from_file, is_name_hidden
from datasets_app.importing.mapping_pages import (
    SIDE_LABELS,
    group_options,
    join_columns,
    list_mapping,
    list_sides,
)
from datasets_app.importing.mappings import delete_mapping, save_upload_mapping
from datasets_app.importing.parameters import IMPORT_FORMAT_LABELS, ImportParameters, read_entered
from datasets_app.importing.preview import ImportPreview, preview_upload
from datasets_app.importing.upload_limits import check_upload_limits, max_upload_bytes
from datasets_app.importing.uploads import discard_upload
from datasets_app.jobs import files, queue, runs
from datasets_app.jobs.parameters import read_parameters
from datasets_app.jobs.permissions import can_read_upload
from datasets_app.models import Dataset, JobFile, JobRun, SourceFile, TableMapping
from datasets_app.templatetags.values import short_datetime

# --- the form ----------------------------------------------------------------------------------


@accepts_files(max_upload_bytes)
def upload(request: HttpRequest) -> HttpResponse:
    require_permissions(request, "import_dataset")
    form = UploadForm(
        request.POST or None,
        request.FILES or None,
        initial=_initial_options(request),
        user=request.user,
    )
    if request.method == "POST" and (form.is_valid() or form.cleaned_data.get("file")):
        with show_refusal_in(form, "file"):
            jobs = _prepare_jobs(request.user, form)
            _warn_of_errors(request, form)
            return redirect("admin:datasets_app_dataset_import_preview", jobs[0].pk)
    crumbs = dataset_breadcrumbs(None, ("Import", None))
    return render_page(
        request,
        "datasets_app/import_form.html",
        crumbs,
        {
            "form": form,
            "mappings": TableMapping.objects.all()[:200],
            "waiting": list_waiting_uploads(request.user),
        },
    )


def _initial_options(request: HttpRequest) -> dict[str, Any]:
    """A link from a dataset's page names it; it keeps its origin."""
    name = request.GET.get("dataset", "").replace("\0", "")
    dataset = Dataset.objects.visible_to(request.user).filter(name=name).first()
    return {"dataset_name": name, "origin": dataset.origin if dataset else None}


def list_waiting_uploads(user: Any) -> list[JobFile]:
    """What a person uploaded and has not imported, newest first."""
    uploads = JobFile.objects.filter(kind=JobFile.Kind.UPLOAD, job_run__actor=user).exclude(file="")
    prepared = uploads.filter(job_run__state=JobRun.State.PREPARED, job_run__operation="import_dataset")
    return list(prepared.select_related("job_run").order_by("-pk")[: settings.MAX_PENDING_UPLOADS])


def _prepare_jobs(user: Any, form: UploadForm) -> list[JobRun]:
    """A preview for each file; without a name, each becomes a dataset of its own. Raises UserError, and
    then keeps none of them."""
    options, jobs = form.usable_options(), []
    try:
        for file in options["file"]:
            name = options["dataset_name"] or dataset_name_from_file(file.name)
            # The preview requests another name instead of one that a hidden dataset has.
            taken = is_name_hidden(name, user)
            jobs.append(_prepare_job(user, {**options, "file": file, "dataset_name": "" if taken else name}))
    except UserError:
        for job in jobs:
            for job_file in job.files.exclude(file=""):
                job_file.file.delete(save=False)
            job.delete()
        raise
    return jobs


def _warn_of_errors(request: HttpRequest, form: UploadForm) -> None:
    for name, errors in form.errors.items():
        label = form.fields[name].label or name.capitalize() if name in form.fields else "Import"
        proposed = " The preview proposes another name." if name == "dataset_name" else ""
        for error in errors:
            messages.error(request, f"{label}: {error}{proposed}")


def _prepare_job(user: Any, options: dict[str, Any]) -> JobRun:
    upload_file: UploadedFile = options["file"]
    job_file = JobFile(
        kind=JobFile.Kind.UPLOAD, name=(upload_file.name or "")[:255], size=upload_file.size or 0
    )
    job_file.sha256 = hashlib.file_digest(upload_file.file, "sha256").hexdigest()  # type: ignore[arg-type]
    upload_file.seek(0)
    with files.storing(job_file), transaction.atomic():
        check_upload_limits(user, job_file.size)
        job = job_file.job_run = runs.create_job(
            "import_dataset",
            actor=user,
            dataset_name=options["dataset_name"],
            parameters=read_entered(options, options["origin"] or None, user.get_username()),
        )
        files.store_file(job_file, upload_file)
    return job


def _get_import(request: HttpRequest, pk: int) -> JobRun:
    """An import, for the person whose upload it is, or one who may limit access."""
    require_permissions(request, "import_dataset")
    imports = JobRun.objects.visible_to(request.user).filter(operation="import_dataset")
    job: JobRun = get_object_or_404(imports, pk=pk)
    if not can_read_upload(job, request.user):
        raise PermissionDenied
    return job


# --- the preview -------------------------------------------------------------------------------


def preview(request: HttpRequest, job_pk: int) -> HttpResponse:
    job = _get_import(request, job_pk)
    job_file = stored_upload(job)
    if job.state != JobRun.State.PREPARED or job_file is None:
        return redirect("admin:datasets_app_jobrun_change", job.pk)
    options = read_parameters(job, ImportParameters)
    initial = {**options.as_json(), "dataset_name": job.dataset_name}
    form = PreviewForm(
        join_columns(request.POST) or None,
        initial=initial,
        user=request.user,
        prepared_origin=options.prepared_origin,
    )
    form.fields["dataset_name"].required = True
    if request.method == "POST" and form.is_valid():
        start = "import" in request.POST
        if start and form.cleaned_data.get("override"):
            require_recent_sign_in(request)
        try:
            _update_job(request.user, job, form.cleaned_data, start)
            if _save_columns(job_file, read_parameters(job, ImportParameters), form.cleaned_data):
                messages.success(request, f"Columns saved as {form.cleaned_data['save_mapping']}.")
        except UserError as refusal:
            messages.error(request, refusal.message)
            start = False
        page = "jobrun_change" if start else "dataset_import_preview"
        return redirect(f"admin:datasets_app_{page}", job.pk)
    if request.method == "POST":
        options = _apply_entered(options, form)
    preview_result = _preview_upload(job_file, options)
    origins, shown = {options.origin, options.prepared_origin}, len(preview_result.turns)
    raw_access.record_upload_access(job, request.user, origins=origins, turns=shown)
    context = {
        **_describe_preview(preview_result, options, form),
        "job": job,
        "file": job_file,
        "form": form,
        "notes": _preview_notes(job, job_file),
        "others": [each for each in list_waiting_uploads(request.user) if each.job_run_id != job.pk],
    }
    crumbs = dataset_breadcrumbs(None, (f"Import {job_file.name}", None))
    return render_page(request, "datasets_app/import_preview.html", crumbs, context)


def _apply_entered(options: ImportParameters, form: PreviewForm) -> ImportParameters:
    """The options with what was entered in a form that has errors, as far as it is valid."""
    names = ("format", "assistant", "columns")
    return structs.replace(
        options, **{name: form.cleaned_data[name] for name in names if name in form.cleaned_data}
    )


def _describe_preview(shown: ImportPreview, options: ImportParameters, form: PreviewForm) -> dict[str, Any]:
    mapping = list_mapping(shown, options, form.data)
    return {
        "preview": shown,
        "format": IMPORT_FORMAT_LABELS.get(shown.format, shown.format),
        "sessions": _group_by_session(shown.turns),
        "problems": [] if shown.annotation_file else shown.problems[:20],
        "refusal": shown.why_refused(options.on_error),
        "refusal_is_about_problems": not (shown.error or shown.lacks_sessions or shown.annotation_file),
        "mapping": mapping,
        "sides": list_sides(shown, options, form.data),
        "side_labels": SIDE_LABELS,
        "option_groups": group_options(form, shown, menus=bool(mapping)),
        "detected_columns": format_columns(shown.columns),
    }


def _save_columns(job_file: JobFile, options: ImportParameters, chosen: dict[str, Any]) -> bool:
    """Save the columns under the name that was entered: those that were named, else those detected."""
    options = structs.replace(options, columns=chosen["columns"])
    if name := chosen["save_mapping"]:
        with job_file.file.open("rb") as file:
            save_upload_mapping(name, file, job_file.name, options)
    return bool(name)


@require_POST
def remove_mapping(request: HttpRequest) -> HttpResponse:
    """Delete saved columns."""
    require_permissions(request, "import_dataset")
    with show_refusal(request):
        delete_mapping(request.POST.get("name", ""))
    return redirect("admin:datasets_app_dataset_import")


def _preview_upload(job_file: JobFile, options: ImportParameters) -> ImportPreview:
    with job_file.file.open("rb") as file:
        return preview_upload(file, job_file.name, options)


def _preview_notes(job: JobRun, job_file: JobFile) -> list[tuple[str, str]]:
    """(level, sentence) of what users should know before they start the import."""
    notes = []
    name = job.dataset_name
    previous = SourceFile.objects.filter(dataset__name=name, sha256=job_file.sha256).first()
    if previous:
        when = short_datetime(previous.imported_at)
        text = f"This file was imported into {name} on {when}. Importing it again changes nothing."
        notes.append(("info", text))
    elif Dataset.objects.filter(name=name).exists():
        notes.append(("info", f"Dataset {name} already exists. These sessions will be added to it."))
    if not queue.is_reachable():
        notes.append(("warn", "The queue can't be reached. The job will start once it is available again."))
    return notes


def _group_by_session(records: list[Any]) -> list[tuple[str, list[PreviewedTurn]]]:
    sessions = []
    for session_id, group in groupby(records, lambda record: record.session_id):
        turns = [PreviewedTurn(record, max_characters=600, max_tags=20) for record in group]
        format_turns(turns)
        sessions.append((session_id, turns))
    return sessions


def _update_job(user: Any, job: JobRun, options: dict[str, Any], start: bool) -> None:
    """Save the options chosen on the preview, and start the job. Who starts it is its actor from then on.
    Raises UserError if they have too many jobs."""
    prepared = read_parameters(job, ImportParameters)
    parameters = read_entered(options, prepared.prepared_origin, prepared.uploaded_by)
    starter = {"actor": user, "source_address": audit.current_address(), "api_token": None}
    with transaction.atomic():
        changed = JobRun.objects.filter(pk=job.pk, state=JobRun.State.PREPARED).update(
            dataset_name=options["dataset_name"],
            parameters=parameters.as_json(),
            **(starter if start else {}),
        )
        if changed and start:
            runs.start_prepared_job(job, actor=user)


@require_POST
def reopen(request: HttpRequest, job_pk: int) -> HttpResponse:
    """Return a failed import to its preview, so that users need not upload the file again."""
    job = _get_import(request, job_pk)
    if stored_upload(job) is not None:
        runs.reset_for_retry(job, actor=request.user)
    return redirect("admin:datasets_app_dataset_import_preview", job.pk)


def stored_upload(job: JobRun) -> JobFile | None:
    """The uploaded file of an import, unless it has been deleted."""
    if job.operation != "import_dataset":
        return None
    return job.files.filter(kind=JobFile.Kind.UPLOAD).exclude(file="").first()


@require_POST
def discard(request: HttpRequest, job_pk: int) -> HttpResponse:
    job = _get_import(request, job_pk)
    if job.state != JobRun.State.PREPARED:
        raise Http404
    with show_refusal(request):
        discard_upload(job, actor=request.user)
        return redirect("admin:datasets_app_dataset_import")
    return redirect("admin:datasets_app_dataset_import_preview", job.pk)
