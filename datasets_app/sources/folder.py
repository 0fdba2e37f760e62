"""Files of a folder or a bucket, below the places that the installation names in ALIGNMENTER_SOURCE_ROOTS."""

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple

from django.conf import settings
from django.utils import timezone

from alignmenter_site.file_storage import BUCKET_SCHEME, open_bucket
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback
from datasets_app.models import Source
from datasets_app.sources.delivery import Delivery
from datasets_app.sources.seen import find_seen

# Of one pull; another one follows at once.
MAX_BYTES = 256 << 20
_ENDINGS = (
    ".jsonl",
    ".json",
    ".ndjson",
    ".gz",
    ".csv",
    ".tsv",
    ".txt",
    ".xlsx",
    ".parquet",
    ".arrow",
    ".zip",
    ".tar",
    ".tgz",
)


class _File(NamedTuple):
    """``key`` tells it from what it was before it changed; ``place`` is one on disk, or a key of the
    bucket."""

    place: Any
    name: str
    size: int
    changed_at: datetime

    @property
    def key(self) -> str:
        return f"file\0{self.name}\0{self.size}\0{self.changed_at.isoformat()}"


def check_folder(location: str) -> str:
    """Raises UserError if the location is not below one of the roots."""
    _find_root(location)
    return location.strip().rstrip("/")


def fetch_files(
    source: Source, folder: Path, since: datetime | None, report_progress: ProgressCallback
) -> Delivery:
    """The files that are new or have changed; those that change still are for a later pull."""
    settled = timezone.now() - timedelta(minutes=source.quiet_minutes)
    bucket, found = _list_files(source.location)
    found = [item for item in found if item.changed_at <= settled and (not since or item.changed_at >= since)]
    seen = find_seen(source, (item.key for item in found))
    # What is still there is remembered, however long ago it was read.
    delivery = Delivery([], [item.key for item in found if item.key in seen])
    left = MAX_BYTES
    for number, item in enumerate(sorted(found, key=lambda item: (item.changed_at, item.name))):
        if item.key in seen:
            continue
        if delivery.files and item.size > left:
            return delivery._replace(more=True)
        left -= item.size
        # Its name may matter for the format; a conversation without an id is named after it.
        copy = folder / f"{number}-{PurePosixPath(item.name).name}"[-200:]
        with _open(bucket, item) as file, copy.open("wb") as out:
            shutil.copyfileobj(file, out, 1 << 20)
        delivery.files.append((copy, "auto"))
        delivery.names.append(item.key)
        report_progress(0, None)
    return delivery


def _find_root(location: str) -> str:
    location = location.strip()
    for root in settings.SOURCE_ROOTS:
        if root.startswith(BUCKET_SCHEME) and location.startswith(BUCKET_SCHEME):
            place, parts = PurePosixPath(location), PurePosixPath(root.partition("?")[0])
            if place.is_relative_to(parts) and ".." not in place.parts:
                return str(root)
        elif (
            location.startswith("/")
            and root.startswith("/")
            and Path(location).resolve().is_relative_to(Path(root).resolve())
        ):
            return str(root)
    raise UserError(
        "Sources may not read there. An administrator names folders and buckets in ALIGNMENTER_SOURCE_ROOTS."
    )


def _list_files(location: str) -> tuple[Any, list[_File]]:
    root = _find_root(location)  # again: the setting may have changed
    if not location.startswith(BUCKET_SCHEME):
        if not Path(location).is_dir():
            raise UserError("The folder of the source doesn't exist, or can't be read.")
        return None, list(_walk(Path(location)))
    try:
        bucket, prefix = open_bucket(root, location)
        return bucket, [
            _File(item.key, item.key, item.size, item.last_modified)
            for item in bucket.objects.filter(Prefix=prefix)
            if _is_wanted(item.key)
        ]
    except UserError:
        raise
    except Exception as error:  # the library's errors may quote addresses and keys
        raise UserError(
            f"The bucket can't be read ({type(error).__name__}). Check its name and the AWS_… variables."
        ) from None


def _walk(folder: Path) -> Iterator[_File]:
    """Regular files, not what links lead to: a link could lead out of the folder."""
    for place, folders, names, descriptor in os.fwalk(folder, follow_symlinks=False):
        folders.sort()
        for name in sorted(filter(_is_wanted, names)):
            with suppress(OSError):
                status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
                if stat.S_ISREG(status.st_mode):
                    path = Path(place, name)
                    changed_at = datetime.fromtimestamp(status.st_mtime, UTC)
                    yield _File(
                        _Place(folder, path.relative_to(folder).parts, status.st_dev, status.st_ino),
                        str(path.relative_to(folder)), status.st_size, changed_at,
                    )  # fmt: skip


class _Place(NamedTuple):
    """A file below a folder, as it was listed."""

    folder: Path
    parts: tuple[str, ...]
    device: int
    inode: int


def _open_place(place: _Place) -> IO[bytes]:
    """The very file that was listed, opened step by step: no part of the way may have become a link, and
    what waits for somebody to write (a pipe) is not waited for. Raises OSError."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
    opened = [os.open(place.folder, flags & ~os.O_NOFOLLOW | os.O_DIRECTORY)]
    try:
        for part in place.parts[:-1]:
            opened.append(os.open(part, flags | os.O_DIRECTORY, dir_fd=opened[-1]))
        file = os.open(place.parts[-1], flags | os.O_NONBLOCK, dir_fd=opened[-1])
    finally:
        for descriptor in opened:
            os.close(descriptor)
    status = os.fstat(file)
    if not stat.S_ISREG(status.st_mode) or (status.st_dev, status.st_ino) != (place.device, place.inode):
        os.close(file)
        raise FileNotFoundError
    return os.fdopen(file, "rb")


def _is_wanted(name: str) -> bool:
    return name.lower().endswith(_ENDINGS) and not PurePosixPath(name).name.startswith(".")


def _open(bucket: Any, item: _File) -> IO[bytes]:
    try:
        if bucket is None:
            return _open_place(item.place)
        body: IO[bytes] = bucket.Object(item.place).get()["Body"]
        return body
    except Exception as error:
        raise UserError(f"A file of the source can't be read ({type(error).__name__}). Pull again.") from None
