"""What a worker does for the operations of this package; see ``jobs/registry.py``."""

from typing import TYPE_CHECKING, Any

from datasets_app.exporting.parameters import ExportParameters
from datasets_app.jobs import files
from datasets_app.jobs.parameters import NoParameters
from datasets_app.jobs.registry import task
from datasets_app.jobs.running import RunningJob
from datasets_app.releasing.parameters import CompareParameters, ReleaseParameters, SignParameters

if TYPE_CHECKING:
    from datasets_app.releasing.release_dataset import ReleaseResult
    from datasets_app.releasing.verify import ReleaseVerification


@task(ExportParameters, unit="turns")
def export_dataset(job: RunningJob[ExportParameters]) -> dict[str, Any]:
    """The job keeps the files for download until they expire."""
    from datasets_app.domain.metadata.metadata import metadata_path
    from datasets_app.releasing.sharing.export_package import PackageResult
    from datasets_app.releasing.sharing.export_request import choose_name, export_as_requested

    is_package = job.parameters.package
    with files.work_folder(job.row) as folder:
        path = folder / f"{choose_name(job.dataset, job.parameters)}{'.zip' if is_package else ''}"
        exported = export_as_requested(
            job.dataset,
            path,
            job.parameters,
            override=job.override,
            actor=job.actor,
            report_progress=job.report_progress,
        )
        files.store_files(job.row, "export", [path])
        if not is_package:
            files.store_files(job.row, "metadata", [metadata_path(path)])
    return exported.facts() if isinstance(exported, PackageResult) else exported._asdict()


@task(ReleaseParameters)
def release_dataset(job: RunningJob[ReleaseParameters]) -> "ReleaseResult":
    from datasets_app.releasing.release_dataset import release_dataset

    with files.work_folder(job.row) as folder:
        return release_dataset(
            job.dataset,
            folder=folder,
            bump=job.parameters.bump or None,
            notes=job.parameters.notes or "",
            override=job.override,
            actor=job.actor,
            report_progress=job.report_progress,
        )


@task(permission="datasets_app.release_dataset")
def verify_releases(job: RunningJob[NoParameters]) -> "ReleaseVerification":
    from datasets_app.releasing.verify import verify_releases

    return verify_releases(job.row.dataset, actor=job.actor, report_progress=job.report_progress)


@task(CompareParameters, permission="datasets_app.view_release")
def compare_releases(job: RunningJob[CompareParameters]) -> dict[str, Any]:
    """Numbers, and a file of what has changed, without texts."""
    from datasets_app.releasing.compare import compare_releases, write_comparison
    from datasets_app.releasing.versions import find_release

    dataset, options = job.dataset, job.parameters
    before = find_release(dataset, options.before)
    after = find_release(dataset, options.after) if options.after else None
    compared = compare_releases(dataset, before, after, report_progress=job.report_progress)
    with files.work_folder(job.row) as folder:
        files.store_files(job.row, "export", [write_comparison(compared, dataset, folder)])
    counts = {name: count for name, count in compared.difference.counts_as_json().items() if name != "fields"}
    return {"proposed": compared.bump or "no new version", **counts}


@task(SignParameters)
def sign_review(job: RunningJob[SignParameters]) -> dict[str, Any]:
    from datasets_app.releasing.sharing.sign_review import ReviewedState, sign_review

    asked = job.parameters
    reviewed = ReviewedState(asked.last_session, asked.last_scrub)
    review = sign_review(
        job.dataset,
        statement=asked.statement,
        actor=job.actor,
        reviewed=reviewed,
        reviewed_at=job.row.created_at,
    )
    return {"signed_by": review.name}
