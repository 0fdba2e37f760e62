"""A dataset's page on how long it is kept: which rule and why, the hold, and deleting it by hand."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from unfold.widgets import UnfoldAdminTextInputWidget

from datasets_app.core.deletion_summary import format_counts
from datasets_app.core.errors import UserError
from datasets_app.core.web.dataset_page import render_dataset_page
from datasets_app.core.web.pages import dataset_url, get_visible_dataset, require_permissions
from datasets_app.jobs import runs
from datasets_app.models import AuditEvent, Dataset, Release
from datasets_app.retention import due
from datasets_app.retention.delete_contents import count_contents
from datasets_app.retention.holds import MAX_REASON_CHARACTERS, lift_hold, set_hold


class ReasonForm(forms.Form):
    reason = forms.CharField(
        max_length=MAX_REASON_CHARACTERS,
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off"}),
        help_text="It is written into the audit trail, with your name.",
    )


class DeleteForm(ReasonForm):
    """For deleting all of a dataset, whether or not it is due."""

    name = forms.CharField(
        label="The dataset's name, typed",
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )

    def __init__(self, dataset: Dataset, *given: Any) -> None:
        super().__init__(*given, prefix="delete")
        self.dataset = dataset

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if name != self.dataset.name:
            raise forms.ValidationError("That is not the name of this dataset.")
        return name


def retention(request: HttpRequest, pk: int) -> HttpResponse:
    """GET: the page. POST ``do``: "hold" or "lift" with a reason, "delete" with the name as well."""
    dataset = get_visible_dataset(request, pk)
    what = request.POST.get("do", "")
    hold_form = ReasonForm(request.POST if what in {"hold", "lift"} else None)
    delete_form = DeleteForm(dataset, request.POST if what == "delete" else None)
    if request.method == "POST":
        if what == "delete":
            require_permissions(request, "apply_retention")
            if delete_form.is_valid():
                return _start_deletion(request, dataset, delete_form.cleaned_data["reason"])
        elif what in {"hold", "lift"}:
            require_permissions(request, "hold_dataset")
            if hold_form.is_valid() and _change_hold(request, dataset, hold_form, what):
                return redirect(dataset_url(dataset, "retention"))
        else:
            raise PermissionDenied
    context = {**_retention_context(request, dataset), "hold_form": hold_form, "delete_form": delete_form}
    return render_dataset_page(request, dataset, "retention", "Retention", context)


def _change_hold(request: HttpRequest, dataset: Dataset, form: ReasonForm, what: str) -> bool:
    try:
        (set_hold if what == "hold" else lift_hold)(dataset, form.cleaned_data["reason"], actor=request.user)
    except UserError as refusal:
        form.add_error(None, refusal.message)
        return False
    messages.success(request, "On legal hold." if what == "hold" else "The hold is lifted.")
    return True


def _start_deletion(request: HttpRequest, dataset: Dataset, reason: str) -> HttpResponse:
    job = runs.start_job(
        "apply_retention", actor=request.user, dataset=dataset, parameters={"reason": reason}
    )
    return redirect("admin:datasets_app_jobrun_change", job.pk)


def _retention_context(request: HttpRequest, dataset: Dataset) -> dict[str, Any]:
    has = request.user.has_perm
    expired = dataset.status == Dataset.Status.EXPIRED
    verdict = None if expired else due.decide_for_dataset(dataset)
    today = due.today_in_utc()
    releases = Release.objects.filter(dataset=dataset, destroyed_at=None)
    certificate = AuditEvent.objects.filter(action="retention", dataset_name=dataset.name).first()
    return {
        "expired": expired,
        "certificate": certificate if expired else None,
        "deleted": format_counts(certificate.details.get("deleted", {})) if certificate else "",
        "verdict": verdict,
        "is_due": bool(verdict and verdict.is_due(today)),
        "days": (verdict.due - today).days if verdict and verdict.due else None,
        "added_on": due.creation_day(dataset),
        "checked_rules": due.explain_rules(dataset) if not expired else [],
        "may_see_rules": has("datasets_app.view_retentionpolicy"),
        "may_hold": has("datasets_app.hold_dataset") and not expired,
        "may_delete": has("datasets_app.apply_retention") and not expired and not dataset.legal_hold,
        "contents": "" if expired else format_counts(count_contents(dataset)),
        "release_versions": [release.version for release in releases],
    }
