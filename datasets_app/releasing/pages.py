"""The versions of a dataset: which there are, what the next would be, one of them, and two compared."""

import json
import os
from collections.abc import Iterator
from typing import Any, NamedTuple

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from datasets_app.catalog import policies, raw_access
from datasets_app.core.errors import Refused
from datasets_app.core.web.dataset_page import dataset_page
from datasets_app.core.web.pages import require, visible_dataset
from datasets_app.domain.quality.output import Totals
from datasets_app.domain.releases import changelog
from datasets_app.domain.releases.comparison import SessionChange
from datasets_app.domain.releases.versions import BUMPS, FIRST, Version
from datasets_app.domain.splits.splits import SPLITS
from datasets_app.jobs import runs
from datasets_app.models import AuditEvent, Dataset, JobRun, Release
from datasets_app.releasing import gate
from datasets_app.releasing.compare import Compared, compare_releases, latest_release, release_of
from datasets_app.releasing.gate import Unmet
from datasets_app.releasing.release_dataset import LONGEST_NOTES

# Comparing so many turns takes no longer than a page may; more are compared by a job.
MOST_TURNS_AT_ONCE = 5000
NOW = "now"
SHOWN = 50
# Characters of a changed field that are shown, and how many of them stand before the change.
EXCERPT, BEFORE_DIFFERENCE = 400, 80


class ReleaseForm(forms.Form):
    bump = forms.ChoiceField(
        label="Which number grows",
        required=False,
        choices=[("", "As proposed"), *((bump, bump.capitalize()) for bump in BUMPS)],
        widget=UnfoldAdminSelectWidget,
        help_text="Major: other fields. Minor: other sessions. Patch: corrections.",
    )
    notes = forms.CharField(
        required=False,
        max_length=LONGEST_NOTES,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3}),
        help_text="Stands above the entry in the changelog. Whoever gets the version reads it.",
    )


class OverrideForm(ReleaseForm):
    """For a version that is not ready, and those who may have it released all the same."""

    override = forms.CharField(
        label="Reason for releasing it as it is",
        max_length=policies.LONGEST_REASON,
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off"}),
        help_text="It is kept with the version and in the audit trail, with your name.",
    )


def releases(request: HttpRequest, pk: int) -> HttpResponse:
    """The list, and what the next version would be; posting the form starts the job that makes it."""
    require(request, "view_release")
    dataset = visible_dataset(request, pk)
    may_release = request.user.has_perm("datasets_app.release_dataset")
    expired = dataset.status == Dataset.Status.EXPIRED
    unmet = [] if expired else _unmet(dataset)
    may_override = bool(unmet) and policies.can_override(request.user)
    form = (OverrideForm if may_override else ReleaseForm)(request.POST or None)
    last = latest_release(dataset)
    upcoming = _next(dataset, last) if not expired and dataset.turn_count else {}
    if request.method == "POST":
        if not may_release:
            raise PermissionDenied
        if _is_complete(form, upcoming) and (may_override or not unmet):
            job = runs.start(
                "release_dataset", actor=request.user, dataset=dataset, parameters=form.cleaned_data
            )
            return redirect("admin:datasets_app_jobrun_change", job.pk)
    context = {
        "releases": dataset.releases.all()[:SHOWN],
        "last": last,
        "form": form,
        "unmet": unmet,
        "remedies": {line.remedy for line in unmet},
        "may_release": may_release and not expired,
        "may_override": may_override,
        "can_start": (may_override or not unmet) and dataset.turn_count > 0,
        "running": _running(dataset),
        **upcoming,
    }
    return dataset_page(request, dataset, "releases", "Releases", context)


def _is_complete(form: ReleaseForm, upcoming: dict[str, Any]) -> bool:
    """Where nothing has changed no number is proposed: one has to be chosen."""
    if form.is_valid() and upcoming.get("unchanged") and not form.cleaned_data["bump"]:
        form.add_error(
            "bump", "Nothing has changed since the last version, so no number is proposed: choose one."
        )
    return form.is_valid()


def _unmet(dataset: Dataset) -> list[Unmet]:
    """As far as it can be told without reading the dataset: by the last report of the checks."""
    report = dataset.check_reports.first()
    return gate.unmet_lines(dataset, Totals(report.totals) if report else None)


def _running(dataset: Dataset) -> JobRun | None:
    wanted = dataset.job_runs.filter(operation="release_dataset", state__in=["queued", "running"])
    return wanted.first()


def _next(dataset: Dataset, last: Release | None) -> dict[str, Any]:
    """What has changed since the last version, if that can be told in a moment."""
    if last is None:
        return {"proposed": FIRST, "entry": changelog.first_entry(dataset.session_count, dataset.turn_count)}
    if last.turn_count + dataset.turn_count > MOST_TURNS_AT_ONCE:
        return {"too_long": True}
    try:
        compared = compare_releases(dataset, last)
    except (Refused, OSError) as error:
        return {"trouble": getattr(error, "message", "The last version can't be read.")}
    if compared.bump is None:
        return {"unchanged": True}
    return {
        "proposed": Version(last.major, last.minor, last.patch).bumped(compared.bump),
        "entry": changelog.drafted(compared.difference, compared.schema),
    }


