"""Reads every stored file of releases again and compares it with what was signed."""

import hashlib
import json
import logging
from collections.abc import Iterable
from typing import Any, NamedTuple

from django.utils import timezone

from datasets_app.core import audit
from datasets_app.core.progress import ProgressCallback, Tally, ignore_progress
from datasets_app.models import Dataset, Release, ReleaseFile
from datasets_app.releasing import documents

log = logging.getLogger(__name__)

Kind = ReleaseFile.Kind
BLOCK_BYTES = 1 << 20
# A larger one is not ours, and is not read into memory.
MAX_DOCUMENT_BYTES = 1 << 30


class ReleaseFault(NamedTuple):
    """``message`` is a sentence that names the file."""

    dataset: str
    version: str
    message: str


class ReleaseVerification(NamedTuple):
    releases: int
    files: int
    bytes: int
    faults: list[ReleaseFault]

    def facts(self) -> dict[str, Any]:
        """For the row of a job."""
        return {
            "releases": self.releases,
            "files": self.files,
            "bytes": self.bytes,
            "faults": len(self.faults),
            "problems": [
                {"message": f"{name} {version}: {message}"} for name, version, message in self.faults
            ],
        }


def verify_releases(
    dataset: Dataset | None = None, *, actor: Any, report_progress: ProgressCallback = ignore_progress
) -> ReleaseVerification:
    """Verify all releases of ``dataset``, or of all datasets, except destroyed ones.

    Each release keeps its faults until a verification finds none.
    """
    releases = Release.objects.filter(destroyed_at=None).select_related("dataset")
    if dataset is not None:
        releases = releases.filter(dataset=dataset)
    rows = list(releases.order_by("dataset__name", "major", "minor", "patch").prefetch_related("files"))
    files = [file for row in rows for file in row.files.all()]
    counted = Tally(report_progress, sum(file.size for file in files))
    faults: list[ReleaseFault] = []
    for row in rows:
        found = _find_faults(row, counted)
        faults += (ReleaseFault(row.dataset.name, row.version, what) for what in found)
        _save_outcome(row, found)
    verified = ReleaseVerification(len(rows), len(files), counted.done, faults)
    audit.record(
        "verify_releases",
        actor=actor,
        dataset_name=dataset.name if dataset else "",
        releases=verified.releases,
        files=verified.files,
        faults=[f"{name} {version}" for name, version in dict.fromkeys((f[0], f[1]) for f in faults)],
    )
    return verified


def _save_outcome(release: Release, found: list[str]) -> None:
    """A release that was destroyed meanwhile has no files by design."""
    still = Release.objects.filter(pk=release.pk, destroyed_at=None)
    still.update(verified_at=timezone.now(), fault=" ".join(found))
    if found:
        log.error("release %s is not as it was signed: %s faults", release.pk, len(found))


def _find_faults(release: Release, counted: Tally) -> list[str]:
    rows = {row.kind: row for row in release.files.all()}
    faults = [f"It has no {kind.label.lower()} file." for kind in Kind if kind not in rows]
    for row in rows.values():
        if what := _find_difference(row, counted):
            faults.append(f"{row.name} {what}.")
    signature = rows.get(Kind.SIGNATURE)
    if signature and not any(fault.startswith(f"{signature.name} ") for fault in faults):
        faults += (
            f"{signature.name} {what}." for what in _find_signature_faults(release, signature, rows.values())
        )
    return faults


def _find_difference(row: ReleaseFile, counted: Tally) -> str:
    """How the stored bytes differ from the row, as the end of a sentence; empty if they don't."""
    try:
        size, sha256 = _read_digest(row, counted)
    except FileNotFoundError:
        return "is missing in the storage"
    except Exception as error:  # a storage may raise anything
        return f"can't be read ({type(error).__name__})"
    if size != row.size:
        return f"has {size:,} bytes instead of {row.size:,}"
    return "" if sha256 == row.sha256 else "was changed after the release: its SHA-256 differs"


def _read_digest(row: ReleaseFile, counted: Tally) -> tuple[int, str]:
    if not row.file:
        raise FileNotFoundError
    digest, size = hashlib.sha256(), 0
    with row.file.storage.open(row.file.name, "rb") as stored:
        while block := stored.read(BLOCK_BYTES):
            digest.update(block)
            size += len(block)
            counted.add(len(block))
    return size, digest.hexdigest()


def _find_signature_faults(
    release: Release, signature: ReleaseFile, rows: Iterable[ReleaseFile]
) -> list[str]:
    """Whether the signature holds, and the database still matches what was signed."""
    document = _read_json(signature)
    if what := documents.find_signature_fault(document):
        return [what]
    signed = document["signed"]
    faults = []
    stated = {name: (item["size"], item["sha256"]) for name, item in signed["files"].items()}
    if stated != {row.name: (row.size, row.sha256) for row in rows if row.kind != Kind.SIGNATURE}:
        faults.append("signs other files or digests than the database has")
    identity = (signed["dataset"], signed["version"], signed["content_digest"])
    if identity != (release.dataset.name, release.version, release.content_digest):
        faults.append("signs another dataset, version or content than the database has")
    data = next((row for row in rows if row.kind == Kind.DATA), None)
    if data is not None and data.sha256 != release.sha256:
        faults.append("signs a data file that is not the release's")
    return faults


def _read_json(row: ReleaseFile) -> Any:
    with row.file.storage.open(row.file.name, "rb") as stored:
        try:
            return json.loads(stored.read(MAX_DOCUMENT_BYTES))
        except ValueError:
            return None
