"""The frame of a dataset's pages: header, tabs and what the user may do."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from datasets_app.core.web.pages import dataset_address, dataset_crumbs, render_page
from datasets_app.models import Dataset

# Pages of what a dataset holds: once that is deleted they say so, and offer nothing to be done with it.
_OF_CONTENTS = {"checks", "scrub", "scrub_confirm", "splits", "sharing", "sessions", "export"}

# Pages that stand behind a tab.
_TAB_OF = {"release": "releases", "compare": "releases"}


def dataset_page(
    request: HttpRequest, dataset: Dataset, page: str, title: str, context: dict[str, Any]
) -> HttpResponse:
    empty = dataset.status == Dataset.Status.EXPIRED and page in _OF_CONTENTS
    crumbs = dataset_crumbs(dataset, (title, None)) if title else dataset_crumbs(None, (dataset.name, None))
    return render_page(
        request,
        f"datasets_app/dataset_{'expired' if empty else page}.html",
        crumbs,
        {"dataset": dataset, "tabs": dataset_tabs(request, dataset, page), "may": _may(request), **context},
    )


def _may(request: HttpRequest) -> dict[str, bool]:
    has = request.user.has_perm
    return {
        name: has(f"datasets_app.{permission}")
        for name, permission in {
            "import": "import_dataset",
            "generate": "generate_dataset",
            "export": "export_dataset",
            "check": "check_dataset",
            "edit": "change_dataset",
            "scrub": "scrub_dataset",
            "see_scrubs": "view_scrubrun",
            "read": "view_turn",
        }.items()
    }


def dataset_tabs(request: HttpRequest, dataset: Dataset, current: str) -> list[dict[str, Any]]:
    has = request.user.has_perm
    turns = f"{reverse('admin:datasets_app_turn_changelist')}?dataset={dataset.pk}"
    every = [
        ("overview", "Overview", dataset_address(dataset), True),
        ("checks", "Checks", dataset_address(dataset, "checks"), True),
        ("scrub", "Scrub", dataset_address(dataset, "scrub"), has("datasets_app.view_scrubrun")),
        ("splits", "Splits", dataset_address(dataset, "splits"), True),
        ("sharing", "Sharing", dataset_address(dataset, "sharing"), True),
        ("releases", "Releases", dataset_address(dataset, "releases"), has("datasets_app.view_release")),
        ("retention", "Retention", dataset_address(dataset, "retention"), True),
        ("sessions", "Sessions", dataset_address(dataset, "sessions"), has("datasets_app.view_session")),
        ("turns", "Turns", turns, has("datasets_app.view_turn")),
        ("jobs", "Jobs", dataset_address(dataset, "jobs"), has("datasets_app.view_jobrun")),
        ("access", "Access", dataset_address(dataset, "access"), has("datasets_app.limit_access")),
        ("history", "History", dataset_address(dataset, "history"), True),
    ]
    return [
        {"title": title, "address": address, "current": name == _TAB_OF.get(current, current)}
        for name, title, address, shown in every
        if shown
    ]
