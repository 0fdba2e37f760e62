"""The page on which people edit what they state about a dataset."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from datasets_app.catalog import raw_access
from datasets_app.catalog.edit import edit_dataset
from datasets_app.core.errors import UserError
from datasets_app.core.web.dataset_page import render_dataset_page
from datasets_app.core.web.pages import dataset_url, get_visible_dataset, require_permissions
from datasets_app.domain.metadata.licenses import HUB_NAMES, find_spdx_id
from datasets_app.models import Dataset


class EditForm(forms.ModelForm):
    """Without the texts that may quote raw text for those who may not read it."""

    class Meta:
        model = Dataset
        fields = ["license", "source", "attribution"]
        widgets = {
            "license": UnfoldAdminTextInputWidget(attrs={"list": "licenses", "autocomplete": "off"}),
            "source": UnfoldAdminTextareaWidget(attrs={"class": "ad-low", "rows": "3"}),
            "attribution": UnfoldAdminTextareaWidget(attrs={"class": "ad-low", "rows": "3"}),
        }

    def __init__(self, *args: Any, may_read: bool, **options: Any) -> None:
        super().__init__(*args, **options)
        if not may_read:
            del self.fields["source"], self.fields["attribution"]

    def changes(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in self.changed_data}


def edit(request: HttpRequest, pk: int) -> HttpResponse:
    require_permissions(request, "change_dataset")
    dataset = get_visible_dataset(request, pk)
    if dataset.status == Dataset.Status.EXPIRED:
        messages.warning(request, "The contents of this dataset were deleted, so there is nothing to edit.")
        return redirect(dataset_url(dataset, "retention"))
    # Validating a form changes its instance, which the page's header shows.
    row = Dataset.objects.get(pk=dataset.pk)
    may_read = raw_access.may_read(request.user, dataset)
    form = EditForm(request.POST or None, instance=row, may_read=may_read)
    if request.method == "POST" and form.is_valid():
        try:
            edit_dataset(dataset.pk, form.changes(), actor=request.user)
        except UserError as refusal:
            form.add_error(None, refusal.message)
        else:
            messages.success(request, "Saved.")
            _warn_of_license(request, form.cleaned_data["license"])
            return redirect(dataset_url(dataset))
    context = {"form": form, "licenses": HUB_NAMES, "withheld": not may_read}
    return render_dataset_page(request, dataset, "edit", "Edit", context)


def _warn_of_license(request: HttpRequest, license: str) -> None:
    if license and find_spdx_id(license) is None:
        messages.warning(
            request,
            f"{license} is no SPDX identifier that is known here, so packages name the license without its "
            "text.",
        )
