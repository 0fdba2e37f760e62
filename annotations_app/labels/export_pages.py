"""The form that asks which labels of a campaign are to be exported, and starts the job."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from unfold.widgets import UnfoldAdminRadioSelectWidget, UnfoldAdminTextInputWidget

from annotations_app.campaigns.pages_common import render_campaign_page, require_permissions, visible_campaign
from annotations_app.labels.export_annotations import DEFAULT_SELECTION, LABEL_SELECTIONS
from annotations_app.models import Campaign
from datasets_app.catalog import policies
from datasets_app.jobs import runs
from datasets_app.models import JobRun

SELECTION_LABELS = {
    "majority": "Majority: one label a reply, as most of its annotators say; ties are left out",
    "adjudicated": "Adjudicated: what a lead has settled, else what all annotators agree on; "
    "what is disputed and not settled is left out",
    "dawid-skene": "Dawid-Skene: one label a reply, the likeliest when each annotator’s errors are reckoned "
    "with",
    "all": "All: every label by itself, with its annotator",
}
MAX_EXPORTS = 5


class ExportLabelsForm(forms.Form):
    labels = forms.ChoiceField(
        label="Which labels",
        choices=[(choice, SELECTION_LABELS[choice]) for choice in LABEL_SELECTIONS],
        initial=DEFAULT_SELECTION,
        widget=UnfoldAdminRadioSelectWidget,
        help_text="A calibration counts each line as a sample, so it wants one label a reply.",
    )


class ExportLabelsOverrideForm(ExportLabelsForm):
    """For those who may have exported what is locked, for a reason."""

    override = forms.CharField(
        label="Reason for exporting what is locked",
        required=False,
        max_length=policies.MAX_REASON_CHARACTERS,
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off"}),
        help_text="Each line holds a reply: production data must be scrubbed before, and labels of the test "
        "split stay here. A reason has both exported all the same; it is written into the audit trail.",
    )


def export_labels(request: HttpRequest, pk: int) -> HttpResponse:
    campaign = visible_campaign(request, pk)
    require_permissions(request, "export_annotation")
    closed = not policies.is_scrubbed(campaign.dataset)
    may_override = policies.can_override(request.user)
    form = (ExportLabelsOverrideForm if may_override else ExportLabelsForm)(request.POST or None)
    if may_override:
        form.fields["override"].required = closed
    if request.method == "POST" and form.is_valid() and (may_override or not closed):
        job = runs.start_job(
            "export_annotations",
            actor=request.user,
            dataset=campaign.dataset,
            parameters=_job_parameters(campaign, form.cleaned_data),
        )
        return redirect("admin:datasets_app_jobrun_change", job.pk)
    jobs = JobRun.objects.filter(operation="export_annotations", parameters__campaign=campaign.name)
    context = {"form": form, "closed": closed, "may_override": may_override, "exports": jobs[:MAX_EXPORTS]}
    return render_campaign_page(request, campaign, "export", "Export labels", context)


def _job_parameters(campaign: Campaign, answers: dict[str, Any]) -> dict[str, Any]:
    return {
        "campaign": campaign.name,
        "persona": campaign.persona.persona_id,
        "labels": answers["labels"],
        **({"override": answers["override"]} if answers.get("override") else {}),
    }
