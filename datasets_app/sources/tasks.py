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
    """Keeps sessions that could not be imported with the job."""
    from datasets_app.sources import pull

    options, source = job.parameters, Source.objects.filter(pk=job.parameters.source).first()
    if source is None:
        raise UserError("The source was deleted, so this job can't run.")
    with files.work_folder(job.row) as folder:
        result = pull.pull_source(
            source,
            folder=folder,
            since=options.since,
            dry_run=options.dry_run,
            actor=job.actor,
            report_progress=job.report_progress,
        )
        files.store_files(job.row, "quarantine", sorted(folder.glob("quarantine/*")))
    if result["more"] and not job.row.foreground:
        # Each job is one transaction, so that what was pulled stays. A command goes on by itself.
        more = PullParameters(source=source.pk, scrub=options.scrub)
        runs.start_follow_up(
            "pull_source", actor=job.actor, dataset_name=source.dataset_name, parameters=more
        )
    elif not (result["more"] or options.dry_run):
        pull.start_follow_ups(source, result["sessions"], job.row, scrub=options.scrub)
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
