"""The form that draws a sample of a dataset: a file to download, or a new dataset."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from msgspec import UNSET

from datasets_app.catalog import facts, gates
from datasets_app.core.web import fields
from datasets_app.core.web.dataset_page import render_dataset_page
from datasets_app.core.web.overrides import OverrideField, OverrideForm
from datasets_app.core.web.pages import get_visible_dataset
from datasets_app.core.web.refusals import make_invalid
from datasets_app.exporting.parameters import SampleParameters
from datasets_app.exporting.sample_dataset import SampleOptions
from datasets_app.jobs.pages import start_and_show_job
from datasets_app.models import Dataset

GROUPING_CHOICES = [
    ("session", "At random"),
    ("scenario", "Equally many of each scenario"),
    ("trap", "Equally many with and without each trap"),
    ("tag", "Equally many of each tag"),
]
MAX_SAMPLE, DEFAULT_SIZE = 100_000, 200
_DEFAULTS = SampleOptions(DEFAULT_SIZE)


class SampleForm(OverrideForm):
    size = fields.Integer(
        label="Sessions",
        min_value=1,
        max_value=MAX_SAMPLE,
        initial=_DEFAULTS.size,
        help_text="Fewer if the dataset has fewer; excluded sessions are never drawn.",
    )
    by = fields.Choice(
        label="How",
        choices=GROUPING_CHOICES,
        help_text="Where a group has too few sessions, the others fill up the sample.",
    )
    seed = fields.Integer(
        initial=_DEFAULTS.seed,
        min_value=-(2**63),
        max_value=2**63 - 1,
        help_text="The same seed draws the same sessions.",
    )
    name = fields.Text(
        label="New dataset", required=False, max_length=100, help_text="Leave empty for a file to download."
    )
    override = OverrideField("Reason for the override")

    def __init__(self, *args: Any, may_create: bool, **options: Any) -> None:
        super().__init__(*args, override_required=False, **options)
        if not may_create:
            del self.fields["name"]

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"].strip()
        if name:
            with make_invalid():
                facts.check_dataset_name(name)
            if Dataset.objects.filter(name=name).exists():
                raise forms.ValidationError("This name is taken. Choose another one.")
        return name

    def parameters(self) -> SampleParameters:
        answers = self.cleaned_data
        return SampleParameters(
            size=answers["size"],
            by=answers["by"],
            seed=answers["seed"],
            name=answers.get("name") or None,
            override=answers.get("override") or UNSET,
        )


def sample(request: HttpRequest, pk: int) -> HttpResponse:
    dataset = get_visible_dataset(request, pk, "export_dataset")
    may_create = request.user.has_perm("datasets_app.import_dataset")
    may_override = gates.can_override(request.user)
    form = SampleForm(request.POST or None, may_create=may_create, may_override=may_override)
    if request.method == "POST" and dataset.status != Dataset.Status.EXPIRED and form.is_valid():
        return start_and_show_job(request, "sample_dataset", dataset, form.parameters())
    facts_now = gates.load_facts(dataset)
    context = {
        "form": form,
        "is_blocked": facts_now.is_known_raw,
        "raw_because": facts_now.raw_because,
        "may_create": may_create,
        "may_override": may_override,
    }
    return render_dataset_page(request, dataset, "sample", "Sample", context)
