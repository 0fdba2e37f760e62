"""Labels: the list, corrections by a lead, and labels as files."""

from datetime import datetime
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import mark_safe
from unfold.decorators import display

from annotations_app.admin.annotation_forms import (
    AnnotationConfirmForm,
    AnnotationImportForm,
    LabelForm,
    TurnWidget,
)
from annotations_app.admin.annotation_resource import FORMATS, AnnotationResource
from annotations_app.admin.label_filters import (
    MAX_TEXT_CHARACTERS,
    AnnotatorFilter,
    BoundedPaginator,
    PersonaFilter,
    find_turns_of_session,
    load_turns,
)
from annotations_app.labels.export_annotations import count_personal_data
from annotations_app.labels.history_pages import has_history, label_history
from annotations_app.models import Annotation
from datasets_app.catalog import gates, policies, raw_access, text_gates
from datasets_app.catalog.rows.partitions import find_visible
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.core.web.model_admin import ModelAdmin, VisibleRelatedFilter
from datasets_app.core.web.pages import parse_pk
from datasets_app.models import Dataset, Persona, Turn
from datasets_app.tables.admin import TableAdminMixin
from datasets_app.tables.formats import TableFileError
from datasets_app.templatetags.values import ago, session_name

# What a label is about; never edited.
JUDGED_FIELDS = ["dataset", "session_id", "turn_index", "show_text", "persona_id"]
LABEL_COLORS = {"1": "success", "0": "danger"}


def _withhold_labels(labels: list[Any]) -> None:
    """Keep the decision and the annotator, in memory only: don't save these labels."""
    known = set(Persona.objects.values_list("persona_id", flat=True)) if labels else set()
    for label in labels:
        raw_access.withhold_turn(label.turn)
        raw_access.withhold_session(label.turn.session)
        label.persona_id = label.persona_id if label.persona_id in known else raw_access.WITHHELD
        label.notes, label.extra, label.timestamp = None, None, None


def _is_kept(request: HttpRequest, label: Any) -> bool:
    """Nobody writes over a label with a history or on legal hold, nor over one that they may not read."""
    return label is not None and (
        has_history(label) or label.dataset.legal_hold or not raw_access.may_read(request.user, label.dataset)
    )


