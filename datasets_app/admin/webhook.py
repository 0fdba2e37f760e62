"""Webhooks: one's own, and for privacy officers those of all people."""

from typing import Any

from django.contrib import admin
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponse

from datasets_app.core.web.model_admin import ModelAdmin, Pages
from datasets_app.models import Dataset, WebhookEndpoint
from datasets_app.webhooks import endpoints, pages
from datasets_app.webhooks.forms import WebhookForm


@admin.register(WebhookEndpoint)
class WebhookEndpointAdmin(ModelAdmin):
    form = WebhookForm
    list_display = ["show_host", "show_dataset", "show_owner", "active", "show_waiting", "show_given_up"]
    list_filter = ["active"]
    list_select_related = ["dataset", "owner"]
    change_form_outer_before_template = "datasets_app/webhook_before.html"
    change_form_outer_after_template = "datasets_app/webhook_after.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return (
            super()
            .get_queryset(request)
            .visible_to(request.user)
            .annotate(
                is_named=Exists(Dataset.objects.visible_to(request.user).filter(pk=OuterRef("dataset"))),
                waiting=Count("deliveries", filter=Q(deliveries__state="waiting")),
                given_up=Count("deliveries", filter=Q(deliveries__state="dead")),
            )
        )

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **options: Any) -> Any:
        form = super().get_form(request, obj, change, **options)
        return type("WebhookForm", (form,), {"user": request.user})

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """The address of somebody else's webhook may be a secret of theirs."""
        own = obj is None or obj.owner_id == request.user.pk
        return (
            ["url", "only_dataset", "kinds", "active"]
            if own
            else ["show_host", "show_owner", "show_dataset", "active"]
        )

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["show_host", "show_owner", "show_dataset"]

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        is_own = obj is None or obj.owner_id == request.user.pk
        return is_own and super().has_change_permission(request, obj)

    def get_pages(self) -> Pages:
        return [
            ("<int:pk>/secret/", pages.replace_secret, "secret"),
            ("<int:pk>/test/", pages.send_test, "test"),
            ("<int:pk>/replay/", pages.replay, "replay"),
        ]

    def render_change_form(
        self, request: HttpRequest, context: Any, *args: Any, obj: Any = None, **options: Any
    ) -> HttpResponse:
        if obj is not None:
            context |= {
                "deliveries": pages.delivery_rows(obj, request.user),
                "given_up": obj.deliveries.filter(state="dead").count(),
                "is_own": obj.owner_id == request.user.pk,
            }
        return super().render_change_form(request, context, *args, obj=obj, **options)

    def save_model(self, request: Any, obj: WebhookEndpoint, form: Any, change: bool) -> None:
        if change:
            endpoints.edit_endpoint(obj, changed=form.changed_data, actor=request.user)
        else:
            request.webhook_secret = endpoints.add_endpoint(obj, actor=request.user)

    def response_add(self, request: Any, obj: WebhookEndpoint, post_url_continue: Any = None) -> HttpResponse:
        return pages.show_secret(request, obj, request.webhook_secret)

    def delete_model(self, request: HttpRequest, obj: WebhookEndpoint) -> None:
        endpoints.delete_endpoint(obj, actor=request.user)

    @admin.display(description="Webhook")
    def show_host(self, endpoint: WebhookEndpoint) -> str:
        return f"{endpoints.host_of(endpoint)} ({endpoint.pk})"

    @admin.display(description="Dataset")
    def show_dataset(self, endpoint: Any) -> str:
        if endpoint.dataset is None:
            return "All"
        return endpoint.dataset.name if endpoint.is_named else "Hidden"

    @admin.display(description="Owner")
    def show_owner(self, endpoint: WebhookEndpoint) -> str:
        return str(endpoint.owner) if endpoint.owner else "Deleted account"

    @admin.display(description="Waiting")
    def show_waiting(self, endpoint: Any) -> int:
        return int(endpoint.waiting)

    @admin.display(description="Given up")
    def show_given_up(self, endpoint: Any) -> int:
        return int(endpoint.given_up)
