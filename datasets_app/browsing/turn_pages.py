"""The list of turns, of one dataset or of all, with its search."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Sum
from django.http import HttpRequest, HttpResponse
from django.utils.http import urlencode

from datasets_app.browsing.filters import list_ignored
from datasets_app.browsing.selection_pages import may_select
from datasets_app.browsing.turn_filter import TurnFilter, parse_turn_filter
from datasets_app.browsing.views_pages import list_views
from datasets_app.catalog import raw_access
from datasets_app.catalog.rows.turn_pages import PageQuery, TurnKey, page_turns
from datasets_app.catalog.search import MAX_DATASETS_SEARCHED, MAX_HITS, make_excerpt, search_turns
from datasets_app.core.web.dataset_page import frame_context
from datasets_app.core.web.pages import dataset_breadcrumbs, get_visible_dataset, parse_pk, render_page
from datasets_app.core.web.paging import (
    PAGE_SIZE,
    Page,
    PageRequest,
    make_page,
    parse_numbers,
    parse_page_request,
)
from datasets_app.models import Dataset, Turn
from datasets_app.models.conversation import MAX_SEARCHED_CHARACTERS


def turns(request: HttpRequest) -> HttpResponse:
    query = request.GET
    pk = parse_pk(query.get("dataset", ""))
    dataset = None if pk is None else get_visible_dataset(request, pk)
    visible = Dataset.objects.visible_to(request.user)
    chosen = parse_turn_filter(query)
    # A search would tell which words raw text contains, so it leaves these out. Browsing shows structure.
    is_filtered = chosen.has_text or dataset is not None
    searched = [dataset] if dataset else []
    if chosen.has_text and not dataset:
        searched = list(visible.order_by("-updated_at")[:MAX_DATASETS_SEARCHED])
    withheld = raw_access.find_withheld(request.user, searched) if is_filtered else set()
    context = {
        "dataset": dataset,
        "withheld": dataset is not None and dataset.pk in withheld,
        "max_datasets": len(searched) if len(searched) == MAX_DATASETS_SEARCHED else 0,
        "withheld_count": len(withheld) if chosen.has_text and dataset is None else 0,
        "datasets": visible.order_by("name").values_list("pk", "name")[:500],
        "filter": chosen,
        "ignored": list_ignored(query, chosen),
        **(_dataset_context(request, dataset, chosen, dataset.pk not in withheld) if dataset else {}),
        "roles": Turn.Role.choices,
        "turn_count": dataset.turn_count if dataset else visible.aggregate(n=Sum("turn_count"))["n"] or 0,
        "max_hits": MAX_HITS,
        **(
            _search_context(
                [row.pk for row in searched if row.pk not in withheld], chosen, query.get("page", "")
            )
            if chosen.has_text
            else _browse_context(
                [dataset.pk] if dataset else list(visible.values_list("pk", flat=True)), chosen.role, request
            )
        ),
    }
    shown = _withhold_rows(request.user, context["page"].rows)
    raw_access.record_turn_access(shown, request.user, place="search" if chosen.has_text else "turns")
    crumbs = dataset_breadcrumbs(dataset, ("Turns", None)) if dataset else [("Turns", None)]
    return render_page(request, "datasets_app/turn_list.html", crumbs, context)


def _dataset_context(
    request: HttpRequest, dataset: Dataset, chosen: TurnFilter, may_read: bool
) -> dict[str, Any]:
    """What only the list of one dataset's turns has: its tabs, saved views and a selection."""
    return {
        **frame_context(request, dataset, "turns"),
        "views": list_views(request, dataset, "turns", may_read=may_read),
        "may_select": may_select(request.user),
        "filter_query": urlencode(chosen.as_parameters()),
    }


def _withhold_rows(user: Any, rows: Sequence[Any]) -> list[Dataset]:
    """Withhold the turns that the user may not read; returns the dataset of each of the others."""
    withheld = raw_access.find_withheld(user, (turn.session.dataset for turn in rows))
    for turn in rows:
        if turn.session.dataset_id in withheld:
            raw_access.withhold_turn(turn)
            raw_access.withhold_session(turn.session)
    return [turn.session.dataset for turn in rows if turn.session.dataset_id not in withheld]


def _browse_context(dataset_ids: Sequence[int], role: str, request: HttpRequest) -> dict[str, Any]:
    page_request = parse_page_request(request.GET)
    after, before = parse_numbers(page_request.after, 2), parse_numbers(page_request.before, 2)
    page_request = PageRequest(
        page_request.after if after else "", page_request.before if before else "", page_request.last
    )
    query = PageQuery(role, after, before, page_request.last, PAGE_SIZE + 1)
    keys = page_turns(dataset_ids, query)
    page = make_page(_load_rows(keys, ""), page_request, lambda turn: f"{turn.session_id}.{turn.turn_index}")
    return {"page": page}


def _search_context(dataset_ids: Sequence[int], chosen: TurnFilter, number: str) -> dict[str, Any]:
    result = search_turns(dataset_ids, chosen.q, tag=chosen.tag, role=chosen.role)
    page_number = max(1, parse_pk(number) or 1)
    first = (page_number - 1) * PAGE_SIZE
    keys = result.turns[first : first + PAGE_SIZE]
    following = str(page_number + 1) if first + PAGE_SIZE < len(result.turns) else None
    previous = str(page_number - 1) if page_number > 1 else None
    return {
        "page": Page(_load_rows(keys, chosen.q), previous, following),
        "result_count": len(result.turns),
        "has_more_results": result.more,
        "first": first + 1,
        "last": first + len(keys),
    }


def _load_rows(keys: Sequence[TurnKey], query: str) -> list[Any]:
    """The turns with these keys in order, each with its excerpt."""
    # Without a search the excerpt is the start of the text, so fetch no more.
    characters = MAX_SEARCHED_CHARACTERS if query else 1_000
    datasets = {key.dataset for key in keys}
    turns = (
        Turn.objects.filter(dataset__in=datasets, session__dataset__in=datasets)
        .filter(pk__in=[key.turn for key in keys])
        .with_text_start(characters)
        .select_related("session__dataset")
        .defer("metadata", "extra", "session__dataset__provenance")
        .in_order()
    )
    rows = list(turns)
    for turn in rows:
        turn.excerpt = make_excerpt(turn.start, query)
        turn.is_truncated = turn.excerpt.cut_after or turn.characters > characters
    return rows
