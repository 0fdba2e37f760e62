"""The form that asks in which form a dataset is to be exported, and starts the job."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from msgspec import UNSET
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget, UnfoldBooleanSwitchWidget

from datasets_app.catalog import gates
from datasets_app.catalog.rows.turn_reader import Selection
from datasets_app.core.errors import UserError
from datasets_app.core.web.dataset_page import render_dataset_page
from datasets_app.core.web.overrides import OverrideField, OverrideForm
from datasets_app.core.web.pages import get_visible_dataset, require_permissions
from datasets_app.jobs.pages import start_and_show_job
from datasets_app.jobs.parameters import FORMAT_LABELS, ExportParameters
from datasets_app.models import Dataset, Persona, Release, Session
from datasets_app.releasing.sharing.export_request import refuse_conflicting_options

PACKAGE = "package"
FORMAT_CHOICES = [
    *FORMAT_LABELS.items(),
    ("csv", "CSV for spreadsheets"),
    ("parquet", "Parquet, one turn a row"),
    (PACKAGE, "Package: data, card, licence, citation, reports (zip)"),
]
SPLIT_CHOICES = [("", "All sessions"), *Session.Split.choices]
MAX_VERSIONS_OFFERED = 200


class ExportForm(OverrideForm):
    format = forms.ChoiceField(
        choices=FORMAT_CHOICES,
        widget=UnfoldAdminSelectWidget,
        help_text="Conversation JSONL is what Alignmenter reads, and keeps every field.",
    )
    version = forms.ChoiceField(
        choices=[("", "As it stands")],
        required=False,
        widget=UnfoldAdminSelectWidget,
        help_text="A release is handed out as it was stored, byte for byte, or as a package.",
    )
    split = forms.ChoiceField(
        label="Only this split", choices=SPLIT_CHOICES, required=False, widget=UnfoldAdminSelectWidget
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
    override = OverrideField("Reason for exporting unscrubbed data")

    def __init__(self, dataset: Dataset, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        releases = Release.objects.filter(dataset=dataset, destroyed_at=None)[:MAX_VERSIONS_OFFERED]
        versions = [(release.version, f"Release {release.version}") for release in releases]
        if versions:
            self.fields["version"].choices = [("", "As it stands"), *versions]  # type: ignore[attr-defined]
        else:
            del self.fields["version"]
        if not dataset.sessions.exclude(split=None).exists():
            del self.fields["split"]

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = super().clean() or {}
        package = given.get("format") == PACKAGE
        try:
            refuse_conflicting_options(
                version=given.get("version") or "",
                package=package,
                format="turns" if package else given.get("format") or "turns",
                selection=Selection(
                    given.get("persona") or None, given.get("tag") or None, split=given.get("split") or None
                ),
                gzip=bool(given.get("gzip")),
            )
        except UserError as refusal:
            raise forms.ValidationError(refusal.message) from None
        return given

    def parameters(self) -> ExportParameters:
        """What the job is asked, once the form is valid."""
        given = self.cleaned_data
        package = given["format"] == PACKAGE
        names = ("version", "split", "persona", "tag")
        return ExportParameters(
            format=None if package else given["format"],
            package=package,
            gzip=given["gzip"],
            override=given.get("override", UNSET),
            **{name: given.get(name) or None for name in names},
        )


def export(request: HttpRequest, pk: int) -> HttpResponse:
    require_permissions(request, "export_dataset")
    dataset = get_visible_dataset(request, pk)
    if dataset.status == Dataset.Status.EXPIRED:
        return render_dataset_page(request, dataset, "export", "Export", {})
    closed = not gates.is_scrubbed(dataset)
    may_override = closed and gates.can_override(request.user)
    asked = {name: request.GET[name] for name in ("format", "version") if name in request.GET}
    form = ExportForm(dataset, request.POST or None, initial=asked, may_override=may_override)
    if request.method == "POST" and form.is_valid() and (may_override or not closed):
        return start_and_show_job(request, "export_dataset", dataset, form.parameters())
    context = {
        "form": form,
        "is_blocked": closed,
        "may_override": may_override,
        "personas": Persona.objects.values_list("persona_id", flat=True)[:100],
    }
    return render_dataset_page(request, dataset, "export", "Export", context)
