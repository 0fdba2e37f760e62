"""The "Splits" page of a dataset: its shares, its leaks, and the form that splits it."""

from itertools import chain
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.dateparse import parse_datetime
from msgspec import UNSET

from datasets_app.catalog import gates, raw_access
from datasets_app.core.web import fields
from datasets_app.core.web.dataset_page import render_dataset_page
from datasets_app.core.web.overrides import OverrideField
from datasets_app.core.web.pages import dataset_url, get_visible_dataset, require_permissions
from datasets_app.domain.charts import Bars, Chart, make_chart
from datasets_app.domain.splits.report import format_warnings
from datasets_app.domain.splits.splits import (
    DEFAULT_RATIOS,
    DEFAULT_SIMILARITY,
    SPLITS,
    SplitError,
    SplitSettings,
)
from datasets_app.jobs.pages import start_and_show_job
from datasets_app.models import Dataset, JobRun, Session
from datasets_app.splitting.parameters import SplitParameters
from datasets_app.splitting.rows import count_splits
from datasets_app.splitting.split_dataset import load_split_settings

STRATUM_CHOICES = [("scenario", "By scenario"), ("persona", "By persona"), ("none", "None")]


class SplitForm(forms.Form):
    ratios = fields.Text(
        label="Shares (%)",
        initial=DEFAULT_RATIOS.replace(",", ", "),
        max_length=60,
        help_text="Training, validation and test, or only training and test.",
    )
    stratify = fields.Radio(
        label="Stratification",
        choices=STRATUM_CHOICES,
        initial="scenario",
        help_text="Keep the shares for each scenario (tags that start with scenario:) or each persona.",
    )
    similarity = fields.Decimal(
        label="Near-duplicate similarity",
        initial=DEFAULT_SIMILARITY,
        help_text="Sessions that share at least this part of their word pairs stay together (1 = all pairs).",
    )
    seed = fields.Integer(initial=42, help_text="Another seed gives another split.")

    def clean(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        if not self.errors:
            try:
                cleaned["settings"] = SplitSettings.parse(
                    cleaned["ratios"], cleaned["seed"], cleaned["stratify"], cleaned["similarity"]
                )
            except SplitError as error:
                text = str(error)
                field = next((name for name in ("similarity", "seed") if name in text.lower()), "ratios")
                self.add_error(field, text)
        return cleaned


class ResplitForm(SplitForm):
    """For a dataset that already has splits: splitting again unlocks the test split."""

    override = OverrideField("Reason for splitting again")


def splits(request: HttpRequest, pk: int) -> HttpResponse:
    """GET shows the page. POST starts a split: the first one ("split"), of new sessions ("rest") or of all
    sessions ("again")."""
    dataset = get_visible_dataset(request, pk)
    form_class = ResplitForm if dataset.split_settings else SplitForm
    if request.method != "POST":
        return _render_splits(request, dataset, form_class(initial=_initial_answers(dataset)))
    require_permissions(request, "split_dataset")
    if _active_split(dataset):
        messages.warning(request, "A split of this dataset is already running.")
        return redirect(dataset_url(dataset, "splits"))
    if "rest" in request.POST:
        return start_and_show_job(request, "split_dataset", dataset, SplitParameters())
    if dataset.split_settings and not gates.can_override(request.user):
        raise PermissionDenied
    form = form_class(request.POST)
    if not form.is_valid():
        return _render_splits(request, dataset, form)
    cleaned = form.cleaned_data
    parameters = SplitParameters(
        settings=cleaned["settings"].as_json(),
        again=bool(dataset.split_settings),
        override=cleaned.get("override", UNSET),
    )
    return start_and_show_job(request, "split_dataset", dataset, parameters)


def _active_split(dataset: Dataset) -> JobRun | None:
    return dataset.job_runs.active().filter(operation="split_dataset").first()


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
    leaks = _leak_rows(dataset, report) if report and has("datasets_app.view_session") else []
    withheld = not raw_access.may_read(request.user, dataset)
    if withheld:
        for session in chain.from_iterable(leak["sessions"] for leak in leaks):
            raw_access.withhold_session(session)
    elif report:
        raw_access.record_access(dataset, request.user, place="splits", leaks=len(leaks))
    context = {
        "withheld": withheld,
        "form": form,
        "job": _active_split(dataset),
        "shares": _chart_shares(dataset, counts, may_list=has("datasets_app.view_session")),
        "unplaced_count": counts.get(None, 0),
        "settings": load_split_settings(dataset),
        "split_at": parse_datetime(stored["at"]) if "at" in stored else None,
        "report": report,
        "warnings": list(format_warnings(report)) if report else [],
        "names": _split_names(report) if report else [],
        # Their names are tags and personas.
        "strata": _count_rows(report["strata"], "stratum", report) if report and not withheld else [],
        "tables": _count_tables(report, stored["stratify"]) if report and not withheld else [],
        "leaks": leaks,
        "may_split_again": has("datasets_app.split_dataset") and gates.can_override(request.user),
    }
    return render_dataset_page(request, dataset, "splits", "Splits", context)


def _chart_shares(dataset: Dataset, counts: dict[str | None, int], *, may_list: bool) -> Chart:
    """The current shares of the sessions, whatever the last report says."""
    settings = load_split_settings(dataset)
    targets = settings.target_shares() if settings else {}
    bars = [
        Bars(
            Session.Split(split).label,
            [counts.get(split, 0)],
            [f"{dataset_url(dataset, 'sessions')}?split={split}" if may_list and counts.get(split) else ""],
            note=", ".join(
                [
                    *(["locked"] if split == "test" else []),
                    *([f"target {targets[split] / 100:g} %"] if split in targets else []),
                ]
            ),
        )
        for split in SPLITS
        if any(counts.get(each) for each in SPLITS) and (split in targets or counts.get(split))
    ]
    return make_chart("Sessions of each split", "Split", bars, series=["Sessions"])


def _split_names(report: dict[str, Any]) -> list[str]:
    """In the usual order, which the database doesn't keep."""
    return [split for split in SPLITS if split in report["splits"]]


def _count_rows(rows: list[dict[str, Any]], key: str, report: dict[str, Any]) -> list[dict[str, Any]]:
    """Add the counts in the order of the columns."""
    names = _split_names(report)
    return [{**row, "name": row[key], "counts": [row.get(split, 0) for split in names]} for row in rows]


def _count_tables(report: dict[str, Any], by: str) -> list[dict[str, Any]]:
    """Tables of scenarios and personas, without the stratum ``by``, which has its own table."""
    return [
        {"title": title, "rows": _count_rows(report[key], "name", report)}
        for key, title in (("scenarios", "Scenarios"), ("personas", "Personas"))
        if key != f"{by}s" and report.get(key)
    ]


def _leak_rows(dataset: Dataset, report: dict[str, Any]) -> list[dict[str, Any]]:
    """Pairs of sessions that leak; a pair with a deleted session no longer does."""
    pairs = report["leaks"]
    keys = {key for first, second, _ in pairs for key in (first, second)}
    existing = Session.objects.filter(dataset=dataset).in_bulk(keys)
    return [
        {"sessions": [existing[first], existing[second]], "similarity": similarity}
        for first, second, similarity in pairs
        if first in existing and second in existing
    ]
