"""Lists folders of the file storage, on a disk or in a bucket."""

from django.core.files.storage import default_storage


def list_storage(place: str) -> tuple[list[str], list[str]]:
    """The folders and files in ``place``. A missing folder is empty, since buckets have no empty folders."""
    try:
        folders, files = default_storage.listdir(place)
    except (FileNotFoundError, NotADirectoryError):
        return [], []
    return [name for name in folders if name], [name for name in files if name]
