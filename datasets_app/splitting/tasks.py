"""What a worker does for the operations of this package; see ``jobs/registry.py``."""

from typing import TYPE_CHECKING

from datasets_app.jobs.registry import task
from datasets_app.jobs.running import RunningJob
from datasets_app.splitting.parameters import SplitParameters

if TYPE_CHECKING:
    from datasets_app.splitting.split_dataset import SplitResult


@task(SplitParameters)
def split_dataset(job: RunningJob[SplitParameters]) -> "SplitResult":
    from datasets_app.domain.splits.splits import SplitSettings
    from datasets_app.splitting.split_dataset import split_dataset

    options = job.parameters
    return split_dataset(
        job.dataset,
        SplitSettings.from_json(options.settings) if options.settings else None,
        resplit=options.again,
        override=job.override,
        actor=job.actor,
        report_progress=job.report_progress,
    )