@admin.register(Annotation)
class AnnotationAdmin(TableAdminMixin, ModelAdmin):  # type: ignore[misc]
    form = LabelForm
    resource_classes = [AnnotationResource]
    formats = FORMATS
    import_form_class = AnnotationImportForm
    confirm_form_class = AnnotationConfirmForm
    list_display = [
        "show_label",
        "show_reply",
        "show_persona",
        "show_annotator",
        "show_dataset",
        "show_timestamp",
    ]
    list_display_links = ["show_label"]
    list_filter = [
        "label",
        "kind",
        ("dataset", VisibleRelatedFilter),
        ("campaign", VisibleRelatedFilter),
        PersonaFilter,
        AnnotatorFilter,
    ]
    list_select_related = ["dataset", "campaign__persona"]
    change_form_outer_before_template = "annotations_app/label_hint.html"
    change_form_outer_after_template = "annotations_app/label_history.html"
    # Shows the field; get_search_results says what is looked up.
    search_fields = ["annotator"]
    search_help_text = "A whole session id, or an annotator's name"
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

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """Of a turn the list needs the place and the start of the text: the rest stays where it is."""
        changelist = super().get_changelist_instance(request)
        rows = list(changelist.result_list)
        load_turns(rows)
        datasets = Dataset.objects.in_bulk({row.dataset_id for row in rows})
        withheld = raw_access.find_withheld(request.user, datasets.values())
        _withhold_labels([row for row in rows if row.dataset_id in withheld])
        shown = [datasets[row.dataset_id] for row in rows if row.dataset_id not in withheld]
        raw_access.record_turn_access(shown, request.user, place="annotations")
        changelist.result_list = rows
        return changelist

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Whole values only: each is looked up, where parts of them would read every row."""
        if not (wanted := search_term.strip()):
            return queryset, False
        turns = find_turns_of_session(raw_access.list_readable(request.user), wanted)
        return queryset.filter(Q(turn__in=turns) | Q(annotator=wanted)), False

    # --- list ---

    @display(description="Label", label=LABEL_COLORS)
    def show_label(self, annotation: Annotation) -> tuple[str, str]:
        return str(annotation.label), annotation.get_label_display()

    @display(description="Reply")
    def show_reply(self, annotation: Any) -> str:
        """The beginning of its text, and where it is."""
        turn = annotation.turn
        shown = raw_access.WITHHELD
        if not getattr(turn, "is_withheld", False):
            start = " ".join(turn.start.split())
            is_whole = len(start) <= MAX_TEXT_CHARACTERS
            shown = start if is_whole else start[:MAX_TEXT_CHARACTERS].rstrip() + "…"
        address = reverse("admin:datasets_app_session_change", args=[turn.session_id])
        return format_html(
            '<div><span dir="auto" class="ad-break">{3}</span><br>'
            '<a href="{0}?turn={1}#turn-{1}" dir="auto" class="ad-link">{2}, turn {1}</a></div>',
            address,
            turn.turn_index,
            session_name(turn.session.session_id),
            shown,
        )

    @display(description="Persona")
    def show_persona(self, annotation: Annotation) -> str:
        if not annotation.is_stale:
            return str(annotation.persona_id)
        return format_html(
            '{} <span class="ad-badge ad-warn" title="Made before the persona was changed">stale</span>',
            annotation.persona_id,
        )

    @display(description="Annotator")
    def show_annotator(self, annotation: Annotation) -> str:
        """With the time it took, and what it is if it is not just a label."""
        lines = [annotation.annotator or "–", self.show_seconds(annotation)]
        if annotation.kind != Annotation.Kind.LABEL:
            lines.append(
                format_html('<span class="ad-badge ad-neutral">{}</span>', annotation.get_kind_display())
            )
        return format_html_join(mark_safe("<br>"), "{}", ((line,) for line in lines if line))  # a constant # nosec B308

    @display(description="Dataset")
    def show_dataset(self, annotation: Annotation) -> str:
        """With the campaign it was made in, if it was."""
        if annotation.campaign is None:
            return str(annotation.dataset.name)
        return format_html("{}<br>in {}", annotation.dataset.name, annotation.campaign.name)

    @display(description="Campaign", empty_value="–")
    def show_campaign(self, annotation: Annotation) -> str | None:
        return annotation.campaign.name if annotation.campaign else None

    @display(description="Time", empty_value="–")
    def show_seconds(self, annotation: Annotation) -> str | None:
        return None if annotation.seconds is None else f"{annotation.seconds:.1f} s"

    @display(description="Labeled")
    def show_timestamp(self, annotation: Annotation) -> str:
        """How long ago; as the file has it if that names no time zone, or isn't a time."""
        given = annotation.timestamp or ""
        try:
            at = datetime.fromisoformat(given)
        except ValueError:
            return given or "–"
        return ago(at) if at.tzinfo else f"{at:%-d %b %Y %H:%M}"

    @display(description="Session")
    def session_id(self, annotation: Annotation) -> str:
        return str(annotation.turn.session.session_id)

    @display(description="Turn")
    def turn_index(self, annotation: Annotation) -> int:
        return int(annotation.turn.turn_index)

    # --- the form: labels stay, notes about them can be corrected ---

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """What was pressed in a campaign, or settled, has a history: nobody writes over it here."""
        return not _is_kept(request, obj) and bool(super().has_change_permission(request, obj))

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return not _is_kept(request, obj) and bool(super().has_delete_permission(request, obj))

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        extra = label_history(request, object_id)
        page = super().change_view(request, object_id, form_url, {**(extra_context or {}), **extra})
        self._record_access(request, object_id, page, turns=1)
        return page

    def delete_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        """Asks first, by the name of the label's persona, which is from a file."""
        page: HttpResponse = super().delete_view(request, object_id, extra_context)
        self._record_access(request, object_id, page)
        return page

    def _record_access(self, request: HttpRequest, object_id: str, page: Any, **counts: int) -> None:
        label = self.get_object(request, unquote(object_id)) if page.status_code == 200 else None
        if label and raw_access.may_read(request.user, label.dataset):
            raw_access.record_access(
                label.dataset, request.user, place="annotation", annotation=label.pk, **counts
            )

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        """Redirect: the label's page has its decisions. Django's page would only name its persona."""
        return redirect("admin:annotations_app_annotation_change", object_id)

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        label = super().get_object(request, object_id, from_field)
        if label and not raw_access.may_read(request.user, label.dataset):
            _withhold_labels([label])
        return label

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> None:
        """The audit log records it. Django's own log would keep the label's persona in a second place."""

    log_change = log_addition

    def log_deletions(self, request: HttpRequest, queryset: Any) -> None:
        """The same for deletions."""

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        own = ["label", "annotator", "notes", "confidence"]
        if obj is None:
            return ["turn", "persona_id", *own]
        if not raw_access.may_read(request.user, obj.dataset):
            return ["dataset", "session_id", "turn_index", "label", "annotator", "kind", "show_campaign"]
        made = ["kind", "show_campaign", "show_seconds"] if has_history(obj) else []
        return [*JUDGED_FIELDS, *own, *made, "timestamp", "extra"]

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **more: Any) -> Any:
        if db_field.name == "turn":
            more["queryset"] = find_visible(Turn, parse_pk(request.POST.get("turn", "")), request.user)
            more["widget"] = TurnWidget(db_field.remote_field, self.admin_site)
        return super().formfield_for_foreignkey(db_field, request, **more)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        if obj is None:
            return []
        return [*JUDGED_FIELDS, "kind", "show_campaign", "show_seconds", "timestamp", "extra"]

    @display(description="Text")
    def show_text(self, annotation: Annotation) -> str:
        return str(annotation.turn.text)

    def save_model(self, request: HttpRequest, obj: Annotation, form: Any, change: bool) -> None:
        if not change:
            obj.dataset_id = obj.turn.dataset_id
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

    def _show_totals(self, request: HttpRequest, result: Any) -> None:
        super()._show_totals(request, result)
        if result.is_clean() and result.matches:
            tell = messages.warning if result.adds_sessions else messages.info
            tell(request, result.describe_matches("will be made"))
        self._warn(request, result)

    def add_success_message(self, result: Any, request: HttpRequest) -> None:
        super().add_success_message(result, request)
        if result.adds_sessions:
            messages.warning(request, result.describe_matches("were made"))
        self._warn(request, result)

    def _warn(self, request: HttpRequest, result: Any) -> None:
        for warning in result.warnings:
            messages.warning(request, warning)

    def get_export_data(self, file_format: Any, request: HttpRequest, queryset: Any, **kwargs: Any) -> bytes:
        """The table has the texts of the turns: those of every dataset in it must be allowed to leave."""
        datasets = list(Dataset.objects.filter(pk__in=queryset.order_by().values("dataset")))
        for dataset in datasets:
            try:
                text_gates.check_gate(policies.EXPORT, dataset, actor=request.user)
                found = count_personal_data(dataset, queryset.filter(dataset=dataset))
                gates.check_label_export(dataset, found, actor=request.user)
            except UserError as refusal:
                raise TableFileError(refusal.message) from None
        with transaction.atomic():
            written: bytes = super().get_export_data(file_format, request, queryset, **kwargs)
            for dataset in datasets:
                audit.record(
                    "export", actor=request.user, dataset_name=dataset.name, table=self.opts.label_lower
                )
        return written

    def get_export_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Without the labels of the test split: they would go from a table into a calibration as from a file.
        Who may have them has them from the campaign's page or the command, for a reason."""
        every: QuerySet[Any] = super().get_export_queryset(request)
        labeled = list(every.order_by().values_list("dataset", flat=True).distinct())
        every = every.filter(turn__dataset__in=labeled, turn__session__dataset__in=labeled)
        rows = every.exclude(turn__session__split=policies.LOCKED_SPLIT)
        if request.method == "POST" and (locked := every.count() - rows.count()):
            whose = "1 label is" if locked == 1 else f"{locked:,} labels are"
            messages.warning(request, f"{whose} of the locked test split: not in the table.")
        return rows.select_related("dataset", "turn__session").order_by(
            "dataset__name", "turn__session_id", "turn__turn_index", "id"
        )
