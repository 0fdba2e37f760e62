"""What retention would delete and when; from there a rule is let act, and what is due is deleted."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from datasets_app.core.deletion_summary import format_counts
from datasets_app.core.errors import UserError
from datasets_app.core.web.pages import Breadcrumbs, render_page, require_permissions
from datasets_app.jobs import runs
from datasets_app.models import Dataset, RetentionPolicy
from datasets_app.retention.activate import activate_retention, deactivate_retention, preview_policies
from datasets_app.retention.dry_run import HELD, LATER, NOW, DeletionSchedule, preview_retention

LIST_URL_NAME = "admin:datasets_app_retentionpolicy_changelist"
MAX_ROWS_SHOWN = 200


def deletion_schedule(request: HttpRequest) -> HttpResponse:
    """Of all rules that act now."""
    require_permissions(request, "view_retentionpolicy")
    return _render_schedule(request, preview_retention(), None)


def policy_schedule(request: HttpRequest, pk: int) -> HttpResponse:
    """GET: of one rule, as if it acted. POST: let it act, if that is still what it would delete."""
    require_permissions(request, "view_retentionpolicy")
    policy = get_object_or_404(RetentionPolicy, pk=pk)
    if request.method == "POST":
        require_permissions(request, "activate_retentionpolicy")
        try:
            activate_retention([policy], expected_digest=request.POST.get("seen", ""), actor=request.user)
        except UserError as refusal:
            messages.error(request, refusal.message)
        else:
            messages.success(request, f"The rule {policy.pattern} is active.")
            return redirect(LIST_URL_NAME)
    return _render_schedule(request, preview_policies([policy]), policy)


@require_POST
def deactivate_policy(request: HttpRequest, pk: int) -> HttpResponse:
    require_permissions(request, "activate_retentionpolicy")
    policy = get_object_or_404(RetentionPolicy, pk=pk)
    deactivate_retention([policy], actor=request.user)
    messages.success(request, f"The rule {policy.pattern} deletes nothing any more.")
    return redirect(LIST_URL_NAME)


@require_POST
def apply_due(request: HttpRequest) -> HttpResponse:
    """Have a worker delete what is due now, instead of waiting for the night."""
    require_permissions(request, "apply_retention")
    job = runs.start_job("apply_retention", actor=request.user)
    return redirect("admin:datasets_app_jobrun_change", job.pk)


def _render_schedule(
    request: HttpRequest, shown: DeletionSchedule, policy: RetentionPolicy | None
) -> HttpResponse:
    has = request.user.has_perm
    hidden = set(Dataset.objects.hidden_from(request.user).values_list("name", flat=True))
    seen = [going for going in shown.deletions if going.dataset not in hidden]
    addresses = dict(Dataset.objects.values_list("name", "pk"))
    crumbs: Breadcrumbs = [("Retention policies", reverse(LIST_URL_NAME))]
    crumbs.append((policy.pattern if policy else "What goes when", None))
    context: dict[str, Any] = {
        "policy": policy,
        "rehearsal": shown,
        "groups": [
            (
                when,
                title,
                [_schedule_row(going, addresses) for going in seen if going.when == when][:MAX_ROWS_SHOWN],
            )
            for when, title in ((NOW, "Due now"), (LATER, "Due later"), (HELD, "On legal hold"))
        ],
        "counts": {when: sum(going.when == when for going in shown.deletions) for when in (NOW, LATER, HELD)},
        "due_contents": format_counts(shown.counts(NOW)),
        "hidden": len(shown.deletions) - len(seen),
        "may_activate": has("datasets_app.activate_retentionpolicy"),
        "may_apply": has("datasets_app.apply_retention") and policy is None,
        "inactive": RetentionPolicy.objects.filter(active=False).count() if policy is None else 0,
    }
    return render_page(request, "datasets_app/retention_rehearsal.html", crumbs, context)


def _schedule_row(going: Any, addresses: dict[str, int]) -> dict[str, Any]:
    return {
        "going": going,
        "address": reverse("admin:datasets_app_dataset_retention", args=[addresses[going.dataset]]),
        "contents": format_counts(going.counts) or "empty",
    }
