"""The "Access" page of a dataset: its restriction, its grants, and who can see it and why."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.models import Group, User
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
from datasets_app.core.web.pages import dataset_url, get_visible_dataset
from datasets_app.core.web.paging import Page, paginate_by_field_and_id, parse_page_request
from datasets_app.core.web.refusals import show_refusal
from datasets_app.domain.wording import format_count
from datasets_app.models import Dataset, DatasetGrant

MAX_GRANTS_SHOWN, MAX_GROUPS_OFFERED, MAX_USERS_OFFERED = 500, 100, 1_000
# Choices of the filter; the first is the default.
VISIBILITY_CHOICES = {
    "can": ("Has access", [ALL, REPLIES]),
    "cannot": ("No access", [NO_ACCESS]),
    "everybody": ("Everyone", [ALL, REPLIES, NO_ACCESS]),
}


def access(request: HttpRequest, pk: int) -> HttpResponse:
    dataset = get_visible_dataset(request, pk, "limit_access")
    grants = DatasetGrant.objects.filter(dataset=dataset).select_related("user", "group", "granted_by")
    counts = count_viewers(dataset)
    context = {
        "grants": grants[:MAX_GRANTS_SHOWN],
        "grant_count": grants.count(),
        "counts": counts,
        "visibility": _describe_visibility(dataset, counts),
        "grant_fields": [("user", "User name"), ("group", "Group")],
        "groups": Group.objects.order_by("name").values_list("name", flat=True)[:MAX_GROUPS_OFFERED],
        "users": _list_names(),
        "max_name_length": 150,
        **_people_context(request, dataset),
    }
    return render_dataset_page(request, dataset, "access", "Access", context)


def _list_names() -> list[str]:
    """User names to choose from. The page lists all of them anyway."""
    users = User.objects.filter(is_active=True, is_staff=True).order_by("username")
    return list(users.values_list("username", flat=True)[:MAX_USERS_OFFERED])


def _describe_visibility(dataset: Dataset, counts: dict[str, int]) -> str:
    if dataset.restricted:
        now, other, change = "users with a grant and users who can limit access", "open", "Opening it"
    else:
        now, other, change = "everyone whose role sees datasets", "restricted", "Restricting it"
    users = format_count(counts[other], "user")
    if counts[other] == counts["all"]:
        return f"Visible to {now}. {change} would not change that ({users})."
    return f"Visible to {now}. {change} would make it visible to {users} instead of {counts['all']:,}."


def _people_context(request: HttpRequest, dataset: Dataset) -> dict[str, Any]:
    who = request.GET.get("who", "")
    who = who if who in VISIBILITY_CHOICES else "can"
    name = request.GET.get("q", "").strip()
    accounts = list_accounts(dataset).filter(sees__in=VISIBILITY_CHOICES[who][1])
    if name:
        accounts = accounts.filter(username__icontains=name)
    page = paginate_by_field_and_id(accounts, "username", parse_page_request(request.GET))
    return {
        "page": Page(explain_viewers(dataset, page.rows), page.previous, page.next),
        "who": who,
        "choices": [(key, label) for key, (label, _) in VISIBILITY_CHOICES.items()],
        "name": name,
    }


@require_POST
def change_access(request: HttpRequest, pk: int) -> HttpResponse:
    """``do`` is "restrict", "open" or "grant" (to the ``user`` or the ``group`` of a name)."""
    dataset = get_visible_dataset(request, pk, "limit_access")
    action = request.POST.get("do", "")
    with show_refusal(request):
        if action == "restrict":
            limit_access.restrict_dataset(dataset, actor=request.user)
            message = f"{dataset.name} is restricted to users and groups with a grant."
        elif action == "open":
            limit_access.unrestrict_dataset(dataset, actor=request.user)
            message = f"{dataset.name} is open to everyone whose role sees datasets."
        else:
            message = _add_grant(request, dataset)
        messages.success(request, message)
    return redirect(_return_url(request, dataset))


def _add_grant(request: HttpRequest, dataset: Dataset) -> str:
    user, group = (request.POST.get(name, "").replace("\0", "").strip() for name in ("user", "group"))
    if bool(user) == bool(group):
        raise UserError("Enter a user or a group.")
    grantee = limit_access.get_user(user) if user else limit_access.get_group(group)
    created = limit_access.grant_access(dataset, grantee, actor=request.user)
    return f"Granted access to {user or group}." if created else f"{user or group} already has a grant."


@require_POST
def revoke_grant(request: HttpRequest, pk: int, grant_pk: int) -> HttpResponse:
    dataset = get_visible_dataset(request, pk, "limit_access")
    grants = DatasetGrant.objects.filter(dataset=dataset).select_related("user", "group")
    grant = get_object_or_404(grants, pk=grant_pk)
    limit_access.revoke_access(dataset, grant.user or grant.group, actor=request.user)
    messages.success(request, f"Revoked the grant to {grant.user or grant.group}.")
    return redirect(_return_url(request, dataset))


def _return_url(request: HttpRequest, dataset: Dataset) -> str:
    """The page with its current filter."""
    query = {name: value for name in ("who", "q") if (value := request.POST.get(name, ""))}
    url = dataset_url(dataset, "access")
    return f"{url}?{urlencode(query)}" if query else url
