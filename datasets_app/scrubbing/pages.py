"""The "Scrub" page of a dataset: the form, the progress and the results."""

from typing import Any, NamedTuple

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from datasets_app.catalog import gates, raw_access
from datasets_app.catalog.scrubbers import list_installed_labels
from datasets_app.catalog.sharing_requirements import load_requirements
from datasets_app.core.web.dataset_page import render_dataset_page
from datasets_app.core.web.pages import (
    dataset_url,
    get_visible_dataset,
    parse_pk,
    render_fragment,
    require_permissions,
)
from datasets_app.core.web.refusals import show_refusal, show_refusal_in
from datasets_app.domain.intervals import count_needed
from datasets_app.domain.pii.canary.measure import MAX_VALUES
from datasets_app.domain.pii.canary.survival_text import DEFAULT_VALUES, format_percent
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.wording import format_count
from datasets_app.jobs import runs
from datasets_app.jobs.pages import start_and_show_job
from datasets_app.jobs.parameters import read_parameters
from datasets_app.models import CheckReport, Dataset, JobFile, JobRun, ScrubMark, ScrubRun
from datasets_app.scrubbing.chunks import count_progress
from datasets_app.scrubbing.complete import covers_all_kinds
from datasets_app.scrubbing.forms import ScrubForm, initial_answers
from datasets_app.scrubbing.parameters import CanaryParameters, ScrubParameters
from datasets_app.scrubbing.pattern_counts import describe_matches
from datasets_app.scrubbing.proposals import (
    count_open_proposals,
    find_preview,
    list_proposals,
    read_missed_values,
)
from datasets_app.scrubbing.result_pages import result_context
from datasets_app.scrubbing.term_pages import TermsForm

MAX_FORMS_SHOWN = 3


@require_POST
def start_measurement(request: HttpRequest, pk: int) -> HttpResponse:
    dataset = get_visible_dataset(request, pk, "scrub_dataset")
    limit = load_requirements(dataset).canary_limit
    # As many values as show the limit if none is left.
    count = min(max(DEFAULT_VALUES, count_needed(limit)), MAX_VALUES)
    parameters = CanaryParameters(count=count, limit=limit)
    return start_and_show_job(request, "canary_dataset", dataset, parameters)


def canary_context(dataset: Dataset) -> dict[str, Any]:
    """The result: types of which something is left, most first, and the names of the others; empty before a
    measurement of the current text."""
    text = gates.load_facts(dataset).text
    if text.canary is None or not text.survival:
        return {}
    kinds = sorted(text.canary["classes"].items(), key=lambda item: (-item[1]["survived"], item[0]))
    return {
        "canary": {
            "text": text.survival,
            "rows": [_build_row(name, kind) for name, kind in kinds if kind["survived"]],
            "clean_kinds": [name for name, kind in kinds if not kind["survived"]],
            "clean_upper": format_percent(
                max((kind["upper"] for _, kind in kinds if not kind["survived"]), default=0)
            ),
        }
    }


def _build_row(name: str, kind: dict[str, Any]) -> dict[str, Any]:
    forms = sorted(kind["forms"].items(), key=lambda item: (-item[1], item[0]))
    return {
        "kind": name,
        "planted": kind["planted"],
        "survived": kind["survived"],
        "upper": format_percent(kind["upper"]),
        "forms": forms[:MAX_FORMS_SHOWN],
        "more_forms": len(forms[MAX_FORMS_SHOWN:]),
    }


MAX_RUNS_SHOWN = 10
MAX_MARKS_SHOWN = 200
_DECIDE_PERMISSIONS = ("datasets_app.scrub_dataset", "datasets_app.view_turn")


def scrub(request: HttpRequest, pk: int) -> HttpResponse:
    """GET shows the page. POST starts a preview ("preview"), asks to confirm a scrub ("scrub") or starts it
    ("confirmed")."""
    dataset = get_visible_dataset(request, pk, "view_scrubrun")
    may_read = raw_access.may_read(request.user, dataset)
    if request.method != "POST":
        form = ScrubForm(initial=initial_answers(dataset, _find_last_run(dataset)), may_read=may_read)
        return _render_scrub(request, dataset, form)
    require_permissions(request, "scrub_dataset")
    form = ScrubForm(request.POST, may_read=may_read)
    if not form.is_valid():
        return _render_scrub(request, dataset, form)
    if _active_scrub(dataset):
        messages.warning(request, "A scrub or preview of this dataset is already running.")
        return redirect(dataset_url(dataset, "scrub"))
    if "preview" in request.POST:
        for sentence in describe_matches(dataset, form.cleaned_data.get("patterns", ())):
            messages.info(request, f"{sentence}.")
        return start_scrub(request, dataset, form.policy(), sample=form.cleaned_data["sample"])
    with show_refusal_in(form):
        gates.check_can_replace_text(dataset)
        if "confirmed" in request.POST:
            return start_scrub(request, dataset, form.policy(), sample=None)
        return _render_confirmation(request, dataset, form)
    return _render_scrub(request, dataset, form)


