"""Lists and clears folders of the file storage, on a disk or in a bucket."""

import logging
from collections.abc import Callable

from django.core.files.storage import default_storage
from django.db import DatabaseError

log = logging.getLogger(__name__)


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
