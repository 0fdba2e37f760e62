"""Import and export of the admin's tables, on top of django-import-export.

Adds permissions, formats, size limits and audit entries; a file with one invalid row changes nothing.
"""

import re
from typing import Any
from uuid import uuid4

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.admin.options import IncorrectLookupParameters
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from import_export.admin import ImportExportMixin
from import_export.resources import ModelResource
from import_export.results import Result, RowResult
from import_export.tmp_storages import MediaStorage
from unfold.contrib.import_export.forms import ExportForm, ImportForm

from datasets_app.core import audit
from datasets_app.core.web.uploads import accepts_files
from datasets_app.domain.wording import format_count
from datasets_app.tables.formats import FORMATS
from datasets_app.tables.uploads import UPLOADS_FOLDER, delete_oldest_uploads, delete_stale_uploads
from datasets_app.tables.workbooks import MAX_BYTES, MAX_ROWS, TableFileError

MAX_ROWS_PREVIEWED = 200
MAX_ERRORS_SHOWN = 100


class UploadStorage(MediaStorage):  # type: ignore[misc]
    """Keeps a file between preview and confirmation in the shared storage, for any web server.

    Its name can't be guessed, and only the person who uploaded it can confirm it. Unconfirmed files are
    deleted after a day, or when the same person has uploaded MAX_PENDING_UPLOADS others.
    """

    def save(self, data: bytes) -> None:
        delete_stale_uploads()
        owner = _current_owner()
        delete_oldest_uploads(owner, keep=settings.MAX_PENDING_UPLOADS - 1)
        self.name = f"{owner}{uuid4().hex}"
        super().save(data)

    def get_full_path(self) -> str:
        if not re.fullmatch(_current_owner() + r"[0-9a-f]{32}", self.name or ""):
            raise FileNotFoundError
        return f"{UPLOADS_FOLDER}/{self.name}"


def _current_owner() -> str:
    """What the names of this person's uploads begin with. The library doesn't tell who uploads."""
    return f"{audit.current_user().pk}-"


class TableImportForm(ImportForm):  # type: ignore[misc]
    def clean_import_file(self) -> Any:
        file = self.cleaned_data["import_file"]
        if file.size > MAX_BYTES:
            raise forms.ValidationError(
                f"The file is larger than {MAX_BYTES >> 20} MB; use the management command instead."
            )
        return file


class TableResult(Result):  # type: ignore[misc]
    """Counts every row, but keeps only the first ones for the page."""

    def __init__(self) -> None:
        super().__init__()
        self.invalid_total = 0

    def valid_rows(self) -> list[RowResult]:
        rows: list[RowResult] = super().valid_rows()[:MAX_ROWS_PREVIEWED]
        return rows

    def append_invalid_row(self, number: int, row: Any, validation_error: Any) -> None:
        self.invalid_total += 1
        if self.invalid_total <= MAX_ERRORS_SHOWN:
            super().append_invalid_row(number, row, validation_error)

    def is_clean(self) -> bool:
        return not (self.has_errors() or self.has_validation_errors())

    def summary(self) -> str:
        totals = self.totals
        counted = [
            f"{totals[kind]:,} {word}"
            for kind, word in (
                (RowResult.IMPORT_TYPE_NEW, "new"),
                (RowResult.IMPORT_TYPE_UPDATE, "changed"),
                (RowResult.IMPORT_TYPE_DELETE, "deleted"),
                (RowResult.IMPORT_TYPE_SKIP, "unchanged"),
                (RowResult.IMPORT_TYPE_INVALID, "invalid"),
            )
            if totals[kind]
        ]
        return ", ".join(counted) or "nothing to do"


class TableResource(ModelResource):  # type: ignore[misc]
    """Exported values keep their types; an import saves all rows or none."""

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.user = options.get("user")

    def get_result_class(self) -> type[TableResult]:
        return TableResult

    def export_field(self, field: Any, instance: Any, **_: Any) -> Any:
        return field.get_value(instance)

    def import_data(self, dataset: Any, **options: Any) -> TableResult:
        options |= {"use_transactions": True, "rollback_on_validation_errors": True}
        result: TableResult = super().import_data(dataset, **options)
        return result

    def before_import(self, dataset: Any, **_: Any) -> None:
        known = [field.column_name for field in self.get_import_fields()]
        unknown = [header for header in dataset.headers or [] if header not in known]
        if unknown:
            raise TableFileError(f"Unknown column {unknown[0]!r}. Known columns: {', '.join(known)}.")

    def after_import(self, dataset: Any, result: TableResult, **options: Any) -> None:
        """Sequences stay as they are: no row brings its primary key, and only their owner may set them."""
        if not options.get("dry_run") and result.is_clean():
            self.record_import(result)

    def record_import(self, result: TableResult) -> None:
        counts = {kind: count for kind, count in result.totals.items() if count}
        audit.record("import_table", actor=self.user, table=self._meta.model._meta.label_lower, **counts)


