"""Bytes of a file → numbered lines, in constant memory whatever the file turns out to be."""

import gzip
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

from datasets_app.domain.conversations.records import LineError

BLOCK_BYTES = 1 << 20

OnBytes = Callable[[int], None]


class StopReading(Exception):
    """Raised by ``Limits.on_step``: what was read so far is all that is wanted."""


class Limits(NamedTuple):
    """Bounds that keep a hostile or broken file from taking the machine with it.

    ``on_step`` is called for each block, document and file of an archive.
    """

    line_bytes: int = 16 << 20
    unpacked_bytes: int = 20 << 30
    on_step: Callable[[], None] = lambda: None


DEFAULT_LIMITS = Limits()

GZIP_MAGIC = b"\x1f\x8b"
UTF8_BOM = b"\xef\xbb\xbf"
UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")
UTF32_BOMS = (b"\xff\xfe\0\0", b"\0\0\xfe\xff")  # the first begins like UTF-16
# Files people take for JSONL by mistake, told apart by how they begin.
OTHER_FILE_TYPES = {
    b"PK\x03\x04": "a zip archive (or .xlsx) that can't be opened; transfer it again or unpack it",
    b"PK\x05\x06": "a zip archive without files",
    GZIP_MAGIC: "packed twice with gzip; unpack it once",
    b"PAR1": "a Parquet file; convert it to JSONL first",
    b"%PDF": "a PDF document",
    b"7z\xbc\xaf\x27\x1c": "a 7-Zip archive; unpack it, or make it a zip archive",
    b"Rar!\x1a\x07": "a RAR archive; unpack it, or make it a zip archive",
    b"\xd0\xcf\x11\xe0": "a document of Excel or Word in its old format; save it as .xlsx or CSV",
    b"BZh": "compressed with bzip2; unpack it or use gzip",
    b"\xfd7zXZ": "compressed with xz; unpack it or use gzip",
    b"\x28\xb5\x2f\xfd": "compressed with Zstandard; unpack it or use gzip",
    b"SQLite format 3": "an SQLite database",
}
# Texts in which no line is JSON, told apart likewise.
OTHER_TEXTS = {
    re.compile(
        r"[^{}\n]+\{\".*\}\s*$", re.MULTILINE
    ): "a log with text before each object; remove it: sed 's/^[^{]*//' IN > OUT",
    re.compile(
        r"WEBVTT|\d+\s*\n[\d:,.]+ -->"
    ): "subtitles, which don't name who speaks; write a table that does",
    re.compile(r"---\s*$|- [\w-]+:\s|[\w-]+:\s*$", re.MULTILINE): "YAML; convert it to JSON",
    re.compile(r"<[!?\w]"): "XML or HTML; convert it to JSON",
}


class UnreadableFile(Exception):
    """The file as a whole can't be read as text lines; the message says why and what to do."""

    code = "E100"


def open_file(path: Path) -> IO[bytes]:
    """Open for reading in binary, or raise :class:`UnreadableFile` with the reason."""
    try:
        return path.open("rb")
    except FileNotFoundError:
        raise UnreadableFile("no such file; check the path") from None
    except IsADirectoryError:
        raise UnreadableFile("is a directory; name the files in it") from None
    except OSError as error:
        raise UnreadableFile(f"can't be opened: {error.strerror}") from None


def describe_text(head: str) -> str:
    """What a text seems to be in which no line is JSON, and what to do with it."""
    kind = next((kind for pattern, kind in OTHER_TEXTS.items() if pattern.match(head.lstrip())), "")
    return f"looks like {kind}" if kind else "has no JSON objects, and is in no format of docs/formats.md"


def is_tar(head: bytes) -> bool:
    """Whether an unpacked file that begins like this is a tar archive."""
    return head[257:262] == b"ustar"


def unpack_stream(raw: IO[bytes]) -> IO[bytes]:
    """The stream itself, or what a gzipped one (told by its content) unpacks to. Seekable only."""
    start = raw.read(2)
    raw.seek(-len(start), 1)
    if start == GZIP_MAGIC:
        return gzip.GzipFile(fileobj=raw)  # type: ignore[return-value]  # has all we use of IO
    return raw


