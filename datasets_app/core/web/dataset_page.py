"""Render the pages of a dataset with its header and tabs."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from datasets_app.core.web.pages import dataset_breadcrumbs, dataset_url, render_page
from datasets_app.models import Dataset

# Pages about the contents of a dataset. Once these are deleted, the pages only say so.
_CONTENT_PAGES = {
    "checks",
    "scrub",
    "scrub_confirm",
    "scrub_audit",
    "splits",
    "sharing",
    "sessions",
    "selection",
    "sample",
    "export",
    "origin",
}

# Pages without a tab of their own, by the tab they belong to.
_PARENT_TABS = {
    "release": "releases",
    "compare": "releases",
    "scrub_audit": "scrub",
    "origin": "overview",
    "selection": "sessions",
    "sample": "sessions",
}


def render_dataset_page(
    request: HttpRequest, dataset: Dataset, page: str, title: str, context: dict[str, Any]
) -> HttpResponse:
    is_deleted = dataset.status == Dataset.Status.EXPIRED and page in _CONTENT_PAGES
    crumbs = (
        dataset_breadcrumbs(dataset, (title, None))
        if title
        else dataset_breadcrumbs(None, (dataset.name, None))
    )
    return render_page(
        request,
        f"datasets_app/dataset_{'expired' if is_deleted else page}.html",
        crumbs,
        {
            "dataset": dataset,
            "tabs": build_dataset_tabs(request, dataset, page),
            **context,
        },
    )


def build_dataset_tabs(request: HttpRequest, dataset: Dataset, current: str) -> list[dict[str, Any]]:
    has = request.user.has_perm
    turns = f"{reverse('admin:datasets_app_turn_changelist')}?dataset={dataset.pk}"
    every = [
        ("overview", "Overview", dataset_url(dataset), True),
        ("checks", "Checks", dataset_url(dataset, "checks"), True),
        ("scrub", "Scrub", dataset_url(dataset, "scrub"), has("datasets_app.view_scrubrun")),
        ("splits", "Splits", dataset_url(dataset, "splits"), True),
        ("sharing", "Sharing", dataset_url(dataset, "sharing"), True),
        ("releases", "Releases", dataset_url(dataset, "releases"), has("datasets_app.view_release")),
        ("retention", "Retention", dataset_url(dataset, "retention"), True),
        ("sessions", "Sessions", dataset_url(dataset, "sessions"), has("datasets_app.view_session")),
        ("turns", "Turns", turns, has("datasets_app.view_turn")),
        ("jobs", "Jobs", dataset_url(dataset, "jobs"), has("datasets_app.view_jobrun")),
        ("access", "Access", dataset_url(dataset, "access"), has("datasets_app.limit_access")),
        ("history", "History", dataset_url(dataset, "history"), True),
    ]
    return [
        {"title": title, "address": address, "current": name == _PARENT_TABS.get(current, current)}
        for name, title, address, shown in every
        if shown
    ]
