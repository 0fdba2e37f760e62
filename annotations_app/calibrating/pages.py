"""The page that says whether labels of a dataset are ready for a calibration, and reads back its reports."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from annotations_app.agreement.scope_pages import AgreementScope, dataset_scope
from annotations_app.calibrating.assess import calibration_ready
from annotations_app.calibrating.reports import find_wrong_replies, parse_report, requeue_wrong_replies
from annotations_app.campaigns.pages_common import require_permissions
from annotations_app.domain.calibration_reports import KINDS
from annotations_app.domain.calibration_sets import PART_NAMES
from annotations_app.labels.label_counts import list_personas
from datasets_app.catalog import raw_access
from datasets_app.core.web import fields
from datasets_app.core.web.dataset_page import frame_context
from datasets_app.core.web.pages import dataset_breadcrumbs, dataset_url, parse_pk, render_page
from datasets_app.core.web.refusals import show_refusal_in
from datasets_app.core.web.uploads import accepts_files
from datasets_app.domain.wording import format_count

MAX_REPORT_BYTES = 5 << 20
MAX_PERSONAS, MAX_SHOWN = 100, 200
# Where to do what a finding asks for, by its code: a page of the dataset, or of the admin.
_REMEDY_PAGES = {
    "not_split": "splits",
    "unplaced": "splits",
    "copies": "sessions",
    "mixed_personas": "sessions",
    "repeats": "sessions",
    "raw": "scrub",
}


class ReportForm(forms.Form):
    report = fields.File(label="Report", help_text="JSON of calibrate-persona, validate or diagnose-errors.")


@accepts_files(lambda user: MAX_REPORT_BYTES if user.is_staff else 0)
def dataset_calibration(request: HttpRequest, pk: int) -> HttpResponse:
    """GET looks at the labels. POST of a file shows what is in it; of turns, asks for their labels again."""
    scope = dataset_scope(request, pk)
    personas = raw_access.filter_personas(
        request.user, scope.dataset, list_personas(scope.dataset.pk)[:MAX_PERSONAS]
    )
    scope = scope._replace(persona_id=scope.persona_id or next(iter(personas), ""))
    if personas and raw_access.may_read(request.user, scope.dataset):
        raw_access.record_access(scope.dataset, request.user, place="calibration", personas=len(personas))
    if request.method == "POST" and "turn" in request.POST:
        return _requeue(request, scope)
    form = ReportForm(request.POST or None, request.FILES or None)
    context: dict[str, Any] = {"form": form}
    if request.method == "POST" and form.is_valid():
        with show_refusal_in(form, "report"):
            context |= _read_report(request, scope, form.cleaned_data["report"])
    if scope.persona_id:
        readiness = calibration_ready(scope.dataset, scope.persona_id)
        context["readiness"] = readiness
        context["parts"] = [(PART_NAMES[name], part) for name, part in readiness.parts.items()]
        context["findings"] = [
            (finding, dataset_url(scope.dataset, _REMEDY_PAGES[finding.code]))
            if finding.code in _REMEDY_PAGES
            else (finding, "")
            for finding in sorted(readiness.findings, key=lambda one: not one.blocks)
        ]
    context |= {
        **frame_context(request, scope.dataset, "calibration"),
        "persona": scope.persona_id,
        "personas": personas,
        "may_requeue": request.user.has_perm("annotations_app.change_campaign"),
    }
    crumbs = dataset_breadcrumbs(scope.dataset, ("Calibration", None))
    return render_page(request, "annotations_app/dataset_calibration.html", crumbs, context)


def _read_report(request: HttpRequest, scope: AgreementScope, file: Any) -> dict[str, Any]:
    report = parse_report(file.read(MAX_REPORT_BYTES).decode("utf-8", "replace"))
    withheld = not raw_access.may_read(request.user, scope.dataset)
    # Which replies begin like a text of the report would tell their texts, letter by letter.
    wrong = [] if withheld else find_wrong_replies(scope.dataset, scope.persona_id, report)
    turns = sorted({turn.pk for _, found in wrong for turn in found})
    if turns:
        raw_access.record_access(scope.dataset, request.user, place="calibration report", turns=len(turns))
    return {
        "report": report,
        "written_by": KINDS[report.kind],
        "figures": [(_name_figure(name), value) for name, value in report.figures.items()],
        "wrong": wrong[:MAX_SHOWN],
        "more": max(0, len(report.errors) - (0 if withheld else MAX_SHOWN)) + report.unlisted,
        "turns": turns,
        "withheld": withheld,
    }


def _name_figure(name: str) -> str:
    return {"roc_auc": "ROC AUC"}.get(name, name.replace("_", " ").capitalize())


def _requeue(request: HttpRequest, scope: AgreementScope) -> HttpResponse:
    require_permissions(request, "change_campaign")
    turns = [key for value in request.POST.getlist("turn") if (key := parse_pk(value))]
    done = requeue_wrong_replies(scope.dataset, scope.persona_id, turns, actor=request.user)
    messages.success(request, f"Queued {format_count(done.labels, 'label')} again.")
    if done.left:
        text = format_count(done.left, "reply is", "replies are")
        messages.warning(request, f"{text} in no open campaign: open theirs, or create one.")
    return redirect(scope.url("calibration"))
