"""Render the pages of a dataset with its header, its five tabs and the pages within the current one."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from datasets_app import hooks
from datasets_app.core.web.pages import dataset_breadcrumbs, dataset_url, render_fragment, render_page
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

# Pages without a link of their own, by the page they belong to.
_PARENT_PAGES = {
    "release": "releases",
    "run": "releases",
    "compare": "releases",
    "scrub_audit": "scrub",
    "scrub_confirm": "scrub",
    "exempt": "scrub",
    "attest": "scrub",
    "terms": "scrub",
    "origin": "overview",
    "expired": "overview",
    "edit": "overview",
    "selection": "sessions",
    "sample": "sessions",
}


def render_dataset_page(
    request: HttpRequest, dataset: Dataset, page: str, title: str, context: dict[str, Any], part: str = ""
) -> HttpResponse:
    """``part`` is the template of what changes when a link of the page leads to the page itself: all that
    htmx gets, because a frame costs as much as a list."""
    is_deleted = dataset.status == Dataset.Status.EXPIRED and page in _CONTENT_PAGES
    if part and "HX-Boosted" in request.headers and not is_deleted:
        return render_fragment(request, part, {"dataset": dataset, "page_name": page, **context})
    crumbs = (
        dataset_breadcrumbs(dataset, (title, None))
        if title
        else dataset_breadcrumbs(None, (dataset.name, None))
    )
    return render_page(
        request,
        f"datasets_app/dataset_{'expired' if is_deleted else page}.html",
        crumbs,
        {**frame_context(request, dataset, page), **context},
    )


def frame_context(request: HttpRequest, dataset: Dataset, page: str) -> dict[str, Any]:
    """What ``_dataset_header.html`` and ``_dataset_tabs.html`` show."""
    return {
        "dataset": dataset,
        "page_name": page,
        "tabs": build_dataset_tabs(request, dataset, page),
        "steps": hooks.next_steps.find_next_steps(dataset, request.user),
    }


def build_dataset_tabs(request: HttpRequest, dataset: Dataset, current: str) -> list[dict[str, Any]]:
    """The tabs, each with the pages in it that the user may open; one without such a page is left out."""
    here = _PARENT_PAGES.get(current, current)
    tabs = []
    for title, pages in _list_pages(request, dataset):
        links = [
            {"title": label, "address": address, "current": name == here}
            for name, label, address, shown in pages
            if shown
        ]
        if links:
            is_current = any(link["current"] for link in links)
            tabs.append(
                {"title": title, "address": links[0]["address"], "current": is_current, "pages": links}
            )
    return tabs


def _list_pages(request: HttpRequest, dataset: Dataset) -> list[tuple[str, list[tuple[str, str, str, bool]]]]:
    """By tab: the name of a page, its title, its address, and whether the user may open it."""

    def make_page(name: str, title: str, permission: str = "view_dataset") -> tuple[str, str, str, bool]:
        page = "change" if name == "overview" else name
        return name, title, dataset_url(dataset, page), request.user.has_perm(f"datasets_app.{permission}")

    turns = f"{reverse('admin:datasets_app_turn_changelist')}?dataset={dataset.pk}"
    may_view_turns = request.user.has_perm("datasets_app.view_turn")
    data = [
        make_page("overview", "Overview"),
        make_page("sessions", "Sessions", "view_session"),
        ("turns", "Turns", turns, may_view_turns),
    ]
    labels = [(*page, True) for page in hooks.panels.list_label_pages(dataset, request.user)]
    releases = [
        make_page("splits", "Splits"),
        make_page("releases", "Releases", "view_release"),
        make_page("sharing", "Sharing"),
        make_page("export", "Export", "export_dataset"),
    ]
    governance = [
        make_page("retention", "Retention"),
        make_page("access", "Access", "limit_access"),
        make_page("history", "History"),
        make_page("jobs", "Jobs", "view_jobrun"),
    ]
    return [
        ("Data", data),
        ("Quality", [make_page("checks", "Checks"), make_page("scrub", "Scrub", "view_scrubrun")]),
        ("Labels", labels),
        ("Releases", releases),
        ("Governance", governance),
    ]