def read_lines(
    path: Path, limits: Limits = DEFAULT_LIMITS, on_bytes: OnBytes | None = None
) -> Iterator[tuple[int, bytes] | LineError]:
    """The numbered lines of a file, gzipped or not. ``on_bytes`` receives now and then how much was read."""
    with open_file(path) as raw:
        yield from read_numbered_lines(
            unpack_stream(raw), limits, on_block=lambda: on_bytes(raw.tell()) if on_bytes else None
        )


def read_numbered_lines(
    stream: IO[bytes], limits: Limits = DEFAULT_LIMITS, *, on_block: Callable[[], None] = lambda: None
) -> Iterator[tuple[int, bytes] | LineError]:
    """Yield ``(line number, line without its end)`` for every line that is not blank.

    Calls ``on_block`` now and then, also where a file has nothing but blank lines; it may raise to stop.

    A line over ``limits.line_bytes`` becomes a :class:`LineError` and is passed over without
    being held. Raises :class:`UnreadableFile` for what isn't UTF-8 text, or is truncated.
    """
    number, carry, held, first = 0, b"", 0, True
    for block in _read_blocks(stream, limits):
        on_block()
        if first:
            block, first = _check_start(block), False
        lines = block.split(b"\n")
        if len(lines) == 1:
            held += len(block)
            carry = carry + block if held <= limits.line_bytes else carry
            continue
        if held + len(lines[0]) > limits.line_bytes:
            number += 1
            yield _make_too_long_error(number, limits)
        else:
            lines[0] = carry + lines[0]
            number += 1
            if lines[0] and not lines[0].isspace():
                yield number, lines[0]
        carry, held = lines[-1], len(lines[-1])
        for line in lines[1:-1]:
            number += 1
            if not line:
                continue
            if len(line) > limits.line_bytes:
                yield _make_too_long_error(number, limits)
            elif not line.isspace():
                yield number, line
    if held > limits.line_bytes:
        yield _make_too_long_error(number + 1, limits)
    elif carry and not carry.isspace():
        yield number + 1, carry


def _read_blocks(stream: IO[bytes], limits: Limits) -> Iterator[bytes]:
    total = 0
    while True:
        try:
            block = stream.read(BLOCK_BYTES)
        except EOFError:
            raise UnreadableFile(
                f"the gzip file is cut off after {total:,} unpacked bytes; transfer it again"
            ) from None
        except (gzip.BadGzipFile, zlib.error):
            raise UnreadableFile(
                f"the gzip file is damaged after {total:,} unpacked bytes; transfer it again"
            ) from None
        except OSError as error:
            raise UnreadableFile(f"can't be read: {error.strerror or error}") from None
        if not block:
            return
        limits.on_step()
        total += len(block)
        if total > limits.unpacked_bytes:
            raise UnreadableFile(
                f"is larger than {limits.unpacked_bytes:,} bytes unpacked; split it, "
                "or raise ALIGNMENTER_MAX_UNPACKED_BYTES"
            )
        yield block


def _check_start(block: bytes) -> bytes:
    if block.startswith(UTF32_BOMS):
        raise UnreadableFile("is UTF-32; convert it: iconv -f UTF-32 -t UTF-8 IN > OUT")
    if block.startswith(UTF16_BOMS):
        raise UnreadableFile("is UTF-16; convert it: iconv -f UTF-16 -t UTF-8 IN > OUT")
    for magic, kind in OTHER_FILE_TYPES.items():
        if block.startswith(magic):
            raise UnreadableFile(f"is {kind}")
    if is_tar(block):
        raise UnreadableFile("is a tar archive; unpack it, or name no format")
    block = block.removeprefix(UTF8_BOM)
    head = block[:4096].lstrip()
    if head[:2] in (b"{\0", b"\0{"):
        raise UnreadableFile("is UTF-16 without a byte-order mark; convert it to UTF-8")
    # A NUL inside a JSON line is that line's error, and is reported with its number.
    if b"\0" in head and not head.startswith(b"{"):
        raise UnreadableFile("isn't a text file (it has NUL bytes); expected JSONL in UTF-8")
    return block


def _make_too_long_error(number: int, limits: Limits) -> LineError:
    return LineError(
        number,
        "E109",
        f"line is longer than {limits.line_bytes:,} bytes; "
        "split the text, or raise ALIGNMENTER_MAX_LINE_BYTES",
    )
