"""The deletion schedule: preview what retention deletes, activate rules, delete what is due."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from datasets_app.core.deletion_summary import format_counts
from datasets_app.core.web.pages import Breadcrumbs, render_page, require_permissions
from datasets_app.core.web.reauthentication import require_recent_sign_in
from datasets_app.core.web.redaction import get_hidden_names
from datasets_app.core.web.refusals import show_refusal
from datasets_app.jobs.pages import start_and_show_job
from datasets_app.models import Dataset, RetentionPolicy
from datasets_app.retention.activate import activate_retention, deactivate_retention
from datasets_app.retention.dry_run import HELD, LATER, NOW, DeletionSchedule, preview_retention
from datasets_app.retention.parameters import ActivationParameters

LIST_URL_NAME = "admin:datasets_app_retentionpolicy_changelist"
MAX_ROWS_SHOWN = 200


def deletion_schedule(request: HttpRequest) -> HttpResponse:
    """The schedule of all active rules."""
    require_permissions(request, "view_retentionpolicy")
    return _render_schedule(request, preview_retention(), None)


def policy_schedule(request: HttpRequest, pk: int) -> HttpResponse:
    """GET previews one rule as if it were active. POST activates it if the preview is still current."""
    require_permissions(request, "view_retentionpolicy")
    policy = get_object_or_404(RetentionPolicy, pk=pk)
    if request.method == "POST":
        require_permissions(request, "activate_retentionpolicy")
        require_recent_sign_in(request)
        seen = request.POST.get("seen", "")
        if settings.FOUR_EYES:
            parameters = ActivationParameters(policy.pk, seen, policy.pattern, policy.retention)
            return start_and_show_job(request, "activate_retention", parameters=parameters)
        with show_refusal(request):
            activate_retention([policy], expected_digest=seen, actor=request.user)
            messages.success(request, f"The rule {policy.pattern} is now active.")
            return redirect(LIST_URL_NAME)
    return _render_schedule(request, preview_retention([policy]), policy)


@require_POST
def deactivate_policy(request: HttpRequest, pk: int) -> HttpResponse:
    require_permissions(request, "activate_retentionpolicy")
    policy = get_object_or_404(RetentionPolicy, pk=pk)
    deactivate_retention([policy], actor=request.user)
    messages.success(request, f"The rule {policy.pattern} is now inactive.")
    return redirect(LIST_URL_NAME)


@require_POST
def apply_due(request: HttpRequest) -> HttpResponse:
    """Start a job that deletes what is due now instead of the next night."""
    require_permissions(request, "apply_retention")
    require_recent_sign_in(request)
    return start_and_show_job(request, "apply_retention")


def _render_schedule(
    request: HttpRequest, schedule: DeletionSchedule, policy: RetentionPolicy | None
) -> HttpResponse:
    hidden = get_hidden_names(request.user)
    visible = [item for item in schedule.deletions if item.dataset not in hidden]
    pks = dict(Dataset.objects.values_list("name", "pk"))
    crumbs: Breadcrumbs = [("Retention rules", reverse(LIST_URL_NAME))]
    crumbs.append((policy.pattern if policy else "Deletion schedule", None))
    context: dict[str, Any] = {
        "policy": policy,
        "schedule": schedule,
        "groups": [
            (
                when,
                title,
                [_schedule_row(item, pks) for item in visible if item.when == when][:MAX_ROWS_SHOWN],
            )
            for when, title in ((NOW, "Due now"), (LATER, "Due later"), (HELD, "On legal hold"))
        ],
        "counts": {
            when: sum(item.when == when for item in schedule.deletions) for when in (NOW, LATER, HELD)
        },
        "due_contents": format_counts(schedule.counts(NOW)),
        "hidden": len(schedule.deletions) - len(visible),
        "inactive": RetentionPolicy.objects.filter(active=False).count() if policy is None else 0,
    }
    return render_page(request, "datasets_app/deletion_schedule.html", crumbs, context)


def _schedule_row(item: Any, pks: dict[str, int]) -> dict[str, Any]:
    return {
        "item": item,
        "url": reverse("admin:datasets_app_dataset_retention", args=[pks[item.dataset]]),
        "contents": format_counts(item.counts) or "empty",
    }
