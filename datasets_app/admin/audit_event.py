from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from unfold.decorators import display
from unfold.paginator import InfinitePaginator

from datasets_app.admin.pages import render_page, require
from datasets_app.admin.read_only import ReadOnlyAdmin
from datasets_app.models import AuditEvent
from datasets_app.templatetags.datasets_display import moment, plain_facts, words


@admin.register(AuditEvent)
class AuditEventAdmin(ReadOnlyAdmin):
    list_display = ["when", "actor", "what", "dataset_name", "summary"]
    list_display_links = ["when"]
    search_fields = ["dataset_name__exact", "actor__exact", "action__exact"]
    search_help_text = "The whole name of a dataset, a person or an action"
    # Counting a trail of millions for a page number nobody asks for would take longer than the page.
    paginator = InfinitePaginator

    @display(description="When")
    def when(self, event: AuditEvent) -> str:
        return moment(event.at)

    @display(description="Action")
    def what(self, event: AuditEvent) -> str:
        return words(event.action)

    @display(description="Details")
    def summary(self, event: AuditEvent) -> str:
        short = {key: value for key, value in event.details.items() if not isinstance(value, dict | list)}
        text = ", ".join(f"{name}: {value}" for name, value in plain_facts(short))
        return text if len(text) < 120 else text[:119] + "…"

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        require(request, "view_auditevent")
        event = get_object_or_404(AuditEvent, pk=object_id)
        crumbs = [
            ("Audit trail", reverse("admin:datasets_app_auditevent_changelist")),
            (f"{words(event.action)} #{event.pk}", None),
        ]
        return render_page(request, "datasets_app/audit_event.html", crumbs, {"event": event})
