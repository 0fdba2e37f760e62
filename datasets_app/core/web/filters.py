"""Filter an admin list by related rows, offering only those the user may see."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest


class VisibleRelatedFilter(admin.RelatedFieldListFilter):
    """Offers the rows that the related list shows; Django would offer all of them."""

    def field_choices(self, field: Any, request: HttpRequest, model_admin: Any) -> list[tuple[Any, str]]:
        related = model_admin.admin_site.get_model_admin(field.remote_field.model)
        visible = related.get_queryset(request).order_by().values("pk")
        choices: list[tuple[Any, str]] = field.get_choices(
            include_blank=False,
            limit_choices_to={"pk__in": visible},
            ordering=self.field_admin_ordering(field, request, model_admin),
        )
        return choices
