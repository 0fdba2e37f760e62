"""The versions of a dataset: the list, the next version, one version, and two compared."""

import json
import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from datasets_app.catalog import gates, raw_access
from datasets_app.catalog.written_text import find_problems
from datasets_app.core.errors import UserError
from datasets_app.core.web import fields
from datasets_app.core.web.dataset_page import render_dataset_page
from datasets_app.core.web.overrides import OverrideField, OverrideForm
from datasets_app.core.web.pages import get_visible_dataset
from datasets_app.domain.releases import changelog
from datasets_app.domain.releases.comparison import Piece, SessionChange, diff_words
from datasets_app.domain.releases.versions import FIRST_VERSION, Version
from datasets_app.domain.splits.splits import SPLITS
from datasets_app.jobs.pages import start_and_show_job
from datasets_app.models import AuditEvent, Dataset, Release, Session
from datasets_app.releasing.compare import ReleaseComparison, compare_releases
from datasets_app.releasing.comparison_pages import (
    CURRENT,
    Side,
    find_side,
    list_other_datasets,
    may_read_all,
)
from datasets_app.releasing.parameters import CompareParameters, ReleaseParameters
from datasets_app.releasing.readiness import find_known_blockers
from datasets_app.releasing.release_dataset import MAX_NOTES_CHARACTERS
from datasets_app.releasing.run_pages import RunForm, chart_releases
from datasets_app.releasing.versions import find_release, latest_release

# A page can compare so many turns in time; a job compares more.
MAX_TURNS_COMPARED = 5000
MAX_ROWS_SHOWN = 50
# Characters shown of a changed field, and how many of them precede the change.
EXCERPT_CHARACTERS, EXCERPT_LEAD_CHARACTERS = 400, 80


class ReleaseForm(OverrideForm):
    bump = fields.Choice(
        label=ReleaseParameters.LABELS["bump"],
        required=False,
        choices=[("", "As proposed"), *ReleaseParameters.CHOICES["bump"].items()],
        help_text="Major: fields changed. Minor: sessions added or removed. Patch: corrections.",
    )
    notes = fields.LongText(
        required=False,
        max_length=MAX_NOTES_CHARACTERS,
        attrs={"rows": 3},
        help_text="Shown above the entry in the changelog, for everyone who receives the version.",
    )
    override = OverrideField(
        ReleaseParameters.LABELS["override"],
        help_text="Kept with the version, and recorded in the audit log with your name.",
    )


def releases(request: HttpRequest, pk: int) -> HttpResponse:
    """The list and the next version; posting the form starts the job that releases it."""
    dataset = get_visible_dataset(request, pk, "view_release")
    may_release = request.user.has_perm("datasets_app.release_dataset")
    expired = dataset.status == Dataset.Status.EXPIRED
    unmet = [] if expired else find_known_blockers(dataset)
    may_override = bool(unmet) and gates.can_override(request.user)
    form = ReleaseForm(request.POST or None, may_override=may_override)
    last = latest_release(dataset)
    upcoming = _next_version_context(dataset, last) if not expired and dataset.turn_count else {}
    # A draft of a changelog names sessions; that of the first version only counts them.
    if last and upcoming.get("entry"):
        if may_read_all(request.user, (dataset, last)):
            raw_access.record_access(dataset, request.user, place="releases", versions=(last,))
        else:
            del upcoming["entry"]
    if request.method == "POST":
        if not may_release:
            raise PermissionDenied
        if _validate_release(form, dataset, upcoming) and (may_override or not unmet):
            parameters = ReleaseParameters(**form.cleaned_data)
            return start_and_show_job(request, "release_dataset", dataset, parameters)
    context = {
        "releases": dataset.releases.all()[:MAX_ROWS_SHOWN],
        "last": last,
        "form": form,
        "unmet": unmet,
        "remedies": {line.remedy for line in unmet},
        "may_release": may_release and not expired,
        "runs_chart": chart_releases(dataset),
        "may_override": may_override,
        "can_start": (may_override or not unmet) and dataset.turn_count > 0,
        "running": dataset.job_runs.active().filter(operation="release_dataset").first(),
        "compared_from": _choose_compared(dataset, upcoming),
        **upcoming,
    }
    return render_dataset_page(request, dataset, "releases", "Releases", context)


def _validate_release(form: ReleaseForm, dataset: Dataset, upcoming: dict[str, Any]) -> bool:
    """Without changes no bump is proposed: one has to be chosen. Notes with personal data reach no job."""
    if form.is_valid():
        for field, problem in find_problems(dataset, {"notes": form.cleaned_data["notes"]}).items():
            form.add_error(field, problem)
    if form.is_valid() and upcoming.get("unchanged") and not form.cleaned_data["bump"]:
        form.add_error(
            "bump", "Nothing has changed since the last version, so no bump is proposed: choose one."
        )
    return form.is_valid()


