"""Places outside the storage: files, and objects of a bucket. Each appears complete, or not at all."""

import hashlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urlsplit, urlunsplit

from alignmenter_site.file_storage import BUCKET_SCHEME, open_bucket
from datasets_app.core.atomic_files import write_atomically
from datasets_app.core.errors import UserError

READ_BYTES = 1 << 20
# Of one part of an upload, which is kept in memory. A bucket takes 10,000 parts, so 320 GB.
PART_BYTES = 32 << 20


def join_place(folder: str, name: str) -> str:
    """The place ``name`` in a folder, or below the prefix of a bucket."""
    if not folder.startswith(BUCKET_SCHEME):
        return str(Path(folder) / name)
    parts = urlsplit(folder)
    return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/{name}"))


def place_name(place: str) -> str:
    """The last part, without folders and addresses."""
    return (urlsplit(place).path if place.startswith(BUCKET_SCHEME) else place).rpartition("/")[2]


@contextmanager
def create(place: str) -> Iterator[Any]:
    """Open a new place to write to; it appears when the block succeeds. Raises UserError if it exists."""
    if exists(place):
        raise UserError(f"{place_name(place)} exists already; it is never overwritten. Name another.")
    if place.startswith(BUCKET_SCHEME):
        with _explain_bucket(place), _upload(*_find_object(place)) as upload:
            yield upload
        return
    with write_atomically(Path(place)) as file:
        yield file


def exists(place: str) -> bool:
    if not place.startswith(BUCKET_SCHEME):
        return Path(place).exists()
    bucket, key = _find_object(place)
    with _explain_bucket(place):
        return any(found.key == key for found in bucket.objects.filter(Prefix=key).limit(1))


@contextmanager
def open_place(place: str) -> Iterator[BinaryIO]:
    """Read what is stored from its beginning."""
    if not place.startswith(BUCKET_SCHEME):
        with Path(place).open("rb") as file:
            yield file
        return
    bucket, key = _find_object(place)
    with _explain_bucket(place):
        body = bucket.Object(key).get()["Body"]
    with closing(body):
        yield body


def hash_place(place: str) -> tuple[str, int]:
    """The SHA-256 and the size of what is stored."""
    digest, size = hashlib.sha256(), 0
    with open_place(place) as source:
        while block := source.read(READ_BYTES):
            digest.update(block)
            size += len(block)
    return digest.hexdigest(), size


def list_names(folder: str) -> list[str]:
    """The names of the files in a folder, or below the prefix of a bucket."""
    if not folder.startswith(BUCKET_SCHEME):
        return [path.name for path in Path(folder).iterdir() if path.is_file()]
    bucket, prefix = open_bucket(folder, folder)
    with _explain_bucket(folder):
        return [found.key.removeprefix(prefix) for found in bucket.objects.filter(Prefix=prefix)]


def delete(place: str) -> None:
    if not place.startswith(BUCKET_SCHEME):
        Path(place).unlink(missing_ok=True)
        return
    bucket, key = _find_object(place)
    with _explain_bucket(place):
        bucket.Object(key).delete()


@contextmanager
def _explain_bucket(place: str) -> Iterator[None]:
    from botocore.exceptions import BotoCoreError, ClientError  # type: ignore[import-untyped]

    try:
        yield
    except ClientError as error:
        reason = error.response.get("Error", {}).get("Code", "") or "an error without a code"
    except BotoCoreError as error:
        reason = type(error).__name__
    else:
        return
    raise UserError(
        f"The bucket of {place_name(place)} refuses this ({reason}). Check its address, its name, and the "
        "credentials (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY)."
    )


def _find_object(place: str) -> tuple[Any, str]:
    bucket, prefix = open_bucket(place, place)
    return bucket, prefix.rstrip("/")


@contextmanager
def _upload(bucket: Any, key: str) -> Iterator["_Upload"]:
    upload = _Upload(bucket, key)
    try:
        yield upload
        upload.complete()
    except BaseException:
        upload.abort()
        raise


class _Upload:
    """A multipart upload, of which a bucket shows nothing until it is complete."""

    def __init__(self, bucket: Any, key: str) -> None:
        self._upload = bucket.Object(key).initiate_multipart_upload()
        self._buffer = bytearray()
        self._parts: list[dict[str, Any]] = []

    def write(self, data: bytes) -> int:
        self._buffer += data
        while len(self._buffer) >= PART_BYTES:
            self._send(bytes(self._buffer[:PART_BYTES]))
            del self._buffer[:PART_BYTES]
        return len(data)

    def flush(self) -> None:
        """Parts are sent when they are full."""

    def complete(self) -> None:
        self._send(bytes(self._buffer))
        self._upload.complete(MultipartUpload={"Parts": self._parts})

    def abort(self) -> None:
        self._upload.abort()

    def _send(self, data: bytes) -> None:
        number = len(self._parts) + 1
        sent = self._upload.Part(number).upload(Body=data)
        self._parts.append({"PartNumber": number, "ETag": sent["ETag"]})
