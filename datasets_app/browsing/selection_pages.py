"""What can be done with selected sessions or turns."""

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from datasets_app import hooks
from datasets_app.browsing.change_sessions import UNDO, change_at_once, check_tag, undo_change
from datasets_app.browsing.filters import build_conditions, parse_filter
from datasets_app.browsing.parameters import ExcludeParameters, TagParameters
from datasets_app.browsing.turn_filter import parse_turn_filter
from datasets_app.browsing.views_pages import get_listed_dataset, list_url
from datasets_app.catalog import raw_access
from datasets_app.catalog.rows.session_pages import list_session_keys
from datasets_app.catalog.search import list_turn_keys
from datasets_app.catalog.selections import MAX_SELECTED, save_selection
from datasets_app.core.errors import UserError
from datasets_app.core.web.dataset_page import build_dataset_tabs, render_dataset_page
from datasets_app.core.web.pages import (
    add_back,
    get_visible_dataset,
    parse_pk,
    read_back,
    require_permissions,
)
from datasets_app.core.web.refusals import show_refusal
from datasets_app.jobs.pages import start_and_show_job
from datasets_app.jobs.permissions import start_permission
from datasets_app.models import Dataset, Session, SessionSelection, Turn


def may_change(user: Any) -> bool:
    return bool(user.has_perm(start_permission("tag_sessions")))


def may_select(user: Any) -> bool:
    """Whether there is anything that the user could do with a selection."""
    others = ("datasets_app.export_dataset", start_permission("add_to_campaign"))
    return may_change(user) or any(user.has_perm(permission) for permission in others)


@require_POST
def select(request: HttpRequest, pk: int, page: str) -> HttpResponse:
    """Keep the sessions or turns that are ticked or, with ``all``, that the filters in the address match.
    With an ``action``, do that with them."""
    dataset = get_listed_dataset(request, pk, page)
    may_read = raw_access.may_read(request.user, dataset)
    listed = list_url(dataset, page, request.GET.urlencode())
    with show_refusal(request):
        if page == "turns":
            keys = _list_turns(request, dataset, may_read)
            turns = [turn for _, turn in keys]
            selection = save_selection(dataset, {key for key, _ in keys}, request.user, turns=turns)
        else:
            selection = save_selection(dataset, _list_keys(request, dataset, may_read), request.user)
        if request.POST.get("action"):
            return _start(request, dataset, selection, "")
        url = reverse("admin:datasets_app_dataset_selection", args=[dataset.pk, selection.pk])
        return redirect(add_back(url, read_back(request) or listed))
    return redirect(listed)


@require_POST
def change(request: HttpRequest, pk: int) -> JsonResponse:
    """Change the ticked sessions at once, or undo that: what the list does without leaving it."""
    require_permissions(request, "view_session", start_permission("tag_sessions").split(".")[1])
    dataset = get_visible_dataset(request, pk)
    action, tag = request.POST.get("action", ""), request.POST.get("tag", "").strip()
    undone = parse_pk(request.POST.get("undo", ""))
    if action not in UNDO:
        return JsonResponse({"error": f"Unknown action: {action[:20]}"}, status=400)
    try:
        if "tag" in action:
            raw_access.check_may_read(request.user, dataset)
            check_tag(dataset, tag)
        if undone is not None:
            chosen = get_object_or_404(SessionSelection, pk=undone, dataset=dataset, owner=request.user)
            done = undo_change(dataset, chosen, action, tag, actor=request.user)
        else:
            done = change_at_once(dataset, _list_ticked(request), action, tag, actor=request.user)
    except UserError as refusal:
        return JsonResponse({"error": refusal.message}, status=400)
    undo = done.undo and {"undo": done.undo.pk, "action": action, "tag": tag}
    return JsonResponse({"message": done.message, "undo": undo})


def _list_keys(request: HttpRequest, dataset: Dataset, may_read: bool) -> list[int]:
    if "all" in request.POST:
        chosen = parse_filter(request.GET, may_read=may_read, user=request.user)
        return list_session_keys(dataset.pk, build_conditions(dataset.pk, chosen), MAX_SELECTED + 1)
    return list(
        Session.objects.filter(dataset=dataset, pk__in=_list_ticked(request)).values_list("pk", flat=True)
    )


def _list_turns(request: HttpRequest, dataset: Dataset, may_read: bool) -> list[tuple[int, int]]:
    """(session, turn) of each. What matches a word tells that raw text has it."""
    if "all" not in request.POST:
        turns = Turn.objects.filter(dataset=dataset, pk__in=_list_ticked(request))
        return list(turns.values_list("session_id", "pk"))
    chosen = parse_turn_filter(request.GET)
    if chosen.has_text and not may_read:
        return []
    return list_turn_keys(dataset.pk, chosen.q, tag=chosen.tag, role=chosen.role, limit=MAX_SELECTED + 1)


def _list_ticked(request: HttpRequest) -> list[int]:
    return [key for key in map(parse_pk, request.POST.getlist("row")) if key is not None]


def selection(request: HttpRequest, pk: int, selection_pk: int) -> HttpResponse:
    dataset = get_visible_dataset(request, pk, "view_session")
    chosen = get_object_or_404(SessionSelection, pk=selection_pk, dataset=dataset, owner=request.user)
    tag, error = request.POST.get("tag", "").strip(), ""
    if request.method == "POST":
        try:
            return _start(request, dataset, chosen, tag)
        except UserError as refusal:
            error = refusal.message
    page = "sessions" if chosen.turns is None else "turns"
    back = read_back(request) or list_url(dataset, page)
    links = hooks.panels.list_selection_links(dataset, chosen, request.user)
    context = {
        "selection": chosen,
        "tabs": build_dataset_tabs(request, dataset, page),
        "list_url": back,
        "excluded": Session.objects.filter(dataset=dataset, pk__in=chosen.keys, excluded=True).count(),
        "tag": tag,
        "error": error,
        "may_change": may_change(request.user),
        "links": [(title, add_back(url, back)) for title, url in links],
    }
    return render_dataset_page(request, dataset, "selection", "Selection", context)


def _start(request: HttpRequest, dataset: Dataset, chosen: SessionSelection, tag: str) -> Any:
    """Start the job of the button that was pressed. Raises UserError."""
    action = request.POST.get("action", "")
    require_permissions(request, start_permission("tag_sessions").split(".")[1])
    if action in {"exclude", "include"}:
        parameters = ExcludeParameters(selection=chosen.pk, include=action == "include")
        return start_and_show_job(request, "exclude_sessions", dataset, parameters)
    if action == "tag":
        check_tag(dataset, tag)
    elif not tag:
        raise UserError("Enter the tag to remove.")
    raw_access.check_may_read(request.user, dataset)
    return start_and_show_job(
        request, "tag_sessions", dataset, TagParameters(selection=chosen.pk, tag=tag, remove=action != "tag")
    )
