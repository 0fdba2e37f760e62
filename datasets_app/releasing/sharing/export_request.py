"""Exports for pages: the job keeps the files for download until they expire."""

from pathlib import Path
from typing import Any

from datasets_app.catalog.rows.turn_reader import Selection
from datasets_app.catalog.selections import read_selection
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback
from datasets_app.exporting.export_dataset import (
    PARQUET_GZIP_CONFLICT,
    ExportResult,
    export_to_path,
    file_extension,
)
from datasets_app.exporting.parameters import ExportParameters
from datasets_app.models import Dataset, ReleaseFile
from datasets_app.releasing import files as release_files
from datasets_app.releasing.sharing.export_package import PackageResult, export_package, package_name
from datasets_app.releasing.sharing.export_release import export_release_to_path
from datasets_app.releasing.versions import get_stored_release

VERSION_OPTION_CONFLICT = (
    "A release is exported unchanged: complete, and in its own format. Leave out format, filters and gzip."
)
PACKAGE_OPTION_CONFLICT = (
    "A package contains the whole dataset with all its files: leave out format and filters."
)


def selection_of(dataset: Dataset, options: ExportParameters) -> Selection:
    """Raises UserError if the chosen sessions are no longer known."""
    chosen = None if options.selection is None else read_selection(dataset, options.selection)
    return Selection(options.persona or None, options.tag or None, split=options.split or None, chosen=chosen)


def refuse_conflicting_options(options: ExportParameters) -> None:
    """Raises UserError for options that exclude each other."""
    is_default_format = options.format in {None, "", "turns"}
    is_filtered = options.persona or options.tag or options.split or options.selection is not None
    changed = not is_default_format or is_filtered or options.gzip
    if options.package and changed:
        raise UserError(PACKAGE_OPTION_CONFLICT)
    if options.version and changed:
        raise UserError(VERSION_OPTION_CONFLICT)
    if options.gzip and options.format == "parquet":
        raise UserError(PARQUET_GZIP_CONFLICT)


def export_to_folder(
    dataset: Dataset,
    folder: Path,
    options: ExportParameters,
    *,
    override: str,
    actor: Any,
    report_progress: ProgressCallback,
) -> tuple[Path, dict[str, Any]]:
    """Export a dataset, one of its releases or a package of either; returns the file and its facts."""
    refuse_conflicting_options(options)
    version = options.version or ""
    shared: dict[str, Any] = {"actor": actor, "report_progress": report_progress}
    result: ExportResult | PackageResult
    if options.package:
        path = folder / f"{package_name(dataset, version)}.zip"
        result = export_package(
            dataset, path, version=version, labels=options.labels, override=override, **shared
        )
    elif version:
        release = get_stored_release(dataset, version)
        path = folder / release_files.get_file(release, ReleaseFile.Kind.DATA).name
        result = export_release_to_path(release, path, **shared)
    else:
        format, selection = options.format or "turns", selection_of(dataset, options)
        path = folder / f"{dataset.name}.{file_extension(format)}{'.gz' if options.gzip else ''}"
        result = export_to_path(
            dataset, path, format=format, selection=selection, override=override, **shared
        )
    return path, _result_facts(result)


def _result_facts(result: ExportResult | PackageResult) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "sessions": result.sessions,
        "turns": result.turns,
        "size": result.size,
        "sha256": result.sha256,
    }
    if isinstance(result, PackageResult):
        facts |= {"packed_files": result.files, **({"notes": result.notices} if result.notices else {})}
    return facts
