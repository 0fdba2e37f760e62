"""Labels: the list, corrections by a lead, and labels as files."""

from typing import Any

from django import forms
from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property
from import_export.forms import ConfirmImportForm
from unfold.admin import ModelAdmin
from unfold.decorators import display
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from annotations_app.admin.annotation_resource import FORMATS, AnnotationResource
from annotations_app.models import Annotation
from datasets_app import audit
from datasets_app.admin.table_import_export import TableAdminMixin, TableImportForm
from datasets_app.models import Dataset

# Counting millions of rows takes longer than reading a page: further pages are reached by filters.
ROWS_COUNTED = 10_000
LABEL_COLOURS = {"1": "success", "0": "danger"}


class BoundedPaginator(Paginator):
    """Counts no further than anybody turns pages."""

    @cached_property
    def count(self) -> int:
        return int(self.object_list.order_by()[:ROWS_COUNTED].count())


class AnnotationImportForm(TableImportForm):
    dataset = forms.ModelChoiceField(
        Dataset.objects.none(),
        required=False,
        widget=UnfoldAdminSelectWidget,
        help_text="For rows without a column named dataset.",
    )
    persona = forms.CharField(
        required=False,
        max_length=500,
        widget=UnfoldAdminTextInputWidget,
        help_text="For rows without a persona_id; rows that name another are refused.",
    )
    field_order = ["resource", "dataset", "persona", "import_file", "format"]


class AnnotationConfirmForm(ConfirmImportForm):  # type: ignore[misc]
    dataset = forms.ModelChoiceField(Dataset.objects.none(), required=False, widget=forms.HiddenInput)
    persona = forms.CharField(required=False, max_length=500, widget=forms.HiddenInput)


@admin.register(Annotation)
class AnnotationAdmin(TableAdminMixin, ModelAdmin):  # type: ignore[misc]
    resource_classes = [AnnotationResource]
    formats = FORMATS
    import_form_class = AnnotationImportForm
    confirm_form_class = AnnotationConfirmForm
    list_display = [
        "show_label",
        "persona_id",
        "annotator",
        "dataset",
        "session_id",
        "turn_index",
        "timestamp",
    ]
    list_display_links = ["show_label"]
    list_filter = ["label", "dataset"]
    list_select_related = ["dataset", "turn__session"]
    list_per_page = 50
    show_full_result_count = False
    paginator = BoundedPaginator
    ordering = ["-id"]
    sortable_by = ()
    raw_id_fields = ["turn"]
    actions = None
    warn_unsaved_form = True

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        visible = Dataset.objects.visible_to(request.user)
        return super().get_queryset(request).filter(dataset__in=visible)

    # --- list ---

    @display(description="Label", label=LABEL_COLOURS)
    def show_label(self, annotation: Annotation) -> tuple[str, str]:
        return str(annotation.label), annotation.get_label_display()

    @display(description="Session")
    def session_id(self, annotation: Annotation) -> str:
        return str(annotation.turn.session.session_id)

    @display(description="Turn")
    def turn_index(self, annotation: Annotation) -> int:
        return int(annotation.turn.turn_index)

    # --- the form: what was labelled stays, what was said of it can be put right ---

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        judged = (
            ["turn", "persona_id"] if obj is None else ["dataset", "session_id", "turn_index", "show_text"]
        )
        own = ["label", "annotator", "notes", "confidence"]
        return [*judged, *own] if obj is None else [*judged, "persona_id", *own, "timestamp", "extra"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        if obj is None:
            return []
        return ["dataset", "session_id", "turn_index", "show_text", "persona_id", "timestamp", "extra"]

    @display(description="Text")
    def show_text(self, annotation: Annotation) -> str:
        return str(annotation.turn.text)

    def save_model(self, request: HttpRequest, obj: Annotation, form: Any, change: bool) -> None:
        if not change:
            obj.dataset_id = obj.turn.session.dataset_id
        super().save_model(request, obj, form, change)
        audit.record(
            "edit_annotation" if change else "add_annotation",
            actor=request.user,
            dataset_name=obj.dataset.name,
            annotation=obj.pk,
            fields=form.changed_data,
        )

    def delete_model(self, request: HttpRequest, obj: Annotation) -> None:
        audit.record(
            "delete_annotation", actor=request.user, dataset_name=obj.dataset.name, annotation=obj.pk
        )
        super().delete_model(request, obj)

    # --- files ---

    def create_import_form(self, request: HttpRequest) -> Any:
        form = super().create_import_form(request)
        form.fields["dataset"].queryset = Dataset.objects.visible_to(request.user)
        return form

    def create_confirm_form(self, request: HttpRequest, import_form: Any = None) -> Any:
        form = super().create_confirm_form(request, import_form)
        form.fields["dataset"].queryset = Dataset.objects.visible_to(request.user)
        return form

    def get_confirm_form_initial(self, request: HttpRequest, import_form: Any) -> dict[str, Any]:
        initial: dict[str, Any] = super().get_confirm_form_initial(request, import_form)
        if import_form is not None:
            chosen = import_form.cleaned_data
            initial |= {"dataset": chosen["dataset"], "persona": chosen["persona"]}
        return initial

    def get_import_resource_kwargs(self, request: HttpRequest, **options: Any) -> dict[str, Any]:
        form = options.get("form")
        chosen = getattr(form, "cleaned_data", {})
        return {"user": request.user, "dataset": chosen.get("dataset"), "persona": chosen.get("persona")}

    def get_export_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_export_queryset(request)
        return rows.select_related("dataset", "turn__session").order_by(
            "dataset__name", "turn__session_id", "turn__turn_index", "id"
        )
