"""The form that asks in which form a dataset is to be exported, and starts the job."""

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget, UnfoldBooleanSwitchWidget

from datasets_app import job_runs
from datasets_app.admin.dataset_pages import dataset_page
from datasets_app.admin.pages import require, visible_dataset
from datasets_app.models import Persona

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


def export(request: HttpRequest, pk: int) -> HttpResponse:
    require(request, "export_dataset")
    dataset = visible_dataset(request, pk)
    form = ExportForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
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
            },
        )
        return redirect("admin:datasets_app_jobrun_change", job.pk)
    context = {"form": form, "personas": Persona.objects.values_list("persona_id", flat=True)[:100]}
    return dataset_page(request, dataset, "export", "Export", context)
