"""What pages and commands request of an export."""

from pathlib import Path
from typing import IO, Any

from datasets_app.catalog import gates
from datasets_app.catalog.rows.turn_reader import Selection
from datasets_app.catalog.selections import read_selection
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback
from datasets_app.exporting.export_dataset import (
    PARQUET_GZIP_CONFLICT,
    ExportResult,
    export_dataset,
    export_to_path,
    file_extension,
)
from datasets_app.exporting.parameters import ExportParameters
from datasets_app.models import Dataset, ReleaseFile
from datasets_app.releasing import files as release_files
from datasets_app.releasing.sharing.export_package import PackageResult, export_package, package_name
from datasets_app.releasing.sharing.export_release import export_release, export_release_to_path
from datasets_app.releasing.sharing.share_gate import check_release_copy, decide_package
from datasets_app.releasing.versions import find_release, get_stored_release

VERSION_OPTION_CONFLICT = (
    "A release is exported unchanged: complete, and in its own format. Leave out format, filters and gzip."
)
PACKAGE_OPTION_CONFLICT = (
    "A package contains the whole dataset with all its files: leave out format and filters."
)


def selection_of(dataset: Dataset, options: ExportParameters) -> Selection:
    """Raises UserError if the chosen sessions are no longer known."""
    chosen = None if options.selection is None else read_selection(dataset, options.selection)[0]
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


def refuse_at_once(dataset: Dataset, options: ExportParameters, *, actor: Any) -> None:
    """Raises UserError for what the job would refuse, so that nobody waits for it."""
    refuse_conflicting_options(options)
    release = find_release(dataset, options.version) if options.version else None
    if release is not None:
        check_release_copy(release, actor)
    if options.package:
        gates.check(decide_package(dataset, release, actor=actor, override=options.override or ""))


def choose_name(dataset: Dataset, options: ExportParameters) -> str:
    """The name of what is exported: of a file, or of a package without an ending."""
    version = options.version or ""
    if options.package:
        return package_name(dataset, version)
    if version:
        return release_files.get_file(get_stored_release(dataset, version), ReleaseFile.Kind.DATA).name
    ending = file_extension(options.format or "turns")
    return f"{dataset.name}.{ending}{'.gz' if options.gzip else ''}"


def export_as_requested(
    dataset: Dataset,
    target: Path | IO[bytes],
    options: ExportParameters,
    *,
    override: str,
    report_progress: ProgressCallback,
    actor: Any = None,
) -> ExportResult | PackageResult:
    """Export a dataset, one of its releases or a package of either, to a path with its metadata or, without,
    to a stream. Raises UserError."""
    refuse_conflicting_options(options)
    version = options.version or ""
    shared: dict[str, Any] = {"actor": actor, "report_progress": report_progress}
    if options.package and isinstance(target, Path):
        return export_package(
            dataset, target, version=version, labels=options.labels, override=override, **shared
        )
    if version:
        release = get_stored_release(dataset, version)
        if isinstance(target, Path):
            return export_release_to_path(release, target, **shared)
        return export_release(release, target, **shared)
    shared |= {"format": options.format or "turns", "override": override}
    selection = selection_of(dataset, options)
    if isinstance(target, Path):
        return export_to_path(dataset, target, selection=selection, **shared)
    return export_dataset(dataset, target, selection=selection, **shared)
