"""Lists and clears folders of the file storage, on a disk or in a bucket."""

import logging
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from django.core.files.storage import default_storage
from django.db import DatabaseError
from django.db.models import QuerySet
from django.utils import timezone

log = logging.getLogger(__name__)

# A file is stored before the row that names it is committed; this long it may stand alone.
MIN_ORPHAN_AGE = timedelta(hours=1)


def list_storage(place: str) -> tuple[list[str], list[str]]:
    """The folders and files in ``place``. A missing folder is empty, since buckets have no empty folders."""
    try:
        folders, files = default_storage.listdir(place)
    except (FileNotFoundError, NotADirectoryError):
        return [], []
    return [name for name in folders if name], [name for name in files if name]


def try_delete(delete: Callable[[], None]) -> bool:
    """One file that can't be deleted must not keep the others."""
    try:
        delete()
    except DatabaseError:
        raise
    except Exception as error:
        log.error("a file that is due can't be deleted: %s", type(error).__name__)
        return False
    return True


def delete_orphans(folder: str, rows: QuerySet[Any], *, ignore_age: bool = False) -> int:
    """Delete the files in a folder of the storage that none of the ``rows`` names, as a process leaves them
    that dies while it stores one; returns how many."""
    paths = [f"{folder}/{name}" for name in list_storage(folder)[1]]
    claimed = set(rows.filter(file__in=paths).values_list("file", flat=True))
    latest = timezone.now() - MIN_ORPHAN_AGE
    return sum(
        try_delete(partial(default_storage.delete, path))
        for path in paths
        if path not in claimed and (ignore_age or default_storage.get_modified_time(path) <= latest)
    )


def delete_stale(folder: Path, pattern: str) -> int:
    """Delete files and folders on the disk that processes which died have left; returns how many. What is in
    use was modified within the last hour."""
    count = 0
    for path in folder.glob(pattern):
        with suppress(FileNotFoundError):  # its process has deleted it just now
            if time.time() - path.stat().st_mtime > MIN_ORPHAN_AGE.total_seconds():
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink()
                count += 1
    return count
