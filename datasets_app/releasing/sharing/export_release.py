"""Exports a release: always the same bytes, as they were stored."""

from pathlib import Path
from typing import IO, Any

from django.db import transaction

from datasets_app.catalog.files import write_with_metadata
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.exporting.export_dataset import ExportResult
from datasets_app.models import Release, ReleaseFile
from datasets_app.releasing import files
from datasets_app.releasing.sharing.share_gate import check_release_copy


def export_release(
    release: Release,
    out: IO[bytes],
    *,
    actor: Any = None,
    report_progress: ProgressCallback = ignore_progress,
) -> ExportResult:
    """Copy the stored data file to ``out``, and record who received which version.

    The version passed the gates when it was released. Raises UserError if ``actor`` may not have it, and at
    the end if the bytes have changed.
    """
    check_release_copy(release, actor)
    data = files.get_file(release, ReleaseFile.Kind.DATA)
    done = 0
    for block in files.read_verified_blocks(data):
        out.write(block)
        done += len(block)
        report_progress(release.turn_count * done // max(data.size, 1), release.turn_count)
    audit.record(
        "export",
        actor=actor,
        dataset_name=release.dataset.name,
        format="turns",
        release=release.version,
        file=data.name,
        sessions=release.session_count,
        turns=release.turn_count,
        sha256=data.sha256,
    )
    return ExportResult(release.session_count, release.turn_count, data.size, data.sha256)


def export_release_to_path(
    release: Release, path: Path, *, actor: Any = None, report_progress: ProgressCallback = ignore_progress
) -> ExportResult:
    """Write ``path`` and its metadata file, both as they were stored."""
    data = files.get_file(release, ReleaseFile.Kind.DATA)
    if data.name.endswith(".gz") and path.suffix.lower() != ".gz" and (path.is_file() or not path.exists()):
        raise UserError(
            f"The data file of {release} is gzipped and exported unchanged: use a name that ends in .gz, or "
            f"leave the name out to get {data.name}."
        )
    with write_with_metadata(path) as (out, metadata), transaction.atomic():
        result = export_release(release, out, actor=actor, report_progress=report_progress)
        for block in files.read_verified_blocks(files.get_file(release, ReleaseFile.Kind.METADATA)):
            metadata.write(block)
    return result
