"""The files of jobs: creates, stores and deletes them. They hold text of conversations."""

import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

from django.conf import settings
from django.core.files import File
from django.db import transaction
from django.utils import timezone

from datasets_app.domain.conversations.reading import hash_file
from datasets_app.models import JobFile, JobRun


@contextmanager
def work_folder(job_run: JobRun) -> Iterator[Path]:
    """A private folder to work in. Deletes first what a killed worker left of this job."""
    parent = settings.VAR_DIR / "tmp"
    parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    for stale in parent.glob(f"job-{job_run.pk}-*"):
        shutil.rmtree(stale, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=f"job-{job_run.pk}-", dir=parent) as folder:
        yield Path(folder)


def delete_stale_folders() -> int:
    """Delete the folders of jobs that are not running; returns how many."""
    running = set(JobRun.objects.filter(state="running").values_list("pk", flat=True))
    stale = [
        folder
        for folder in (settings.VAR_DIR / "tmp").glob("job-*-*")
        if int(folder.name.split("-")[1]) not in running
    ]
    for folder in stale:
        shutil.rmtree(folder, ignore_errors=True)
    return len(stale)


def get_local_path(job_file: JobFile, work: Path) -> Path:
    """The path of the file on this machine, or of a copy in ``work`` if its storage is elsewhere. Raises
    OSError."""
    try:
        return Path(job_file.file.path)
    except NotImplementedError:
        copy = work / "upload"
    try:
        with job_file.file.open("rb") as stored, copy.open("wb") as out:
            shutil.copyfileobj(stored, out, 1 << 20)
    except OSError:
        raise
    except Exception as error:  # a bucket's client has errors of its own
        raise OSError(f"The storage refuses the file ({type(error).__name__}).") from None
    return copy


def store_files(job_run: JobRun, kind: str, paths: Iterable[Path]) -> None:
    """Store the output files of a job until they expire. The row has the name, not the path."""
    for path in paths:
        job_file = JobFile(
            job_run=job_run,
            kind=kind,
            name=path.name[-255:],
            size=path.stat().st_size,
            sha256=hash_file(path),
        )
        with path.open("rb") as content:
            store_file(job_file, File(content))


def store_file(job_file: JobFile, content: File) -> None:  # type: ignore[type-arg]
    """Store a file until it expires, and save its row. A user's file name may be longer than the file system
    allows."""
    job_file.expires_at = timezone.now() + timedelta(days=settings.EXPORT_LINK_DAYS)
    job_file.file.save(f"{job_file.job_run_id}/{job_file.kind}/{uuid4().hex}", content, save=True)


@contextmanager
def storing(job_file: JobFile) -> Iterator[None]:
    """Around the transaction that stores it: without its row, nothing is kept."""
    try:
        yield
    except BaseException:
        if job_file.file:
            job_file.file.delete(save=False)
        raise


def discard_file(job_file: JobFile) -> None:
    """Delete the file once the transaction is committed; the row keeps its name and digest.

    The file expires at once: if this process dies first, the scheduler deletes it.
    """
    JobFile.objects.filter(pk=job_file.pk).update(expires_at=timezone.now())
    transaction.on_commit(lambda: delete_file(job_file), robust=True)


def delete_file(job_file: JobFile) -> None:
    """Delete the file of a row, which stays: a page can say that there was one."""
    job_file.file.delete(save=False)
    JobFile.objects.filter(pk=job_file.pk).update(file="")
