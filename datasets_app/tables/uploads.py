"""Files of tables between their preview and its confirmation."""

from contextlib import suppress
from datetime import timedelta

from django.core.files.storage import default_storage
from django.utils import timezone

UPLOADS_FOLDER = "table-imports"
MAX_UPLOAD_AGE = timedelta(days=1)


def delete_stale_uploads() -> int:
    """Delete what nobody has confirmed within a day; returns how many."""
    return delete_uploads(older_than=MAX_UPLOAD_AGE)


def delete_uploads(older_than: timedelta = timedelta(0)) -> int:
    """Delete what waits for longer than that; returns how many."""
    try:
        names = default_storage.listdir(UPLOADS_FOLDER)[1]
    except FileNotFoundError:
        return 0
    count = 0
    for name in names:
        path = f"{UPLOADS_FOLDER}/{name}"
        with suppress(FileNotFoundError):  # confirmed this moment
            if timezone.now() - default_storage.get_modified_time(path) > older_than:
                default_storage.delete(path)
                count += 1
    return count
