"""Uploads in parts, and the imports they become."""

from typing import Any

from django.http import HttpResponse, UnreadablePostError
from ninja import Header, Router

from datasets_app.api.jobs import describe_job, job_route
from datasets_app.api.problems import ApiError, check_form, not_found
from datasets_app.api.routing import require_permissions, route
from datasets_app.api.schemas import FinishIn, ImportIn, ImportOut, ImportPreviewOut
from datasets_app.catalog import gates, raw_access
from datasets_app.core.errors import UserError
from datasets_app.core.web.pages import parse_pk
from datasets_app.domain.conversations.lines import UnreadableFile
from datasets_app.domain.traces.convert import check_columns, read_convert_options
from datasets_app.domain.traces.table_columns import format_columns
from datasets_app.importing import uploads
from datasets_app.importing.forms import ImportOptionsForm
from datasets_app.importing.mappings import save_upload_mapping
from datasets_app.importing.parameters import ImportParameters, read_entered
from datasets_app.importing.preview import preview_upload
from datasets_app.jobs.parameters import read_parameters
from datasets_app.jobs.permissions import can_read_upload
from datasets_app.models import Dataset, JobFile, JobRun
from datasets_app.models.dataset_queryset import get_token_datasets

router = Router(tags=["Imports"])

IMPORT = ("datasets_app.import_dataset",)
READ_RAW = "datasets_app.read_raw"
MAX_PART_BYTES = 64 << 20
OFFSET: Any = Header(..., alias="Upload-Offset", ge=0, lt=1 << 62)


@route(router, "POST", "/imports", ImportOut, needs=IMPORT, status=201, errors=(409,))
def create_import(request: Any, options: ImportIn) -> Any:
    """Begin an upload. It is imported once it is finished."""
    parameters = _read_options(request, options)
    job = uploads.create_upload(
        options.dataset, file_name=options.file_name, parameters=parameters, actor=request.person
    )
    return _describe(request, job)


def _read_options(request: Any, options: ImportIn) -> ImportParameters:
    """Checked like those of the import page."""
    user, name = request.person, options.dataset
    form = ImportOptionsForm({**options.dict(), "dataset_name": name}, user=user)
    form.fields["origin"].required = False  # what nothing states is assumed, and said
    check_form(form)
    dataset = Dataset.objects.filter(name=name).first()
    if dataset is not None:
        gates.check_import_origin(dataset, options.origin)
    elif get_token_datasets(user) is not None:
        raise ApiError(403, "outside_token", "This token is limited to datasets that exist.")
    return read_entered({**form.cleaned_data, "origin": options.origin}, options.origin, user.get_username())


@route(router, "GET", "/imports/{number}", ImportOut, needs=IMPORT, errors=(409,))
def get_import(request: Any, number: str) -> Any:
    """How much of the upload arrived: where to resume."""
    return _describe(request, _get_upload(request, number))


@route(router, "GET", "/imports/{number}/preview", ImportPreviewOut, needs=(*IMPORT, READ_RAW), errors=(409,))
def preview_import(request: Any, number: str) -> Any:
    """What an import would read of what arrived so far, with its senders, so that they can be mapped."""
    job = _get_upload(request, number)
    options = read_parameters(job, ImportParameters)
    with uploads.open_received(job) as file:
        preview = preview_upload(file, _get_file_name(job), options)
    origins = {options.origin, options.prepared_origin}
    raw_access.record_upload_access(job, request.person, origins=origins, turns=0)
    return {
        "format": preview.format,
        "summary": preview.summary,
        "columns": format_columns(preview.columns or options.reading.mapping),
        "table_columns": preview.table_columns,
        "senders": [
            {"sender": sender, "read_as": role, "messages": count} for sender, role, count in preview.speakers
        ],
        "more_senders": preview.more_speakers,
        "left_out": preview.left_out,
        "warnings": preview.warnings,
        "refusal": preview.error or preview.why_refused(options.on_error or "abort"),
    }


@route(
    router,
    "PATCH",
    "/imports/{number}/content",
    ImportOut,
    needs=IMPORT,
    errors=(409,),
    takes="application/octet-stream",
)
def append_part(request: Any, number: str, upload_offset: int = OFFSET) -> Any:
    """Append a part, which must begin at the `offset` of the upload. It counts once all of it arrived: send
    it again if the connection breaks off. The answer 409 has the right `offset`."""
    job = _get_upload(request, number)
    size = int(request.META.get("CONTENT_LENGTH") or 0)
    if not size:
        raise ApiError(400, "bad_request", "The part is empty.")
    if size > MAX_PART_BYTES:
        raise ApiError(413, "too_large", f"A part has at most {MAX_PART_BYTES} bytes.")
    try:
        part = uploads.spool(request.read, size)
    except UnreadablePostError:
        raise ApiError(400, "bad_request", "The connection broke off.") from None
    try:
        with part:
            uploads.append_part(job, part, size, offset=upload_offset, actor=request.person)
    except uploads.WrongOffset as wrong:
        raise ApiError(409, "wrong_offset", wrong.message, offset=wrong.offset) from None
    return _describe(request, job)


@job_route(router, "/imports/{number}/finish", needs=IMPORT)
def finish_import(request: Any, number: str, options: FinishIn) -> Any:
    """Start the import of a complete upload. Give the SHA-256 of the file to be sure that it arrived as it
    is, and say what its columns and senders are, if that was not detected."""
    job = _get_upload(request, number)
    if options.columns:
        _check_columns(options.columns)
        uploads.choose_columns(job, options.columns)
        job.refresh_from_db()
    if options.save_mapping:
        with uploads.open_received(job) as file:
            parameters = read_parameters(job, ImportParameters)
            save_upload_mapping(options.save_mapping, file, _get_file_name(job), parameters)
    return describe_job(request, uploads.finish_upload(job, sha256=options.sha256, actor=request.person))


@route(router, "DELETE", "/imports/{number}", None, needs=IMPORT, status=204, errors=(409,))
def discard_import(request: Any, number: str) -> Any:
    """Delete an upload that was not imported."""
    uploads.discard_upload(_get_upload(request, number), actor=request.person)
    return HttpResponse(status=204)


def _get_upload(request: Any, number: str) -> JobRun:
    """An upload that isn't finished, for who may read it. Raises ApiError."""
    require_permissions(request, *IMPORT)
    imports = JobRun.objects.visible_to(request.person).filter(operation="import_dataset")
    job: JobRun | None = imports.filter(pk=parse_pk(number)).first()
    if job is None or not can_read_upload(job, request.person):
        raise not_found()
    if job.state != JobRun.State.PREPARED:
        raise UserError("This upload was already finished.")
    return job


def _check_columns(columns: str) -> None:
    try:
        check_columns(read_convert_options("", columns).mapping)
    except UnreadableFile as error:
        errors = [{"loc": ["columns"], "msg": f"{str(error).capitalize()}."}]
        raise ApiError(422, "invalid", "The options are not valid.", errors=errors) from None


def _get_file_name(job: JobRun) -> str:
    return job.files.get(kind=JobFile.Kind.UPLOAD).name


def _describe(request: Any, job: JobRun) -> dict[str, Any]:
    upload = job.files.filter(kind=JobFile.Kind.UPLOAD).first()
    received = uploads.count_received(job)
    return {
        "id": job.pk,
        "dataset": job.dataset_name,
        "file_name": upload.name if upload and gates.can_read_raw(request.person) else None,
        "offset": received or (upload.size if upload else 0),
        "max_part_bytes": MAX_PART_BYTES,
    }
