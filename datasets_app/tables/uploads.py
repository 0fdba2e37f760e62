"""Uploaded tables between their preview and its confirmation."""

from contextlib import suppress
from datetime import timedelta

from django.core.files.storage import default_storage
from django.utils import timezone

from datasets_app.core.storage_listing import list_storage

UPLOADS_FOLDER = "table-imports"
MAX_UPLOAD_AGE = timedelta(days=1)


def delete_stale_uploads() -> int:
    """Delete uploads that no one confirmed within a day; returns how many."""
    return delete_uploads(older_than=MAX_UPLOAD_AGE)


def delete_oldest_uploads(owner: str, *, keep: int) -> None:
    """Delete all but the ``keep`` newest uploads whose names begin with ``owner``."""
    paths = [f"{UPLOADS_FOLDER}/{name}" for name in list_storage(UPLOADS_FOLDER)[1] if name.startswith(owner)]
    if len(paths) <= keep:
        return
    by_age = []
    for path in paths:
        with suppress(FileNotFoundError):  # confirmed just now
            by_age.append((default_storage.get_modified_time(path), path))
    for _, path in sorted(by_age)[: len(by_age) - keep]:
        default_storage.delete(path)


def delete_uploads(older_than: timedelta = timedelta(0)) -> int:
    """Delete older uploads; returns how many."""
    count = 0
    for name in list_storage(UPLOADS_FOLDER)[1]:
        path = f"{UPLOADS_FOLDER}/{name}"
        with suppress(FileNotFoundError):  # confirmed just now
            if timezone.now() - default_storage.get_modified_time(path) > older_than:
                default_storage.delete(path)
                count += 1
    return count
