"""Uploads in parts: each is appended where the last one ended, so that one that breaks off can resume.

The upload is a prepared job with a file for each part. Finishing it joins them and starts the import.
"""

import hashlib
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

from django.conf import settings
from django.core.files import File
from django.db import transaction
from django.db.models import Sum
from msgspec import structs

from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.core.queries import lock_person
from datasets_app.importing.parameters import ImportParameters
from datasets_app.importing.upload_limits import check_upload_limits
from datasets_app.jobs import files, runs
from datasets_app.jobs.parameters import read_parameters
from datasets_app.models import Dataset, JobFile, JobRun

_BLOCK_BYTES = 1 << 20


class WrongOffset(UserError):
    """A part doesn't begin where the upload ends, at ``offset``."""

    def __init__(self, offset: int) -> None:
        super().__init__(f"The upload has {offset} bytes: send the part that begins there.")
        self.offset = offset


class _AssembledFile(File):  # type: ignore[type-arg]
    """A file that the storage may take over as it is."""

    def temporary_file_path(self) -> str:
        return str(self.name)


def create_upload(dataset_name: str, *, file_name: str, parameters: ImportParameters, actor: Any) -> JobRun:
    """Raises UserError if too many uploads of ``actor`` are not imported."""
    with transaction.atomic():
        lock_person(actor)
        prepared = JobRun.objects.filter(
            actor=actor, operation="import_dataset", state=JobRun.State.PREPARED
        ).count()
        if prepared >= settings.MAX_PENDING_UPLOADS:
            raise UserError(
                f"You have {prepared} uploads that are not imported. Finish or discard some of them first."
            )
        job = runs.create_job("import_dataset", actor=actor, dataset_name=dataset_name, parameters=parameters)
        JobFile.objects.create(job_run=job, kind=JobFile.Kind.UPLOAD, name=file_name[:255])
    return job


def count_received(job: JobRun) -> int:
    """Bytes received so far."""
    parts = job.files.filter(kind=JobFile.Kind.PART)
    received: int = parts.aggregate(size=Sum("size", default=0))["size"]
    return received


def append_part(job: JobRun, part: IO[bytes], size: int, *, offset: int, actor: Any) -> int:
    """Store a part that begins at ``offset``; returns where the next one begins. Raises WrongOffset, or
    UserError if the upload was finished or becomes too large."""
    job_file = JobFile(kind=JobFile.Kind.PART, name=str(offset), size=size)
    with files.storing(job_file), transaction.atomic():
        job = _lock_upload(job)
        received = count_received(job)
        if offset != received:
            raise WrongOffset(received)
        check_upload_limits(actor, received + size, job)
        job_file.job_run = job
        files.store_file(job_file, File(part))
        job.files.filter(kind=JobFile.Kind.PART).update(expires_at=job_file.expires_at)
    return received + size


@contextmanager
def open_received(job: JobRun) -> Iterator[IO[bytes]]:
    """What arrived so far, for a preview. Raises UserError if that is nothing."""
    path = _make_path()
    try:
        _join_parts(list(job.files.filter(kind=JobFile.Kind.PART).order_by("id")), path)
        with path.open("rb") as file:
            yield file
    finally:
        path.unlink(missing_ok=True)


def choose_columns(job: JobRun, columns: str) -> None:
    """Read these columns and senders of the upload, and no others. Raises UserError if it was finished."""
    with transaction.atomic():
        job = _lock_upload(job)
        parameters = structs.replace(read_parameters(job, ImportParameters), columns=columns)
        job.parameters = parameters.as_json()
        job.save(update_fields=["parameters"])


def finish_upload(job: JobRun, *, sha256: str, actor: Any) -> JobRun:
    """Join the parts and start the import. Raises UserError, also if they don't have the digest ``sha256``;
    an empty one is not compared."""
    path = _make_path()
    upload = None
    try:
        with transaction.atomic():
            job = _lock_upload(job)
            upload = job.files.get(kind=JobFile.Kind.UPLOAD)
            parts = list(job.files.filter(kind=JobFile.Kind.PART).order_by("id"))
            upload.sha256 = _join_parts(parts, path)
            if sha256 and sha256.lower() != upload.sha256:
                raise UserError("The parts don't have this SHA-256. Discard the upload and begin again.")
            upload.size = path.stat().st_size
            with path.open("rb") as content:
                files.store_file(upload, _AssembledFile(content, str(path)))
            for part in parts:
                files.discard_file(part)
            runs.start_prepared_job(job, actor=actor)
    except BaseException:
        if upload is not None and upload.file:
            upload.file.delete(save=False)
        raise
    finally:
        path.unlink(missing_ok=True)
    return job


def _make_path() -> Path:
    return Path(settings.FILE_UPLOAD_TEMP_DIR) / f"{uuid4().hex}.upload"


def _join_parts(parts: list[JobFile], path: Path) -> str:
    """Returns the SHA-256."""
    if not parts:
        raise UserError("Nothing was uploaded yet.")
    digest = hashlib.sha256()
    with path.open("xb") as out:
        for part in parts:
            if not part.file:
                raise UserError("Parts of this upload have expired. Begin again.")
            with part.file.open("rb") as content:
                while block := content.read(_BLOCK_BYTES):
                    digest.update(block)
                    out.write(block)
    return digest.hexdigest()


def discard_upload(job: JobRun, *, actor: Any) -> None:
    """Delete an upload that was not imported, and its job. Raises UserError."""
    with transaction.atomic():
        job = _lock_upload(job)
        if Dataset.objects.filter(name=job.dataset_name, legal_hold=True).exists():
            raise UserError(f"{job.dataset_name} is on legal hold, so its uploads can't be discarded.")
        stored = list(job.files.exclude(file=""))
        audit.record(
            "discard_upload",
            actor=actor,
            dataset_name=job.dataset_name,
            job_run=job.pk,
            uploaded_by=read_parameters(job, ImportParameters).uploaded_by or job.actor_name,
            files=[job_file.sha256 for job_file in stored if job_file.sha256],
        )
        for job_file in stored:
            job_file.file.delete(save=False)
        job.delete()


def _lock_upload(job: JobRun) -> JobRun:
    locked: JobRun | None = (
        JobRun.objects.select_for_update().filter(pk=job.pk, state=JobRun.State.PREPARED).first()
    )
    if locked is None:
        raise UserError("This upload was already finished.")
    return locked


def spool(read: Any, size: int) -> IO[bytes]:
    """A temporary file with ``size`` bytes. Raises UserError if fewer arrive; nothing of them is kept."""
    out = tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR)  # noqa: SIM115  (returned)
    left = size
    while left and (block := read(min(_BLOCK_BYTES, left))):
        out.write(block)
        left -= len(block)
    if left:
        out.close()
        raise UserError("The body is shorter than its Content-Length. Send this part again.")
    out.seek(0)
    return out
