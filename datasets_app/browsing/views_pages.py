"""Saved views of the lists of sessions and turns: filters, columns and order under a name."""

from django.contrib import messages
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_POST

from datasets_app.browsing.columns import COLUMNS
from datasets_app.browsing.filters import SessionFilter, parse_filter
from datasets_app.browsing.turn_filter import parse_turn_filter
from datasets_app.catalog import raw_access
from datasets_app.catalog.rows.session_pages import ORDERS
from datasets_app.catalog.written_text import check_written
from datasets_app.core import audit
from datasets_app.core.web.pages import dataset_url, get_visible_dataset, require_permissions
from datasets_app.core.web.refusals import show_refusal
from datasets_app.models import Dataset, SavedView

MAX_NAME_LENGTH, MAX_VIEWS_SHOWN = 100, 100
# Who may save a view for everybody.
SHARE_PERMISSION = "datasets_app.change_dataset"


# The permission to open each list.
_PERMISSIONS = {"sessions": "view_session", "turns": "view_turn"}


def get_listed_dataset(request: HttpRequest, pk: int, page: str) -> Dataset:
    """The dataset whose list of sessions or turns this is about. Raises Http404 for another page."""
    if page not in _PERMISSIONS:
        raise Http404
    return get_visible_dataset(request, pk, _PERMISSIONS[page])


def list_url(dataset: Dataset, page: str, query: str = "") -> str:
    if page == "turns":
        own = urlencode({"dataset": dataset.pk})
        query = query if own in query.split("&") else "&".join(filter(None, [own, query]))
        return f"{reverse('admin:datasets_app_turn_changelist')}?{query}"
    return f"{dataset_url(dataset, 'sessions')}?{query}"


def list_views(request: HttpRequest, dataset: Dataset, page: str, *, may_read: bool) -> list[SavedView]:
    """The user's own and shared ones; without those that name text that the user may not read."""
    user = request.user
    views = SavedView.objects.filter(Q(owner=user) | Q(shared=True), dataset=dataset, page=page)
    if not may_read:
        views = views.filter(has_text=False)
    found = list(views.select_related("owner")[:MAX_VIEWS_SHOWN])
    query, _ = _read_query(request, page, may_read)
    for view in found:
        view.url = list_url(dataset, page, view.query)
        view.is_current = view.query == query
        view.may_delete = view.owner_id == user.pk or (view.shared and user.has_perm(SHARE_PERMISSION))
    return found


def _read_query(request: HttpRequest, page: str, may_read: bool) -> tuple[str, bool]:
    """What the address chooses, and whether it names text of a conversation."""
    if page == "turns":
        of_turns = parse_turn_filter(request.GET)
        of_turns = of_turns if may_read else of_turns._replace(q="", tag="")
        return urlencode(of_turns.as_parameters()), of_turns.has_text
    chosen = parse_filter(request.GET, may_read=may_read, user=request.user)
    return encode_list(chosen, request.GET), chosen.has_text


def encode_list(chosen: SessionFilter, query: QueryDict) -> str:
    """Filters, columns and order, as an address has them."""
    return urlencode([*chosen.as_parameters(), *list_display(query).items()], doseq=True)


def list_display(query: QueryDict) -> dict[str, list[str]]:
    """The columns and the order in an address."""
    sort = query.get("sort", "")
    columns = [name for name in query.getlist("col") if name in COLUMNS]
    return ({"col": columns} if columns else {}) | ({"sort": [sort]} if sort.lstrip("-") in ORDERS else {})


@require_POST
def save_view(request: HttpRequest, pk: int, page: str) -> HttpResponse:
    """Save what the address says; a view of the same name is replaced, unless it is of the other list."""
    dataset = get_listed_dataset(request, pk, page)
    query, has_text = _read_query(request, page, raw_access.may_read(request.user, dataset))
    name = request.POST.get("name", "").replace("\0", "").strip()[:MAX_NAME_LENGTH]
    shared = "shared" in request.POST and request.user.has_perm(SHARE_PERMISSION)
    key = {"dataset": dataset, "owner": request.user, "name": name}
    other = SavedView.objects.filter(**key).exclude(page=page).first()
    if not name:
        messages.error(request, "Enter a name for the view.")
    elif other:
        messages.error(
            request, f"You have a view of this name in the list of {other.page}. Choose another name."
        )
    else:
        with show_refusal(request):
            # The name may repeat what is searched: then it is withheld, and deleted, with the view.
            if not has_text:
                check_written(dataset, {"name": name}, always=True)
            values = {"page": page, "query": query, "has_text": has_text, "shared": shared}
            SavedView.objects.update_or_create(**key, defaults=values)
            if shared:
                audit.record("share_view", actor=request.user, dataset_name=dataset.name)
            messages.success(request, "The view was saved.")
    return redirect(list_url(dataset, page, query))


@require_POST
def delete_view(request: HttpRequest, pk: int, view_pk: int) -> HttpResponse:
    dataset = get_visible_dataset(request, pk)
    deletable = Q(owner=request.user)
    if request.user.has_perm(SHARE_PERMISSION):
        deletable |= Q(shared=True)
    view = get_object_or_404(SavedView.objects.filter(deletable), pk=view_pk, dataset=dataset)
    require_permissions(request, _PERMISSIONS[view.page])
    if view.shared:
        audit.record("unshare_view", actor=request.user, dataset_name=dataset.name)
    view.delete()
    messages.success(request, "The view was deleted.")
    return redirect(list_url(dataset, view.page))
