"""Import: a form that takes a file, a preview of what was recognised, and the start of the job.

The upload is kept as a file of a prepared job. Only its first lines are read within a request.
"""

import hashlib
import re
from datetime import timedelta
from itertools import groupby
from typing import Any
from uuid import uuid4

from django import forms
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_POST
from unfold.widgets import (
    UnfoldAdminRadioSelectWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

from datasets_app.catalog import raw_access
from datasets_app.core.web.pages import dataset_breadcrumbs, render_page, require_permissions
from datasets_app.importing.preview import preview_import
from datasets_app.jobs import queue, runs
from datasets_app.jobs.parameters import FORMAT_LABELS, ON_ERROR_LABELS, ImportParameters, read_parameters
from datasets_app.models import Dataset, JobFile, JobRun, Persona, SourceFile
from datasets_app.models.dataset import NAME_PATTERN


class ImportOptionsForm(forms.Form):
    """For a ``user``: what would go into a dataset that is hidden from them is refused."""

    dataset_name = forms.RegexField(
        NAME_PATTERN,
        label="Dataset",
        required=False,
        max_length=100,
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off"}),
        help_text="A new name, or that of a dataset to add to. Left empty, it is taken from the file's name.",
        error_messages={
            "invalid": "Letters, digits, dot, dash and underscore only; the first a letter or digit."
        },
    )
    origin = forms.ChoiceField(
        choices=Dataset.Origin,
        initial=Dataset.Origin.EXTERNAL,
        widget=UnfoldAdminSelectWidget,
        help_text="Production data holds what real people wrote.",
    )
    persona = forms.CharField(
        label="Persona",
        required=False,
        max_length=500,
        widget=UnfoldAdminTextInputWidget(attrs={"list": "personas", "autocomplete": "off"}),
        help_text="The persona_id for sessions whose lines name none.",
    )
    format = forms.ChoiceField(
        choices=[("auto", "Detect automatically"), *FORMAT_LABELS.items()], widget=UnfoldAdminSelectWidget
    )
    on_error = forms.ChoiceField(
        label="If there are problems",
        choices=list(ON_ERROR_LABELS.items()),
        initial="abort",
        widget=UnfoldAdminRadioSelectWidget,
    )
    renumber = forms.BooleanField(
        label="Renumber turns",
        required=False,
        widget=UnfoldBooleanSwitchWidget,
        help_text="For files that count from 0 or have gaps: turns are numbered 1, 2, 3 … in their order.",
    )
    append = forms.BooleanField(
        label="Skip sessions that are there already",
        required=False,
        widget=UnfoldBooleanSwitchWidget,
        help_text="They must be identical. Otherwise a session that is there already is a problem.",
    )

    def __init__(self, *args: Any, user: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.user = user

    def clean(self) -> dict[str, Any]:
        name = self.cleaned_data.get("dataset_name")
        if name and Dataset.objects.hidden_from(self.user).filter(name=name).exists():
            self.add_error("dataset_name", "This name is taken. Choose another one.")
        return self.cleaned_data


class UploadForm(ImportOptionsForm):
    file = forms.FileField(
        widget=forms.FileInput(attrs={"accept": ".jsonl,.json,.ndjson,.gz", "class": "ad-file"}),
        help_text=".jsonl or .jsonl.gz",
        allow_empty_file=True,
        max_length=255,
    )
    field_order = ["file"]

    def clean(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        if "file" in cleaned and not cleaned.get("dataset_name") and "dataset_name" not in self.errors:
            cleaned["dataset_name"] = dataset_name_from_file(cleaned["file"].name)
        return super().clean()


def dataset_name_from_file(file_name: str) -> str:
    """ "Support logs (May).jsonl.gz" → Support_logs_May."""
    stem = re.sub(r"(\.(jsonl|ndjson|json|gz))+$", "", file_name, flags=re.IGNORECASE)
    name = re.sub(r"[^A-Za-z0-9._-]+", "_", stem).strip("._-")
    return name[:100] or "dataset"


def _persona_ids() -> list[str]:
    return list(Persona.objects.values_list("persona_id", flat=True)[:100])


# --- the form ----------------------------------------------------------------------------------


def upload(request: HttpRequest) -> HttpResponse:
    require_permissions(request, "import_dataset")
    form = UploadForm(
        request.POST or None,
        request.FILES or None,
        initial={"dataset_name": request.GET.get("dataset")},
        user=request.user,
    )
    if request.method == "POST" and form.is_valid():
        job = _prepare_job(request.user, form.cleaned_data)
        return redirect("admin:datasets_app_dataset_import_preview", job.pk)
    crumbs = dataset_breadcrumbs(None, ("Import", None))
    return render_page(
        request, "datasets_app/import_form.html", crumbs, {"form": form, "personas": _persona_ids()}
    )


def _prepare_job(user: Any, options: dict[str, Any]) -> JobRun:
    kept = JobFile(kind=JobFile.Kind.UPLOAD)
    try:
        with transaction.atomic():
            job = runs.create_job(
                "import_dataset",
                actor=user,
                dataset_name=options["dataset_name"],
                parameters=_job_parameters(options),
            )
            _save_upload(kept, job, options["file"])
    except BaseException:
        if kept.file:
            kept.file.delete(save=False)
        raise
    return job


def _save_upload(kept: JobFile, job: JobRun, upload_file: UploadedFile) -> None:
    kept.job_run = job
    kept.name = (upload_file.name or "")[:255]
    kept.size = upload_file.size or 0
    kept.sha256 = hashlib.file_digest(upload_file.file, "sha256").hexdigest()  # type: ignore[arg-type]
    kept.expires_at = timezone.now() + timedelta(days=settings.EXPORT_LINK_DAYS)
    upload_file.seek(0)
    # What people call a file may be longer than a file system's names.
    kept.file.save(f"{job.pk}/upload/{uuid4().hex}", upload_file, save=False)
    kept.save()


def _job_parameters(options: dict[str, Any]) -> ImportParameters:
    names = ("format", "origin", "renumber", "on_error", "append")
    return ImportParameters(**{name: options[name] for name in names}, persona=options["persona"] or None)


def _visible_imports(request: HttpRequest) -> Any:
    return JobRun.objects.visible_to(request.user).filter(operation="import_dataset")


# --- the preview -------------------------------------------------------------------------------


def preview(request: HttpRequest, job_pk: int) -> HttpResponse:
    require_permissions(request, "import_dataset")
    job = get_object_or_404(_visible_imports(request), pk=job_pk)
    kept = stored_upload(job)
    if job.state != JobRun.State.PREPARED or kept is None:
        return redirect("admin:datasets_app_jobrun_change", job.pk)
    options = read_parameters(job, ImportParameters)
    initial = {**options.as_json(), "dataset_name": job.dataset_name}
    form = ImportOptionsForm(request.POST or None, initial=initial, user=request.user)
    form.fields["dataset_name"].required = True
    if request.method == "POST" and form.is_valid():
        return _update_job(job, form.cleaned_data, "import" in request.POST)
    with kept.file.open("rb") as file:
        seen = preview_import(
            file,
            name=kept.name,
            format=options.format or "auto",
            renumber=options.renumber,
        )
    raw_access.record_upload_access(
        job, request.user, origin=options.origin, place="import preview", turns=len(seen.turns[:10])
    )
    context = {
        "job": job,
        "file": kept,
        "form": form,
        "preview": seen,
        "format": FORMAT_LABELS.get(seen.format, seen.format),
        "sessions": _group_by_session(seen.turns[:10]),
        "problems": [] if seen.annotation_file else seen.problems[:20],
        "dataset": Dataset.objects.filter(name=job.dataset_name).first(),
        "previous_import": SourceFile.objects.filter(
            dataset__name=job.dataset_name, sha256=kept.sha256
        ).first(),
        "queue_is_up": queue.is_reachable(),
        "personas": _persona_ids(),
    }
    crumbs = dataset_breadcrumbs(None, (f"Import {kept.name}", None))
    return render_page(request, "datasets_app/import_preview.html", crumbs, context)


def _group_by_session(turns: list[Any]) -> list[tuple[str, list[Any]]]:
    return [(session_id, list(group)) for session_id, group in groupby(turns, lambda turn: turn.session_id)]


def _update_job(job: JobRun, options: dict[str, Any], start: bool) -> HttpResponse:
    """Keep what was changed on the preview; then start, or look again."""
    with transaction.atomic():
        changed = JobRun.objects.filter(pk=job.pk, state=JobRun.State.PREPARED).update(
            dataset_name=options["dataset_name"], parameters=_job_parameters(options).as_json()
        )
        if changed and start:
            runs.enqueue_job(job)
    page = "jobrun_change" if start else "dataset_import_preview"
    return redirect(f"admin:datasets_app_{page}", job.pk)


@require_POST
def reopen(request: HttpRequest, job_pk: int) -> HttpResponse:
    """An import that failed goes back to its preview, so that its file need not be sent again."""
    require_permissions(request, "import_dataset")
    job = get_object_or_404(_visible_imports(request), pk=job_pk)
    if stored_upload(job) is not None:
        runs.reset_for_retry(job, actor=request.user)
    return redirect("admin:datasets_app_dataset_import_preview", job.pk)


def stored_upload(job: JobRun) -> JobFile | None:
    """The file that came with an import, unless it has been deleted since."""
    if job.operation != "import_dataset":
        return None
    return job.files.filter(kind=JobFile.Kind.UPLOAD).exclude(file="").first()


@require_POST
def discard(request: HttpRequest, job_pk: int) -> HttpResponse:
    """Delete an upload that was never imported, and its job with it."""
    require_permissions(request, "import_dataset")
    with transaction.atomic():
        prepared = _visible_imports(request).select_for_update().filter(state=JobRun.State.PREPARED)
        job = get_object_or_404(prepared, pk=job_pk)
        for kept in job.files.exclude(file=""):
            kept.file.delete(save=False)
        job.delete()
    return redirect("admin:datasets_app_dataset_import")