def start_scrub(
    request: HttpRequest, dataset: Dataset, policy: Policy, *, sample: int | None
) -> HttpResponse:
    """Start a preview of ``sample`` sessions, or a scrub if it is None."""
    parameters = ScrubParameters(policy=policy.as_json(), dry_run=sample is not None, sample=sample)
    with show_refusal(request):
        runs.start_job("scrub_dataset", actor=request.user, dataset=dataset, parameters=parameters)
    return redirect(dataset_url(dataset, "scrub"))


def _render_confirmation(request: HttpRequest, dataset: Dataset, form: ScrubForm) -> HttpResponse:
    policy = form.policy()
    stored_files = JobFile.objects.filter(job_run__dataset=dataset).exclude(file="")
    context = {
        "form": form,
        "policy_words": [
            *policy.describe(),
            *describe_matches(dataset, form.cleaned_data.get("patterns", ())),
        ],
        "policy": policy,
        "looks_for_all": covers_all_kinds(policy),
        "mark_count": ScrubMark.objects.filter(dataset=dataset).count(),
        "open_proposals": count_open_proposals(dataset),
        "file_count": stored_files.count(),
        "report_count": CheckReport.objects.filter(dataset=dataset).count(),
        "preview": ScrubRun.objects.filter(dataset=dataset, dry_run=True).exclude(finished_at=None).first(),
    }
    return render_dataset_page(request, dataset, "scrub_confirm", "Scrub", context)


def _find_last_run(dataset: Dataset) -> ScrubRun | None:
    return dataset.scrubs.select_related("job_run").first()


def _active_scrub(dataset: Dataset) -> JobRun | None:
    return JobRun.objects.active().filter(operation="scrub_dataset", dataset=dataset).first()


def _render_scrub(request: HttpRequest, dataset: Dataset, form: ScrubForm) -> HttpResponse:
    finished = dataset.scrubs.exclude(finished_at=None).select_related("job_run")
    run_pk = parse_pk(request.GET.get("run", ""))
    run = finished.first() if run_pk is None else get_object_or_404(finished, pk=run_pk)
    job = _active_scrub(dataset)
    withheld = not raw_access.may_read(request.user, dataset)
    may_list = request.user.has_perm("datasets_app.view_scrubfinding")
    results = result_context(run, request.GET, withheld=withheld, may_list=may_list) if run else {}
    shown = (results["values"] or results["page"].rows) if results else []
    if shown and not withheld:
        raw_access.record_access(dataset, request.user, place="scrub", scrub=run.pk, findings=len(shown))
    context = {
        "form": form,
        "withheld": withheld,
        **results,
        "name_models": settings.NAME_MODELS,
        "recognizer_labels": list_installed_labels(),
        "runs": dataset.scrubs.select_related("job_run__actor")[:MAX_RUNS_SHOWN],
        **({} if job else _interrupted_context(dataset)),
        **_proposals_context(request, dataset, withheld),
        **_marks_context(request, dataset, withheld),
        **canary_context(dataset),
        **(_progress_context(request, job) if job else {}),
    }
    context["scrub_steps"] = _list_steps(run, len(context.get("proposals", ())), context.get("canary"))
    return render_dataset_page(request, dataset, "scrub", "Scrub", context)


class Step(NamedTuple):
    """``place``: the id of its heading on the page."""

    title: str
    text: str
    place: str
    is_done: bool


