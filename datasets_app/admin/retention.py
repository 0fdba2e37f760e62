"""Retention policies in their order, each with the datasets it applies to."""

from typing import Any

from django.contrib import admin
from django.db import models, transaction
from django.http import HttpRequest
from django.template.loader import render_to_string
from unfold.widgets import UnfoldAdminTextareaWidget

from datasets_app.admin.resources import RETENTION_FORMATS, RetentionResource
from datasets_app.core import audit
from datasets_app.core.web.model_admin import ModelAdmin, Pages
from datasets_app.models import RetentionPolicy
from datasets_app.retention import dry_run_pages
from datasets_app.retention.rules import datasets_by_policy, preserve_activation
from datasets_app.tables.admin import TableAdminMixin

MAX_NAMES_SHOWN = 10


@admin.register(RetentionPolicy)
class RetentionPolicyAdmin(TableAdminMixin, ModelAdmin):  # type: ignore[misc]
    resource_classes = [RetentionResource]
    formats = RETENTION_FORMATS
    list_display = ["position", "pattern", "retention", "show_active", "reason", "show_matches"]
    list_before_template = "datasets_app/retention_list_before.html"
    list_display_links = ["pattern"]
    ordering = ["position"]
    formfield_overrides = {
        models.TextField: {"widget": UnfoldAdminTextareaWidget(attrs={"rows": 2, "class": "ad-low"})}
    }
    fields = ["position", "pattern", "retention", "reason", "show_active", "show_matches"]
    readonly_fields = ["show_active", "show_matches"]

    def has_import_permission(self, request: HttpRequest) -> bool:
        # A file replaces all policies, so importing one can delete policies.
        return super().has_import_permission(request) and self.has_delete_permission(request)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Suggest a position after all others that leaves room in between."""
        last = RetentionPolicy.objects.aggregate(last=models.Max("position"))["last"]
        return {"position": (last or 0) + 10, **super().get_changeform_initial_data(request)}

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        changelist = super().get_changelist_instance(request)
        matching = datasets_by_policy(request.user)
        for policy in changelist.result_list:
            policy.matching_datasets = matching.get(policy.position, [])
        return changelist

    def get_object(self, request: HttpRequest, object_id: str, from_field: Any = None) -> Any:
        policy = super().get_object(request, object_id, from_field)
        if policy is not None:
            policy.matching_datasets = datasets_by_policy(request.user).get(policy.position, [])
        return policy

    @admin.display(description="Matching datasets")
    def show_matches(self, policy: Any) -> str:
        if policy.pk is None:
            return "–"
        names = policy.matching_datasets
        rest = f" … and {len(names) - MAX_NAMES_SHOWN} more" if len(names) > MAX_NAMES_SHOWN else ""
        return (", ".join(names[:MAX_NAMES_SHOWN]) + rest) or "none"

    @admin.display(description="Status")
    def show_active(self, policy: Any) -> str:
        """Whether the rule is active, with a link to its deletion schedule."""
        if policy.pk is None:
            return "Inactive until you activate it"
        return render_to_string("datasets_app/_retention_active.html", {"policy": policy})

    def get_pages(self) -> Pages:
        return [
            ("rehearsal/", dry_run_pages.deletion_schedule, "rehearsal"),
            ("apply/", dry_run_pages.apply_due, "apply"),
            ("<int:pk>/rehearsal/", dry_run_pages.policy_schedule, "of_policy"),
            ("<int:pk>/deactivate/", dry_run_pages.deactivate_policy, "deactivate"),
        ]

    def save_model(self, request: HttpRequest, obj: RetentionPolicy, form: Any, change: bool) -> None:
        with transaction.atomic(), preserve_activation():
            super().save_model(request, obj, form, change)
        self._record_event(request, obj, "edit_retention_policy" if change else "add_retention_policy")

    def delete_model(self, request: HttpRequest, obj: RetentionPolicy) -> None:
        self._record_event(request, obj, "delete_retention_policy")
        with transaction.atomic(), preserve_activation():
            super().delete_model(request, obj)

    def _record_event(self, request: HttpRequest, policy: RetentionPolicy, action: str) -> None:
        audit.record(
            action,
            actor=request.user,
            position=policy.position,
            pattern=policy.pattern,
            retention=policy.retention,
        )
