"""Helpers for our own pages within the admin."""

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme, urlencode

from datasets_app.domain.wording import shorten_hash
from datasets_app.models import Dataset, Persona

# (text, URL or None) from left to right; the last one is the page itself.
Breadcrumbs = list[tuple[str, str | None]]


def render_page(
    request: HttpRequest, template: str, crumbs: Breadcrumbs, context: dict[str, Any]
) -> HttpResponse:
    """Render a page in the admin's frame; the last two breadcrumbs are its title."""
    request.crumbs = crumbs  # type: ignore[attr-defined]  # read by unfold/helpers/header_title.html
    title = " · ".join(shorten_hash(text) for text, _ in reversed(crumbs[-2:]))
    return TemplateResponse(
        request, template, {**admin.site.each_context(request), "title": title, **context}
    )


def render_fragment(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    """A part of a page that the browser fetches again and again."""
    return render(request, template, context)


def wants_fragment(request: HttpRequest) -> bool:
    """Whether a page fetches a part of itself; a person who opens its link gets a whole page."""
    return "HX-Request" in request.headers


def parse_pk(text: str) -> int | None:
    """A primary key from a URL; None if ``text`` isn't one that the database could hold."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def read_back(request: HttpRequest) -> str:
    """``?back=``: the address within this application that a page was opened from; empty if there is none."""
    back = request.GET.get("back", "")
    return back if url_has_allowed_host_and_scheme(back, allowed_hosts=None) else ""


def add_back(url: str, back: str) -> str:
    """The address with what :func:`read_back` reads there."""
    if not back:
        return url
    return f"{url}{'&' if '?' in url else '?'}{urlencode({'back': back})}"


def require_permissions(request: HttpRequest, *permissions: str) -> None:
    """Raise PermissionDenied unless the user has all of these permissions of this app."""
    if not all(request.user.has_perm(f"datasets_app.{permission}") for permission in permissions):
        raise PermissionDenied


def get_visible_dataset(request: HttpRequest, pk: int | str, *permissions: str) -> Dataset:
    """For who has all of these permissions and may see datasets: 404 for one they don't see."""
    require_permissions(request, *permissions, "view_dataset")
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
    """Map the ids of those personas that exist to their pages; empty if the user may not see personas."""
    if not user.has_perm("datasets_app.view_persona"):
        return {}
    known = Persona.objects.filter(persona_id__in=[persona for persona in persona_ids if persona])
    return {
        persona: reverse("admin:datasets_app_persona_change", args=[pk])
        for pk, persona in known.values_list("pk", "persona_id")
    }
