"""Runs of Alignmenter on the versions of a dataset: over all versions, and one in detail."""

from collections.abc import Sequence
from typing import NamedTuple

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from datasets_app import hooks
from datasets_app.catalog import raw_access
from datasets_app.core.errors import UserError
from datasets_app.core.web import fields
from datasets_app.core.web.dataset_page import render_dataset_page
from datasets_app.core.web.pages import get_visible_dataset
from datasets_app.core.web.uploads import accepts_files
from datasets_app.domain.charts import DotChart, Dots, Estimate, make_dots
from datasets_app.domain.releases.run_report import HEADLINES, InvalidReport, Scores, parse_report
from datasets_app.models import Dataset, EvaluationRun, Turn
from datasets_app.releasing.runs import explain_invalid, find_worst, import_run, score_splits, score_tags
from datasets_app.releasing.versions import find_release

MAX_RUNS_SHOWN = 30
MAX_REPORT_BYTES = 32 << 20
_SERIES = [scorer.capitalize() for scorer in HEADLINES]


class RunForm(forms.Form):
    manifest = fields.File(label="manifest.json")
    results = fields.File(label="results.json")


class WorstReply(NamedTuple):
    score: float
    name: str
    url: str
    notes: Sequence[str]


def chart_releases(dataset: Dataset) -> DotChart | None:
    """The headlines of each run, the latest versions last."""
    runs = list(
        EvaluationRun.objects.filter(release__dataset=dataset)
        .select_related("release")
        .defer("session_keys", "turn_indexes", "reply_scores", "groups")
        .order_by("-release__major", "-release__minor", "-release__patch", "-ran_at")[:MAX_RUNS_SHOWN]
    )
    rows = [
        _make_dots(run.release.version, run.whole, f"{run.model}, {run.ran_at:%Y-%m-%d}")._replace(
            address=reverse("admin:datasets_app_dataset_run", args=[dataset.pk, run.release.version, run.pk])
        )
        for run in reversed(runs)
    ]
    if not rows:
        return None
    return make_dots("Scores of runs over versions", "Version", rows, series=_SERIES, unit="Replies")


def _make_dots(label: str, scores: Scores, note: str = "") -> Dots:
    numbers = []
    for scorer, metric in HEADLINES.items():
        found = scores.get(scorer, {})
        low, high = (found.get(f"ci95_{end}") for end in ("low", "high"))
        numbers.append(Estimate(found.get(metric), low, high, "not scored" if metric not in found else ""))
    replies = scores.get("authenticity", {}).get("turns", 0)
    return Dots(label, numbers, int(replies), note)


def _chart_run(run: EvaluationRun, *, withheld: bool, tags_withheld: bool) -> list[DotChart]:
    reported = {"Scenario": "scenarios", "Persona": "personas"}
    charts = [
        make_dots("All replies", "Part", [_make_dots("All", run.whole)], series=_SERIES, unit="Replies")
    ]
    for head, name in {} if withheld else reported.items():
        if groups := run.groups.get(name):
            rows = [_make_dots(label.removeprefix("scenario:"), scores) for label, scores in groups.items()]
            charts.append(make_dots(f"By {head.lower()}", head, rows, series=_SERIES, unit="Replies"))
    measured = {"Split": score_splits(run), "Tag": [] if tags_withheld else score_tags(run)}
    for head, scored in measured.items():
        if scored:
            rows = [Dots(group.name, [Estimate(group.mean)], group.replies) for group in scored]
            charts.append(make_dots(f"By {head.lower()}", head, rows, series=_SERIES[:1], unit="Replies"))
    return charts


def show_run(request: HttpRequest, pk: int, version: str, evaluation_pk: int) -> HttpResponse:
    dataset = get_visible_dataset(request, pk, "view_release")
    shown = (
        EvaluationRun.objects.filter(pk=evaluation_pk, release__dataset=dataset)
        .select_related("release")
        .first()
    )
    if shown is None or shown.release.version != version:
        raise Http404("No such run.")
    # Groups are named as the version has them; replies as the dataset does now.
    withheld = not raw_access.may_read_release(request.user, shown.release)
    if not withheld:
        raw_access.record_access(
            dataset, request.user, place="run", versions=(shown.release,), release=shown.release.version
        )
    tags_withheld = not raw_access.may_read(request.user, dataset)
    context = {
        "run": shown,
        "release": shown.release,
        "withheld": withheld,
        "charts": _chart_run(shown, withheld=withheld, tags_withheld=tags_withheld),
        "worst": _list_worst(request, shown),
        "panel": hooks.panels.score_panel(shown, request.user),
    }
    return render_dataset_page(request, dataset, "run", f"Run on {version}", context)


def _list_worst(request: HttpRequest, run: EvaluationRun) -> list[WorstReply]:
    """Lowest score first, with people's labels; for those who may read turns."""
    if not request.user.has_perms(["datasets_app.view_session", "datasets_app.view_turn"]):
        return []
    scores = find_worst(run)
    dataset = run.release.dataset
    found = Turn.objects.filter(dataset=dataset, pk__in=scores).select_related("session")
    turns = sorted(found.only("pk", "turn_index", "session__session_id"), key=lambda turn: scores[turn.pk])
    notes = hooks.panels.turn_label_notes(None, turns, request.user)
    may_read = raw_access.may_read(request.user, dataset)
    names = {turn.pk: turn.session.session_id if may_read else f"#{turn.session_id}" for turn in turns}
    return [
        WorstReply(
            scores[turn.pk],
            f"{names[turn.pk]}, turn {turn.turn_index}",
            f"{reverse('admin:datasets_app_session_change', args=[turn.session_id])}"
            f"?turn={turn.turn_index}#turn-{turn.turn_index}",
            notes.get(turn.pk, []),
        )
        for turn in turns
    ]


@accepts_files(lambda user: MAX_REPORT_BYTES if user.has_perm("datasets_app.release_dataset") else 0)
@require_POST
def upload_run(request: HttpRequest, pk: int, version: str) -> HttpResponse:
    dataset = get_visible_dataset(request, pk, "view_release", "release_dataset")
    page = redirect("admin:datasets_app_dataset_release", dataset.pk, version)
    form = RunForm(request.POST, request.FILES)
    try:
        release = find_release(dataset, version)
        if not form.is_valid():
            raise UserError("Choose manifest.json and results.json of the report.")
        report = parse_report(*(form.cleaned_data[name].read() for name in ("manifest", "results")))
        run, _ = import_run(release, report, actor=request.user)
    except (InvalidReport, UserError) as error:
        refusal = error if isinstance(error, UserError) else explain_invalid(error)
        messages.error(request, refusal.message)
        return page
    return redirect("admin:datasets_app_dataset_run", dataset.pk, version, run.pk)
