"""What all pages of our own within the admin have in common."""

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import reverse

from datasets_app.models import Dataset, Persona

# (text, address or None) from the left to the right; the last one is the page itself.
Breadcrumbs = list[tuple[str, str | None]]


def render_page(
    request: HttpRequest, template: str, crumbs: Breadcrumbs, context: dict[str, Any], status: int = 200
) -> HttpResponse:
    """A page in the admin's frame; the crumbs are its title."""
    request.crumbs = crumbs  # type: ignore[attr-defined]  # read by unfold/helpers/header_title.html
    title = " · ".join(text for text, _ in reversed(crumbs[-2:]))
    return TemplateResponse(
        request, template, {**admin.site.each_context(request), "title": title, **context}, status=status
    )


def require_permissions(request: HttpRequest, *permissions: str) -> None:
    """403 unless the user has all of these permissions of this app."""
    if not all(request.user.has_perm(f"datasets_app.{permission}") for permission in permissions):
        raise PermissionDenied


def get_visible_dataset(request: HttpRequest, pk: int | str) -> Dataset:
    require_permissions(request, "view_dataset")
    dataset: Dataset = get_object_or_404(Dataset.objects.visible_to(request.user), pk=pk)
    return dataset


def dataset_url(dataset: Dataset, page: str = "change") -> str:
    return reverse(f"admin:datasets_app_dataset_{page}", args=[dataset.pk])


def dataset_breadcrumbs(dataset: Dataset | None, *rest: tuple[str, str | None]) -> Breadcrumbs:
    crumbs: Breadcrumbs = [("Datasets", reverse("admin:datasets_app_dataset_changelist"))]
    if dataset:
        crumbs.append((dataset.name, dataset_url(dataset)))
    return [*crumbs, *rest]


def persona_urls(persona_ids: Iterable[str | None], user: Any) -> dict[str, str]:
    """Where each of these personas stands, if it does and the user may see it."""
    if not user.has_perm("datasets_app.view_persona"):
        return {}
    known = Persona.objects.filter(persona_id__in=[persona for persona in persona_ids if persona])
    return {
        persona: reverse("admin:datasets_app_persona_change", args=[pk])
        for pk, persona in known.values_list("pk", "persona_id")
    }
