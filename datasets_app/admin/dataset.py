from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import models
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from unfold.decorators import display

from datasets_app.access import pages as access_pages
from datasets_app.admin import attention, dataset_pages, edit_pages, origin_pages
from datasets_app.admin.dataset_metadata import DatasetMetadataAdmin
from datasets_app.admin.scrub_routes import SCRUB_PAGES
from datasets_app.admin.session_routes import SESSION_PAGES
from datasets_app.catalog.dataset_facts import STATE_LABELS
from datasets_app.catalog.gates import can_read_raw, load_all_facts
from datasets_app.core.web.model_admin import ModelAdmin, Pages
from datasets_app.core.web.refusals import show_refusal
from datasets_app.domain.wording import format_count
from datasets_app.exporting.parameters import ExportParameters
from datasets_app.generating import pages as generate_pages
from datasets_app.importing import pages as import_pages
from datasets_app.jobs import runs
from datasets_app.models import Dataset
from datasets_app.models.check_report import with_last_check
from datasets_app.releasing import comparison_pages, run_pages, step_pages
from datasets_app.releasing import pages as release_pages
from datasets_app.releasing.sharing import export_pages
from datasets_app.releasing.sharing import pages as sharing_pages
from datasets_app.retention import erase_pages, person_pages
from datasets_app.retention import pages as retention_pages
from datasets_app.splitting import pages as split_pages
from datasets_app.templatetags.values import ago

STATE_COLORS = {
    "raw": "warning",
    "clear": "info",
    "attested": "info",
    "scrubbed": "info",
    "released": "success",
    "expired": "",
    "empty": "",
}