def _choose_compared(dataset: Dataset, upcoming: dict[str, Any]) -> str:
    """For the link to the comparison: the last version and the dataset, or the last two if that has no
    differences."""
    versions = [each.version for each in dataset.releases.filter(destroyed_at=None)[:2]]
    if upcoming.get("unchanged") and len(versions) > 1:
        return f"{versions[1]}&after={versions[0]}"
    return versions[0] if versions else ""


def _next_version_context(dataset: Dataset, last: Release | None) -> dict[str, Any]:
    """What has changed since the last version, if that is quick to compute."""
    if last is None:
        return {
            "proposed": FIRST_VERSION,
            "entry": changelog.draft_first_entry(dataset.session_count, dataset.turn_count),
        }
    if last.turn_count + dataset.turn_count > MAX_TURNS_COMPARED:
        return {"too_long": True}
    try:
        compared = compare_releases(dataset, last)
    except (UserError, OSError) as error:
        return {"error_message": getattr(error, "message", "The last version can't be read.")}
    if compared.bump is None:
        return {"unchanged": True}
    return {
        "proposed": Version(last.major, last.minor, last.patch).bump(compared.bump),
        "entry": changelog.draft_entry(compared.difference, compared.schema),
    }


def release(request: HttpRequest, pk: int, version: str) -> HttpResponse:
    dataset = get_visible_dataset(request, pk, "view_release")
    shown = _get_release_or_404(dataset, version)
    user = request.user
    withheld = not raw_access.may_read_release(user, shown)
    if not withheld and shown.changelog:
        raw_access.record_access(dataset, user, place="release", versions=(shown,), release=shown.version)
    may_download = user.has_perm("datasets_app.release_dataset") or user.has_perm(
        "datasets_app.export_dataset"
    )
    context = {
        "release": shown,
        "withheld": withheld,
        "files": shown.files.all(),
        "splits": [(split, shown.splits[split]) for split in (*SPLITS, "none") if split in shown.splits],
        "may_download": may_download and shown.destroyed_at is None,
        "replaced_by": shown.replaced_by.first(),
        "check_totals": sorted((shown.checks.get("totals") or {}).items()),
        "comparable_releases": [
            each for each in dataset.releases.filter(destroyed_at=None)[:MAX_ROWS_SHOWN] if each != shown
        ],
        "runs": shown.runs.defer("session_keys", "turn_indexes", "reply_scores"),
        "run_form": RunForm() if user.has_perm("datasets_app.release_dataset") else None,
        "download_events": _download_events(dataset, shown)
        if user.has_perm("datasets_app.view_auditevent")
        else None,
    }
    return render_dataset_page(request, dataset, "release", f"Version {shown.version}", context)


def _get_release_or_404(dataset: Dataset, version: str) -> Release:
    try:
        return find_release(dataset, version)
    except UserError as refusal:
        raise Http404(refusal.message) from None


def _download_events(dataset: Dataset, shown: Release) -> list[AuditEvent]:
    """Who received a file of this version: downloads by page, exports by command."""
    events = AuditEvent.objects.filter(
        dataset_name=dataset.name, action__in=["download", "export"], details__release=shown.version
    )
    return list(events[:MAX_ROWS_SHOWN])


@require_POST
def verify(request: HttpRequest, pk: int) -> HttpResponse:
    dataset = get_visible_dataset(request, pk, "release_dataset")
    return start_and_show_job(request, "verify_releases", dataset)


# --- comparison --------------------------------------------------------------------------------------


def compare(request: HttpRequest, pk: int) -> HttpResponse:
    """Two versions or datasets side by side, at first the latest version and the dataset, or the dataset and
    another one if it has no version. What differs is listed of versions of the same dataset; a job (POST)
    compares what takes too long for a page."""
    dataset = get_visible_dataset(request, pk, "view_release")
    there = list(dataset.releases.filter(destroyed_at=None)[:MAX_ROWS_SHOWN])
    asked = request.POST if request.method == "POST" else request.GET
    others = list_other_datasets(request.user, dataset)
    first = (there[0].version, CURRENT) if there else (CURRENT, others[0][0] if others else CURRENT)
    names = asked.get("before") or first[0], asked.get("after") or first[1]
    context: dict[str, Any] = {
        "available_releases": there,
        "before": names[0],
        "after": names[1],
        "current_label": CURRENT,
        "other_datasets": others,
    }
    try:
        sides = [find_side(request.user, dataset, name) for name in names]
        context["has_charts"] = sides[0] != sides[1]
        if pair := _get_releases(*sides):
            if request.method == "POST":
                return _start_comparison(request, dataset, *pair)
            context |= _comparison_context(request, dataset, *pair)
    except UserError as refusal:
        context["error_message"] = refusal.message
    return render_dataset_page(request, dataset, "compare", "Compare versions", context)


