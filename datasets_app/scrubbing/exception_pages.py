"""Statements of people with the override permission: a value may stay, or the whole text may."""

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect

from datasets_app.catalog import gates, text_gates
from datasets_app.core.web import fields
from datasets_app.core.web.dataset_page import render_dataset_page
from datasets_app.core.web.overrides import OverrideField
from datasets_app.core.web.pages import dataset_url, get_visible_dataset, parse_pk
from datasets_app.core.web.reauthentication import require_recent_sign_in
from datasets_app.core.web.refusals import show_refusal_in
from datasets_app.jobs.pages import start_and_show_job
from datasets_app.jobs.runs import request_text_scan
from datasets_app.models import Dataset, ScrubFinding, Session
from datasets_app.scrubbing.mark_pages import NEXT_SCRUB_NOTE
from datasets_app.scrubbing.marks import MAX_TERM_CHARACTERS, mark_not_personal
from datasets_app.scrubbing.parameters import AttestParameters, ExemptParameters


class ExemptForm(forms.Form):
    term = fields.Text(
        label="Term",
        max_length=MAX_TERM_CHARACTERS,
        attrs={"spellcheck": "false"},
        help_text="It stays wherever it occurs in this dataset, in any letter case.",
    )
    override = OverrideField("Why it may stay")


class AttestForm(forms.Form):
    override = OverrideField(
        "Why the text may stay as it is",
        help_text="For example: public data, or invented numbers. Recorded in the audit log with your name.",
    )


def exempt(request: HttpRequest, pk: int) -> HttpResponse:
    """Exempt a value of a pattern class: one that a preview found (``?finding=``), or a term."""
    dataset = get_visible_dataset(request, pk, "scrub_dataset", "view_scrubfinding", "view_turn")
    finding = _get_finding(request, dataset)
    if not gates.can_override(request.user):
        raise PermissionDenied
    if settings.FOUR_EYES and not finding:
        # A request must not keep the value itself while it waits.
        return render_dataset_page(request, dataset, "exempt", "Exempt a value", {"needs_finding": True})
    form = ExemptForm(request.POST or None)
    if finding:
        del form.fields["term"]
    if request.method == "POST":
        require_recent_sign_in(request)
    if form.is_valid() and settings.FOUR_EYES and finding:
        parameters = ExemptParameters(finding=finding.pk, override=form.cleaned_data["override"])
        return start_and_show_job(request, "exempt_value", dataset, parameters)
    if form.is_valid():
        reason = form.cleaned_data.pop("override")
        with show_refusal_in(form):
            mark_not_personal(
                dataset, finding=finding, actor=request.user, override=reason, **form.cleaned_data
            )
            request_text_scan(dataset, actor=request.user)
            messages.success(request, f"Exempted. {NEXT_SCRUB_NOTE}")
            return redirect(dataset_url(dataset, "scrub") + "#marks")
    return render_dataset_page(
        request, dataset, "exempt", "Exempt a value", {"form": form, "finding": finding}
    )


def _get_finding(request: HttpRequest, dataset: Dataset) -> ScrubFinding | None:
    number = parse_pk(request.GET.get("finding", ""))
    if number is None:
        return None
    findings = ScrubFinding.objects.filter(scrub__dataset=dataset).select_related("scrub")
    return get_object_or_404(findings, pk=number)


def attest(request: HttpRequest, pk: int) -> HttpResponse:
    """State that the text may stay as it is, or withdraw that ("withdraw")."""
    dataset = get_visible_dataset(request, pk, "override_gate")
    if request.method == "POST":
        require_recent_sign_in(request)
    form = AttestForm(request.POST if request.method == "POST" and "withdraw" not in request.POST else None)
    if "withdraw" in request.POST:
        gates.end_attestation(dataset, actor=request.user)
        messages.success(request, "Withdrawn: the text counts as raw again.")
        return redirect(dataset_url(dataset))
    if form.is_valid() and settings.FOUR_EYES:
        last = Session.objects.filter(dataset=dataset).order_by("-pk").values_list("pk", flat=True).first()
        parameters = AttestParameters(last_session=last, **form.cleaned_data)
        return start_and_show_job(request, "attest_dataset", dataset, parameters)
    if form.is_valid():
        with show_refusal_in(form):
            text_gates.attest(dataset, actor=request.user, reason=form.cleaned_data["override"])
            messages.success(request, "Attested. This ends when a session is added or changed.")
            return redirect(dataset_url(dataset))
    return render_dataset_page(request, dataset, "attest", "Attest", {"form": form})
