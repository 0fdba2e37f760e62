"""The "Splits" page of a dataset: who is where, what leaks, and the form that splits it."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.dateparse import parse_datetime
from unfold.widgets import (
    UnfoldAdminDecimalFieldWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminRadioSelectWidget,
    UnfoldAdminTextInputWidget,
)

from datasets_app.catalog import gates
from datasets_app.catalog.activity import live_job_filter
from datasets_app.core.web.dataset_page import render_dataset_page
from datasets_app.core.web.overrides import OverrideField
from datasets_app.core.web.pages import dataset_url, get_visible_dataset, require_permissions
from datasets_app.domain.splits.near_duplicates import DEFAULT_SIMILARITY
from datasets_app.domain.splits.report import format_warnings
from datasets_app.domain.splits.splits import SPLITS, SplitError, SplitSettings
from datasets_app.jobs import runs
from datasets_app.models import Dataset, JobRun, Session
from datasets_app.splitting.rows import count_splits
from datasets_app.splitting.split_dataset import load_split_settings

STRATUM_CHOICES = [("scenario", "By scenario"), ("persona", "By persona"), ("none", "Not at all")]


class SplitForm(forms.Form):
    ratios = forms.CharField(
        label="Shares in percent",
        initial="60, 20, 20",
        max_length=60,
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off"}),
        help_text="Training, validation and test; or two: training and test.",
    )
    stratify = forms.ChoiceField(
        label="Keep these shares",
        choices=STRATUM_CHOICES,
        initial="scenario",
        widget=UnfoldAdminRadioSelectWidget,
        help_text="In each scenario (tags that begin with scenario:) or for each persona.",
    )
    similarity = forms.FloatField(
        label="Near-duplicates from this similarity on",
        initial=DEFAULT_SIMILARITY,
        widget=UnfoldAdminDecimalFieldWidget(attrs={"step": "any", "inputmode": "decimal"}),
        help_text="Sessions that share so much of their pairs of words stay together; 1 is all of them.",
    )
    seed = forms.IntegerField(
        initial=42, widget=UnfoldAdminIntegerFieldWidget, help_text="Another seed, another split."
    )

    def clean(self) -> dict[str, Any]:
        said = self.cleaned_data
        if not self.errors:
            try:
                said["settings"] = SplitSettings.parse(
                    said["ratios"], said["seed"], said["stratify"], said["similarity"]
                )
            except SplitError as error:
                text = str(error)
                field = next((name for name in ("similarity", "seed") if name in text.lower()), "ratios")
                self.add_error(field, text)
        return said


class ResplitForm(SplitForm):
    """For a dataset that is split already: it unlocks the test split."""

    override = OverrideField("Reason for splitting it again")


def splits(request: HttpRequest, pk: int) -> HttpResponse:
    """GET: the page. POST: "split" for the first time, "rest" for what came since, "again" for all."""
    dataset = get_visible_dataset(request, pk)
    form_class = ResplitForm if dataset.split_settings else SplitForm
    if request.method != "POST":
        return _render_splits(request, dataset, form_class(initial=_initial_answers(dataset)))
    require_permissions(request, "split_dataset")
    if _find_active_job(dataset):
        messages.warning(request, "This dataset is being split already.")
        return redirect(dataset_url(dataset, "splits"))
    if "rest" in request.POST:
        return _start_job(request, dataset, {})
    if dataset.split_settings and not gates.can_override(request.user):
        raise PermissionDenied
    form = form_class(request.POST)
    if not form.is_valid():
        return _render_splits(request, dataset, form)
    said = form.cleaned_data
    parameters = {"settings": said["settings"].as_json()}
    if dataset.split_settings:
        parameters |= {"again": True, "override": said["override"]}
    return _start_job(request, dataset, parameters)


def _start_job(request: HttpRequest, dataset: Dataset, parameters: dict[str, Any]) -> HttpResponse:
    job = runs.start_job("split_dataset", actor=request.user, dataset=dataset, parameters=parameters)
    return redirect("admin:datasets_app_jobrun_change", job.pk)


def _find_active_job(dataset: Dataset) -> JobRun | None:
    return JobRun.objects.filter(live_job_filter(), operation="split_dataset", dataset=dataset).first()


def _initial_answers(dataset: Dataset) -> dict[str, Any]:
    settings = load_split_settings(dataset)
    if settings is None:
        return {}
    ratios = ", ".join(f"{share / 100:g}" for share in settings.target_shares().values())
    return {**settings._asdict(), "ratios": ratios}


def _render_splits(request: HttpRequest, dataset: Dataset, form: SplitForm) -> HttpResponse:
    stored = dataset.split_settings or {}
    report = stored.get("report")
    counts = count_splits(dataset)
    has = request.user.has_perm
    context = {
        "form": form,
        "job": _find_active_job(dataset),
        "shares": _share_rows(dataset, counts),
        "unplaced_count": counts.get(None, 0),
        "settings": load_split_settings(dataset),
        "split_at": parse_datetime(stored["at"]) if "at" in stored else None,
        "report": report,
        "warnings": list(format_warnings(report)) if report else [],
        "names": _split_names(report) if report else [],
        "strata": _count_rows(report["strata"], "stratum", report) if report else [],
        "tables": _count_tables(report, stored["stratify"]) if report else [],
        "leaks": _leak_rows(dataset, report) if report and has("datasets_app.view_session") else [],
        "may_split": has("datasets_app.split_dataset"),
        "may_read": has("datasets_app.view_turn"),
        "may_split_again": has("datasets_app.split_dataset") and gates.can_override(request.user),
    }
    return render_dataset_page(request, dataset, "splits", "Splits", context)


def _share_rows(dataset: Dataset, counts: dict[str | None, int]) -> list[dict[str, Any]]:
    """What stands in the table of sessions now, whatever the last report said."""
    settings = load_split_settings(dataset)
    wanted = settings.target_shares() if settings else {}
    placed = sum(count for split, count in counts.items() if split)
    return [
        {
            "split": split,
            "count": counts.get(split, 0),
            "percent": round(100 * counts.get(split, 0) / placed, 2),
            "target_percent": wanted[split] / 100 if split in wanted else None,
        }
        for split in SPLITS
        if placed and (split in wanted or counts.get(split))
    ]


def _split_names(report: dict[str, Any]) -> list[str]:
    """In their order; the database keeps keys in its own."""
    return [split for split in SPLITS if split in report["splits"]]


def _count_rows(rows: list[dict[str, Any]], key: str, report: dict[str, Any]) -> list[dict[str, Any]]:
    """Counts in the order of the columns."""
    names = _split_names(report)
    return [{**row, "name": row[key], "counts": [row.get(split, 0) for split in names]} for row in rows]


def _count_tables(report: dict[str, Any], by: str) -> list[dict[str, Any]]:
    """Scenarios and personas, but for what it was stratified ``by``: that stands in a table of its own."""
    return [
        {"title": title, "rows": _count_rows(report[key], "name", report)}
        for key, title in (("scenarios", "Scenarios"), ("personas", "Personas"))
        if key != f"{by}s" and report.get(key)
    ]


def _leak_rows(dataset: Dataset, report: dict[str, Any]) -> list[dict[str, Any]]:
    """Pairs of sessions as they stand now; one of which a session is gone is no leak any more."""
    pairs = report["leaks"]
    keys = {key for first, second, _ in pairs for key in (first, second)}
    there = Session.objects.filter(dataset=dataset).in_bulk(keys)
    return [
        {"sessions": [there[first], there[second]], "similarity": alike}
        for first, second, alike in pairs
        if first in there and second in there
    ]
