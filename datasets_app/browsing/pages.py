"""The list of the sessions of a dataset: filters, columns, sorting, and what can be done with them."""

from typing import Any

from django.db import DatabaseError, connection, transaction
from django.http import HttpRequest, HttpResponse
from django.utils.http import urlencode

from datasets_app.browsing.columns import (
    COLUMNS,
    DEFAULT_COLUMNS,
    TEXT_COLUMNS,
    add_columns,
    load_sessions,
)
from datasets_app.browsing.filters import (
    SPLIT_CHOICES,
    SessionFilter,
    build_conditions,
    list_label_filters,
    parse_filter,
)
from datasets_app.browsing.selection_pages import may_select
from datasets_app.browsing.suggestions import list_tag_suggestions
from datasets_app.browsing.views_pages import list_views
from datasets_app.catalog import raw_access
from datasets_app.catalog.rows.session_pages import (
    DEFAULT_ORDER,
    ORDERS,
    SessionQuery,
    count_sessions,
    page_sessions,
)
from datasets_app.core.web.dataset_page import render_dataset_page
from datasets_app.core.web.pages import get_visible_dataset, parse_pk, render_fragment, require_permissions
from datasets_app.core.web.paging import PAGE_SIZE, Page, PageRequest, make_page, parse_page_request
from datasets_app.models import CheckReport, Dataset, Persona

# In the order of the menu. What is large or recent comes first when somebody clicks a heading.
SORTS = {
    "imported": "First imported",
    "-imported": "Last imported",
    "-date": "Newest",
    "date": "Oldest",
    "-findings": "Most findings",
    "findings": "Fewest findings",
    "-turns": "Most turns",
    "turns": "Fewest turns",
    "session": "Session ID, A to Z",
    "-session": "Session ID, Z to A",
}
# What the order would tell: how ids begin, and when people wrote.
_TEXT_ORDERS = frozenset({"session", "date"})

# Counting more would take longer than anybody waits.
MAX_COUNTED = 10_000
_COUNT_TIMEOUT = "SET LOCAL statement_timeout = '3s'"


def sessions(request: HttpRequest, pk: int) -> HttpResponse:
    require_permissions(request, "view_session")
    dataset = get_visible_dataset(request, pk)
    withheld = not raw_access.may_read(request.user, dataset)
    chosen = parse_filter(request.GET, may_read=not withheld, user=request.user)
    order, falling = _parse_order(request.GET.get("sort", ""), withheld)
    columns = _parse_columns(request.GET.getlist("col"), order, dataset, withheld)
    page = _load_page(dataset, chosen, order, falling, parse_page_request(request.GET))
    add_columns(dataset.pk, page.rows, columns, words=chosen.q, user=request.user)
    views = list_views(request, dataset, "sessions", may_read=not withheld)
    if withheld:
        for session in page.rows:
            raw_access.withhold_session(session)
    elif page.rows or any(view.has_text for view in views):
        raw_access.record_access(dataset, request.user, place="sessions", sessions=len(page.rows))
    first = _find_first(request, page, 0 if chosen.is_active else dataset.session_count)
    context = {
        "page": page,
        "withheld": withheld,
        "views": views,
        "may_select": may_select(request.user),
        "filter": chosen,
        "columns": columns,
        "column_choices": [
            (name, title, name in columns)
            for name, title in COLUMNS.items()
            if not (withheld and name in TEXT_COLUMNS)
        ],
        "sort": f"{'-' * falling}{order}",
        "sorts": [item for item in SORTS.items() if not (withheld and item[0].lstrip("-") in _TEXT_ORDERS)],
        "headings": [_make_heading(name, order, falling, withheld) for name in ("session", *columns)],
        "first": first,
        "last": first + len(page.rows) - 1 if first else None,
        "previous_first": max(1, first - PAGE_SIZE) if first else None,
        "next_first": first + len(page.rows) if first else None,
        "filter_query": urlencode(chosen.as_parameters()),
        **_choices(dataset, request.user),
    }
    return render_dataset_page(request, dataset, "sessions", "Sessions", context)


