"""Exports as jobs: files, stored versions and packages."""

from typing import Any

from ninja import Router

from datasets_app.api.jobs import job_route, start_job
from datasets_app.api.routing import get_dataset
from datasets_app.api.schemas import ExportIn
from datasets_app.catalog import gates
from datasets_app.exporting.parameters import ExportParameters
from datasets_app.releasing.sharing import share_gate
from datasets_app.releasing.sharing.export_request import refuse_conflicting_options
from datasets_app.releasing.versions import find_release

router = Router(tags=["Exports"])


@job_route(
    router, "/datasets/{name}/exports", needs=("datasets_app.view_dataset", "datasets_app.export_dataset")
)
def create_export(request: Any, name: str, options: ExportIn) -> Any:
    """Make a file: follow the job, then download its files."""
    dataset = get_dataset(request, name)
    parameters = ExportParameters(**options.dict())
    refuse_conflicting_options(parameters)
    release = find_release(dataset, parameters.version) if parameters.version else None
    if release is not None:
        share_gate.check_release_copy(release, request.person)
    else:
        gates.refuse_known_raw(dataset, actor=request.person)
    if parameters.package:
        gates.check(share_gate.decide_package(dataset, release, actor=request.person))
    return start_job(request, "export_dataset", dataset, parameters)
