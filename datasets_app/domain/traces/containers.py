"""What a file lies in: gzip, archives of exports, folders of datasets; and how its content is laid
out."""

import gzip
import io
import re
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Container, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from datasets_app.domain.conversations.lines import (
    OTHER_FILE_TYPES,
    UTF8_BOM,
    UTF16_BOMS,
    Limits,
    OnBytes,
    UnreadableFile,
    is_tar,
    open_file,
    read_numbered_lines,
    unpack_stream,
)
from datasets_app.domain.conversations.records import LineError
from datasets_app.domain.traces import alignmenter_runs, tables
from datasets_app.domain.traces.arrow_tables import read_arrow
from datasets_app.domain.traces.dataset_folders import find_split, list_files
from datasets_app.domain.traces.documents import (
    Document,
    Noting,
    decode_document,
    ignore,
    is_line_layout,
    read_line_documents,
    read_whole_documents,
)
from datasets_app.domain.traces.markup import find_markup, split_markup, split_texts
from datasets_app.domain.traces.registry import recognize_text
from datasets_app.domain.traces.table_heads import find_delimiter, is_text_column
from datasets_app.domain.traces.values import as_dict

HEAD_BYTES = 1 << 16
# Before the records, where a program had nothing to write.
_NULLS = re.compile(rb"\A(?:null[,\s]*)+(?=[\[{])")
# What libraries raise for damaged archives, and for those they can't unpack.
ARCHIVE_ERRORS = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, NotImplementedError, RuntimeError, EOFError
)  # fmt: skip
ZIP, PARQUET = b"PK\x03\x04", b"PAR1"


class Source:
    """An opened file. ``layout`` is lines, document, text, csv, xlsx, parquet, inspect, alignmenter,
    archive (of files that are opened one by one) or none."""

    def __init__(self, path: Path, limits: Limits, on_bytes: OnBytes | None) -> None:
        self.path, self.limits, self.on_bytes = path, limits, on_bytes
        self.raw: IO[bytes] | None = None
        self.stream: IO[bytes] = io.BytesIO()
        self.head = b""
        self.layout = "none"
        self.files: list[Path] = []
        # Of lines of a table that aren't UTF-8, which are noted.
        self.encoding = ""
        self.note: Noting = ignore

    def documents(self) -> Iterator[Document | LineError]:
        for item in self._read_files() if self.files else self._read():
            self.limits.on_step()
            yield item

    def _read(self) -> Iterator[Document | LineError]:
        if self.layout == "csv":
            yield from tables.read_csv(self.stream, self.encoding, self.note)
        elif self.layout == "xlsx":
            yield from tables.read_xlsx(self.path, self.limits, self.note)
        elif self.layout == "parquet":
            yield from read_arrow(self.path, self.limits)
        elif self.layout == "inspect":
            yield from _read_inspect(self.path, self.limits, self.note)
        elif self.layout == "lines":
            yield from read_line_documents(self.stream, self.limits, self._on_block, self.note)
        elif self.layout == "document":
            documents = read_whole_documents(self.stream, self.limits, self._on_block, self.note)
            yield from self._watch_gzip(documents)
        elif self.layout == "text":
            yield from self._read_text()

    def _read_text(self) -> Iterator[Document | LineError]:
        """The conversations of a plain text in a chat template."""
        raw = self.stream.read(self.limits.line_bytes + 1)
        if len(raw) > self.limits.line_bytes:
            yield LineError(
                1, "E109", f"text is larger than {self.limits.line_bytes:,} bytes; split the file"
            )
            return
        text = _decode(raw.removeprefix(UTF8_BOM), 1).replace("\r\n", "\n")
        yield from (Document(line, piece) for line, piece in split_texts(text))

    def _read_files(self) -> Iterator[Document | LineError]:
        """The documents of a folder, counted through; each names its split, if there are several."""
        number = 0
        splits = [find_split(file, self.path) for file in self.files]
        for file, split in zip(self.files, splits, strict=True):
            named = {"split": split} if split and len(set(splits)) > 1 else {}
            with open_source(file, self.limits) as source:
                source.note = self.note
                for item in source.documents():
                    number += 1
                    if isinstance(item, Document):
                        value = {**named, **item.value} if type(item.value) is dict else item.value
                        yield Document(number, value)
                    else:
                        yield item

    def lines(self) -> Iterator[tuple[int, str]]:
        for item in read_numbered_lines(self.stream, self.limits, on_block=self._on_block):
            if isinstance(item, LineError):
                raise UnreadableFile(f"can't be read at line {item.line}: {item.message}")
            yield item[0], _decode(item[1], item[0])

    def head_text(self) -> str:
        return self.head.removeprefix(UTF8_BOM).decode(errors="replace")

    def _on_block(self) -> None:
        if self.on_bytes and self.raw:
            self.on_bytes(self.raw.tell())

    def _watch_gzip(self, documents: Iterator[Any]) -> Iterator[Any]:
        try:
            yield from documents
        except (EOFError, zlib.error, OSError):
            raise UnreadableFile("the compressed file is cut off or damaged; transfer it again") from None