def _list_steps(run: ScrubRun | None, undecided: int, canary: dict[str, Any] | None) -> list[Step]:
    """What the page has, in its order; ``run`` is the one that is shown."""
    if run is None:
        steps = [
            ("Settings", "What is replaced, and by what"),
            ("Preview", "Changes nothing"),
            ("Decide", "People or products, corrections"),
            ("Scrub", "Replaces for good"),
            ("Measure", "How much it leaves"),
        ]
        return [Step(title, text, "settings", False) for title, text in steps]
    found = format_count(run.finding_count, "finding")
    decide = f"{format_count(undecided, 'term')} undecided" if undecided else "No term undecided"
    place = "proposals" if undecided else "marks"
    is_verified = not run.dry_run and run.verified_at is not None
    scrubbed = "Verified" if is_verified else "Not verified"
    return [
        Step("Settings", "What is replaced, and by what", "settings", True),
        Step("Preview", found if run.dry_run else "Changes nothing", "result", run.dry_run),
        Step("Decide", decide, place, not undecided),
        Step("Scrub", "Replaces for good", "scrub", False)
        if run.dry_run
        else Step("Scrub", f"{found}; {scrubbed.lower()}", "verification", is_verified),
        Step("Measure", "Measured" if canary else "How much it leaves", "canary", bool(canary)),
    ]


def _interrupted_context(dataset: Dataset) -> dict[str, Any]:
    """An interrupted scrub, which can be resumed while no other is running."""
    interrupted = dataset.scrubs.filter(finished_at=None, dry_run=False).select_related("job_run").first()
    if interrupted is None:
        return {}
    job = interrupted.job_run
    return {
        "interrupted_run": interrupted,
        "interrupted_turn_count": count_progress(interrupted)[0],
        # A command resumes by running the same command again.
        "may_resume": job is not None and not job.foreground,
    }


def _proposals_context(request: HttpRequest, dataset: Dataset, withheld: bool) -> dict[str, Any]:
    """Terms of the last preview to keep or to scrub; without their values for those who may not read them."""
    preview = find_preview(dataset)
    if preview is None or not request.user.has_perm("datasets_app.view_scrubfinding"):
        return {}
    proposals = list_proposals(preview)
    if proposals and not withheld:
        raw_access.record_access(
            dataset, request.user, place="proposals", scrub=preview.pk, findings=len(proposals)
        )
    may_decide = not withheld and request.user.has_perms(_DECIDE_PERMISSIONS)
    # Where the focus goes once one is decided: to the one behind it, of the last one to the one before.
    keys = [proposal.finding for proposal in proposals]
    neighbors = [*keys[1:], *keys[-2:-1]] if len(keys) > 1 else [None]
    return {
        "proposals": list(zip(proposals, neighbors, strict=True)) if proposals else [],
        "proposal_preview": preview,
        "may_decide": may_decide,
    }


def _marks_context(request: HttpRequest, dataset: Dataset, withheld: bool) -> dict[str, Any]:
    if not request.user.has_perm("datasets_app.view_scrubmark"):
        return {}
    marks = ScrubMark.objects.filter(dataset=dataset).select_related("created_by").order_by("-id")
    last, preview = _find_last_run(dataset), find_preview(dataset)
    shown = list(marks[:MAX_MARKS_SHOWN])
    # Only digests are stored of what is missed; the text of the preview still tells which names they are.
    may_name = preview and not withheld and request.user.has_perm("datasets_app.view_scrubfinding")
    values = read_missed_values(preview) if preview and may_name else {}
    for mark in shown:
        mark.value = values.get(mark.digest, "")
    if values:
        raw_access.record_access(dataset, request.user, place="marks", findings=len(values))
    return {
        "marks": shown,
        "mark_count": marks.count(),
        "new_marks": marks.filter(created_at__gt=last.created_at).count() if last else 0,
        "terms_form": TermsForm(may_override=False),
        "terms_everywhere": ScrubMark.objects.filter(dataset=None).count(),
    }


# --- progress ----------------------------------------------------------------------------


def progress(request: HttpRequest, pk: int) -> HttpResponse:
    """The progress of the running job; reloads the page when the job has ended."""
    dataset = get_visible_dataset(request, pk, "view_scrubrun")
    job = _active_scrub(dataset)
    if job is None:
        return HttpResponse(headers={"HX-Refresh": "true"})
    return render_fragment(request, "datasets_app/_scrub_progress.html", _progress_context(request, job))


def _progress_context(request: HttpRequest, job: JobRun) -> dict[str, Any]:
    run = ScrubRun.objects.filter(job_run=job).first()
    helpers = JobRun.objects.filter(operation="scrub_part", state=JobRun.State.RUNNING)
    others = helpers.filter(parameters__scrub=run.pk).count() if run else 0
    return {
        "job": job,
        "dry_run": read_parameters(job, ScrubParameters).dry_run,
        "workers": others + (job.state == JobRun.State.RUNNING),
        "may_cancel": request.user.has_perm("datasets_app.scrub_dataset") and not job.cancel_requested,
        "progress_url": reverse("admin:datasets_app_dataset_scrub_progress", args=[job.dataset_id]),
    }
