"""A sample as a job of a worker."""

from typing import Any

from datasets_app.exporting.parameters import SampleParameters
from datasets_app.jobs import files, runs
from datasets_app.jobs.registry import task
from datasets_app.jobs.running import RunningJob


@task(SampleParameters, permission="datasets_app.export_dataset")
def sample_dataset(job: RunningJob[SampleParameters]) -> dict[str, Any]:
    from datasets_app.domain.metadata.metadata import metadata_path
    from datasets_app.exporting.sample_dataset import SampleOptions, sample_to_dataset, sample_to_file

    options = job.parameters
    shared: dict[str, Any] = {"actor": job.actor, "report_progress": job.report_progress}
    choice = SampleOptions(
        options.size or 0, options.by or "session", 42 if options.seed is None else options.seed
    )
    if options.name:
        result = sample_to_dataset(job.dataset, options.name, choice, override=job.override, **shared)
        runs.request_text_scan_of(options.name, actor=job.actor)
        return {"dataset": options.name, "sessions": result.sessions, "turns": result.turns}
    with files.work_folder(job.row) as folder:
        path = folder / f"{job.dataset.name}-sample.jsonl"
        result = sample_to_file(job.dataset, path, choice, override=job.override, **shared)
        files.store_files(job.row, "export", [path])
        files.store_files(job.row, "metadata", [metadata_path(path)])
    # Not how many of each group: tags may be personal data.
    return {"sessions": result.sessions, "turns": result.turns, "sha256": result.sha256}
