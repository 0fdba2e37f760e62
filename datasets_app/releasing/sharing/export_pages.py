"""The form that exports a dataset."""

from typing import Any

from django import forms
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from msgspec import UNSET

from datasets_app import hooks
from datasets_app.catalog import gates
from datasets_app.catalog.personas import suggest_persona_ids
from datasets_app.core.web import fields
from datasets_app.core.web.dataset_page import render_dataset_page
from datasets_app.core.web.overrides import OverrideField, OverrideForm
from datasets_app.core.web.pages import get_visible_dataset, parse_pk
from datasets_app.core.web.refusals import make_invalid
from datasets_app.core.web.suggestions import SuggestingInput
from datasets_app.exporting.parameters import ExportParameters
from datasets_app.jobs.pages import start_and_show_job
from datasets_app.jobs.permissions import start_permission
from datasets_app.models import Dataset, Release, SessionSelection
from datasets_app.releasing.sharing.export_request import refuse_at_once
from datasets_app.releasing.sharing.share_gate import list_unmet
from datasets_app.releasing.versions import latest_release

PACKAGE = "package"
LABELS = ExportParameters.LABELS
FORMAT_CHOICES = [
    *ExportParameters.CHOICES["format"].items(),
    (PACKAGE, "Package: data, card, license, citation, reports (zip)"),
]
SPLIT_CHOICES = [("", "All sessions"), *ExportParameters.CHOICES["split"].items()]
MAX_VERSIONS_OFFERED = 200


class ExportForm(OverrideForm):
    format = fields.Choice(
        choices=FORMAT_CHOICES,
        help_text="Alignmenter reads conversation JSONL, which keeps every field. Its scores of scrubbed "
        "text compare with one another; those of the JSONL with scores as before the scrub also with earlier "
        "ones.",
    )
    version = fields.Choice(
        choices=[("", "Current data")],
        required=False,
        help_text="A release is exported byte for byte as it was stored, or as a package.",
    )
    labels = fields.Switch(
        label=LABELS["labels"],
        initial=True,
        help_text="For packages: a file of labels for each persona, with pseudonyms for annotators.",
    )
    split = fields.Choice(label=LABELS["split"], choices=SPLIT_CHOICES, required=False)
    persona = forms.CharField(
        label=LABELS["persona"],
        required=False,
        max_length=500,
        widget=SuggestingInput(suggest_persona_ids),
        help_text="Sessions with this persona_id. Leave empty for all.",
    )
    tag = fields.Text(
        label=LABELS["tag"],
        required=False,
        max_length=500,
        attrs={"list": "known-tag"},
        help_text="For example scenario:support. Leave empty for all.",
    )
    gzip = fields.Switch(label=LABELS["gzip"])
    selection = forms.IntegerField(required=False, widget=forms.HiddenInput)
    override = OverrideField(LABELS["override"])

    def __init__(self, dataset: Dataset, *args: Any, user: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.dataset, self.user = dataset, user
        releases = _list_stored(dataset)[:MAX_VERSIONS_OFFERED]
        versions = [(release.version, f"Release {release.version}") for release in releases]
        if versions:
            self.fields["version"].choices = [("", "Current data"), *versions]  # type: ignore[attr-defined]
        else:
            del self.fields["version"]
        has_labels, _ = hooks.labels.find_label_progress(dataset)
        if not has_labels or not user.has_perm(start_permission("export_annotations")):
            del self.fields["labels"]
        if not dataset.sessions.exclude(split=None).exists():
            del self.fields["split"]

    def clean_selection(self) -> int | None:
        """Only people's own: a number in the address must not tell how many sessions somebody else chose."""
        pk: int | None = self.cleaned_data["selection"]
        if pk is not None and self.find_selection(pk) is None:
            raise forms.ValidationError("The selected sessions are no longer known. Select them again.")
        return pk

    def find_selection(self, pk: int | None) -> SessionSelection | None:
        return SessionSelection.objects.filter(pk=pk or 0, dataset=self.dataset, owner=self.user).first()

    def clean(self) -> dict[str, Any]:
        super().clean()
        with make_invalid():
            refuse_at_once(self.dataset, self.parameters(), actor=self.user)
        return self.cleaned_data

    def parameters(self) -> ExportParameters:
        """The answers, as far as they are valid, as parameters of the job."""
        answers = self.cleaned_data
        package = answers.get("format") == PACKAGE
        names = ("version", "split", "persona", "tag")
        return ExportParameters(
            format=None if package else answers.get("format"),
            package=package,
            labels=answers.get("labels", True),
            gzip=bool(answers.get("gzip")),
            selection=answers.get("selection"),
            override=answers.get("override", UNSET),
            **{name: answers.get(name) or None for name in names},
        )


def _list_stored(dataset: Dataset) -> QuerySet[Release]:
    """The releases whose files are kept, newest first."""
    return Release.objects.filter(dataset=dataset, destroyed_at=None)


def _find_chosen(dataset: Dataset, form: ExportForm) -> Release | None:
    version = form["version"].value() if "version" in form.fields else ""
    return next((each for each in _list_stored(dataset) if each.version == version), None)


def export(request: HttpRequest, pk: int) -> HttpResponse:
    dataset = get_visible_dataset(request, pk, "export_dataset")
    if dataset.status == Dataset.Status.EXPIRED:
        return render_dataset_page(request, dataset, "export", "Export", {})
    facts = gates.load_facts(dataset)
    closed = facts.is_known_raw
    may_override = gates.can_override(request.user)
    asked = {name: request.GET[name] for name in ("format", "version", "selection") if name in request.GET}
    if asked in ({}, {"format": PACKAGE}) and (newest := latest_release(dataset)):
        asked = {"format": PACKAGE, "version": newest.version}
    form = ExportForm(
        dataset,
        request.POST or None,
        initial=asked,
        user=request.user,
        may_override=may_override,
        override_required=closed,
    )
    if request.method == "POST" and form.is_valid() and (may_override or not closed):
        return start_and_show_job(request, "export_dataset", dataset, form.parameters())
    selected = form.find_selection(parse_pk(str(form["selection"].value() or "")))
    context = {
        "form": form,
        "selected": len(selected.keys) if selected else 0,
        "is_blocked": closed,
        "raw_because": facts.raw_because,
        "may_override": may_override,
        "unmet": list_unmet(dataset, _find_chosen(dataset, form)),
    }
    return render_dataset_page(request, dataset, "export", "Export", context)
