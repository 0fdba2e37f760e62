"""What workers do with selected sessions."""

from typing import Any

from datasets_app.browsing.parameters import ExcludeParameters, TagParameters
from datasets_app.jobs.registry import task
from datasets_app.jobs.running import RunningJob


@task(TagParameters, permission="datasets_app.change_dataset")
def tag_sessions(job: RunningJob[TagParameters]) -> dict[str, Any]:
    from datasets_app.browsing.change_sessions import tag_sessions
    from datasets_app.catalog.selections import read_selection

    options = job.parameters
    sessions, turns = read_selection(job.dataset, options.selection)
    return tag_sessions(
        job.dataset,
        sessions,
        options.tag,
        turns=turns,
        remove=options.remove,
        actor=job.actor,
        job_run=job.row,
        report_progress=job.report_progress,
    )


@task(ExcludeParameters, permission="datasets_app.change_dataset")
def exclude_sessions(job: RunningJob[ExcludeParameters]) -> dict[str, Any]:
    from datasets_app.browsing.change_sessions import exclude_sessions
    from datasets_app.catalog.selections import read_selection

    sessions, _ = read_selection(job.dataset, job.parameters.selection)
    return exclude_sessions(
        job.dataset,
        sessions,
        include=job.parameters.include,
        actor=job.actor,
        report_progress=job.report_progress,
    )
