"""The audit trail: what is asked for of it, its export, its verification, and the page of one event."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path, reverse
from django.views.decorators.http import require_POST

from datasets_app.auditing.events import AuditFilter, filter_events, list_field_values
from datasets_app.auditing.export_audit import AUDIT_FORMATS
from datasets_app.core.web.pages import render_page, require_permissions
from datasets_app.core.web.paging import paginate_latest_first, parse_numbers
from datasets_app.core.web.read_only import ReadOnlyAdmin
from datasets_app.jobs import runs
from datasets_app.models import AuditEvent, Dataset, JobRun
from datasets_app.templatetags.datasets_display import sentence_case

TITLE = "Audit trail"


class AuditFilterForm(forms.Form):
    """Whole names; the days both included."""

    action = forms.CharField(required=False, max_length=50)
    dataset = forms.CharField(required=False, max_length=100)
    actor = forms.CharField(required=False, max_length=200)
    since = forms.DateField(required=False, label="From")
    until = forms.DateField(required=False, label="To")

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = self.cleaned_data
        since, until = given.get("since"), given.get("until")
        if since and until and since > until:
            self.add_error("until", "The last day is before the first.")
        return given

    def wanted(self) -> AuditFilter | None:
        """None if something was given that can't be."""
        return AuditFilter(**self.cleaned_data) if self.is_valid() else None


@admin.register(AuditEvent)
class AuditEventAdmin(ReadOnlyAdmin):
    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        require_permissions(request, "view_auditevent")
        return _render_list(request)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        require_permissions(request, "view_auditevent")
        place = parse_numbers(object_id, 1)
        event = get_object_or_404(AuditEvent, pk=place[0] if place else None)
        datasets = Dataset.objects.visible_to(request.user)
        crumbs = [
            (TITLE, reverse("admin:datasets_app_auditevent_changelist")),
            (f"{sentence_case(event.action)} #{event.pk}", None),
        ]
        context = {"event": event, "dataset": datasets.filter(name=event.dataset_name).first()}
        return render_page(request, "datasets_app/audit_event.html", crumbs, context)

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        pages = [("export/", export, "export"), ("verify/", verify, "verify")]
        own = [path(route, wrap(view), name=f"datasets_app_auditevent_{name}") for route, view, name in pages]
        return own + super().get_urls()


def _render_list(request: HttpRequest) -> HttpResponse:
    form = AuditFilterForm(request.GET)
    wanted = form.wanted()
    page = paginate_latest_first(filter_events(wanted), request.GET) if wanted else None
    if page:
        _link_datasets(page.rows, request.user)
    context = {
        "form": form,
        "wanted": wanted,
        "filter_parameters": wanted.as_json() if wanted else {},
        "page": page,
        "actions": [(action, sentence_case(action)) for action in _action_choices(wanted)],
        "names": {field: list_field_values(field) for field in ("actor", "dataset")},
        "formats": AUDIT_FORMATS,
        "verification": JobRun.objects.filter(operation="verify_audit").first(),
    }
    return render_page(request, "datasets_app/audit_list.html", [(TITLE, None)], context)


def _action_choices(wanted: AuditFilter | None) -> list[str]:
    """What there is, and what was asked for, if there is none of it."""
    asked = {wanted.action} if wanted and wanted.action else set()
    return sorted({*list_field_values("action"), *asked})


def _link_datasets(events: list[Any], user: Any) -> None:
    """Events name their dataset; the ones that are still there are linked, by one query."""
    datasets = Dataset.objects.visible_to(user).filter(name__in={event.dataset_name for event in events})
    known = {dataset.name: dataset for dataset in datasets.only("name")}
    for event in events:
        event.dataset = known.get(event.dataset_name)


@require_POST
def export(request: HttpRequest) -> HttpResponse:
    """A job that writes what the page shows, on all of its pages."""
    require_permissions(request, "view_auditevent")
    wanted = AuditFilterForm(request.POST).wanted()
    format = request.POST.get("format", "")
    if wanted is None or format not in AUDIT_FORMATS:
        return redirect("admin:datasets_app_auditevent_changelist")
    job = runs.start_job(
        "export_audit", actor=request.user, parameters={"format": format, **wanted.as_json()}
    )
    return redirect("admin:datasets_app_jobrun_change", job.pk)


@require_POST
def verify(request: HttpRequest) -> HttpResponse:
    require_permissions(request, "view_auditevent")
    job = runs.start_job("verify_audit", actor=request.user)
    return redirect("admin:datasets_app_jobrun_change", job.pk)
