"""The list of turns with its search, and the page of one turn."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.contrib import admin
from django.db.models import Sum
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse

from datasets_app.catalog import raw_access
from datasets_app.catalog.search import MAX_HITS, make_excerpt, search_turns
from datasets_app.core.web.dataset_page import build_dataset_tabs
from datasets_app.core.web.pages import (
    dataset_breadcrumbs,
    get_visible_dataset,
    render_page,
    require_permissions,
)
from datasets_app.core.web.paging import (
    PAGE_SIZE,
    Page,
    PageRequest,
    make_page,
    parse_numbers,
    parse_page_request,
)
from datasets_app.core.web.read_only import ReadOnlyAdmin
from datasets_app.models import Dataset, Turn
from datasets_app.models.conversation import MAX_SEARCHED_CHARACTERS


class TurnFilter(NamedTuple):
    query: str
    tag: str
    role: str

    @property
    def is_search(self) -> bool:
        """A tag is looked up in the search index too: few turns may have it, and far apart."""
        return bool(self.query or self.tag)


@admin.register(Turn)
class TurnAdmin(ReadOnlyAdmin):
    def get_queryset(self, request: HttpRequest) -> Any:
        """For the pages that the framework adds of itself, too."""
        visible = Dataset.objects.visible_to(request.user)
        return super().get_queryset(request).filter(session__dataset__in=visible)

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        require_permissions(request, "view_dataset", "view_turn")
        return _render_turn_list(request)

    def change_view(self, request: HttpRequest, object_id: str, *_: Any, **__: Any) -> HttpResponse:
        require_permissions(request, "view_dataset", "view_turn")
        place = parse_numbers(object_id, 1)
        turns = self.get_queryset(request).select_related("session__dataset")
        turn = get_object_or_404(turns, pk=place[0] if place else None)
        raw_access.record_access(
            turn.session.dataset, request.user, place="turn", session=turn.session_id, turn=turn.turn_index
        )
        address = reverse("admin:datasets_app_session_change", args=[turn.session_id])
        crumbs = dataset_breadcrumbs(
            turn.session.dataset,
            (turn.session.session_id, f"{address}?turn={turn.turn_index}#turn-{turn.turn_index}"),
            (f"Turn {turn.turn_index}", None),
        )
        return render_page(request, "datasets_app/turn.html", crumbs, {"turn": turn})


def _render_turn_list(request: HttpRequest) -> HttpResponse:
    query = request.GET
    dataset = get_visible_dataset(request, query["dataset"]) if query.get("dataset", "").isdecimal() else None
    visible = Dataset.objects.visible_to(request.user)
    ids = [dataset.pk] if dataset else list(visible.values_list("pk", flat=True))
    role = query.get("role", "") if query.get("role") in Turn.Role.values else ""
    wanted = TurnFilter(query.get("q", "").strip(), query.get("tag", "").strip(), role)
    context = {
        "dataset": dataset,
        "datasets": visible.order_by("name").values_list("pk", "name")[:500],
        "turn_filter": wanted,
        "tabs": build_dataset_tabs(request, dataset, "turns") if dataset else None,
        "roles": Turn.Role.choices,
        "turn_count": dataset.turn_count if dataset else visible.aggregate(n=Sum("turn_count"))["n"] or 0,
        "max_hits": MAX_HITS,
        **(
            _search_context(ids, wanted, query.get("page", ""))
            if wanted.is_search
            else _browse_context(ids, role, request)
        ),
    }
    shown = [turn.session.dataset for turn in context["page"].rows]
    raw_access.record_turn_access(shown, request.user, place="search" if wanted.is_search else "turns")
    crumbs = dataset_breadcrumbs(dataset, ("Turns", None)) if dataset else [("Turns", None)]
    return render_page(request, "datasets_app/turn_list.html", crumbs, context)


def _browse_context(dataset_ids: Sequence[int], role: str, request: HttpRequest) -> dict[str, Any]:
    wanted = parse_page_request(request.GET)
    after, before = parse_numbers(wanted.after, 2), parse_numbers(wanted.before, 2)
    wanted = PageRequest(wanted.after if after else "", wanted.before if before else "", wanted.last)
    ids = Turn.objects.all().page_ids(
        dataset_ids, role=role, after=after, before=before, backwards=wanted.last, limit=PAGE_SIZE + 1
    )
    page = make_page(_load_rows(ids, ""), wanted, lambda turn: f"{turn.session_id}.{turn.turn_index}")
    return {"page": page}


def _search_context(dataset_ids: Sequence[int], wanted: TurnFilter, number: str) -> dict[str, Any]:
    result = search_turns(dataset_ids, wanted.query, tag=wanted.tag, role=wanted.role)
    at = max(1, int(number)) if number.isascii() and number.isdigit() and len(number) < 6 else 1
    first = (at - 1) * PAGE_SIZE
    ids = result.turn_ids[first : first + PAGE_SIZE]
    following = str(at + 1) if first + PAGE_SIZE < len(result.turn_ids) else None
    return {
        "page": Page(_load_rows(ids, wanted.query), str(at - 1) if at > 1 else None, following),
        "result_count": len(result.turn_ids),
        "has_more_results": result.more,
        "first": first + 1,
        "last": first + len(ids),
    }


def _load_rows(ids: Sequence[int], words: str) -> list[Any]:
    """The turns of these keys in order, each with the excerpt that is to be shown."""
    # Without a search the excerpt is the start of the text, so that is all that is fetched.
    characters = MAX_SEARCHED_CHARACTERS if words else 1_000
    turns = (
        Turn.objects.filter(pk__in=ids)
        .with_text_start(characters)
        .select_related("session__dataset")
        .defer("metadata", "extra", "session__dataset__provenance")
        .in_order()
    )
    rows = list(turns)
    for turn in rows:
        turn.excerpt = make_excerpt(turn.start, words)
        turn.is_truncated = turn.excerpt.cut_after or turn.characters > characters
    return rows