def count(request: HttpRequest, pk: int) -> HttpResponse:
    """How many sessions the filter matches; the page asks for it once it is shown."""
    require_permissions(request, "view_session")
    dataset = get_visible_dataset(request, pk)
    may_read = raw_access.may_read(request.user, dataset)
    chosen = parse_filter(request.GET, may_read=may_read, user=request.user)
    found: int | None = None
    try:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(_COUNT_TIMEOUT)
            found = count_sessions(dataset.pk, build_conditions(dataset.pk, chosen), MAX_COUNTED + 1)
    except DatabaseError:
        pass  # the page says that it took too long
    return render_fragment(
        request, "datasets_app/_session_count.html", {"found": found, "max_counted": MAX_COUNTED}
    )


def suggest_tags(request: HttpRequest, pk: int) -> HttpResponse:
    """The options of the field for tags, while somebody types there."""
    require_permissions(request, "view_session")
    dataset = get_visible_dataset(request, pk)
    tags = []
    if raw_access.may_read(request.user, dataset):
        tags = list_tag_suggestions(dataset.pk, request.GET.get("tag", ""))
        if tags:
            raw_access.record_access(dataset, request.user, place="tags", tags=len(tags))
    return render_fragment(request, "datasets_app/_tag_options.html", {"tags": tags})


def _parse_order(sort: str, withheld: bool) -> tuple[str, bool]:
    order = sort.removeprefix("-")
    known = order in ORDERS and not (withheld and order in _TEXT_ORDERS)
    return (order, sort.startswith("-")) if known else (DEFAULT_ORDER, False)


def _make_heading(name: str, order: str, falling: bool, withheld: bool) -> dict[str, str]:
    """``sort`` is the order that a click on the heading chooses; empty if it can't be sorted by."""
    heading = {"name": name, "title": COLUMNS.get(name, "Session"), "sort": "", "direction": ""}
    if name in ORDERS and not (withheld and name in _TEXT_ORDERS):
        first, second = (name, f"-{name}") if name == "session" else (f"-{name}", name)
        heading["sort"] = second if f"{'-' * falling}{order}" == first else first
        if name == order:
            heading["direction"] = "descending" if falling else "ascending"
    return heading


def _parse_columns(names: list[str], order: str, dataset: Dataset, withheld: bool) -> list[str]:
    # What the list is sorted by can be seen.
    default = [name for name in DEFAULT_COLUMNS if name != "split" or dataset.split_settings]
    chosen = names or [*default, order]
    return [name for name in COLUMNS if name in chosen and not (withheld and name in TEXT_COLUMNS)]


def _load_page(
    dataset: Dataset, chosen: SessionFilter, order: str, falling: bool, page_request: PageRequest
) -> Page:
    place = parse_pk(page_request.before or page_request.after)
    if place is None:
        page_request = PageRequest("", "", page_request.last)
    query = SessionQuery(
        build_conditions(dataset.pk, chosen), order, falling, place, page_request.backwards, PAGE_SIZE + 1
    )
    rows = load_sessions(dataset.pk, page_sessions(dataset.pk, query))
    return make_page(rows, page_request, lambda session: str(session.pk))


def _find_first(request: HttpRequest, page: Page, total: int) -> int | None:
    """The number of the page's first row, if it is known. The address keeps it: counting reads all rows."""
    if not page.previous:
        return 1
    if total and "last" in request.GET:
        return total - len(page.rows) + 1
    return parse_pk(request.GET.get("n", "")) or None


def _choices(dataset: Dataset, user: Any) -> dict[str, Any]:
    report = CheckReport.objects.filter(dataset=dataset).first()
    may_see_personas = user.has_perm("datasets_app.view_persona")
    return {
        "splits": SPLIT_CHOICES if dataset.split_settings else [],
        "codes": sorted(report.totals) if report else [],
        "label_filters": list_label_filters(user).items(),
        "personas": Persona.objects.values_list("persona_id", flat=True)[:100] if may_see_personas else [],
    }
