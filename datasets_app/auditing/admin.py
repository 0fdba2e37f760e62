"""The pages of the audit log: the filtered list, its export and verification, and one event."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from datasets_app.auditing.events import filter_events, list_field_values
from datasets_app.auditing.export_audit import AUDIT_FORMATS
from datasets_app.auditing.heads import head_place_rows
from datasets_app.auditing.parameters import AuditExportParameters
from datasets_app.core.web.model_admin import Pages, ReadOnlyAdmin
from datasets_app.core.web.pages import parse_pk, render_page, require_permissions
from datasets_app.core.web.paging import paginate_latest_first
from datasets_app.jobs.pages import start_and_show_job
from datasets_app.models import AuditEvent, Dataset, JobRun
from datasets_app.templatetags.datasets_display import sentence_case

TITLE = "Audit log"


class AuditFilterForm(forms.Form):
    """Matches whole names; includes both days."""

    action = forms.CharField(required=False, max_length=50)
    dataset = forms.CharField(required=False, max_length=100)
    actor = forms.CharField(required=False, max_length=200)
    since = forms.DateField(required=False, label="From")
    until = forms.DateField(required=False, label="To")

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = self.cleaned_data
        since, until = cleaned.get("since"), cleaned.get("until")
        if since and until and since > until:
            self.add_error("until", "The last day must not be before the first.")
        return cleaned

    def read(self, **more: str) -> AuditExportParameters | None:
        """None if the form is invalid."""
        return AuditExportParameters(**self.cleaned_data, **more) if self.is_valid() else None


@admin.register(AuditEvent)
class AuditEventAdmin(ReadOnlyAdmin):
    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        require_permissions(request, "view_auditevent")
        return _render_list(request)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        require_permissions(request, "view_auditevent")
        event = get_object_or_404(AuditEvent, pk=parse_pk(object_id))
        datasets = Dataset.objects.visible_to(request.user)
        crumbs = [
            (TITLE, reverse("admin:datasets_app_auditevent_changelist")),
            (f"{sentence_case(event.action)} #{event.pk}", None),
        ]
        context = {"event": event, "dataset": datasets.filter(name=event.dataset_name).first()}
        return render_page(request, "datasets_app/audit_event.html", crumbs, context)

    def get_pages(self) -> Pages:
        return [("export/", export, "export"), ("verify/", verify, "verify")]


def _render_list(request: HttpRequest) -> HttpResponse:
    form = AuditFilterForm(request.GET)
    options = form.read()
    page = paginate_latest_first(filter_events(options), request.GET) if options else None
    if page:
        _link_datasets(page.rows, request.user)
    context = {
        "form": form,
        "filter_parameters": options.list_filters() if options else {},
        "page": page,
        "actions": [(action, sentence_case(action)) for action in _action_choices(options)],
        "names": {field: list_field_values(field) for field in ("actor", "dataset")},
        "formats": AUDIT_FORMATS,
        "head_places": head_place_rows(),
        "verification": JobRun.objects.filter(operation="verify_audit").first(),
    }
    return render_page(request, "datasets_app/audit_list.html", [(TITLE, None)], context)


def _action_choices(options: AuditExportParameters | None) -> list[str]:
    """Recorded actions, and the selected one even if it was never recorded."""
    selected = {options.action} if options and options.action else set()
    return sorted({*list_field_values("action"), *selected})


def _link_datasets(events: list[Any], user: Any) -> None:
    """Events only name their dataset: find the datasets that still exist, in one query."""
    datasets = Dataset.objects.visible_to(user).filter(name__in={event.dataset_name for event in events})
    by_name = {dataset.name: dataset for dataset in datasets.only("name")}
    for event in events:
        event.dataset = by_name.get(event.dataset_name)


@require_POST
def export(request: HttpRequest) -> HttpResponse:
    """Start a job that exports all events that match the filter."""
    require_permissions(request, "view_auditevent")
    parameters = AuditFilterForm(request.POST).read(format=request.POST.get("format", ""))
    if parameters is None or parameters.format not in AUDIT_FORMATS:
        return redirect("admin:datasets_app_auditevent_changelist")
    return start_and_show_job(request, "export_audit", parameters=parameters)


@require_POST
def verify(request: HttpRequest) -> HttpResponse:
    require_permissions(request, "view_auditevent")
    return start_and_show_job(request, "verify_audit")