def release(request: HttpRequest, pk: int, version: str) -> HttpResponse:
    require(request, "view_release")
    dataset = visible_dataset(request, pk)
    shown = _release_or_404(dataset, version)
    user = request.user
    may_download = user.has_perm("datasets_app.release_dataset") or user.has_perm(
        "datasets_app.export_dataset"
    )
    context = {
        "release": shown,
        "files": shown.files.all(),
        "splits": [(split, shown.splits[split]) for split in (*SPLITS, "none") if split in shown.splits],
        "may_download": may_download and shown.destroyed_at is None,
        "replaced_by": shown.replaced_by.first(),
        "check_totals": sorted((shown.checks.get("totals") or {}).items()),
        "others": [each for each in dataset.releases.filter(destroyed_at=None)[:SHOWN] if each != shown],
        "taken": _taken(dataset, shown) if user.has_perm("datasets_app.view_auditevent") else None,
    }
    return dataset_page(request, dataset, "release", f"Version {shown.version}", context)


def _release_or_404(dataset: Dataset, version: str) -> Release:
    try:
        return release_of(dataset, version)
    except Refused as refusal:
        raise Http404(refusal.message) from None


def _taken(dataset: Dataset, shown: Release) -> list[AuditEvent]:
    """Who has had a file of this version: downloads by page, exports by command."""
    events = AuditEvent.objects.filter(
        dataset_name=dataset.name, action__in=["download", "export"], details__release=shown.version
    )
    return list(events[:SHOWN])


@require_POST
def verify(request: HttpRequest, pk: int) -> HttpResponse:
    require(request, "release_dataset")
    dataset = visible_dataset(request, pk)
    job = runs.start("verify_releases", actor=request.user, dataset=dataset)
    return redirect("admin:datasets_app_jobrun_change", job.pk)


# --- two of them --------------------------------------------------------------------------------------


def compare(request: HttpRequest, pk: int) -> HttpResponse:
    """Two versions beside each other; what is too long for a page is done by a job (POST)."""
    require(request, "view_release")
    dataset = visible_dataset(request, pk)
    there = list(dataset.releases.filter(destroyed_at=None)[:SHOWN])
    asked = request.POST if request.method == "POST" else request.GET
    names = asked.get("before", ""), asked.get("after", NOW)
    context: dict[str, Any] = {"there": there, "before": names[0], "after": names[1], "now": NOW}
    if names[0]:
        try:
            pair = _pair(dataset, *names)
            if request.method == "POST":
                return _as_job(request, dataset, *pair)
            context |= _compared(request, dataset, *pair)
        except Refused as refusal:
            context["trouble"] = refusal.message
    return dataset_page(request, dataset, "compare", "Compare versions", context)


def _pair(dataset: Dataset, before: str, after: str) -> tuple[Release, Release | None]:
    return release_of(dataset, before), None if after in {"", NOW} else release_of(dataset, after)


def _as_job(request: HttpRequest, dataset: Dataset, before: Release, after: Release | None) -> HttpResponse:
    versions = {"before": before.version, "after": after.version if after else ""}
    job = runs.start("compare_releases", actor=request.user, dataset=dataset, parameters=versions)
    return redirect("admin:datasets_app_jobrun_change", job.pk)


def _compared(
    request: HttpRequest, dataset: Dataset, before: Release, after: Release | None
) -> dict[str, Any]:
    turns = before.turn_count + (after.turn_count if after else dataset.turn_count)
    if turns > MOST_TURNS_AT_ONCE:
        return {"too_long": True, "turns": turns}
    compared: Compared = compare_releases(dataset, before, after)
    may_read = request.user.has_perm("datasets_app.view_turn")
    shown = compared.difference.changes[:SHOWN]
    if may_read and shown:
        pair = (before, after)
        raw_access.read_versions(dataset, pair, request.user, place="comparison", sessions=len(shown))
    return {
        "compared": compared,
        "changes": [row for change in shown for row in _rows(change)],
        # A Counter answers to any name, in a template to that of its method too.
        "fields": sorted(compared.difference.fields.items()),
        "more": compared.difference.sessions_changed - len(shown),
        "added": compared.difference.added[:SHOWN],
        "removed": compared.difference.removed[:SHOWN],
        "may_read": may_read,
    }


class Row(NamedTuple):
    """A line of the table of changes; ``what`` is a field, or what became of the turn as a whole."""

    session_id: str
    turn_index: int
    what: str
    before: str = ""
    after: str = ""


def _rows(change: SessionChange) -> Iterator[Row]:
    for turn in change.turns:
        if not turn.fields:
            yield Row(change.session_id, turn.turn_index, f"turn {turn.kind}")
        for item in turn.fields:
            excerpts = _excerpts(_as_text(item.before), _as_text(item.after))
            yield Row(change.session_id, turn.turn_index, item.name, *excerpts)


def _as_text(value: Any) -> str:
    if value is None:
        return "–"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _excerpts(before: str, after: str) -> tuple[str, str]:
    """Both from shortly before the place where they begin to differ, if they are long."""
    same = len(os.path.commonprefix([before, after]))
    start = max(0, same - BEFORE_DIFFERENCE) if max(len(before), len(after)) > EXCERPT else 0
    first, second = (
        "…" * (start > 0) + text[start : start + EXCERPT] + "…" * (len(text) > start + EXCERPT)
        for text in (before, after)
    )
    return first, second
