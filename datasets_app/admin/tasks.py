"""What a worker does for the operations of this package; see ``jobs/registry.py``."""

from typing import Any

from datasets_app.admin.parameters import OriginParameters
from datasets_app.jobs.registry import task
from datasets_app.jobs.running import RunningJob


@task(OriginParameters)
def change_origin(job: RunningJob[OriginParameters]) -> dict[str, Any]:
    from datasets_app.catalog.edit import change_origin

    change_origin(job.dataset, job.parameters.origin, override=job.override, actor=job.actor)
    return {"origin": job.parameters.origin}
