"""Files of conversations as they are written: packed or not, with a digest, their metadata beside them."""

import errno
import gzip
import hashlib
import io
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

from datasets_app.core.atomic_files import write_atomically
from datasets_app.core.errors import UserError
from datasets_app.domain.metadata.metadata import metadata_path


class DigestWriter(io.RawIOBase):
    """Passes bytes on, and knows their digest and number."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out, self._sha256, self.size = out, hashlib.sha256(), 0

    def writable(self) -> bool:
        return True

    def write(self, block: Any) -> int:
        self._out.write(block)
        self._sha256.update(block)
        self.size += len(block)
        return len(block)

    @property
    def hex(self) -> str:
        return self._sha256.hexdigest()


@contextmanager
def gzip_writer(digest: DigestWriter, gzipped: bool) -> Iterator[Any]:
    if not gzipped:
        yield digest
        return
    # No name and no time in the header: the same turns give the same bytes.
    with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=digest, mtime=0) as target:
        yield target


@contextmanager
def write_with_metadata(path: Path) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Temporary files beside ``path`` and its metadata, which take their places if all goes well.

    A device or a pipe is written to, not replaced, and has no metadata beside it.
    """
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            with path.open("wb") as out:
                yield out, io.BytesIO()
            return
        # Metadata first: a new file is never seen beside the metadata of an old one.
        targets = [metadata_path(path).resolve(), path.resolve()]
        for target in targets:
            if target.is_dir():
                raise IsADirectoryError(errno.EISDIR, "Is a directory", str(target))
        with ExitStack() as stack:
            metadata, data = (stack.enter_context(write_atomically(target)) for target in targets)
            yield data, metadata
    except OSError as error:
        raise UserError(f"{error.filename or path} can't be written: {error.strerror or error}") from None
