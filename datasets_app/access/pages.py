"""The "Access" page of a dataset: whether it is restricted, who was granted it, who can see it and why."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.models import Group
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from datasets_app.access import limit_access
from datasets_app.access.who_can_see import (
    ALL,
    NO_ACCESS,
    REPLIES,
    count_viewers,
    explain_viewers,
    list_accounts,
)
from datasets_app.core.errors import UserError
from datasets_app.core.web.dataset_page import render_dataset_page
from datasets_app.core.web.pages import dataset_url, get_visible_dataset, require_permissions
from datasets_app.core.web.paging import Page, paginate_by, parse_page_request
from datasets_app.models import Dataset, DatasetGrant

MAX_GRANTS_SHOWN, MAX_GROUPS_OFFERED = 500, 100
# What can be looked at; the first is what is shown without asking.
VISIBILITY_CHOICES = {
    "can": ("See it", [ALL, REPLIES]),
    "cannot": ("Don’t see it", [NO_ACCESS]),
    "everybody": ("Everybody", [ALL, REPLIES, NO_ACCESS]),
}


def access(request: HttpRequest, pk: int) -> HttpResponse:
    require_permissions(request, "limit_access")
    dataset = get_visible_dataset(request, pk)
    grants = DatasetGrant.objects.filter(dataset=dataset).select_related("user", "group", "granted_by")
    context = {
        "grants": grants[:MAX_GRANTS_SHOWN],
        "grant_count": grants.count(),
        "counts": count_viewers(dataset),
        "grant_fields": [("user", "User name"), ("group", "Group")],
        "groups": Group.objects.order_by("name").values_list("name", flat=True)[:MAX_GROUPS_OFFERED],
        "max_name_length": 150,
        **_people_context(request, dataset),
    }
    return render_dataset_page(request, dataset, "access", "Access", context)


def _people_context(request: HttpRequest, dataset: Dataset) -> dict[str, Any]:
    wanted = request.GET.get("who", "")
    wanted = wanted if wanted in VISIBILITY_CHOICES else "can"
    name = request.GET.get("q", "").replace("\0", "").strip()
    found = list_accounts(dataset).filter(sees__in=VISIBILITY_CHOICES[wanted][1])
    if name:
        found = found.filter(username__icontains=name)
    page = paginate_by(found, "username", parse_page_request(request.GET))
    return {
        "page": Page(explain_viewers(dataset, page.rows), page.previous, page.next),
        "who": wanted,
        "choices": [(key, words) for key, (words, _) in VISIBILITY_CHOICES.items()],
        "name": name,
    }


@require_POST
def change_access(request: HttpRequest, pk: int) -> HttpResponse:
    """``do`` is "restrict", "open" or "grant" (to the ``user`` or the ``group`` of a name)."""
    require_permissions(request, "limit_access")
    dataset = get_visible_dataset(request, pk)
    wanted = request.POST.get("do", "")
    try:
        if wanted == "restrict":
            limit_access.restrict_dataset(dataset, actor=request.user)
            told = f"{dataset.name} is restricted: only those who are granted it see it."
        elif wanted == "open":
            limit_access.unrestrict_dataset(dataset, actor=request.user)
            told = f"{dataset.name} is open to everybody whose role sees datasets."
        else:
            told = _add_grant(request, dataset)
        messages.success(request, told)
    except UserError as refusal:
        messages.error(request, refusal.message)
    return redirect(_return_url(request, dataset))


def _add_grant(request: HttpRequest, dataset: Dataset) -> str:
    user, group = (request.POST.get(name, "").replace("\0", "").strip() for name in ("user", "group"))
    if bool(user) == bool(group):
        raise UserError("Name a person or a group.")
    grantee = limit_access.get_user(user) if user else limit_access.get_group(group)
    new = limit_access.grant_access(dataset, grantee, actor=request.user)
    return f"Granted to {user or group}." if new else f"{user or group} was granted it already."


@require_POST
def revoke_grant(request: HttpRequest, pk: int, grant_pk: int) -> HttpResponse:
    require_permissions(request, "limit_access")
    dataset = get_visible_dataset(request, pk)
    grants = DatasetGrant.objects.filter(dataset=dataset).select_related("user", "group")
    given = get_object_or_404(grants, pk=grant_pk)
    limit_access.revoke_access(dataset, given.user or given.group, actor=request.user)
    messages.success(request, f"The grant to {given.user or given.group} is taken back.")
    return redirect(_return_url(request, dataset))


def _return_url(request: HttpRequest, dataset: Dataset) -> str:
    """The page as it was looked at."""
    kept = {name: value for name in ("who", "q") if (value := request.POST.get(name, ""))}
    address = dataset_url(dataset, "access")
    return f"{address}?{urlencode(kept)}" if kept else address
