"""The "Retention" page of a dataset: the rule that applies, legal hold, and deletion by hand."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from datasets_app.core.deletion_summary import format_counts
from datasets_app.core.web import fields
from datasets_app.core.web.dataset_page import render_dataset_page
from datasets_app.core.web.pages import dataset_url, get_visible_dataset, require_permissions
from datasets_app.core.web.refusals import show_refusal_in
from datasets_app.domain.wording import format_count
from datasets_app.jobs.pages import start_and_show_job
from datasets_app.models import AuditEvent, Dataset, Release
from datasets_app.retention import due
from datasets_app.retention.delete_contents import count_contents
from datasets_app.retention.holds import MAX_REASON_CHARACTERS, change_hold
from datasets_app.retention.parameters import RetentionParameters


class ReasonForm(forms.Form):
    reason = fields.Text(
        max_length=MAX_REASON_CHARACTERS, help_text="Recorded in the audit log with your name."
    )


class DeleteForm(ReasonForm):
    """Deletes all contents of a dataset, due or not."""

    name = fields.Text(label="Dataset name", attrs={"spellcheck": "false"})

    def __init__(self, dataset: Dataset, *args: Any) -> None:
        super().__init__(*args, prefix="delete")
        self.dataset = dataset

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if name != self.dataset.name:
            raise forms.ValidationError("This is not the name of the dataset. Type it exactly to confirm.")
        return name


def retention(request: HttpRequest, pk: int) -> HttpResponse:
    """GET shows the page. POST ``do``: "hold" or "lift" with a reason, "delete" also with the name."""
    dataset = get_visible_dataset(request, pk)
    action = request.POST.get("do", "")
    hold_form = ReasonForm(request.POST if action in {"hold", "lift"} else None)
    delete_form = DeleteForm(dataset, request.POST if action == "delete" else None)
    if request.method == "POST":
        if action == "delete":
            require_permissions(request, "apply_retention")
            if delete_form.is_valid():
                parameters = RetentionParameters(reason=delete_form.cleaned_data["reason"])
                return start_and_show_job(request, "apply_retention", dataset, parameters)
        elif action in {"hold", "lift"}:
            require_permissions(request, "hold_dataset")
            if hold_form.is_valid():
                with show_refusal_in(hold_form):
                    held = action == "hold"
                    change_hold(dataset, hold_form.cleaned_data["reason"], held=held, actor=request.user)
                    messages.success(request, f"{'Set' if held else 'Lifted'} the legal hold.")
                    return redirect(dataset_url(dataset, "retention"))
        else:
            raise PermissionDenied
    context = {**_retention_context(request, dataset), "hold_form": hold_form, "delete_form": delete_form}
    return render_dataset_page(request, dataset, "retention", "Retention", context)


def _retention_context(request: HttpRequest, dataset: Dataset) -> dict[str, Any]:
    has = request.user.has_perm
    expired = dataset.status == Dataset.Status.EXPIRED
    certificate = AuditEvent.objects.filter(action="retention", dataset_name=dataset.name).first()
    if expired:
        deleted = format_counts(certificate.details.get("deleted", {})) if certificate else ""
        return {"expired": True, "certificate": certificate, "deleted": deleted}
    releases = Release.objects.filter(dataset=dataset, destroyed_at=None)
    return {
        **_decision_context(dataset, due.decide_for_dataset(dataset)),
        "checked_rules": due.explain_rules(dataset) if has("datasets_app.view_retentionpolicy") else [],
        "may_delete": has("datasets_app.apply_retention") and not dataset.legal_hold,
        "contents": format_counts(count_contents(dataset)),
        "release_versions": [release.version for release in releases],
    }


def _decision_context(dataset: Dataset, decision: due.RetentionDecision) -> dict[str, Any]:
    """How long the dataset is kept, as a heading and a sentence after the name of the rule."""
    today = due.today_in_utc()
    due_on = f"{decision.due:%-d %b %Y}" if decision.due else ""
    is_due = decision.is_due(today)
    if dataset.legal_hold:
        heading = "Kept: on legal hold"
    elif is_due:
        heading = "Due: will be deleted the next night"
    else:
        heading = f"Kept until {due_on}" if decision.policy_active and due_on else "Kept"
    note = ""
    if not decision.policy_active:
        note = "The rule is inactive and deletes nothing"
        note += f"; it would be due on {due_on}." if due_on else "."
    elif decision.due and not is_due:
        note = f"{format_count((decision.due - today).days, 'day')} left."
    return {
        "heading": heading,
        "policy": decision.policy,
        "note": note,
        "added_on": due.creation_day(dataset),
    }
