"""Saved views of the list of sessions: filters, columns and order under a name."""

from typing import Any

from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.utils.http import urlencode
from django.views.decorators.http import require_POST

from datasets_app.browsing.columns import COLUMNS
from datasets_app.browsing.filters import parse_filter
from datasets_app.catalog import raw_access
from datasets_app.catalog.rows.session_pages import ORDERS
from datasets_app.core import audit
from datasets_app.core.web.pages import dataset_url, get_visible_dataset, require_permissions
from datasets_app.models import Dataset, SavedView

MAX_NAME_LENGTH, MAX_VIEWS_SHOWN = 100, 100
# Who may save a view for everybody.
SHARE_PERMISSION = "datasets_app.change_dataset"


def list_views(dataset: Dataset, user: Any, *, may_read: bool) -> list[SavedView]:
    """The user's own and shared ones; without those that name text that the user may not read."""
    views = SavedView.objects.filter(Q(owner=user) | Q(shared=True), dataset=dataset).select_related("owner")
    if not may_read:
        views = views.filter(has_text=False)
    found = list(views[:MAX_VIEWS_SHOWN])
    for view in found:
        view.may_delete = view.owner_id == user.pk or (view.shared and user.has_perm(SHARE_PERMISSION))
    return found


@require_POST
def save_view(request: HttpRequest, pk: int) -> HttpResponse:
    """Save what the address says; a view of the same name is replaced."""
    require_permissions(request, "view_session")
    dataset = get_visible_dataset(request, pk)
    may_read = raw_access.may_read(request.user, dataset)
    chosen = parse_filter(request.GET, may_read=may_read, user=request.user)
    name = request.POST.get("name", "").replace("\0", "").strip()[:MAX_NAME_LENGTH]
    shared = "shared" in request.POST and request.user.has_perm(SHARE_PERMISSION)
    query = urlencode({**chosen.as_parameters(), **_list_display(request.GET)}, doseq=True)
    if not name:
        messages.error(request, "Enter a name for the view.")
    else:
        SavedView.objects.update_or_create(
            dataset=dataset,
            owner=request.user,
            name=name,
            # The name may repeat what is searched.
            defaults={"query": query, "has_text": chosen.has_text, "shared": shared},
        )
        if shared:
            audit.record("share_view", actor=request.user, dataset_name=dataset.name)
        messages.success(request, "The view was saved.")
    return redirect(f"{dataset_url(dataset, 'sessions')}?{query}")


def _list_display(query: QueryDict) -> dict[str, Any]:
    """The columns and the order in an address."""
    sort = query.get("sort", "")
    columns = [name for name in query.getlist("col") if name in COLUMNS]
    return ({"col": columns} if columns else {}) | ({"sort": sort} if sort.lstrip("-") in ORDERS else {})


@require_POST
def delete_view(request: HttpRequest, pk: int, view_pk: int) -> HttpResponse:
    require_permissions(request, "view_session")
    dataset = get_visible_dataset(request, pk)
    deletable = Q(owner=request.user)
    if request.user.has_perm(SHARE_PERMISSION):
        deletable |= Q(shared=True)
    view = get_object_or_404(SavedView.objects.filter(deletable), pk=view_pk, dataset=dataset)
    if view.shared:
        audit.record("unshare_view", actor=request.user, dataset_name=dataset.name)
    view.delete()
    messages.success(request, "The view was deleted.")
    return redirect(dataset_url(dataset, "sessions"))
