"""The export that a page asked for: its files are kept for download until their date."""

from pathlib import Path
from typing import Any

from datasets_app.catalog.rows.turn_reader import Selection
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.metadata.metadata import metadata_path
from datasets_app.exporting.export_dataset import (
    PARQUET_GZIP_CONFLICT,
    ExportResult,
    export_to_path,
    file_extension,
)
from datasets_app.jobs import files, permissions
from datasets_app.models import Dataset, JobRun, ReleaseFile
from datasets_app.releasing import files as release_files
from datasets_app.releasing.sharing.export_package import PackageResult, export_package, package_name
from datasets_app.releasing.sharing.export_release import export_release_to_path
from datasets_app.releasing.versions import get_stored_release

VERSION_OPTION_CONFLICT = (
    "A release is handed out as it was made: whole, and in its own format. Leave out what would change that."
)
PACKAGE_OPTION_CONFLICT = (
    "A package is of the whole dataset, with all its files: leave out format and filters."
)


def refuse_conflicting_options(
    *, version: str, package: bool, format: str, selection: Selection, gzip: bool = False
) -> None:
    """What is asked for together must go together. Raises Refused."""
    changed = format != "turns" or selection != Selection() or gzip
    if package and changed:
        raise UserError(PACKAGE_OPTION_CONFLICT)
    if version and changed:
        raise UserError(VERSION_OPTION_CONFLICT)
    if gzip and format == "parquet":
        raise UserError(PARQUET_GZIP_CONFLICT)


def export_to_job_files(
    job_run: JobRun, *, report_progress: ProgressCallback = ignore_progress
) -> dict[str, Any]:
    """Make what the job's parameters ask for, and keep it with the job."""
    dataset = job_run.dataset
    if dataset is None:
        raise UserError("The dataset is gone; there is nothing to export.")
    given = job_run.parameters
    version, package = str(given.get("version") or ""), bool(given.get("package"))
    format = given.get("format") or "turns"
    selection = Selection(
        given.get("persona") or None, given.get("tag") or None, split=given.get("split") or None
    )
    refuse_conflicting_options(
        version=version,
        package=package,
        format=format,
        selection=selection,
        gzip=bool(given.get("gzip")),
    )
    with files.work_folder(job_run) as folder:
        shared: dict[str, Any] = {"actor": job_run.actor, "report_progress": report_progress}
        override = permissions.get_override(job_run)
        result: ExportResult | PackageResult
        if package:
            path = folder / f"{package_name(dataset, version)}.zip"
            result = export_package(dataset, path, version=version, override=override, **shared)
        elif version:
            path, result = _export_release(dataset, version, folder, shared)
        else:
            path = folder / _file_name(dataset, format, bool(given.get("gzip")))
            result = export_to_path(
                dataset, path, format=format, selection=selection, override=override, **shared
            )
        files.store_files(job_run, "export", [path])
        if not package:
            files.store_files(job_run, "metadata", [metadata_path(path)])
    return _result_facts(result)


def _file_name(dataset: Dataset, format: str, packed: bool) -> str:
    return f"{dataset.name}.{file_extension(format)}{'.gz' if packed else ''}"


def _export_release(
    dataset: Dataset, version: str, folder: Path, shared: dict[str, Any]
) -> tuple[Path, ExportResult]:
    release = get_stored_release(dataset, version)
    path = folder / release_files.get_file(release, ReleaseFile.Kind.DATA).name
    return path, export_release_to_path(release, path, **shared)


def _result_facts(result: ExportResult | PackageResult) -> dict[str, Any]:
    told: dict[str, Any] = {
        "sessions": result.sessions,
        "turns": result.turns,
        "size": result.size,
        "sha256": result.sha256,
    }
    if isinstance(result, PackageResult):
        told |= {"packed_files": result.files, **({"notes": result.notices} if result.notices else {})}
    return told
