"""The form that asks in which form a dataset is to be exported, and starts the job."""

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget, UnfoldBooleanSwitchWidget

from datasets_app import job_runs
from datasets_app.admin.dataset_pages import dataset_page
from datasets_app.admin.pages import require, visible_dataset
from datasets_app.models import Persona
from datasets_app.operations import gates

FORMATS = [
    ("turns", "Conversation JSONL, one turn a line"),
    ("openai", "OpenAI chat JSONL, one session a line"),
    ("sharegpt", "ShareGPT JSONL, one session a line"),
    ("csv", "CSV for spreadsheets"),
]


class ExportForm(forms.Form):
    format = forms.ChoiceField(
        choices=FORMATS,
        widget=UnfoldAdminSelectWidget,
        help_text="Conversation JSONL is what Alignmenter reads, and keeps every field.",
    )
    persona = forms.CharField(
        label="Only this persona",
        required=False,
        max_length=500,
        widget=UnfoldAdminTextInputWidget(attrs={"list": "personas", "autocomplete": "off"}),
        help_text="Sessions with this persona_id. Leave empty for all.",
    )
    tag = forms.CharField(
        label="Only this tag",
        required=False,
        max_length=500,
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off"}),
        help_text="For example scenario:support. Leave empty for all.",
    )
    gzip = forms.BooleanField(label="Compress with gzip", required=False, widget=UnfoldBooleanSwitchWidget)


class OverrideForm(ExportForm):
    """For production data that is not scrubbed, and those who may have it exported all the same."""

    override = forms.CharField(
        label="Reason for exporting it unscrubbed",
        max_length=gates.LONGEST_REASON,
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off"}),
        help_text="It is written into the audit trail, with your name.",
    )


def export(request: HttpRequest, pk: int) -> HttpResponse:
    require(request, "export_dataset")
    dataset = visible_dataset(request, pk)
    closed = not gates.is_scrubbed(dataset)
    may_override = closed and gates.can_override(request.user)
    form = (OverrideForm if may_override else ExportForm)(request.POST or None)
    if request.method == "POST" and form.is_valid() and (may_override or not closed):
        asked = form.cleaned_data
        job = job_runs.start(
            "export_dataset",
            actor=request.user,
            dataset=dataset,
            parameters={
                "format": asked["format"],
                "persona": asked["persona"] or None,
                "tag": asked["tag"] or None,
                "gzip": asked["gzip"],
                **({"override": asked["override"]} if may_override else {}),
            },
        )
        return redirect("admin:datasets_app_jobrun_change", job.pk)
    context = {
        "form": form,
        "closed": closed,
        "may_override": may_override,
        "personas": Persona.objects.values_list("persona_id", flat=True)[:100],
    }
    return dataset_page(request, dataset, "export", "Export", context)
