"""The list of the sessions of a dataset: filters, columns, sorting, and what can be done with them."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.http import urlencode

from datasets_app.browsing.columns import COLUMNS, DEFAULT_COLUMNS, TEXT_COLUMNS, add_columns, load_sessions
from datasets_app.browsing.distributions import Value
from datasets_app.browsing.facets import MAX_COUNTED, count_facets
from datasets_app.browsing.filters import (
    NUMBERS,
    SEVERAL,
    SessionFilter,
    build_conditions,
    describe_filter,
    get_title,
    list_ignored,
    parse_filter,
)
from datasets_app.browsing.selection_pages import may_change, may_select
from datasets_app.browsing.views_pages import encode_list, list_views
from datasets_app.catalog import raw_access
from datasets_app.catalog.rows.session_pages import DEFAULT_ORDER, ORDERS, SessionQuery, page_sessions
from datasets_app.core.web.dataset_page import render_dataset_page
from datasets_app.core.web.pages import (
    dataset_url,
    get_visible_dataset,
    parse_pk,
    render_fragment,
)
from datasets_app.core.web.paging import PAGE_SIZE, Page, PageRequest, make_page, parse_page_request
from datasets_app.models import CheckReport, Dataset

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
# The form has fields for these filters. Facets set the others.
FORM_FIELDS = ("q", "id", "since", "until", *NUMBERS)
# What the order would tell: how ids begin, and when people wrote.
_TEXT_ORDERS = frozenset({"session", "date"})


def sessions(request: HttpRequest, pk: int) -> HttpResponse:
    dataset = get_visible_dataset(request, pk, "view_session")
    withheld = not raw_access.may_read(request.user, dataset)
    chosen = parse_filter(request.GET, may_read=not withheld, user=request.user)
    link = _Link(dataset, request, chosen)
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
        "may_change": may_change(request.user),
        "filter": chosen,
        "numbers": [(name, get_title(name), getattr(chosen, name)) for name in NUMBERS],
        "chips": [
            (title, value, link.remove(parameter))
            for parameter, title, value in describe_filter(chosen, request.user)
        ],
        "kept": [item for item in chosen.as_parameters() if item[0] not in FORM_FIELDS],
        "ignored": list_ignored(request.GET, chosen),
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
        "filter_query": encode_list(chosen, request.GET),
    }
    return render_dataset_page(
        request, dataset, "sessions", "Sessions", context, part="datasets_app/_session_list.html"
    )


def facets(request: HttpRequest, pk: int) -> HttpResponse:
    """What the sessions that match have in common; the page asks for it once the list is shown."""
    dataset = get_visible_dataset(request, pk, "view_session")
    may_read = raw_access.may_read(request.user, dataset)
    chosen = parse_filter(request.GET, may_read=may_read, user=request.user)
    found = count_facets(dataset, chosen, may_read=may_read, user=request.user)
    if may_read:
        raw_access.record_access(dataset, request.user, place="facets")
    link = _Link(dataset, request, chosen)
    context = {
        "dataset": dataset,
        "filter": chosen,
        "facets": [
            (facet, [link.toggle(value) for value in facet.values if value.count]) for facet in found.facets
        ]
        if found
        else None,
        "known": {
            name: [
                value.parameters[name]
                for facet in (found.facets if found else ())
                if facet.name == name
                for value in facet.values
            ]
            for name in ("tag", "persona")
        },
        "sample": found and found.sample,
        "max_counted": MAX_COUNTED,
    }
    return render_fragment(request, "datasets_app/_session_facets.html", context)


class _Link:
    """Makes addresses of the same list with other filters."""

    def __init__(self, dataset: Dataset, request: HttpRequest, chosen: SessionFilter) -> None:
        self.address, self.active, self.query = dataset_url(dataset, "sessions"), chosen, request.GET

    def change(self, changes: dict[str, Any]) -> str:
        return f"{self.address}?{encode_list(self.active._replace(**changes), self.query)}"

    def remove(self, parameter: tuple[str, str]) -> str:
        name, value = parameter
        values = getattr(self.active, name)
        return self.change(
            {name: tuple(one for one in values if one != value) if isinstance(values, tuple) else ""}
        )

    def toggle(self, value: Value) -> dict[str, Any]:
        """A value of a facet with the address that filters by it or, if the list is filtered by it, no
        longer; and the one that leaves its sessions out."""
        active = self.active.as_parameters()
        wanted = value.parameters.items()
        is_active = all(item in active if item[1] else item[0] not in dict(active) for item in wanted)
        changes: dict[str, Any] = {}
        for name, text in wanted:
            chosen = getattr(self.active, name)
            if name not in SEVERAL:
                changes[name] = "" if is_active else text
            else:
                # A value of a key says more than the key.
                kept = tuple(one for one in chosen if one != text and not text.startswith(f"{one}="))
                changes[name] = kept if is_active else (*kept, text)
        found = {**value._asdict(), "id": urlencode(value.parameters), "is_active": is_active}
        found["url"] = self.change(changes)
        if name in SEVERAL and len(wanted) == 1:
            without = (*self.active.without, f"{name}={text}")
            found["without_url"] = self.change({name: kept, "without": without})
        return found


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
    known = {
        "split": bool(dataset.split_settings),
        "findings": CheckReport.objects.filter(dataset=dataset).exists(),
    }
    default = [name for name in DEFAULT_COLUMNS if known.get(name, True)]
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
