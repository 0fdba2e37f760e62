"""Backups while everything else happens: one after the other, and those that are there must open."""

import subprocess
import sys
import threading
from pathlib import Path

from scripts.trials.installation import PROJECT, retry_while_down
from scripts.trials.invariants import Check
from scripts.trials.pipelines import wait_for_job

KEPT = 5


def make_settings(folder: Path) -> dict[str, str]:
    """A key in ``folder``, and the settings that back up there."""
    import pyrage

    identity = pyrage.x25519.Identity.generate()
    (folder / "key").write_text(f"{identity}\n")
    place = folder / "backups"
    place.mkdir()
    return {
        "ALIGNMENTER_BACKUP_TO": str(place),
        "ALIGNMENTER_BACKUP_RECIPIENTS": str(identity.to_public()),
        "ALIGNMENTER_BACKUP_KEEP": str(KEPT),
    }


def keep_backing_up(stop: threading.Event) -> None:
    from django.db import connection

    from datasets_app.jobs import runs

    while not stop.is_set():
        wait_for_job(retry_while_down(lambda: runs.start_job("backup", actor=None).pk))
    connection.close()


def check_backups(folder: Path) -> Check:
    """Each is read with the key. What a killed one left is deleted after an hour, by the next one."""
    from datasets_app.models import JobRun

    files = sorted((folder / "backups").glob("alignmenter-*.age"))
    lost = []
    for path in files:
        command = [
            sys.executable,
            "manage.py",
            "backup",
            "--verify",
            str(path),
            "--identity",
            str(folder / "key"),
        ]
        done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True)
        lost += [f"{path.name}: {done.stderr.strip()}"] if done.returncode else []
    made = JobRun.objects.filter(operation="backup", state="done").count()
    if len(files) != min(made, KEPT):
        lost.append(
            f"{made} backups were made; {len(files)} files are there: {[path.name for path in files]}"
        )
    return Check("backups", made, lost)
