"""A filter of a list by something else: by what the user may see of it."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest


class VisibleRelatedFilter(admin.RelatedFieldListFilter):
    """Offers what the list of the related rows shows, where the framework would offer all of them."""

    def field_choices(self, field: Any, request: HttpRequest, model_admin: Any) -> list[tuple[Any, str]]:
        related = model_admin.admin_site.get_model_admin(field.remote_field.model)
        visible = related.get_queryset(request).order_by().values("pk")
        choices: list[tuple[Any, str]] = field.get_choices(
            include_blank=False,
            limit_choices_to={"pk__in": visible},
            ordering=self.field_admin_ordering(field, request, model_admin),
        )
        return choices
