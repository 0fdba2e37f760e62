"""Jobs of sources: a pull, of a worker or of a command; the storing of large requests."""

from typing import Any

from datasets_app.core.errors import UserError
from datasets_app.jobs import files, runs
from datasets_app.jobs.registry import task
from datasets_app.jobs.running import RunningJob
from datasets_app.models import ReceivedRequest, Source
from datasets_app.sources.parameters import PullParameters, StoreParameters


@task(PullParameters, permission="datasets_app.change_source")
def pull_source(job: RunningJob[PullParameters]) -> dict[str, Any]:
    from datasets_app.sources.pull import start_follow_ups

    source = Source.objects.filter(pk=job.parameters.source).first()
    if source is None:
        raise UserError("The source was deleted, so this job can't run.")
    result = pull_in_job(source, job)
    if result["more"]:
        # Each job is one transaction, so that what was pulled stays.
        more = PullParameters(source=source.pk, scrub=job.parameters.scrub)
        runs.start_follow_up(
            "pull_source", actor=job.actor, dataset_name=source.dataset_name, parameters=more
        )
    else:
        start_follow_ups(source, result["sessions"], job.row, scrub=job.parameters.scrub)
    return result


@task(StoreParameters, commits_itself=True, permission="datasets_app.change_source")
def store_spans(job: RunningJob[StoreParameters]) -> dict[str, Any]:
    """Of requests that were too large to be stored at once, the oldest first."""
    from datasets_app.sources.receive import store_request

    source, done = job.parameters.source, 0
    for request in ReceivedRequest.objects.filter(source=source).order_by("pk").defer("body"):
        job.report_progress(done)
        store_request(request.pk)
        done += request.spans
    return {"spans": done}


def pull_in_job(source: Source, job: RunningJob[PullParameters]) -> dict[str, Any]:
    """Pull, and keep sessions that could not be imported with the job."""
    from datasets_app.sources.pull import pull_source

    with files.work_folder(job.row) as folder:
        result = pull_source(
            source,
            folder=folder,
            since=job.parameters.since,
            dry_run=job.parameters.dry_run,
            actor=job.actor,
            report_progress=job.report_progress,
        )
        files.store_files(job.row, "quarantine", sorted(folder.glob("quarantine/*")))
    return result
