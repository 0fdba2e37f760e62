"""Exports as jobs: files, stored versions and packages."""

from typing import Any

from ninja import Router

from datasets_app.api.jobs import job_route, start_job
from datasets_app.api.routing import get_dataset
from datasets_app.api.schemas import ExportIn
from datasets_app.catalog import gates
from datasets_app.exporting.parameters import ExportParameters
from datasets_app.releasing.sharing.export_request import refuse_at_once

router = Router(tags=["Exports"])


@job_route(
    router, "/datasets/{name}/exports", needs=("datasets_app.view_dataset", "datasets_app.export_dataset")
)
def create_export(request: Any, name: str, options: ExportIn) -> Any:
    """Make a file: follow the job, then download its files."""
    dataset = get_dataset(request, name)
    parameters = ExportParameters(**options.dict())
    if not parameters.version:
        gates.refuse_known_raw(dataset, actor=request.person)
    refuse_at_once(dataset, parameters, actor=request.person)
    return start_job(request, "export_dataset", dataset, parameters)
