"""The "Scrub" page of a dataset: what is to be done, how far it is, what came of it."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from datasets_app.catalog.activity import alive
from datasets_app.core.web.dataset_page import dataset_page, dataset_tabs
from datasets_app.core.web.pages import dataset_address, require, visible_dataset
from datasets_app.domain.pii.policy import Policy
from datasets_app.jobs import runs
from datasets_app.models import CheckReport, Dataset, JobFile, JobRun, ScrubMark, ScrubRun
from datasets_app.scrubbing.chunks import count_done
from datasets_app.scrubbing.complete import looks_for_everything
from datasets_app.scrubbing.forms import ScrubForm, answers_before
from datasets_app.scrubbing.result_pages import result_of

RUNS_SHOWN = 10
MARKS_SHOWN = 200


def scrub(request: HttpRequest, pk: int) -> HttpResponse:
    """GET: the page. POST: "preview" starts one, "scrub" asks back, "confirmed" starts it."""
    require(request, "view_scrubrun")
    dataset = visible_dataset(request, pk)
    if request.method != "POST":
        return _page(request, dataset, ScrubForm(initial=answers_before(dataset, _last_run(dataset))))
    require(request, "scrub_dataset")
    form = ScrubForm(request.POST)
    if not form.is_valid():
        return _page(request, dataset, form)
    if _active_job(dataset):
        messages.warning(request, "A scrub or a preview of this dataset is running already.")
        return redirect(dataset_address(dataset, "scrub"))
    if "preview" in request.POST:
        return _start(request, dataset, form.policy(), sample=form.cleaned_data["sample"])
    if "confirmed" in request.POST:
        return _start(request, dataset, form.policy(), sample=None)
    return _confirmation(request, dataset, form)


def _start(request: HttpRequest, dataset: Dataset, policy: Policy, *, sample: int | None) -> HttpResponse:
    """A preview of some sessions, or the scrub of all."""
    runs.start(
        "scrub_dataset",
        actor=request.user,
        dataset=dataset,
        parameters={"policy": policy.as_json(), "dry_run": sample is not None, "sample": sample},
    )
    return redirect(dataset_address(dataset, "scrub"))


def _confirmation(request: HttpRequest, dataset: Dataset, form: ScrubForm) -> HttpResponse:
    policy = form.policy()
    kept = JobFile.objects.filter(job_run__dataset=dataset).exclude(file="")
    context = {
        "tabs": dataset_tabs(request, dataset, "scrub"),
        "form": form,
        "policy_words": policy.as_words(),
        "policy": policy,
        "everything": looks_for_everything(policy),
        "mark_count": ScrubMark.objects.filter(dataset=dataset).count(),
        "file_count": kept.count(),
        "report_count": CheckReport.objects.filter(dataset=dataset).count(),
        "preview": ScrubRun.objects.filter(dataset=dataset, dry_run=True).exclude(finished_at=None).first(),
    }
    return dataset_page(request, dataset, "scrub_confirm", "Scrub", context)


def _last_run(dataset: Dataset) -> ScrubRun | None:
    return dataset.scrubs.select_related("job_run").first()


def _active_job(dataset: Dataset) -> JobRun | None:
    return JobRun.objects.filter(alive(), operation="scrub_dataset", dataset=dataset).first()


def _page(request: HttpRequest, dataset: Dataset, form: ScrubForm) -> HttpResponse:
    finished = dataset.scrubs.exclude(finished_at=None).select_related("job_run")
    asked = request.GET.get("run", "")
    chosen = get_object_or_404(finished, pk=asked) if asked.isdecimal() else finished.first()
    job = _active_job(dataset)
    see = request.user.has_perm("datasets_app.view_scrubfinding")
    context = {
        "form": form,
        **(result_of(chosen, request.GET) if chosen else {}),
        "see_findings": see,
        "name_models": settings.NAME_MODELS,
        "runs": dataset.scrubs.select_related("job_run__actor")[:RUNS_SHOWN],
        **({} if job else _stopped(dataset)),
        **_marks(request, dataset),
        **(_progress(request, job) if job else {}),
    }
    return dataset_page(request, dataset, "scrub", "Scrub", context)


def _stopped(dataset: Dataset) -> dict[str, Any]:
    """A scrub that was begun and not ended, while none is under way: it can be gone on with."""
    begun = dataset.scrubs.filter(finished_at=None, dry_run=False).select_related("job_run").first()
    if begun is None:
        return {}
    job = begun.job_run
    return {
        "stopped": begun,
        "stopped_done": count_done(begun)[0],
        # What a command began is gone on with by asking for the same again.
        "may_go_on": job is not None and not job.foreground,
    }


def _marks(request: HttpRequest, dataset: Dataset) -> dict[str, Any]:
    if not request.user.has_perm("datasets_app.view_scrubmark"):
        return {}
    marks = ScrubMark.objects.filter(dataset=dataset).select_related("created_by").order_by("-id")
    last = _last_run(dataset)
    return {
        "marks": marks[:MARKS_SHOWN],
        "mark_count": marks.count(),
        "new_marks": marks.filter(created_at__gt=last.created_at).count() if last else 0,
    }


# --- how far it is ----------------------------------------------------------------------------


def progress(request: HttpRequest, pk: int) -> HttpResponse:
    """The part of the page that moves; when the job has ended the whole page is fetched again."""
    require(request, "view_scrubrun")
    dataset = visible_dataset(request, pk)
    job = _active_job(dataset)
    if job is None:
        response = HttpResponse()
        response["HX-Refresh"] = "true"
    else:
        response = render(request, "datasets_app/_scrub_progress.html", _progress(request, job))
    response["Cache-Control"] = "no-store"
    return response


def _progress(request: HttpRequest, job: JobRun) -> dict[str, Any]:
    run = ScrubRun.objects.filter(job_run=job).first()
    helpers = JobRun.objects.filter(operation="scrub_part", state=JobRun.State.RUNNING)
    others = helpers.filter(parameters__scrub=run.pk).count() if run else 0
    return {
        "job": job,
        "running": run,
        "dry_run": bool(job.parameters.get("dry_run")),
        "workers": others + (job.state == JobRun.State.RUNNING),
        "may_cancel": request.user.has_perm("datasets_app.scrub_dataset") and not job.cancel_requested,
        "progress_address": reverse("admin:datasets_app_dataset_scrub_progress", args=[job.dataset_id]),
    }