class StateFilter(admin.SimpleListFilter):
    """By what is known about the text, which is computed."""

    title, parameter_name = "status", "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        return STATE_LABELS.items()

    def queryset(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> models.QuerySet[Any]:
        if self.value() is None:
            return queryset
        facts = load_all_facts(Dataset.objects.visible_to(request.user))
        return queryset.filter(pk__in=[pk for pk, known in facts.items() if known.state == self.value()])


@admin.register(Dataset)
class DatasetAdmin(ModelAdmin):
    """The list only: everything else has pages of its own."""

    list_display = [
        "name",
        "show_origin",
        "show_status",
        "show_steps",
        "show_sessions",
        "show_checks",
        "show_updated",
    ]
    list_filter = ["origin", StateFilter, "legal_hold"]
    list_per_page = 30
    search_fields = ["name", "source"]
    search_help_text = "Part of a name or source"
    list_after_template = "datasets_app/dataset_list_after.html"
    actions = ["check_selected", "export_selected"]

    def get_queryset(self, request: HttpRequest) -> models.QuerySet[Any]:
        visible = Dataset.objects.visible_to(request.user)
        return with_last_check(visible).order_by("name")

    def get_search_fields(self, request: HttpRequest) -> list[str]:
        """Finding part of a source would tell what it says."""
        return self.search_fields if can_read_raw(request.user) else ["name"]

    # --- permissions: imports add datasets and retention deletes them ---

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_check_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("datasets_app.check_dataset")

    def has_export_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("datasets_app.export_dataset")

    # --- list ---

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        changelist = super().get_changelist_instance(request)
        shown = [dataset.pk for dataset in changelist.result_list]
        facts = load_all_facts(Dataset.objects.filter(pk__in=shown))
        for dataset in changelist.result_list:
            dataset.facts = facts[dataset.pk]
        address = reverse("admin:datasets_app_dataset_step_bars")
        changelist.step_bars_url = f"{address}?{urlencode({'dataset': shown}, doseq=True)}"
        return changelist

    @display(description="Status", ordering="status", label=STATE_COLORS)
    def show_status(self, dataset: Any) -> tuple[str, str]:
        state = dataset.facts.state
        return state, STATE_LABELS[state]

    @display(description="Steps")
    def show_steps(self, dataset: Dataset) -> str:
        """An empty place: the page asks for ``step_bars``."""
        return format_html('<div class="ad-step-bar" id="steps-{}"></div>', dataset.pk)

    @display(description="Sessions", ordering="session_count")
    def show_sessions(self, dataset: Dataset) -> str:
        return format_html(
            '{}<br><span class="ad-subtle ad-nowrap">{}</span>',
            f"{dataset.session_count:,}",
            format_count(dataset.turn_count, "turn"),
        )

    @display(
        description="Checks",
        label={"none": "", "errors": "danger", "warnings": "warning", "clean": "success"},
    )
    def show_checks(self, dataset: Any) -> tuple[str, str]:
        if dataset.last_check is None:
            return "none", "not run"
        if dataset.is_outdated:
            return "none", "out of date"
        if dataset.last_errors:
            return "errors", format_count(dataset.last_errors, "error")
        if dataset.last_warnings:
            return "warnings", format_count(dataset.last_warnings, "warning")
        return "clean", "clean"

    @display(description="Origin, license", ordering="origin")
    def show_origin(self, dataset: Dataset) -> str:
        return format_html(
            '{}<br><span class="ad-subtle ad-nowrap" dir="auto">{}</span>',
            dataset.get_origin_display(),
            dataset.license or "no license",
        )

    @display(description="Updated", ordering="updated_at")
    def show_updated(self, dataset: Dataset) -> str:
        return ago(dataset.updated_at)

    @admin.action(description="Run checks", permissions=["check"])
    def check_selected(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> None:
        self._start_jobs(request, "check_dataset", queryset)

    @admin.action(description="Export as conversation JSONL", permissions=["export"])
    def export_selected(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> None:
        raw = {pk: facts for pk, facts in load_all_facts(queryset).items() if facts.is_known_raw}
        for facts in raw.values():
            messages.warning(
                request,
                f"{facts.name} wasn't exported: it contains {facts.raw_because}. {facts.advice}",
            )
        rest = queryset.exclude(pk__in=raw)
        if rest:
            self._start_jobs(request, "export_dataset", rest, parameters=ExportParameters(format="turns"))

    def _start_jobs(self, request: HttpRequest, operation: str, queryset: Any, **job_options: Any) -> None:
        jobs: set[int] = set()
        with show_refusal(request):
            for row in queryset:
                jobs.add(runs.start_job(operation, actor=request.user, dataset=row, **job_options).pk)
        started = format_count(len(jobs), "job")
        messages.success(request, f"{started} started. The home page and the job list show the progress.")

    # --- URLs ---

    def get_pages(self) -> Pages:
        return [
            ("import/", import_pages.upload, "import"),
            ("import/mappings/remove/", import_pages.remove_mapping, "import_mapping_remove"),
            ("import/<int:job_pk>/", import_pages.preview, "import_preview"),
            ("import/<int:job_pk>/reopen/", import_pages.reopen, "import_reopen"),
            ("import/<int:job_pk>/discard/", import_pages.discard, "import_discard"),
            ("generate/", generate_pages.generate, "generate"),
            ("generate/preview/", generate_pages.preview, "generate_preview"),
            ("attention/", attention.change_state, "attention"),
            ("steps/", dataset_pages.step_bars, "step_bars"),
            ("erase-person/", person_pages.erase_person, "erase_person"),
            ("<int:pk>/change/", dataset_pages.overview, "change"),
            ("<int:pk>/checks/", dataset_pages.checks, "checks"),
            ("<int:pk>/checks/run/", dataset_pages.run_checks, "run_checks"),
            ("<int:pk>/splits/", split_pages.splits, "splits"),
            ("<int:pk>/sharing/", sharing_pages.sharing, "sharing"),
            ("<int:pk>/releases/", release_pages.releases, "releases"),
            ("<int:pk>/releases/verify/", release_pages.verify, "verify_releases"),
            ("<int:pk>/releases/compare/", release_pages.compare, "compare_releases"),
            ("<int:pk>/releases/compare/charts/", comparison_pages.charts, "comparison_charts"),
            ("<int:pk>/releases/<str:version>/", release_pages.release, "release"),
            ("<int:pk>/releases/<str:version>/runs/", run_pages.upload_run, "upload_run"),
            ("<int:pk>/releases/<str:version>/runs/<int:evaluation_pk>/", run_pages.show_run, "run"),
            ("<int:pk>/retention/", retention_pages.retention, "retention"),
            ("<int:pk>/sessions/<int:session_pk>/erase/", erase_pages.erase, "erase_session"),
            ("<int:pk>/jobs/", dataset_pages.jobs, "jobs"),
            ("<int:pk>/history/", dataset_pages.history, "history"),
            ("<int:pk>/export/", export_pages.export, "export"),
            ("<int:pk>/access/", access_pages.access, "access"),
            ("<int:pk>/access/change/", access_pages.change_access, "access_change"),
            ("<int:pk>/access/<int:grant_pk>/revoke/", access_pages.revoke_grant, "access_revoke"),
            ("<int:pk>/ask/", step_pages.ask, "ask"),
            ("<int:pk>/edit/", edit_pages.edit, "edit"),
            ("<int:pk>/origin/", origin_pages.origin, "origin"),
            *SCRUB_PAGES,
            *SESSION_PAGES,
            *DatasetMetadataAdmin(Dataset, self.admin_site).get_metadata_pages(),
        ]

    def change_view(self, request: HttpRequest, object_id: str, *_: Any, **__: Any) -> HttpResponse:
        """Only URLs without a number lead here."""
        raise PermissionDenied

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        return redirect("admin:datasets_app_dataset_history", object_id)
