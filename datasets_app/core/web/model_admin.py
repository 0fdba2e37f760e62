"""The base of every list in the admin."""

from collections.abc import Callable, Iterator
from typing import Any

from django.contrib.admin import RelatedFieldListFilter
from django.contrib.admin.utils import get_fields_from_path
from django.db.models import DateField
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path
from django.utils.text import capfirst
from unfold import admin

# Pages as (route, view, name).
Pages = list[tuple[str, Callable[..., HttpResponse], str]]


class VisibleRelatedFilter(RelatedFieldListFilter):
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


class ModelAdmin(admin.ModelAdmin):
    """An address filters a list by what the list offers, and by nothing else.

    Django accepts any lookup of a model's own fields: "result__also_in__regex" would spell out names that
    no page shows, and ``name__regex=(`` fail in the database.
    """

    def get_pages(self) -> Pages:
        """Those beside the pages that Django makes."""
        return []

    def get_urls(self) -> list[URLPattern]:
        prefix, wrap = f"{self.opts.app_label}_{self.opts.model_name}", self.admin_site.admin_view
        own = [path(route, wrap(view), name=f"{prefix}_{name}") for route, view, name in self.get_pages()]
        return own + super().get_urls()

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The browser's title is the name of the list, as it is in the navigation."""
        title = capfirst(str(self.opts.verbose_name_plural))
        response: HttpResponse = super().changelist_view(request, {"title": title, **(extra_context or {})})
        return response

    def delete_queryset(self, request: HttpRequest, queryset: Any) -> None:
        """One by one, so that each deletion is recorded."""
        for row in queryset:
            self.delete_model(request, row)

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        """With its ``reader``: what an empty list offers depends on who reads it."""
        changelist = super().get_changelist_instance(request)
        changelist.reader = request.user
        return changelist

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """Whether a filter of the list sends this parameter; the answer to any other is 400 Bad Request."""
        return lookup in self._list_filter_parameters(request)

    def _list_filter_parameters(self, request: HttpRequest | None) -> Iterator[str]:
        """The parameters of Django's filters and of our own, which name theirs."""
        for list_filter in self.get_list_filter(request) if request else self.list_filter:
            if isinstance(list_filter, type):
                yield list_filter.parameter_name  # type: ignore[attr-defined]
                continue
            place = list_filter[0] if isinstance(list_filter, tuple) else list_filter
            field = get_fields_from_path(self.model, place)[-1]
            target = f"{field.target_field.name}__" if field.is_relation else ""
            lookups = ("__gte", "__lt") if isinstance(field, DateField) else ("", f"__{target}exact")
            yield from (place + name for name in (*lookups, "__isnull"))


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