def _decode(text: bytes, line: int) -> str:
    """Raises UnreadableFile for another encoding: nobody would see in a text what was lost of it."""
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        line += text[: error.start].count(b"\n")
        raise UnreadableFile(
            f"isn't UTF-8 at line {line}; convert it, for example: iconv -f WINDOWS-1252 -t UTF-8 IN > OUT"
        ) from None


@contextmanager
def open_source(path: Path, limits: Limits, on_bytes: OnBytes | None = None) -> Iterator[Source]:
    """Raises UnreadableFile for what can't be opened, is empty, or is of a kind that is none of ours."""
    source = Source(path, limits, on_bytes)
    if (path / alignmenter_runs.DATABASE).is_file():
        source.layout = "alignmenter"
        yield source
        return
    if path.is_dir():
        source.files = list_files(path)
        with open_source(source.files[0], limits) as first:
            source.layout = first.layout
        yield source
        return
    with open_file(path) as raw:
        source.raw = raw
        magic = raw.read(8)
        raw.seek(0)
        if magic.startswith(ZIP):
            with _open_archive(path, source):
                yield source
            return
        if magic.startswith((PARQUET, b"ARROW1")) or path.suffix == ".arrow":
            source.layout = "parquet"
        elif alignmenter_runs.SQLITE.startswith(magic) and magic:
            source.layout = "alignmenter"
        else:
            _look(source, unpack_stream(raw))
        yield source


def read_chosen_lines(path: Path, limits: Limits, numbers: Container[int]) -> Iterator[bytes]:
    """Lines as they stand, of a file that is read in lines."""
    with open_source(path, limits) as source:
        if source.layout == "lines":
            for item in read_numbered_lines(source.stream, limits):
                if not isinstance(item, LineError) and item[0] in numbers:
                    yield item[1]


def _look(source: Source, stream: IO[bytes]) -> None:
    try:
        if stream.read(2) in UTF16_BOMS:
            stream.seek(0)
            stream = _transcode(stream, source.limits)
        stream.seek(0)
        source.head = stream.read(HEAD_BYTES)
        stream.seek(0)
        source.layout = _find_layout(source.head, stream)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise UnreadableFile("the gzip file is cut off or damaged; transfer it again") from None
    source.stream = stream


def _transcode(stream: IO[bytes], limits: Limits) -> IO[bytes]:
    """A UTF-16 file as UTF-8, in a temporary file."""
    copy: IO[bytes] = tempfile.TemporaryFile(prefix="alignmenter-utf16-")  # noqa: SIM115
    text = io.TextIOWrapper(stream, encoding="utf-16", errors="replace", newline="")
    while block := text.read(1 << 20):
        copy.write(block.encode(errors="replace"))
        limits.on_step()
        if copy.tell() > limits.unpacked_bytes:
            raise UnreadableFile(f"is larger than {limits.unpacked_bytes:,} bytes; split it")
    text.detach()
    return copy


