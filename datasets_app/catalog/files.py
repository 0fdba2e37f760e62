"""Writes data files: compressed or not, with a digest, and their metadata next to them."""

import errno
import gzip
import hashlib
import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import IO, Any

from datasets_app.core.atomic_files import write_atomically
from datasets_app.core.errors import UserError
from datasets_app.domain.conversations.jsonl import encode_turn
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.metadata.metadata import (
    DatasetMetadata,
    MetadataError,
    metadata_path,
    read_metadata,
    render_metadata,
)


class DigestWriter(io.RawIOBase):
    """Forwards bytes to ``out`` and computes their SHA-256 and size."""

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
def gzip_writer(out: Any, gzipped: bool) -> Iterator[Any]:
    if not gzipped:
        yield out
        return
    # Without a name and time in the header, the same turns give the same bytes.
    with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=out, mtime=0) as target:
        yield target


class TurnFileWriter:
    """Writes turns as JSON lines, and counts them and their sessions."""

    def __init__(self, target: Any, digest: DigestWriter) -> None:
        self._target, self._digest = target, digest
        self.sessions = self.turns = 0

    def write(self, turns: Iterable[TurnRecord]) -> None:
        """Write turns; those of a session must follow each other, within one call."""
        for _, session in groupby(turns, key=lambda turn: turn.session_id):
            self.sessions += 1
            for turn in session:
                self.turns += 1
                self._target.write(encode_turn(turn))

    @property
    def sha256(self) -> str:
        """Of the whole file; known once the file is complete."""
        return self._digest.hex


@contextmanager
def write_turn_file(
    path: Path,
    metadata: DatasetMetadata,
    complete: Callable[[DatasetMetadata], DatasetMetadata] = lambda stated: stated,
) -> Iterator[TurnFileWriter]:
    """Write ``path``, gzipped if it ends in ``.gz``, and ``metadata`` with counts and digest, which
    ``complete`` adds to."""
    with write_with_metadata(path) as (data, metadata_file):
        digest = DigestWriter(data)
        with gzip_writer(digest, path.suffix.lower() == ".gz") as target:
            writer = TurnFileWriter(target, digest)
            yield writer
        completed = replace(
            metadata, total_sessions=writer.sessions, total_turns=writer.turns, sha256=writer.sha256
        )
        metadata_file.write(render_metadata(complete(completed)).encode())


@contextmanager
def write_with_metadata(path: Path) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Open temporary files for ``path`` and its metadata, and move them into place on success.

    A device or pipe is written directly and gets no metadata. Raises UserError.
    """
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            with path.open("wb") as out:
                yield out, io.BytesIO()
            return
        # Contexts close in reverse: the data file moves into place before its metadata.
        targets = [metadata_path(path).resolve(), path.resolve()]
        for target in targets:
            if target.is_dir():
                raise IsADirectoryError(errno.EISDIR, "Is a directory", str(target))
        with ExitStack() as stack:
            metadata, data = (stack.enter_context(write_atomically(target)) for target in targets)
            yield data, metadata
    except OSError as error:
        # The name alone: a job writes below the server's own folders, which are not for its page.
        name = Path(error.filename or path).name
        raise UserError(f"{name} can't be written: {error.strerror or type(error).__name__}.") from None


def load_metadata(data_path: Path) -> DatasetMetadata | None:
    """The metadata next to a data file, or None if there is none. Raises UserError if it is invalid."""
    path = metadata_path(data_path)
    try:
        return read_metadata(path)
    except MetadataError as error:
        raise UserError(
            f"{path.name} is not valid ({error}), so nothing was changed. Fix or remove it."
        ) from None
