from typing import Any

from django.http import HttpRequest

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
