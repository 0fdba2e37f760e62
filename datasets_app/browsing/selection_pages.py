"""What can be done with selected sessions."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from datasets_app import hooks
from datasets_app.browsing.change_sessions import check_tag
from datasets_app.browsing.filters import build_conditions, parse_filter
from datasets_app.browsing.parameters import ExcludeParameters, TagParameters
from datasets_app.catalog import raw_access
from datasets_app.catalog.rows.session_pages import list_session_keys
from datasets_app.catalog.selections import MAX_SELECTED, save_selection
from datasets_app.core.errors import UserError
from datasets_app.core.web.dataset_page import render_dataset_page
from datasets_app.core.web.pages import dataset_url, get_visible_dataset, parse_pk, require_permissions
from datasets_app.jobs.pages import start_and_show_job
from datasets_app.jobs.permissions import start_permission
from datasets_app.models import Dataset, Session, SessionSelection


@require_POST
def select(request: HttpRequest, pk: int) -> HttpResponse:
    """Keep the sessions that are ticked or, with ``all``, that the filters in the address match."""
    require_permissions(request, "view_session")
    dataset = get_visible_dataset(request, pk)
    try:
        selection = save_selection(dataset, _list_keys(request, dataset), request.user)
    except UserError as refusal:
        messages.error(request, refusal.message)
        return redirect(f"{dataset_url(dataset, 'sessions')}?{request.GET.urlencode()}")
    return redirect("admin:datasets_app_dataset_selection", dataset.pk, selection.pk)


def _list_keys(request: HttpRequest, dataset: Dataset) -> list[int]:
    if "all" in request.POST:
        may_read = raw_access.may_read(request.user, dataset)
        chosen = parse_filter(request.GET, may_read=may_read, user=request.user)
        return list_session_keys(dataset.pk, build_conditions(dataset.pk, chosen), MAX_SELECTED + 1)
    ticked = [key for key in map(parse_pk, request.POST.getlist("session")) if key is not None]
    return list(Session.objects.filter(dataset=dataset, pk__in=ticked).values_list("pk", flat=True))


def selection(request: HttpRequest, pk: int, selection_pk: int) -> HttpResponse:
    require_permissions(request, "view_session")
    dataset = get_visible_dataset(request, pk)
    chosen = get_object_or_404(SessionSelection, pk=selection_pk, dataset=dataset, owner=request.user)
    tag, error = request.POST.get("tag", "").strip(), ""
    if request.method == "POST":
        try:
            return _start(request, dataset, chosen, tag)
        except UserError as refusal:
            error = refusal.message
    context = {
        "selection": chosen,
        "count": len(chosen.keys),
        "excluded": Session.objects.filter(dataset=dataset, pk__in=chosen.keys, excluded=True).count(),
        "tag": tag,
        "error": error,
        "may_change": request.user.has_perm(start_permission("tag_sessions")),
        "links": [
            link for list_links in hooks.selection_links for link in list_links(dataset, chosen, request.user)
        ],
    }
    return render_dataset_page(request, dataset, "selection", "Selected sessions", context)


def _start(request: HttpRequest, dataset: Dataset, chosen: SessionSelection, tag: str) -> Any:
    """Start the job of the button that was pressed. Raises UserError."""
    action = request.POST.get("action", "")
    require_permissions(request, start_permission("tag_sessions").split(".")[1])
    if action in {"exclude", "include"}:
        parameters = ExcludeParameters(selection=chosen.pk, include=action == "include")
        return start_and_show_job(request, "exclude_sessions", dataset, parameters)
    if action == "tag":
        check_tag(tag)
    elif not tag:
        raise UserError("Enter the tag to remove.")
    raw_access.check_may_read(request.user, dataset)
    return start_and_show_job(
        request, "tag_sessions", dataset, TagParameters(selection=chosen.pk, tag=tag, remove=action != "tag")
    )
