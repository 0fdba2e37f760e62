"""A disk that is full, and a storage that can't be written to: mounts of their own (Linux, root)."""

import errno
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scripts.trials import invariants
from scripts.trials.installation import Installation, retry_while_down, wait_until
from scripts.trials.pipelines import Pipeline, run_step

DISK_MEGABYTES = 700
FREE_MEGABYTES = 12
ENDED_SECONDS = 300.0


@contextmanager
def temporary_disk(place: Path, megabytes: int) -> Iterator[None]:
    """Memory in the place of a disk. Raises OSError where that is not permitted."""
    place.mkdir(mode=0o711)
    options = f"size={megabytes}m,mode=0711"
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)], capture_output=True)
    if done.returncode:
        raise OSError(errno.EPERM, f"mount is not permitted here: {done.stderr.decode().strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(place: Path, leave_bytes: int) -> Path:
    """The file that takes the space."""
    filler = place / "filler"
    found = os.statvfs(place)
    with filler.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, found.f_bavail * found.f_frsize - leave_bytes)
    return filler


def try_full_disk(installation: Installation, actor: Any) -> invariants.Check:
    """An import that the disk has no room for fails with a sentence; with room again, it succeeds."""
    pipeline = Pipeline("full-disk", 8_000, imported=True, deleted=False)
    lost = []
    filler = fill(installation.folder, FREE_MEGABYTES << 20)
    try:
        state = _run_until_ended(pipeline, "import_dataset", actor)
    finally:
        filler.unlink()
    if state == "done":
        lost.append("the import succeeded on a full disk, so nothing was tried")
    wait_until(installation.is_ready, ENDED_SECONDS, "pages are served again")
    lost += _find_leaks(pipeline.name, installation)
    lost += _retry(pipeline, "import_dataset", actor) + _finish(pipeline, actor)
    return invariants.Check("full disk: jobs", len(pipeline.steps()), lost)


def try_read_only_storage(installation: Installation, media: Path, actor: Any) -> invariants.Check:
    """An export that can't be stored fails without showing a path; later, it succeeds."""
    pipeline = Pipeline("read-only", 100, imported=True, deleted=False)
    lost = []
    for step in pipeline.steps():
        if step == "release_dataset":
            break
        run_step(pipeline, step, actor, "")
    subprocess.run(["mount", "-o", "remount,ro", str(media)], check=True)
    try:
        states = [run_step(pipeline, step, actor, "") for step in ("release_dataset", "export_dataset")]
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(media)], check=True)
    if "done" in states:
        lost.append("a file was stored on a read-only storage, so nothing was tried")
    lost += _find_leaks(pipeline.name, installation)
    for step in ("release_dataset", "export_dataset"):
        lost += _retry(pipeline, step, actor)
    lost += _finish(pipeline, actor)
    return invariants.Check("read-only storage: jobs", len(pipeline.steps()), lost)


def _run_until_ended(pipeline: Pipeline, operation: str, actor: Any) -> str:
    """The upload itself may find no room."""
    try:
        return run_step(pipeline, operation, actor, "")
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        return "no room for the upload"


def _find_leaks(name: str, installation: Installation) -> list[str]:
    """Errors that name a path, and jobs that ended without a sentence."""
    from datasets_app.models import JobRun

    rows = retry_while_down(lambda: list(JobRun.objects.filter(dataset_name=name, state="failed")))
    lost = [f"{row} failed without a reason" for row in rows if not row.error]
    return lost + [f"{row}: its error shows a path" for row in rows if str(installation.folder) in row.error]


def _retry(pipeline: Pipeline, operation: str, actor: Any) -> list[str]:
    """What is lost if the failed job is retried, as a person would."""
    from datasets_app.jobs import runs
    from datasets_app.models import JobRun

    row = JobRun.objects.filter(dataset_name=pipeline.name, operation=operation).order_by("pk").last()
    if row is not None and row.state != "prepared":
        retry_while_down(lambda: runs.retry_job(row, actor=actor))
    state = run_step(pipeline, operation, actor, "")
    return [] if state == "done" else [f"{operation} was retried: {state}"]


def _finish(pipeline: Pipeline, actor: Any) -> list[str]:
    states = {step: run_step(pipeline, step, actor, "") for step in pipeline.steps()}
    return [f"{step}: {state}" for step, state in states.items() if state != "done"]
