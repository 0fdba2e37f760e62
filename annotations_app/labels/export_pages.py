"""The form to select labels of a campaign for export; starts the job."""

from django.http import HttpRequest, HttpResponse

from annotations_app.campaigns.pages_common import render_campaign_page, visible_campaign
from annotations_app.domain.answer_files.formats import DEFAULT_FORMAT, FORMATS
from annotations_app.labels.export_annotations import DEFAULT_SELECTION, LABEL_SELECTIONS
from annotations_app.labels.parameters import LabelExportParameters
from datasets_app.catalog import gates
from datasets_app.core.web import fields
from datasets_app.core.web.overrides import OverrideField, OverrideForm
from datasets_app.jobs.pages import start_and_show_job
from datasets_app.models import JobRun

SELECTION_LABELS = {
    "majority": "Majority: one label per reply, that of most annotators; omits ties, even adjudicated ones",
    "adjudicated": "Adjudicated: one label per reply, the adjudicated one, else that of all annotators; "
    "open disagreements are omitted",
    "dawid-skene": "Dawid-Skene: one label per reply, by a consensus that weighs annotators by their errors",
    "all": "All: each label, with its annotator",
}
ANSWER_SELECTIONS = [
    ("all", "All: each answer, with its annotator"),
    (
        "majority",
        "Majority: one answer per reply and criterion, of most annotators; omits ties and texts",
    ),
    (
        "adjudicated",
        "Adjudicated: the adjudicated answers, else those of all annotators; open disagreements are omitted",
    ),
]
FORMAT_LABELS = [(name, format.label) for name, format in FORMATS.items()]
MAX_EXPORTS = 5


class ExportLabelsForm(OverrideForm):
    labels = fields.Radio(
        label="Which labels",
        choices=[(choice, SELECTION_LABELS[choice]) for choice in LABEL_SELECTIONS],
        initial=DEFAULT_SELECTION,
        help_text="A calibration counts each line as a sample, so it needs exactly one label per reply.",
    )
    format = fields.Radio(label="Format", choices=FORMAT_LABELS, initial=DEFAULT_FORMAT, required=False)
    override = OverrideField(
        "Reason for exporting locked labels",
        help_text="Adds unscrubbed production data and labels of the test split. Recorded in the audit log.",
    )

    def clean_format(self) -> str:
        return self.cleaned_data["format"] or DEFAULT_FORMAT


def export_labels(request: HttpRequest, pk: int) -> HttpResponse:
    campaign = visible_campaign(request, pk, "export_annotation")
    facts = gates.load_facts(campaign.dataset)
    closed = facts.is_known_raw
    may_override = gates.can_override(request.user)
    form = ExportLabelsForm(request.POST or None, may_override=may_override, override_required=closed)
    if campaign.schema:
        chosen = form.fields["labels"]
        chosen.choices, chosen.initial, chosen.help_text = ANSWER_SELECTIONS, ANSWER_SELECTIONS[0][0], ""  # type: ignore[attr-defined]
    if request.method == "POST" and form.is_valid() and (may_override or not closed):
        parameters = LabelExportParameters(
            campaign=campaign.name, persona=campaign.persona.persona_id, **form.cleaned_data
        )
        return start_and_show_job(request, "export_annotations", campaign.dataset, parameters)
    jobs = JobRun.objects.filter(operation="export_annotations", parameters__campaign=campaign.name)
    context = {
        "form": form,
        "closed": closed,
        "raw_because": facts.raw_because,
        "may_override": may_override,
        "exports": jobs[:MAX_EXPORTS],
    }
    return render_campaign_page(request, campaign, "export", "Export labels", context)
