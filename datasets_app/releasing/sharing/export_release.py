"""A release as it was stored: the same bytes, whenever and however often they are handed out."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from django.db import transaction

from datasets_app.catalog.files import beside
from datasets_app.core import audit
from datasets_app.core.errors import Refused
from datasets_app.core.progress import ProgressCallback, ignore
from datasets_app.domain.releases import versions
from datasets_app.exporting.export_dataset import Exported
from datasets_app.models import Dataset, Release, ReleaseFile
from datasets_app.releasing import files

BYTES_AT_ONCE = 1 << 20


def release_of(dataset: Dataset, version: str) -> Release:
    """The release of that version, ``1.2.0`` or ``v1.2.0``; Refused if there is none, or none any more."""
    try:
        wanted = versions.parse(version)
    except ValueError as error:
        raise Refused(f"{version!r} is no version: {error}.") from None
    found = Release.objects.filter(dataset=dataset, **wanted._asdict()).first()
    if found is None:
        kept = Release.objects.filter(dataset=dataset, destroyed_at=None)
        there = ", ".join(release.version for release in kept[:10]) or "none"
        raise Refused(f"There is no release {wanted} of {dataset.name}. Its releases: {there}.")
    if found.destroyed_at is not None:
        follower = Release.objects.filter(replaces=found).first()
        instead = f" {follower.version} has taken its place." if follower else ""
        raise Refused(f"{found} was destroyed on {found.destroyed_at:%Y-%m-%d}.{instead}")
    return found


def export_release(
    release: Release, out: IO[bytes], *, actor: Any = None, report_progress: ProgressCallback = ignore
) -> Exported:
    """Copy the stored data file to ``out``, and put it on record who has had which version.

    It went through the gates when it was released. Refused, in the end, if the bytes are not those that
    were released.
    """
    data = files.file_of(release, ReleaseFile.Kind.DATA)
    done = 0
    for block in stored_blocks(data):
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
    return Exported(release.session_count, release.turn_count, data.size, data.sha256)


def export_release_to_path(
    release: Release, path: Path, *, actor: Any = None, report_progress: ProgressCallback = ignore
) -> Exported:
    """Write ``path`` and, beside it, the metadata file of the release, both as they were stored."""
    data = files.file_of(release, ReleaseFile.Kind.DATA)
    if data.name.endswith(".gz") and path.suffix.lower() != ".gz" and (path.is_file() or not path.exists()):
        raise Refused(
            f"The file of {release} is gzipped, and handed out as it is: let the name end in .gz, or "
            f"leave it out to get {data.name}."
        )
    with beside(path) as (out, metadata), transaction.atomic():
        result = export_release(release, out, actor=actor, report_progress=report_progress)
        for block in stored_blocks(files.file_of(release, ReleaseFile.Kind.METADATA)):
            metadata.write(block)
    return result


def stored_blocks(stored: ReleaseFile) -> Iterator[bytes]:
    """The bytes of a release's file. Refused, after the last of them, if they have changed."""
    digest = hashlib.sha256()
    with files.open_file(stored) as file:
        while block := file.read(BYTES_AT_ONCE):
            digest.update(block)
            yield block
    if digest.hexdigest() != stored.sha256:
        raise Refused(f"{stored.name} is not what was released: its SHA-256 differs. Run verify_releases.")
