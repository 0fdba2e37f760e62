"""Everybody's API tokens, for people who limit access."""

from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path
from django.views.decorators.http import require_POST

from datasets_app.access.tokens import revoke_token
from datasets_app.core.web.model_admin import ReadOnlyAdmin
from datasets_app.core.web.pages import render_page, require_permissions
from datasets_app.core.web.paging import paginate_newest_first
from datasets_app.models import ApiToken


def list_tokens(request: HttpRequest) -> HttpResponse:
    """The latest first, also those that were revoked."""
    require_permissions(request, "limit_access")
    rows = ApiToken.objects.select_related("user").prefetch_related("datasets")
    page = paginate_newest_first(rows, request.GET)
    return render_page(request, "datasets_app/token_list.html", [("API tokens", None)], {"page": page})


@require_POST
def revoke(request: HttpRequest, pk: int) -> HttpResponse:
    require_permissions(request, "limit_access")
    token = get_object_or_404(ApiToken.objects.select_related("user"), pk=pk)
    revoke_token(token, actor=request.user)
    messages.success(request, f"Revoked {token.name} of {token.user.get_username()}.")
    return redirect("admin:datasets_app_apitoken_changelist")


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnlyAdmin):
    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.user.has_perm("datasets_app.limit_access"))

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        return [
            path("", wrap(list_tokens), name="datasets_app_apitoken_changelist"),
            path("<int:pk>/revoke/", wrap(revoke), name="datasets_app_apitoken_revoke"),
        ]
