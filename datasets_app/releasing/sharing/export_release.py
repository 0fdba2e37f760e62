"""A release as it was stored: the same bytes, whenever and however often they are handed out."""

import hashlib
from collections.abc import Iterator
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

READ_CHUNK_BYTES = 1 << 20


def export_release(
    release: Release,
    out: IO[bytes],
    *,
    actor: Any = None,
    report_progress: ProgressCallback = ignore_progress,
) -> ExportResult:
    """Copy the stored data file to ``out``, and put it on record who has had which version.

    It went through the gates when it was released. Refused, in the end, if the bytes are not those that
    were released.
    """
    data = files.get_file(release, ReleaseFile.Kind.DATA)
    done = 0
    for block in read_verified_blocks(data):
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
    """Write ``path`` and, beside it, the metadata file of the release, both as they were stored."""
    data = files.get_file(release, ReleaseFile.Kind.DATA)
    if data.name.endswith(".gz") and path.suffix.lower() != ".gz" and (path.is_file() or not path.exists()):
        raise UserError(
            f"The file of {release} is gzipped, and handed out as it is: let the name end in .gz, or "
            f"leave it out to get {data.name}."
        )
    with write_with_metadata(path) as (out, metadata), transaction.atomic():
        result = export_release(release, out, actor=actor, report_progress=report_progress)
        for block in read_verified_blocks(files.get_file(release, ReleaseFile.Kind.METADATA)):
            metadata.write(block)
    return result


def read_verified_blocks(stored: ReleaseFile) -> Iterator[bytes]:
    """The bytes of a release's file. Refused, after the last of them, if they have changed."""
    digest = hashlib.sha256()
    with files.open_file(stored) as file:
        while block := file.read(READ_CHUNK_BYTES):
            digest.update(block)
            yield block
    if digest.hexdigest() != stored.sha256:
        raise UserError(f"{stored.name} is not what was released: its SHA-256 differs. Run verify_releases.")