def _get_releases(before: Side, after: Side) -> tuple[Release, Release | None] | None:
    """Versions of one dataset, of which the second may be the dataset as it is."""
    return (before[1], after[1]) if before[1] and before[0] == after[0] else None


def _start_comparison(
    request: HttpRequest, dataset: Dataset, before: Release, after: Release | None
) -> HttpResponse:
    versions = CompareParameters(before=before.version, after=after.version if after else "")
    return start_and_show_job(request, "compare_releases", dataset, versions)


def _comparison_context(
    request: HttpRequest, dataset: Dataset, before: Release, after: Release | None
) -> dict[str, Any]:
    turns = before.turn_count + (after.turn_count if after else dataset.turn_count)
    if turns > MAX_TURNS_COMPARED:
        return {"too_long": True, "turns": turns}
    compared: ReleaseComparison = compare_releases(dataset, before, after)
    kinds = ("added", "removed", "changed", "same")
    counts = [
        ("unchanged" if kind == "same" else kind, getattr(compared.difference, f"sessions_{kind}"))
        for kind in kinds
    ]
    if not may_read_all(request.user, (dataset, before), (dataset, after)):
        return {"comparison": compared, "kinds": counts, "withheld": True}
    field, show = request.GET.get("field", ""), request.GET.get("show", "")
    listed = compared.difference.changes
    chosen = [change for change in listed if not field or _has_changed(change, field)]
    shown = chosen[:MAX_ROWS_SHOWN]
    if compared.bump is not None:
        raw_access.record_access(
            dataset, request.user, place="comparison", versions=(before, after), sessions=len(shown)
        )
    return {
        "comparison": compared,
        "kinds": counts,
        "changes": show in ("", "changed")
        and [row for change in shown for row in _change_rows(change) if field in ("", row.label)],
        "field": field,
        "session_keys": _find_session_keys(dataset, compared, shown),
        # A template would look up "items" in a Counter as a key.
        "fields": sorted(compared.difference.fields.items()),
        "hidden_change_count": len(chosen) - len(shown),
        "unlisted_change_count": compared.difference.sessions_changed - len(listed),
        "lists": [
            (kind, ids[:MAX_ROWS_SHOWN], getattr(compared.difference, f"sessions_{kind}") - MAX_ROWS_SHOWN)
            for kind, ids in (("added", compared.difference.added), ("removed", compared.difference.removed))
            if ids and show in ("", kind)
        ],
        "show": show,
        "may_read": request.user.has_perm("datasets_app.view_turn"),
    }


def _find_session_keys(
    dataset: Dataset, compared: ReleaseComparison, shown: Sequence[SessionChange]
) -> dict[str, int]:
    """Primary keys of the sessions on the page that the dataset has now, to link to them."""
    difference = compared.difference
    listed = [*difference.added[:MAX_ROWS_SHOWN], *difference.removed[:MAX_ROWS_SHOWN]]
    ids = {change.session_id for change in shown}.union(listed)
    found = Session.objects.filter(dataset=dataset, session_id__in=ids)
    return dict(found.values_list("session_id", "pk"))


class ChangeRow(NamedTuple):
    """A line of the table of changes; ``label`` is a field, or what became of the turn as a whole."""

    session_id: str
    turn_index: int
    label: str
    before: Sequence[Piece] = ()
    after: Sequence[Piece] = ()


def _has_changed(change: SessionChange, field: str) -> bool:
    return any(item.name == field for turn in change.turns for item in turn.fields)


def _change_rows(change: SessionChange) -> Iterator[ChangeRow]:
    for turn in change.turns:
        if not turn.fields:
            yield ChangeRow(change.session_id, turn.turn_index, f"turn {turn.kind}")
        for item in turn.fields:
            excerpts = _make_excerpts(_format_value(item.before), _format_value(item.after))
            yield ChangeRow(change.session_id, turn.turn_index, item.name, *diff_words(*excerpts))


def _format_value(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        value = ", ".join(value)
    if value in (None, ""):
        return "–"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _make_excerpts(before: str, after: str) -> tuple[str, str]:
    """Both from shortly before the first difference, if they are long."""
    same = len(os.path.commonprefix([before, after]))
    start = max(0, same - EXCERPT_LEAD_CHARACTERS) if max(len(before), len(after)) > EXCERPT_CHARACTERS else 0
    first, second = (
        "…" * (start > 0)
        + text[start : start + EXCERPT_CHARACTERS]
        + "…" * (len(text) > start + EXCERPT_CHARACTERS)
        for text in (before, after)
    )
    return first, second
