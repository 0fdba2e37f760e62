"""Runs of Alignmenter on a version."""

from datetime import datetime
from typing import Any
from uuid import UUID

from ninja import Router, Schema

from datasets_app.api.releases import VIEW_RELEASES, find_or_404
from datasets_app.api.routing import get_dataset, route
from datasets_app.api.schemas import Input
from datasets_app.catalog import raw_access
from datasets_app.domain.releases.run_report import InvalidReport, read_report
from datasets_app.models import EvaluationRun
from datasets_app.releasing.runs import explain_invalid, import_run

router = Router(tags=["Releases"])


class RunIn(Input):
    """`manifest.json` and `results.json` of a report, as they are."""

    manifest: dict[str, Any]
    results: dict[str, Any]


class RunOut(Schema):
    """`whole` has the numbers of each scorer; `groups` the same by scenario and persona, unless withheld.
    `missing_replies` were scored, but aren't in the dataset anymore. `is_new` is false of a run that was
    imported before."""

    id: int
    run_id: UUID
    model: str
    ran_at: datetime
    package_version: str
    whole: dict[str, Any]
    groups: dict[str, Any] | None
    replies: int
    missing_replies: int
    is_new: bool = False

    @staticmethod
    def resolve_replies(run: EvaluationRun) -> int:
        return len(run.reply_scores)


@route(router, "GET", "/datasets/{name}/releases/{version}/runs", list[RunOut], needs=VIEW_RELEASES)
def list_runs(request: Any, name: str, version: str) -> Any:
    """Runs of Alignmenter on a version, the earliest first."""
    release = find_or_404(get_dataset(request, name), version)
    return [_describe_run(request, run) for run in release.runs.select_related("release")]


@route(
    router,
    "POST",
    "/datasets/{name}/releases/{version}/runs",
    RunOut,
    needs=(*VIEW_RELEASES, "datasets_app.release_dataset"),
    errors=(409,),
)
def push_run(request: Any, name: str, version: str, report: RunIn) -> Any:
    """Import the report of an `alignmenter run` on exactly the file of this version. The same run again
    changes nothing."""
    release = find_or_404(get_dataset(request, name), version)
    try:
        run, is_new = import_run(release, read_report(report.manifest, report.results), actor=request.person)
    except InvalidReport as error:
        raise explain_invalid(error) from None
    run.is_new = is_new
    return _describe_run(request, run)


def _describe_run(request: Any, run: EvaluationRun) -> EvaluationRun:
    release = run.release
    withheld = not raw_access.may_read_release(request.person, release)
    if not withheld and run.groups:
        raw_access.record_access(
            release.dataset, request.person, place="api", versions=(release,), release=release.version
        )
    run.groups = None if withheld else run.groups
    return run
