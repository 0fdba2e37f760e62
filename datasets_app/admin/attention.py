"""Who takes care of an item under "Needs attention", and until when somebody put it off."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import get_user_model
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from datasets_app.admin.attention_items import list_attention_items
from datasets_app.catalog.gates import load_all_facts
from datasets_app.core.web.pages import parse_pk
from datasets_app.hooks import AttentionItem
from datasets_app.models import AttentionState, Dataset
from datasets_app.models.attention import FIRST_STEPS_KEY

MAX_ASSIGNEES = 100
SNOOZE_DAYS = (1, 7, 30)
# What hides the first steps for good.
_FOREVER = timedelta(days=36_500)


class AttentionEntry(NamedTuple):
    """An item, with the name of who takes care of it; ``is_snoozed`` by the reader."""

    item: AttentionItem
    assignee: str
    is_mine: bool
    is_snoozed: bool


def add_states(items: Sequence[AttentionItem], user: Any) -> list[AttentionEntry]:
    """One query; what the reader takes care of comes first."""
    states: dict[str, list[AttentionState]] = defaultdict(list)
    for state in AttentionState.objects.filter(key__in={item.key for item in items}).select_related("user"):
        states[state.key].append(state)
    entries = [_make_entry(item, states[item.key], user) for item in items]
    return sorted(entries, key=lambda entry: not entry.is_mine)


def _make_entry(item: AttentionItem, states: list[AttentionState], user: Any) -> AttentionEntry:
    assigned = next((state.user for state in states if state.is_assigned), None)
    own = next((state for state in states if state.user_id == user.pk), None)
    until = own.snoozed_until if own else None
    return AttentionEntry(
        item,
        assigned.get_username() if assigned else "",
        assigned is not None and assigned.pk == user.pk,
        until is not None and until > timezone.now(),
    )


def list_assignees() -> list[Any]:
    """Who can be given an item: active people who see datasets."""
    users = get_user_model().objects.with_perm(
        "datasets_app.view_dataset", backend=settings.AUTHENTICATION_BACKENDS[0]
    )
    return list(users.filter(is_staff=True).order_by("username")[:MAX_ASSIGNEES])


@require_POST
def change_state(request: HttpRequest) -> HttpResponse:
    """Assign an item of the home page (``user``: a key, or empty for nobody), or snooze it for ``days``."""
    datasets = Dataset.objects.visible_to(request.user)
    items = list_attention_items(request.user, datasets, load_all_facts(datasets))
    key = request.POST.get("key", "")
    if key not in {item.key for item in items} | {FIRST_STEPS_KEY}:
        messages.info(request, "This needs no attention any more.")
    elif "user" in request.POST:
        _assign(key, parse_pk(request.POST["user"]))
    else:
        days = parse_pk(request.POST.get("days", ""))
        _snooze(key, request.user, timedelta(days=days) if days in {0, *SNOOZE_DAYS} else _FOREVER)
    return redirect("admin:index")


@transaction.atomic
def _assign(key: str, user_pk: int | None) -> None:
    AttentionState.objects.filter(key=key, is_assigned=True).update(is_assigned=False)
    if user_pk is not None:
        user = get_object_or_404(get_user_model(), pk=user_pk, is_active=True)
        AttentionState.objects.update_or_create(key=key, user=user, defaults={"is_assigned": True})


def _snooze(key: str, user: Any, period: timedelta) -> None:
    until = timezone.now() + period
    AttentionState.objects.update_or_create(key=key, user=user, defaults={"snoozed_until": until})
