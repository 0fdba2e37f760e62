"""Sources of production conversations."""

from typing import Any

from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet, Sum
from django.http import HttpRequest
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.utils.html import format_html

from datasets_app.core import audit
from datasets_app.core.web.model_admin import ModelAdmin, Pages
from datasets_app.domain.wording import format_count
from datasets_app.models import Dataset, JobRun, Source
from datasets_app.sources import pages
from datasets_app.sources.forms import NEEDS_PROJECT, TAKES_TOKEN, SourceForm
from datasets_app.templatetags.values import ago

# Fields of some kinds only.
_FIELD_KINDS = {
    "location": set(Source.Kind) - {Source.Kind.OTLP},
    "project": set(NEEDS_PROJECT),
    "token": set(TAKES_TOKEN),
}


def _shown_for(kinds: set[Source.Kind]) -> str:
    """An expression for the script of the form in which the kind is chosen; later it is not in the form."""
    return " || ".join(["typeof kind == 'undefined'", *(f"kind == '{kind}'" for kind in sorted(kinds))])


@admin.register(Source)
class SourceAdmin(ModelAdmin):
    form = SourceForm
    list_display = ["name", "kind", "dataset_name", "active", "show_last_pull", "show_waiting"]
    list_filter = ["kind", "active"]
    change_form_outer_before_template = "datasets_app/source_before.html"
    conditional_fields = {name: _shown_for(kinds) for name, kinds in _FIELD_KINDS.items()}
    fieldsets = [
        (None, {"fields": ["name", "kind", "location", "project", "token", "dataset_name", "active"]}),
        (
            "What is kept",
            {
                "fields": [
                    "rate",
                    "only_models",
                    "only_tags",
                    "max_conversations",
                    "skip_near_duplicates",
                    "quiet_minutes",
                    "scrub",
                ]
            },
        ),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).visible_to(request.user)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **options: Any) -> Any:
        form = super().get_form(request, obj, change, **options)
        return type("SourceForm", (form,), {"user": request.user})

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        fieldsets = super().get_fieldsets(request, obj)
        if obj and obj.kind == Source.Kind.OTLP:
            fieldsets = [*fieldsets, ("Received", {"fields": ["show_waiting", "show_rejected"]})]
        return [
            (title, {**options, "fields": [name for name in options["fields"] if _is_field_of(obj, name)]})
            for title, options in fieldsets
        ]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """What was pulled is remembered by source, and what it delivers depends on its kind."""
        return ["name", "kind", "show_waiting", "show_rejected"] if obj else []

    def get_pages(self) -> Pages:
        return [
            ("<int:pk>/pull/", pages.pull_now, "pull"),
            ("<int:pk>/token/", pages.make_source_token, "token"),
            ("<int:pk>/revoke/", pages.revoke_source_token, "revoke"),
        ]

    def save_model(self, request: HttpRequest, obj: Source, form: Any, change: bool) -> None:
        if not change:
            obj.created_by = request.user
        with transaction.atomic():
            super().save_model(request, obj, form, change)
            self._record_event(request, obj, "edit_source" if change else "add_source", form.changed_data)

    def delete_model(self, request: HttpRequest, obj: Source) -> None:
        with transaction.atomic():
            self._record_event(request, obj, "delete_source", [])
            super().delete_model(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """What waits for a dataset on legal hold is held, too."""
        held = obj and Dataset.objects.filter(name=obj.dataset_name, legal_hold=True).exists()
        return not held and super().has_delete_permission(request, obj)

    def _record_event(self, request: HttpRequest, source: Source, action: str, changed: list[str]) -> None:
        details = {"fields": sorted(changed)} if changed else {}
        audit.record(
            action,
            actor=request.user,
            dataset_name=source.dataset_name,
            source=source.name,
            kind=source.kind,
            **details,
        )

    @admin.display(description="Last pull")
    def show_last_pull(self, source: Source) -> str:
        """When, and how it ended."""
        jobs = JobRun.objects.filter(operation="pull_source", parameters__source=source.pk)
        job = jobs.order_by("-pk").first()
        if job is None:
            return "–"
        url = reverse("admin:datasets_app_jobrun_change", args=[job.pk])
        ended = job.finished_at or job.created_at
        return format_html(
            '<a class="ad-link" href="{}">{}: {}</a>', url, ago(ended), job.get_state_display().lower()
        )

    @admin.display(description="Waiting")
    def show_waiting(self, source: Source) -> str:
        """Received spans whose conversations are not complete, and requests whose spans are not stored."""
        if source.kind != Source.Kind.OTLP:
            return "–"
        waiting = [_describe_size(source.spans, "span")]
        if source.requests.exists():
            waiting.append(_describe_size(source.requests, "large request"))
        return "; ".join(waiting)

    @admin.display(description="Not stored")
    def show_rejected(self, source: Source) -> str:
        count = source.rejected_spans
        return f"{format_count(count, 'received span')} that can't be read" if count else "–"

    def response_add(self, request: HttpRequest, obj: Source, post_url_continue: Any = None) -> Any:
        if obj.kind == Source.Kind.OTLP:
            messages.info(request, "Create a token on the page of the source to let collectors send traces.")
        return super().response_add(request, obj, post_url_continue)


def _describe_size(rows: Any, name: str) -> str:
    size = rows.aggregate(size=Sum("size", default=0))["size"]
    return f"{format_count(rows.count(), name)}, {filesizeformat(size)}"


def _is_field_of(source: Source | None, name: str) -> bool:
    return source is None or name not in _FIELD_KINDS or source.kind in _FIELD_KINDS[name]
