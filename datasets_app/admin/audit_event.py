from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.html import format_html
from unfold.decorators import display
from unfold.paginator import InfinitePaginator

from datasets_app.admin.pages import dataset_address, render_page, require
from datasets_app.admin.paging import whole_numbers
from datasets_app.admin.read_only import ReadOnlyAdmin
from datasets_app.models import AuditEvent, Dataset
from datasets_app.templatetags.datasets_display import brief, moment, words

TITLE = "Audit trail"
# The actions offered as a filter are those of the latest events: the whole trail may be millions.
EVENTS_LOOKED_AT = 10_000


class ActionFilter(admin.SimpleListFilter):
    title = "action"
    parameter_name = "action"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        latest = AuditEvent.objects.order_by("-id").values("pk")[:EVENTS_LOOKED_AT]
        found = set(AuditEvent.objects.filter(pk__in=latest).order_by().values_list("action", flat=True))
        if chosen := request.GET.get(self.parameter_name):
            found.add(chosen)
        return [(action, words(action)) for action in sorted(found)]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        wanted = self.value()
        if wanted and "\0" in wanted:
            return queryset.none()
        return queryset.filter(action=wanted) if wanted else queryset


@admin.register(AuditEvent)
class AuditEventAdmin(ReadOnlyAdmin):
    list_display = ["when", "actor", "what", "show_dataset", "summary"]
    list_display_links = ["when"]
    list_filter = [ActionFilter, ("at", admin.DateFieldListFilter)]
    search_fields = ["dataset_name__exact", "actor__exact", "action__exact"]
    search_help_text = "The whole name of a dataset, a person or an action"
    # Counting a trail of millions for a page number nobody asks for would take longer than the page.
    paginator = InfinitePaginator

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        request.crumbs = [(TITLE, None)]  # type: ignore[attr-defined]  # see admin/pages.py
        return super().changelist_view(request, {**(extra_context or {}), "title": TITLE})

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """Events name their dataset; the ones that are still there are linked, by one query."""
        changelist = super().get_changelist_instance(request)
        events = list(changelist.result_list)
        datasets = Dataset.objects.visible_to(request.user)
        names = {event.dataset_name for event in events}
        known = {row.name: row for row in datasets.filter(name__in=names).only("name")}
        for event in events:
            event.dataset = known.get(event.dataset_name)
        changelist.result_list = events
        return changelist

    @display(description="When", ordering="at")
    def when(self, event: AuditEvent) -> str:
        return format_html('<span class="ad-nowrap">{}</span>', moment(event.at))

    @display(description="Action")
    def what(self, event: AuditEvent) -> str:
        return words(event.action)

    @display(description="Dataset")
    def show_dataset(self, event: Any) -> str:
        if event.dataset is None:
            return str(event.dataset_name or "–")
        return format_html(
            '<a class="ad-link" href="{}">{}</a>', dataset_address(event.dataset), event.dataset_name
        )

    @display(description="Details")
    def summary(self, event: AuditEvent) -> str:
        return brief(event.details)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        require(request, "view_auditevent")
        place = whole_numbers(object_id, 1)
        event = get_object_or_404(AuditEvent, pk=place[0] if place else None)
        datasets = Dataset.objects.visible_to(request.user)
        crumbs = [
            (TITLE, reverse("admin:datasets_app_auditevent_changelist")),
            (f"{words(event.action)} #{event.pk}", None),
        ]
        context = {"event": event, "dataset": datasets.filter(name=event.dataset_name).first()}
        return render_page(request, "datasets_app/audit_event.html", crumbs, context)
