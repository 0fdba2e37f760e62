"""The page on which people edit what they state about a dataset."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from unfold.widgets import (
    UnfoldAdminTextareaWidget,
)

from datasets_app.catalog import raw_access
from datasets_app.catalog.edit import edit_dataset
from datasets_app.catalog.sharing_requirements import NO_CANARY
from datasets_app.core.web import fields
from datasets_app.core.web.dataset_page import render_dataset_page
from datasets_app.core.web.pages import dataset_url, get_visible_dataset
from datasets_app.core.web.refusals import show_refusal_in
from datasets_app.core.web.suggestions import SuggestingInput
from datasets_app.domain.metadata.licenses import HUB_NAMES, find_spdx_id
from datasets_app.domain.pii.canary.survival_text import format_percent
from datasets_app.models import Dataset
from datasets_app.scrubbing.audits import MAX_SAMPLE


class EditForm(forms.ModelForm):
    """Without the texts that may quote raw text for those who may not read it."""

    class Meta:
        model = Dataset
        fields = ["license", "source", "attribution"]
        widgets = {
            "license": SuggestingInput(lambda: HUB_NAMES),
            "source": UnfoldAdminTextareaWidget(attrs={"class": "ad-low", "rows": "3"}),
            "attribution": UnfoldAdminTextareaWidget(attrs={"class": "ad-low", "rows": "3"}),
        }

    endpoints = fields.LongText(
        label="Endpoints of judges",
        required=False,
        attrs={"class": "ad-low", "rows": "2"},
        help_text="Base URLs of models to which its texts may be sent for judgment, one on each line.",
    )
    canary_percent = fields.Decimal(
        label="Planted values that may survive a scrub (%)", required=False, min_value=0.001, max_value=100
    )
    audit_readings = fields.Integer(
        label="Turns that people must have read", required=False, min_value=0, max_value=MAX_SAMPLE
    )

    def __init__(self, *args: Any, may_read: bool, **options: Any) -> None:
        super().__init__(*args, **options)
        if not may_read:
            del self.fields["source"], self.fields["attribution"]
        upper, readings = settings.SHARING_CANARY_UPPER, settings.SHARING_AUDIT_READINGS
        limit = f"at most {format_percent(upper)}" if upper < NO_CANARY else "no measurement"
        self.fields["canary_percent"].help_text = self._explain("100", limit)
        self.fields["audit_readings"].help_text = self._explain("0", f"{readings:,}")
        own = self.instance.sharing_canary_upper
        self.initial["canary_percent"] = None if own is None else round(100 * own, 6)
        self.initial["endpoints"] = "\n".join(self.instance.judge_endpoints)
        self.initial["audit_readings"] = self.instance.sharing_audit_readings

    @staticmethod
    def _explain(nothing: str, limit: str) -> str:
        return f"Required for sharing. {nothing} requires nothing; empty is as in the installation ({limit})."

    def changes(self) -> dict[str, Any]:
        values = {name: self.cleaned_data[name] for name in self.changed_data}
        if "canary_percent" in values:
            percent = values.pop("canary_percent")
            values["sharing_canary_upper"] = None if percent is None else percent / 100
        if "audit_readings" in values:
            values["sharing_audit_readings"] = values.pop("audit_readings")
        if "endpoints" in values:
            values["judge_endpoints"] = values.pop("endpoints").split()
        return values


def edit(request: HttpRequest, pk: int) -> HttpResponse:
    dataset = get_visible_dataset(request, pk, "change_dataset")
    if dataset.status == Dataset.Status.EXPIRED:
        messages.warning(request, "The contents of this dataset were deleted, so there is nothing to edit.")
        return redirect(dataset_url(dataset, "retention"))
    # Validating a form changes its instance, which the page's header shows.
    row = Dataset.objects.get(pk=dataset.pk)
    may_read = raw_access.may_read(request.user, dataset)
    form = EditForm(request.POST or None, instance=row, may_read=may_read)
    if request.method == "POST" and form.is_valid():
        with show_refusal_in(form):
            edit_dataset(dataset.pk, form.changes(), actor=request.user)
            messages.success(request, "Saved.")
            _warn_of_license(request, form.cleaned_data["license"])
            return redirect(dataset_url(dataset))
    context = {"form": form, "withheld": not may_read}
    return render_dataset_page(request, dataset, "edit", "Edit", context)


def _warn_of_license(request: HttpRequest, license: str) -> None:
    if license and find_spdx_id(license) is None:
        messages.warning(
            request,
            f"{license} is no SPDX identifier that is known here, so packages name the license without its "
            "text.",
        )