class TableAdminMixin(ImportExportMixin):  # type: ignore[misc]
    """Put before ModelAdmin: adds Import and Export to its list."""

    formats = FORMATS
    import_form_class = TableImportForm
    export_form_class = ExportForm
    tmp_storage_class = UploadStorage
    skip_admin_log = True
    model: Any
    opts: Any

    # --- permissions ---

    def has_import_permission(self, request: HttpRequest) -> bool:
        return self._has_table_permission(request, "import", "add", "change")

    def has_export_permission(self, request: HttpRequest) -> bool:
        return self._has_table_permission(request, "export", "change")

    def _has_table_permission(self, request: HttpRequest, verb: str, *otherwise: str) -> bool:
        """The model's own permission for the verb if it has one, else all of the others."""
        own = f"{verb}_{self.opts.model_name}"
        needed = (
            [own]
            if own in dict(self.opts.permissions)
            else [f"{other}_{self.opts.model_name}" for other in otherwise]
        )
        return all(request.user.has_perm(f"{self.opts.app_label}.{codename}") for codename in needed)

    # --- import ---

    def get_resource_kwargs(self, request: HttpRequest, *_: Any, **__: Any) -> dict[str, Any]:
        return {"user": request.user}

    def add_data_read_fail_error_to_form(self, form: Any, e: Exception) -> None:
        if isinstance(e, TableFileError):
            form.add_error("import_file", str(e))
        else:
            super().add_data_read_fail_error_to_form(form, e)

    @accepts_files(lambda user: MAX_BYTES if user.is_staff else 0)
    def import_action(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        response = super().import_action(request, **kwargs)
        context = getattr(response, "context_data", None) or {}
        if "confirm_form" not in context:
            self._delete_upload(context.get("form"))
        if result := context.get("result"):
            self._show_totals(request, result)
        return response

    def create_confirm_form(self, request: HttpRequest, import_form: Any = None) -> Any:
        """Refuses numbers beyond the lists of formats and resources."""
        form = super().create_confirm_form(request, import_form)
        for name, offered in (
            ("format", self.get_import_formats()),
            ("resource", self.get_import_resource_classes(request)),
        ):
            choices = [(str(number), number) for number in range(len(offered))]
            form.fields[name] = forms.ChoiceField(
                choices=choices, required=form.fields[name].required, widget=forms.HiddenInput
            )
        return form

    def process_import(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        try:
            return super().process_import(request, **kwargs)
        except FileNotFoundError:  # imported or deleted since the preview
            messages.error(request, "The uploaded file was deleted; upload it again.")
        except TableFileError as refusal:
            messages.error(request, str(refusal))
        return redirect(request.path.replace("process_import", "import"))

    def process_result(self, result: TableResult, request: HttpRequest) -> HttpResponse:
        if not result.is_clean():
            messages.error(
                request, "Nothing was imported: the data has changed since the preview. Upload it again."
            )
            return redirect(request.path.replace("process_import", "import"))
        return super().process_result(result, request)

    def add_success_message(self, result: TableResult, request: HttpRequest) -> None:
        messages.success(request, f"Imported: {result.summary()}.")

    def _show_totals(self, request: HttpRequest, result: TableResult) -> None:
        text = f"{format_count(result.total_rows, 'row')}: {result.summary()}."
        if result.invalid_total > MAX_ERRORS_SHOWN:
            text += f" The first {MAX_ERRORS_SHOWN} invalid ones are shown."
        elif result.total_rows > MAX_ROWS_PREVIEWED and result.is_clean():
            text += f" The first {MAX_ROWS_PREVIEWED} are shown."
        messages.info(request, text) if result.is_clean() else messages.error(
            request, f"Nothing was imported. {text}"
        )

    def _delete_upload(self, form: Any) -> None:
        upload = getattr(form, "cleaned_data", {}).get("import_file")
        if name := getattr(upload, "tmp_storage_name", None):
            UploadStorage(name=name).remove()

    # --- export ---

    def export_action(self, request: HttpRequest) -> HttpResponse:
        try:
            response: HttpResponse = super().export_action(request)
        except IncorrectLookupParameters:
            # The list itself falls back to all rows as well.
            return redirect(request.path)
        return response

    def get_export_data(self, file_format: Any, request: HttpRequest, queryset: Any, **kwargs: Any) -> bytes:
        if queryset[MAX_ROWS : MAX_ROWS + 1].exists():
            raise TableFileError(
                f"More than {MAX_ROWS:,} rows: filter the list first, or use the management command."
            )
        with transaction.atomic():
            table = self.get_data_for_export(request, queryset, **kwargs)
            written: bytes = file_format.export_data(table)
            audit.record(
                "export_table",
                actor=request.user,
                table=self.opts.label_lower,
                rows=len(table),
                format=file_format.get_title(),
            )
        return written


def cell_text(value: Any) -> str:
    """A cell as text, also where a spreadsheet made it a number."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, (str, int, float)) and not isinstance(value, bool):
        return validate_text(str(value))
    raise ValueError("expected text")


def validate_text(text: str) -> str:
    if "\0" in text:
        raise ValidationError("The text has a NUL character, which can't be stored; remove it.")
    return text
