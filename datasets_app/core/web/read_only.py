from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from datasets_app.core.web.model_admin import ModelAdmin


class ReadOnlyAdmin(ModelAdmin):
    """For rows that only operations write: the admin neither adds, changes nor deletes them."""

    list_per_page = 50
    list_disable_select_all = True
    actions = None

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        """Redirect: what operations do is in the audit log, so Django's own page would be empty."""
        return redirect(f"admin:{self.opts.app_label}_{self.opts.model_name}_change", object_id)
