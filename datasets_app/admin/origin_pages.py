"""Change the origin of a dataset, with a reason."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from datasets_app.catalog.edit import change_origin
from datasets_app.core.web import fields
from datasets_app.core.web.dataset_page import render_dataset_page
from datasets_app.core.web.overrides import OverrideField, OverrideForm
from datasets_app.core.web.pages import dataset_url, get_visible_dataset
from datasets_app.core.web.reauthentication import require_recent_sign_in
from datasets_app.core.web.refusals import show_refusal_in
from datasets_app.jobs.pages import start_and_show_job
from datasets_app.models import Dataset
from datasets_app.scrubbing.parameters import OriginParameters


class OriginForm(OverrideForm):
    origin = fields.Choice(choices=Dataset.Origin)
    override = OverrideField("Reason")


def origin(request: HttpRequest, pk: int) -> HttpResponse:
    dataset = get_visible_dataset(request, pk, "override_gate")
    form = OriginForm(request.POST or None, initial={"origin": dataset.origin}, may_override=True)
    if request.method == "POST":
        require_recent_sign_in(request)
    if form.is_valid() and settings.FOUR_EYES:
        return start_and_show_job(request, "change_origin", dataset, OriginParameters(**form.cleaned_data))
    if form.is_valid():
        with show_refusal_in(form):
            change_origin(dataset, **form.cleaned_data, actor=request.user)
            messages.success(request, f"The origin is {dataset.get_origin_display().lower()} now.")
            return redirect(dataset_url(dataset))
    return render_dataset_page(request, dataset, "origin", "Origin", {"form": form})
