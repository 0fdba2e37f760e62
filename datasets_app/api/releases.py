"""Versions: their documents and files, making and comparing them."""

from typing import Any

from ninja import Router

from datasets_app.api.datasets import VIEW_DATASET, After, Limit
from datasets_app.api.file_answers import answer_with_file
from datasets_app.api.jobs import job_route, start_job
from datasets_app.api.problems import ApiError, not_found
from datasets_app.api.routing import get_dataset, make_page, route
from datasets_app.api.schemas import CompareIn, ReleaseIn, ReleaseOut, ReleasePage
from datasets_app.catalog import raw_access
from datasets_app.catalog.written_text import check_written
from datasets_app.core.errors import UserError
from datasets_app.core.web.pages import parse_pk
from datasets_app.downloads import find_release_file, open_release_file
from datasets_app.models import Dataset, Release
from datasets_app.releasing.parameters import CompareParameters, ReleaseParameters
from datasets_app.releasing.readiness import find_known_blockers
from datasets_app.releasing.versions import find_release

router = Router(tags=["Releases"])

VIEW_RELEASES = (*VIEW_DATASET, "datasets_app.view_release")


@route(router, "GET", "/datasets/{name}/releases", ReleasePage, needs=VIEW_RELEASES)
def list_releases(request: Any, name: str, after: str = After, limit: int = Limit) -> Any:
    """The highest version first. Changelogs are in each one's own answer."""
    dataset = get_dataset(request, name)
    releases = list(dataset.releases.prefetch_related("files"))
    if after:
        numbers = tuple(int(part) for part in after.split(".") if part.isdigit() and len(part) < 10)
        releases = [each for each in releases if (each.major, each.minor, each.patch) < numbers]
    return make_page(
        releases[: limit + 1], limit, lambda each: _describe(request, each, with_texts=False), key="version"
    )


@route(router, "GET", "/datasets/{name}/releases/{version}", ReleaseOut, needs=VIEW_RELEASES)
def get_release(request: Any, name: str, version: str) -> Any:
    dataset = get_dataset(request, name)
    release = find_or_404(dataset, version)
    _describe(request, release, with_texts=True)
    if release.changelog:
        raw_access.record_access(
            dataset, request.person, place="api release", versions=(release,), release=release.version
        )
    return release


def find_or_404(dataset: Dataset, version: str) -> Release:
    try:
        return find_release(dataset, version)
    except UserError:
        raise not_found() from None


def _describe(request: Any, release: Any, *, with_texts: bool) -> Release:
    release.withheld = not raw_access.may_read_release(request.person, release)
    if release.withheld or not with_texts:
        release.notes = release.changelog = None
    return release


@route(
    router,
    "GET",
    "/datasets/{name}/releases/{version}/files/{file}",
    None,
    needs=VIEW_RELEASES,
    errors=(206, 409, 410, 416),
    media_type="application/octet-stream",
)
def download_release_file(request: Any, name: str, version: str, file: str) -> Any:
    """A file as it was released, or a part of it (`Range`); takes `exports:write` or `releases:write`. The
    header `ETag` is its SHA-256."""
    release = find_or_404(get_dataset(request, name), version)
    found = find_release_file(request.person, parse_pk(file))
    if found.release_id != release.pk:
        raise not_found()
    return answer_with_file(request, found, lambda: open_release_file(found, request.person))


@job_route(router, "/datasets/{name}/releases", needs=(*VIEW_RELEASES, "datasets_app.release_dataset"))
def create_release(request: Any, name: str, options: ReleaseIn) -> Any:
    """Release the next version; without `bump` the proposed one. Blockers are listed in `details`."""
    dataset = get_dataset(request, name)
    if blockers := find_known_blockers(dataset):
        listed = [str(blocker) for blocker in blockers]
        raise ApiError(409, "refused", f"{name} can't be released yet.", details={"unmet": listed})
    check_written(dataset, {"notes": options.notes})
    parameters = ReleaseParameters(bump=options.bump, notes=options.notes or None)
    return start_job(request, "release_dataset", dataset, parameters)


@job_route(router, "/datasets/{name}/comparisons", needs=VIEW_RELEASES)
def compare_versions(request: Any, name: str, options: CompareIn) -> Any:
    """Compare two versions, or one with the dataset as it is. The job's file names sessions, without
    texts."""
    dataset = get_dataset(request, name)
    for version in filter(None, (options.before, options.after)):
        find_or_404(dataset, version)
    parameters = CompareParameters(before=options.before, after=options.after)
    return start_job(request, "compare_releases", dataset, parameters)
