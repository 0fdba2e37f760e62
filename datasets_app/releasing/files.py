"""Stores, reads and destroys the files of releases.

A file is stored before its row is committed, and deleted after the row says so: if a process dies in between,
:func:`destroy_orphans` finishes the work.
"""

import hashlib
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

from django.conf import settings
from django.core.files import File
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from datasets_app.core.errors import UserError
from datasets_app.core.storage_listing import delete_orphans, delete_stale, list_storage, try_delete
from datasets_app.domain.conversations.reading import hash_file
from datasets_app.models import Dataset, EvaluationRun, JobRun, Release, ReleaseFile

RELEASES_FOLDER = "releases"
READ_CHUNK_BYTES = 1 << 20
# Prefix of the folders under ``var/tmp`` in which releases are created.
WORK_FOLDER_PREFIX = "release-"


def store_file(release: Release, kind: str, path: Path) -> ReleaseFile:
    """Store a copy of the file at ``path`` as the release's file of this kind."""
    stored = ReleaseFile(
        release=release, kind=kind, name=path.name, size=path.stat().st_size, sha256=hash_file(path)
    )
    with path.open("rb") as content:
        stored.file.save(f"{release.dataset_id}/{uuid4().hex}", File(content), save=True)
    return stored


def open_file(release_file: ReleaseFile) -> IO[bytes]:
    """The stored bytes. Raises UserError if they were destroyed or are missing."""
    release = release_file.release
    if release.destroyed_at is not None or not release_file.file:
        raise UserError(f"{release_file.name} of {release} was destroyed; only its digest is kept.")
    try:
        opened: IO[bytes] = release_file.file.storage.open(release_file.file.name, "rb")
    except FileNotFoundError:
        raise UserError(
            f"{release_file.name} of {release} is missing in the storage; verify the releases."
        ) from None
    return opened


class VerifiedReader:
    """A file of a release, whose bytes are compared with those that were stored once all of it was read."""

    def __init__(self, release_file: ReleaseFile, opened: IO[bytes]) -> None:
        self._row, self._opened, self._digest = release_file, opened, hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        block = self._opened.read(size)
        self._digest.update(block)
        return block

    def verify(self) -> None:
        """Raises UserError."""
        while self.read(READ_CHUNK_BYTES):
            pass
        if self._digest.hexdigest() != self._row.sha256:
            raise UserError(
                f"{self._row.name} was changed after the release: its SHA-256 differs. Verify the releases."
            )


def read_verified_blocks(release_file: ReleaseFile) -> Iterator[bytes]:
    """The bytes of a release's file. Raises UserError after the last of them if they have changed."""
    with open_file(release_file) as opened:
        reader = VerifiedReader(release_file, opened)
        while block := reader.read(READ_CHUNK_BYTES):
            yield block
        reader.verify()


def get_file(release: Release, kind: str) -> ReleaseFile:
    """The release's file of this kind."""
    found = release.files.filter(kind=kind).first()
    if found is None:
        raise UserError(f"{release} has no {kind} file.")
    return found


def read_text(release: Release, kind: str) -> str:
    with open_file(get_file(release, kind)) as stored:
        return stored.read().decode()


@contextmanager
def work_folder() -> Iterator[Path]:
    """A private folder in which a release is created."""
    parent = Path(settings.VAR_DIR, "tmp")
    parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=WORK_FOLDER_PREFIX, dir=parent) as folder:
        yield Path(folder)


def destroy_files(release: Release, *, reason: str, keep_texts: bool = False) -> None:
    """Destroy the stored files once the transaction is committed; digests, sizes and dates stay.

    Notes, reasons, the changelog, which names sessions, and the names of fields are cleared too unless
    ``keep_texts``. A release that was already destroyed keeps its date and reason.
    """
    cleared: dict[str, Any] = {"notes": "", "changelog": "", "override_reason": "", "fault": "", "fields": []}
    texts = {} if keep_texts else cleared
    with transaction.atomic():
        now = timezone.now()
        Release.objects.filter(pk=release.pk, destroyed_at=None).update(
            destroyed_at=now, destroyed_reason=reason, **texts
        )
        # Named by scenario and persona, which an erased session may have been the only one to have.
        EvaluationRun.objects.filter(release=release).update(groups={})
        if texts:
            Release.objects.filter(pk=release.pk).update(**texts)
        files = list(release.files.exclude(file=""))
        transaction.on_commit(lambda: _delete_files(files), robust=True)
    release.refresh_from_db()


def destroy_orphans(dataset: Dataset | None = None) -> int:
    """Delete stored files that no release needs; returns how many.

    These are files of destroyed releases whose deletion was interrupted, and files without a row, left by a
    process that died while it created a release: with a ``dataset`` at once, else after an hour.
    """
    left = ReleaseFile.objects.exclude(file="").exclude(release__destroyed_at=None)
    if dataset is not None:
        left = left.filter(release__dataset=dataset)
    folders = delete_stale(Path(settings.VAR_DIR, "tmp"), f"{WORK_FOLDER_PREFIX}*")
    return _delete_files(list(left)) + _delete_orphans(dataset) + folders


def _delete_files(files: list[ReleaseFile]) -> int:
    return sum(try_delete(partial(_delete_file, release_file)) for release_file in files)


def _delete_file(release_file: ReleaseFile) -> None:
    release_file.file.storage.delete(release_file.file.name)
    ReleaseFile.objects.filter(pk=release_file.pk, file=F("file")).update(file="")


def _delete_orphans(dataset: Dataset | None) -> int:
    rows = ReleaseFile.objects.all()
    if dataset is not None:
        return delete_orphans(f"{RELEASES_FOLDER}/{dataset.pk}", rows, ignore_age=True)
    running = JobRun.objects.filter(state="running", operation="release_dataset")
    names = [name for name in list_storage(RELEASES_FOLDER)[0] if name.isdigit()]
    return sum(
        delete_orphans(f"{RELEASES_FOLDER}/{name}", rows)
        for name in names
        if not running.filter(dataset=int(name)).exists()
    )
