"""Backups every night: where they go, how many are kept, when the last one was made."""

import re
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone

from alignmenter_site.file_storage import BUCKET_SCHEME
from datasets_app.core import places
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.core.storage_listing import delete_stale
from datasets_app.jobs import runs
from datasets_app.models import JobRun

OPERATION = "backup"
_NAME = re.compile(r"alignmenter-\d{8}T\d{6}(?:\.\d{6})?Z\.age")


def start_nightly_backup() -> dict[str, Any]:
    """Have a worker make a backup, if ALIGNMENTER_BACKUP_TO says where it goes."""
    if not settings.BACKUP_TO:
        return {}
    return {"job": runs.start_job(OPERATION, actor=None).pk}


def make_scheduled_backup(
    *, actor: Any = None, report_progress: ProgressCallback = ignore_progress
) -> dict[str, Any]:
    """A backup to ALIGNMENTER_BACKUP_TO; then the oldest ones there are deleted. Raises UserError."""
    from datasets_app.backups.make_backup import backup_name, make_backup  # brings a library for encryption

    place = places.join_place(settings.BACKUP_TO, backup_name())
    facts = make_backup(place, settings.BACKUP_RECIPIENTS, actor=actor, report_progress=report_progress)
    return {
        **facts,
        "deleted_backups": delete_old_backups(settings.BACKUP_TO, settings.BACKUP_KEEP, facts["file"]),
    }


def delete_old_backups(folder: str, keep: int, newest: str) -> int:
    """Keep ``newest`` and those before it, ``keep`` in all; returns how many were deleted. Files with other
    names stay, and so do those from a later time, as a wrong clock makes them."""
    names = sorted(name for name in places.list_names(folder) if _NAME.fullmatch(name) and name <= newest)
    old = names[:-keep]
    delete_unfinished(folder)
    for name in old:
        places.delete(places.join_place(folder, name))
    return len(old)


def delete_unfinished(folder: str) -> None:
    """Delete what killed backups left in a folder."""
    if not folder.startswith(BUCKET_SCHEME):  # a bucket shows nothing of an upload that has not ended
        delete_stale(Path(folder), ".*.age.*.part")


def last_backup_at() -> datetime | None:
    """None, too, of those that a wrong clock has dated later than now."""
    made = JobRun.objects.filter(operation=OPERATION, state="done", finished_at__lte=timezone.now())
    last = made.order_by("-finished_at").first()
    return last.finished_at if last else None
