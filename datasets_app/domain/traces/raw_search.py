"""Counts the lines of a file that hold a word, whatever its format: nothing is parsed that could fail.

Text is read in the encodings that imports know, packed files are unpacked as they are read, and rows of
Parquet are lines. A line longer than a block is searched in overlapping pieces.
"""

import codecs
import gzip
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import IO, Any

from datasets_app.domain.conversations.jsonl import unescape_json
from datasets_app.domain.conversations.lines import (
    GZIP_MAGIC,
    OTHER_FILE_TYPES,
    Limits,
    UnreadableFile,
    is_tar,
)
from datasets_app.domain.conversations.records import LineError
from datasets_app.domain.traces.arrow_tables import read_arrow
from datasets_app.domain.traces.containers import ARCHIVE_ERRORS

BLOCK_BYTES = 1 << 20
# Longer than any word that is searched for, in four bytes a character.
OVERLAP_BYTES = 4096
MAX_DEPTH = 3  # archives within archives
# Zip and gzip files are unpacked. The last begins like this if the program compress has written it.
_PACKED = (b"PK", GZIP_MAGIC)
_NOT_TEXT = (*(magic for magic in OTHER_FILE_TYPES if not magic.startswith(_PACKED)), b"\x1f\x9d")

IsMatch = Callable[[Any], bool]


def count_lines(path: Path, is_match: IsMatch, limits: Limits) -> int:
    """How many lines or rows match. Raises :class:`UnreadableFile` if not all of the file can be searched."""
    with path.open("rb") as file:
        if file.read(6).startswith((b"PAR1", b"ARROW1")):
            return _count_rows(path, is_match, limits)
        file.seek(0)
        budget = _Budget(limits.unpacked_bytes)
        try:
            return _count_in(file, is_match, budget, 0)
        except (OSError, *ARCHIVE_ERRORS) as error:
            raise UnreadableFile(f"can't be unpacked ({type(error).__name__})") from None


def _count_rows(path: Path, is_match: IsMatch, limits: Limits) -> int:
    count = 0
    for row in read_arrow(path, limits):
        if isinstance(row, LineError):
            raise UnreadableFile("has a row that is too long")
        value = row.value
        count += is_match(list(value) if isinstance(value, tuple) else value)
    return count


class _Budget:
    """How many bytes may still be unpacked."""

    def __init__(self, size: int) -> None:
        self.left = size

    def spend(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise UnreadableFile("is too large unpacked")


def _count_in(file: IO[bytes], is_match: IsMatch, budget: _Budget, depth: int) -> int:
    head = file.read(512)
    file.seek(0)
    if head.startswith(_NOT_TEXT) or depth > MAX_DEPTH:
        raise UnreadableFile("isn't text")
    if head.startswith(b"\x1f\x8b"):
        with gzip.open(file) as unpacked:
            return _count_in(unpacked, is_match, budget, depth + 1)  # type: ignore[arg-type]
    if head.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(file) as archive:
            members = [item for item in archive.infolist() if not item.is_dir()]
            return sum(
                _count_member(item.filename, archive.open(item), is_match, budget, depth) for item in members
            )
    if is_tar(head):
        with tarfile.open(fileobj=file) as archive:
            files = ((item.name, archive.extractfile(item) if item.isfile() else None) for item in archive)
            return sum(_count_member(name, file, is_match, budget, depth) for name, file in files)
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        file = codecs.EncodedFile(file, "utf-8", "utf-16", "replace")
    return _count_in_text(file, is_match, budget)


def _count_member(name: str, file: IO[bytes] | None, is_match: IsMatch, budget: _Budget, depth: int) -> int:
    with file or nullcontext():
        return int(is_match(name)) + (_count_in(file, is_match, budget, depth + 1) if file else 0)


def _count_in_text(file: IO[bytes], is_match: IsMatch, budget: _Budget) -> int:
    count = 0
    # Whether the line that the last block left open is counted already.
    is_counted = False
    for block in _read_blocks(file, budget):
        lines = block.split(b"\n")
        if any(map(is_match, _decode(block))):
            matches = [any(map(is_match, _decode(line))) for line in lines]
            # What goes on over the end of a line, such as base64, is in no line as a whole.
            count += max(sum(matches), 1) - (is_counted and matches[0])
            is_counted = matches[-1] or (is_counted and len(lines) == 1)
        elif len(lines) > 1:
            is_counted = False
    return count


def _read_blocks(file: IO[bytes], budget: _Budget) -> Iterator[bytes]:
    """Whole lines, or overlapping pieces of one that is longer."""
    rest = b""
    while block := file.read(BLOCK_BYTES):
        budget.spend(len(block))
        block = rest + block
        end = block.rfind(b"\n") + 1
        yield block[:end] or block
        rest = block[end:] if end else block[-OVERLAP_BYTES:]
    if rest:
        yield rest


def _decode(block: bytes) -> Iterator[str]:
    """What a block may say: as it stands, with JSON's escapes decoded, and in an older encoding."""
    text = block.decode("utf-8", "replace")
    yield text
    if "\\" in text:
        yield unescape_json(text)
    if "\ufffd" in text:
        yield block.decode("cp1252", "replace")
