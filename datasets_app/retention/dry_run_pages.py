"""What retention would delete and when; from there a rule is let act, and what is due is deleted."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from datasets_app.core.deletion_summary import counts_in_words
from datasets_app.core.errors import Refused
from datasets_app.core.web.pages import Crumbs, render_page, require
from datasets_app.jobs import runs
from datasets_app.models import Dataset, RetentionPolicy
from datasets_app.retention.activate import activate_retention, deactivate_retention, rehearsal_of
from datasets_app.retention.dry_run import HELD, LATER, NOW, Rehearsal, rehearse_retention

LIST = "admin:datasets_app_retentionpolicy_changelist"
SHOWN = 200


def rehearsal(request: HttpRequest) -> HttpResponse:
    """Of all rules that act now."""
    require(request, "view_retentionpolicy")
    return _page(request, rehearse_retention(), None)


def of_policy(request: HttpRequest, pk: int) -> HttpResponse:
    """GET: of one rule, as if it acted. POST: let it act, if that is still what it would delete."""
    require(request, "view_retentionpolicy")
    policy = get_object_or_404(RetentionPolicy, pk=pk)
    if request.method == "POST":
        require(request, "activate_retentionpolicy")
        try:
            activate_retention([policy], seen=request.POST.get("seen", ""), actor=request.user)
        except Refused as refusal:
            messages.error(request, refusal.message)
        else:
            messages.success(request, f"The rule {policy.pattern} is active.")
            return redirect(LIST)
    return _page(request, rehearsal_of([policy]), policy)


@require_POST
def deactivate(request: HttpRequest, pk: int) -> HttpResponse:
    require(request, "activate_retentionpolicy")
    policy = get_object_or_404(RetentionPolicy, pk=pk)
    deactivate_retention([policy], actor=request.user)
    messages.success(request, f"The rule {policy.pattern} deletes nothing any more.")
    return redirect(LIST)


@require_POST
def apply(request: HttpRequest) -> HttpResponse:
    """Have a worker delete what is due now, instead of waiting for the night."""
    require(request, "apply_retention")
    job = runs.start("apply_retention", actor=request.user)
    return redirect("admin:datasets_app_jobrun_change", job.pk)


def _page(request: HttpRequest, shown: Rehearsal, policy: RetentionPolicy | None) -> HttpResponse:
    has = request.user.has_perm
    hidden = set(Dataset.objects.hidden_from(request.user).values_list("name", flat=True))
    seen = [going for going in shown.going if going.dataset not in hidden]
    addresses = dict(Dataset.objects.values_list("name", "pk"))
    crumbs: Crumbs = [("Retention policies", reverse(LIST))]
    crumbs.append((policy.pattern if policy else "What goes when", None))
    context: dict[str, Any] = {
        "policy": policy,
        "rehearsal": shown,
        "groups": [
            (when, title, [_row(going, addresses) for going in seen if going.when == when][:SHOWN])
            for when, title in ((NOW, "Due now"), (LATER, "Due later"), (HELD, "On legal hold"))
        ],
        "counts": {when: sum(going.when == when for going in shown.going) for when in (NOW, LATER, HELD)},
        "in_all": counts_in_words(shown.counts(NOW)),
        "hidden": len(shown.going) - len(seen),
        "may_activate": has("datasets_app.activate_retentionpolicy"),
        "may_apply": has("datasets_app.apply_retention") and policy is None,
        "inactive": RetentionPolicy.objects.filter(active=False).count() if policy is None else 0,
    }
    return render_page(request, "datasets_app/retention_rehearsal.html", crumbs, context)


def _row(going: Any, addresses: dict[str, int]) -> dict[str, Any]:
    return {
        "going": going,
        "address": reverse("admin:datasets_app_dataset_retention", args=[addresses[going.dataset]]),
        "contents": counts_in_words(going.counts) or "empty",
    }
