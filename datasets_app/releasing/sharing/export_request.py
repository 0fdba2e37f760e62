"""The export that a page asked for: its files are kept for download until their date."""

from pathlib import Path
from typing import Any

from datasets_app.catalog.rows.turn_reader import Selection
from datasets_app.core.errors import Refused
from datasets_app.core.progress import ProgressCallback, ignore
from datasets_app.domain.metadata.metadata import metadata_path
from datasets_app.exporting.export_dataset import PACKED_ALREADY, Exported, export_to_path, file_ending
from datasets_app.jobs import files
from datasets_app.models import Dataset, JobRun, ReleaseFile
from datasets_app.releasing import files as release_files
from datasets_app.releasing.sharing.export_package import Packaged, export_package, package_name
from datasets_app.releasing.sharing.export_release import export_release_to_path, release_of

NOT_WITH_VERSION = (
    "A release is handed out as it was made: whole, and in its own format. Leave out what would change that."
)
NOT_WITH_PACKAGE = "A package is of the whole dataset, with all its files: leave out format and filters."


def refuse_contradictions(
    *, version: str, package: bool, format: str, selection: Selection, gzip: bool = False
) -> None:
    """What is asked for together must go together. Raises Refused."""
    changed = format != "turns" or selection != Selection() or gzip
    if package and changed:
        raise Refused(NOT_WITH_PACKAGE)
    if version and changed:
        raise Refused(NOT_WITH_VERSION)
    if gzip and format == "parquet":
        raise Refused(PACKED_ALREADY)


def export_to_job_files(job_run: JobRun, *, report_progress: ProgressCallback = ignore) -> dict[str, Any]:
    """Make what the job's parameters ask for, and keep it with the job."""
    dataset = job_run.dataset
    if dataset is None:
        raise Refused("The dataset is gone; there is nothing to export.")
    given = job_run.parameters
    version, package = str(given.get("version") or ""), bool(given.get("package"))
    format = given.get("format") or "turns"
    selection = Selection(
        given.get("persona") or None, given.get("tag") or None, split=given.get("split") or None
    )
    refuse_contradictions(
        version=version,
        package=package,
        format=format,
        selection=selection,
        gzip=bool(given.get("gzip")),
    )
    with files.folder(job_run) as folder:
        shared: dict[str, Any] = {"actor": job_run.actor, "report_progress": report_progress}
        # Nobody's word: whoever asked has left, and can't be asked whether they may.
        override = str(given.get("override") or "") if job_run.actor else ""
        result: Exported | Packaged
        if package:
            path = folder / f"{package_name(dataset, version)}.zip"
            result = export_package(dataset, path, version=version, override=override, **shared)
        elif version:
            path, result = _release(dataset, version, folder, shared)
        else:
            path = folder / _file_name(dataset, format, bool(given.get("gzip")))
            result = export_to_path(
                dataset, path, format=format, selection=selection, override=override, **shared
            )
        files.keep(job_run, "export", [path])
        if not package:
            files.keep(job_run, "metadata", [metadata_path(path)])
    return _told(result)


def _file_name(dataset: Dataset, format: str, packed: bool) -> str:
    return f"{dataset.name}.{file_ending(format)}{'.gz' if packed else ''}"


def _release(dataset: Dataset, version: str, folder: Path, shared: dict[str, Any]) -> tuple[Path, Exported]:
    release = release_of(dataset, version)
    path = folder / release_files.file_of(release, ReleaseFile.Kind.DATA).name
    return path, export_release_to_path(release, path, **shared)


def _told(result: Exported | Packaged) -> dict[str, Any]:
    told: dict[str, Any] = {
        "sessions": result.sessions,
        "turns": result.turns,
        "size": result.size,
        "sha256": result.sha256,
    }
    if isinstance(result, Packaged):
        told |= {"packed_files": result.files, **({"notes": result.notices} if result.notices else {})}
    return told
