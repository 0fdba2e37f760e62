"""What a storage holds: a folder on a disk, or the names that begin alike in a bucket."""

from django.core.files.storage import default_storage


def list_storage(place: str) -> tuple[list[str], list[str]]:
    """The names in ``place``; none where it does not exist: a bucket has no folder that is empty."""
    try:
        folders, files = default_storage.listdir(place)
    except (FileNotFoundError, NotADirectoryError):
        return [], []
    return [name for name in folders if name], [name for name in files if name]
