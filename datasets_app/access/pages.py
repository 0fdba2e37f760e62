"""The "Access" page of a dataset: whether it is restricted, who was granted it, who can see it and why."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.models import Group
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from datasets_app.access import limit_access
from datasets_app.access.who_can_see import ALL, NOTHING, REPLIES, counted, people, seers
from datasets_app.core.errors import Refused
from datasets_app.core.web.dataset_page import dataset_page
from datasets_app.core.web.pages import dataset_address, require, visible_dataset
from datasets_app.core.web.paging import Page, asked, page_by
from datasets_app.models import Dataset, DatasetGrant

GRANTS_SHOWN, GROUPS_OFFERED = 500, 100
# What can be looked at; the first is what is shown without asking.
CHOICES = {
    "can": ("See it", [ALL, REPLIES]),
    "cannot": ("Don’t see it", [NOTHING]),
    "everybody": ("Everybody", [ALL, REPLIES, NOTHING]),
}


def access(request: HttpRequest, pk: int) -> HttpResponse:
    require(request, "limit_access")
    dataset = visible_dataset(request, pk)
    grants = DatasetGrant.objects.filter(dataset=dataset).select_related("user", "group", "granted_by")
    context = {
        "grants": grants[:GRANTS_SHOWN],
        "grant_count": grants.count(),
        "counts": counted(dataset),
        "grant_fields": [("user", "User name"), ("group", "Group")],
        "groups": Group.objects.order_by("name").values_list("name", flat=True)[:GROUPS_OFFERED],
        "longest_name": 150,
        **_people(request, dataset),
    }
    return dataset_page(request, dataset, "access", "Access", context)


def _people(request: HttpRequest, dataset: Dataset) -> dict[str, Any]:
    wanted = request.GET.get("who", "")
    wanted = wanted if wanted in CHOICES else "can"
    name = request.GET.get("q", "").replace("\0", "").strip()
    found = people(dataset).filter(sees__in=CHOICES[wanted][1])
    if name:
        found = found.filter(username__icontains=name)
    page = page_by(found, "username", asked(request.GET))
    return {
        "page": Page(seers(dataset, page.rows), page.previous, page.next),
        "who": wanted,
        "choices": [(key, words) for key, (words, _) in CHOICES.items()],
        "name": name,
    }


@require_POST
def change(request: HttpRequest, pk: int) -> HttpResponse:
    """``do`` is "restrict", "open" or "grant" (to the ``user`` or the ``group`` of a name)."""
    require(request, "limit_access")
    dataset = visible_dataset(request, pk)
    wanted = request.POST.get("do", "")
    try:
        if wanted == "restrict":
            limit_access.restrict(dataset, actor=request.user)
            told = f"{dataset.name} is restricted: only those who are granted it see it."
        elif wanted == "open":
            limit_access.open_to_all(dataset, actor=request.user)
            told = f"{dataset.name} is open to everybody whose role sees datasets."
        else:
            told = _grant(request, dataset)
        messages.success(request, told)
    except Refused as refusal:
        messages.error(request, refusal.message)
    return redirect(_back(request, dataset))


def _grant(request: HttpRequest, dataset: Dataset) -> str:
    user, group = (request.POST.get(name, "").replace("\0", "").strip() for name in ("user", "group"))
    if bool(user) == bool(group):
        raise Refused("Name a person or a group.")
    grantee = limit_access.user_named(user) if user else limit_access.group_named(group)
    new = limit_access.grant(dataset, grantee, actor=request.user)
    return f"Granted to {user or group}." if new else f"{user or group} was granted it already."


@require_POST
def revoke(request: HttpRequest, pk: int, grant_pk: int) -> HttpResponse:
    require(request, "limit_access")
    dataset = visible_dataset(request, pk)
    grants = DatasetGrant.objects.filter(dataset=dataset).select_related("user", "group")
    given = get_object_or_404(grants, pk=grant_pk)
    limit_access.revoke(dataset, given.user or given.group, actor=request.user)
    messages.success(request, f"The grant to {given.user or given.group} is taken back.")
    return redirect(_back(request, dataset))


def _back(request: HttpRequest, dataset: Dataset) -> str:
    """The page as it was looked at."""
    kept = {name: value for name in ("who", "q") if (value := request.POST.get(name, ""))}
    address = dataset_address(dataset, "access")
    return f"{address}?{urlencode(kept)}" if kept else address