def _find_layout(head: bytes, stream: IO[bytes]) -> str:
    if not head.strip():
        return "none"
    if is_tar(head):
        return "archive"
    for magic, kind in OTHER_FILE_TYPES.items():
        if head.startswith(magic):
            raise UnreadableFile(f"is {kind}")
    text = _NULLS.sub(b"", head.removeprefix(UTF8_BOM).lstrip())
    if text[:6] in (b"event:", b"data: ", b"data:{", b"data:["):
        return "lines"
    if text[:1] in (b"{", b"[") and not _is_bracketed_text(text):
        if b"\n" not in head and len(head) == HEAD_BYTES:  # the first line is long
            head += stream.readline(8 << 20) + stream.readline(1 << 20)
            stream.seek(0)
        return "lines" if is_line_layout(head) else "document"
    if b"\0" in text:
        raise UnreadableFile("isn't a text file (it has NUL bytes)")
    decoded = head.decode(errors="replace").removeprefix("\ufeff")
    if recognize_text(decoded) or split_markup(decoded) or find_markup(decoded.lstrip().partition("\n")[0]):
        return "text"
    return "csv" if find_delimiter(decoded) or is_text_column(decoded) else "text"


def _is_bracketed_text(text: bytes) -> bool:
    """ "[12.05.24, 10:11:12] Anna: …" and "[INST] …" aren't JSON."""
    dated = re.match(rb"\[\s?\d{1,4}\s?(?:[./-]\s?\d{1,2}[./-]|\xe5\xb9\xb4|\xeb\x85\x84)", text)
    return bool(dated or split_markup(text.decode(errors="replace")))


@contextmanager
def _open_archive(path: Path, source: Source) -> Iterator[None]:
    try:
        with zipfile.ZipFile(path) as archive:
            sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
            if "xl/workbook.xml" in sizes:
                source.layout = "xlsx"
            elif "header.json" in sizes and any(name.startswith("samples/") for name in sizes):
                source.layout = "inspect"
            elif "mimetype" in sizes or "[Content_Types].xml" in sizes:
                raise UnreadableFile("is a document of an office suite; save its table as .xlsx or CSV")
            elif sizes.keys() == {alignmenter_runs.INDEX, alignmenter_runs.DATABASE}:
                source.layout = "alignmenter"
            else:
                source.layout = "archive"
            yield
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError):
        raise UnreadableFile(f"is {OTHER_FILE_TYPES[ZIP]}") from None


def _read_inspect(path: Path, limits: Limits, note: Noting) -> Iterator[Document | LineError]:
    """An .eval archive: a header, and one file for each sample."""
    with zipfile.ZipFile(path) as archive:
        header = _read_member(archive, "header.json", 1, limits)
        if isinstance(header, LineError):
            raise UnreadableFile(f"has a header.json that can't be read: {header.message}")
        names = sorted(
            name for name in archive.namelist() if name.startswith("samples/") and name.endswith(".json")
        )
        for number, name in enumerate(names, 1):
            read = _read_member(archive, name, number, limits, note)
            if isinstance(read, Document):
                value = {"eval": as_dict(header.value).get("eval"), "samples": [read.value]}
                read = Document(number, value)
            yield read


def _read_member(
    archive: zipfile.ZipFile, name: str, number: int, limits: Limits, note: Noting = ignore
) -> Document | LineError:
    """A file of JSON in an archive, as a whole."""
    if archive.getinfo(name).file_size > limits.line_bytes:
        return LineError(number, "E109", f"{name} is larger than {limits.line_bytes:,} bytes")
    return decode_document(number, archive.read(name), note)
