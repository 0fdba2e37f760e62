"""A dataset's page on how long it is kept: which rule and why, the hold, and deleting it by hand."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from unfold.widgets import UnfoldAdminTextInputWidget

from datasets_app.core.deletion_summary import counts_in_words
from datasets_app.core.errors import Refused
from datasets_app.core.web.dataset_page import dataset_page
from datasets_app.core.web.pages import dataset_address, require, visible_dataset
from datasets_app.jobs import runs
from datasets_app.models import AuditEvent, Dataset, Release
from datasets_app.retention import due
from datasets_app.retention.delete_contents import count_contents
from datasets_app.retention.holds import LONGEST_REASON, lift_hold, set_hold


class ReasonForm(forms.Form):
    reason = forms.CharField(
        max_length=LONGEST_REASON,
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
    dataset = visible_dataset(request, pk)
    what = request.POST.get("do", "")
    hold_form = ReasonForm(request.POST if what in {"hold", "lift"} else None)
    delete_form = DeleteForm(dataset, request.POST if what == "delete" else None)
    if request.method == "POST":
        if what == "delete":
            require(request, "apply_retention")
            if delete_form.is_valid():
                return _delete(request, dataset, delete_form.cleaned_data["reason"])
        elif what in {"hold", "lift"}:
            require(request, "hold_dataset")
            if hold_form.is_valid() and _hold(request, dataset, hold_form, what):
                return redirect(dataset_address(dataset, "retention"))
        else:
            raise PermissionDenied
    context = {**_facts(request, dataset), "hold_form": hold_form, "delete_form": delete_form}
    return dataset_page(request, dataset, "retention", "Retention", context)


def _hold(request: HttpRequest, dataset: Dataset, form: ReasonForm, what: str) -> bool:
    try:
        (set_hold if what == "hold" else lift_hold)(dataset, form.cleaned_data["reason"], actor=request.user)
    except Refused as refusal:
        form.add_error(None, refusal.message)
        return False
    messages.success(request, "On legal hold." if what == "hold" else "The hold is lifted.")
    return True


def _delete(request: HttpRequest, dataset: Dataset, reason: str) -> HttpResponse:
    job = runs.start("apply_retention", actor=request.user, dataset=dataset, parameters={"reason": reason})
    return redirect("admin:datasets_app_jobrun_change", job.pk)


def _facts(request: HttpRequest, dataset: Dataset) -> dict[str, Any]:
    has = request.user.has_perm
    expired = dataset.status == Dataset.Status.EXPIRED
    verdict = None if expired else due.verdict(dataset)
    today = due.today()
    releases = Release.objects.filter(dataset=dataset, destroyed_at=None)
    certificate = AuditEvent.objects.filter(action="retention", dataset_name=dataset.name).first()
    return {
        "expired": expired,
        "certificate": certificate if expired else None,
        "deleted": counts_in_words(certificate.details.get("deleted", {})) if certificate else "",
        "verdict": verdict,
        "is_due": bool(verdict and verdict.is_due(today)),
        "days": (verdict.due - today).days if verdict and verdict.due else None,
        "came_on": due.came_on(dataset),
        "asked": due.asked_rules(dataset) if not expired else [],
        "see_rules": has("datasets_app.view_retentionpolicy"),
        "may_hold": has("datasets_app.hold_dataset") and not expired,
        "may_delete": has("datasets_app.apply_retention") and not expired and not dataset.legal_hold,
        "contents": "" if expired else counts_in_words(count_contents(dataset)),
        "release_versions": [release.version for release in releases],
    }
