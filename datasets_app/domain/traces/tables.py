"""Tables (CSV, XLSX, Parquet, Arrow) → rows."""

import csv
import io
import re
import zipfile
from collections.abc import Callable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

from msgspec.json import encode

from datasets_app.domain.conversations.lines import UTF8_BOM, Limits, UnreadableFile
from datasets_app.domain.conversations.records import LineError
from datasets_app.domain.traces.documents import Document
from datasets_app.domain.traces.table_columns import COLUMNS, ENCODINGS, normalize
from datasets_app.domain.traces.table_rows import EXTRA_CELLS, MISSING_CELLS
from datasets_app.domain.traces.turn_tables import is_turn_table, parse_turn_row
from datasets_app.domain.traces.values import decode_json

MAX_CELL_CHARACTERS = 16 << 20
MAX_SHARED_STRINGS = 200 << 20
MAX_COLUMNS = 2000
# What the rows of a Parquet or Arrow file that are read at a time may unpack to.
MAX_BATCH_BYTES = 256 << 20
# In the XML of a sheet, or of the strings that its cells share.
_ROW_OR_STRING = re.compile(rb"<(?:\w+:)?(?:row|si)[\s/>]")
# The first line of a CSV as Excel takes it: "sep=;".
_STATED_DELIMITER = re.compile(r"sep=([,;\t|])\s*?(?:\r\n|\r|\n)", re.IGNORECASE)
MAX_HEAD_LINES, HEAD_CHARACTERS = 200, 1 << 16

# --- CSV ---------------------------------------------------------------------------------------


def find_delimiter(head: str) -> str:
    """The delimiter of a CSV file that begins like this; empty if it is no table."""
    if stated := _STATED_DELIMITER.match(head):
        head = head[stated.end() :]
    first = next((line for line in head.splitlines() if line.strip()), "")
    best = stated[1] if stated else max(",;\t|", key=first.count)
    if not first.count(best) or len(first) > 20_000:
        return ""
    try:
        rows = [
            row
            for row in csv.reader(io.StringIO(head[: head.rfind("\n")] or head, newline=""), delimiter=best)
            if row
        ]
    except csv.Error:
        return ""
    names = [name.strip() for name in rows[0]] if rows else []
    named = (
        len(names) > 1
        and all(names)
        and len(set(names)) == len(names)
        and all(len(name) < 80 for name in names)
    )
    fits = [len(row) == len(names) for row in rows[1:20]]
    return best if named and sum(fits) * 2 >= len(fits) else ""


def is_text_column(head: str) -> bool:
    """Whether a file that begins like this is a table of one column, which holds texts."""
    first, _, rest = head.lstrip().partition("\n")
    return bool(rest.strip()) and normalize(first) in (*COLUMNS["text"], "prompt", "conversation", "chat")


def read_csv(
    stream: IO[bytes], encoding: str = "", note_line: Callable[[int], None] = lambda _: None
) -> Iterator[Document]:
    """The rows, numbered by the lines they begin in. Those with fewer or more cells than the table has
    columns say so in a key of their own. Lines that aren't UTF-8 are read in ``encoding``, and noted."""
    csv.field_size_limit(MAX_CELL_CHARACTERS)
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
    try:
        lines = _decode_lines(stream, encoding, note_line) if encoding else iter(text)
        head = list(islice(lines, MAX_HEAD_LINES))
        delimiter = find_delimiter("".join(head)[:HEAD_CHARACTERS]) or ","
        rows = csv.reader(chain(head, lines), delimiter=delimiter)
        if head and _STATED_DELIMITER.match(head[0]):
            next(rows)
        header = next((row for row in rows if row), [])
        line = rows.line_num
        for row in rows:
            if row:
                yield Document(line + 1, _read_csv_row(header, row))
            line = rows.line_num
    except UnicodeDecodeError:
        stream.seek(0)
        number = next((number for number, raw in enumerate(stream, 1) if not _is_utf8(raw)), 0)
        raise UnreadableFile(
            f"is not UTF-8 in line {number:,}. Save it again as UTF-8 (in Excel: CSV UTF-8), or state the "
            f"encoding of such lines: encoding={ENCODINGS[0]}, {ENCODINGS[1]} …"
        ) from None
    except csv.Error as error:
        raise UnreadableFile(f"is no valid CSV: {error}") from None


def _decode_lines(stream: IO[bytes], encoding: str, note_line: Callable[[int], None]) -> Iterator[str]:
    for number, raw in enumerate(stream, 1):
        raw = raw.removeprefix(UTF8_BOM) if number == 1 else raw
        if _is_utf8(raw):
            yield raw.decode()
            continue
        note_line(number)
        try:
            yield raw.decode(encoding)
        except UnicodeDecodeError:
            raise UnreadableFile(f"has a character in line {number:,} that isn't {encoding}") from None


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True


def _read_csv_row(header: list[str], row: list[str]) -> dict[str, Any]:
    if is_turn_table(header) and len(row) <= len(header):
        return parse_turn_row(row, is_escaped=True)
    cells = {
        name: _read_cell(value) for name, value in zip(header, row, strict=False) if name and value != ""
    }
    if len(row) < len(header):
        cells.setdefault(MISSING_CELLS, len(header) - len(row))
    elif any(row[len(header) :]):
        cells.setdefault(EXTRA_CELLS, row[len(header) :])
    return cells


def _read_cell(value: Any) -> Any:
    decoded = decode_json(value)
    return decoded if type(decoded) in (dict, list) else value


# --- XLSX, Parquet, Arrow ----------------------------------------------------------------------


def read_xlsx(path: Path, limits: Limits) -> Iterator[Document | LineError]:
    """The rows of the first sheet, whose first row names the columns, and of others with the same columns;
    an error for each other sheet with rows."""
    try:
        import openpyxl
    except ImportError:
        raise UnreadableFile("needs openpyxl; install it: pip install openpyxl") from None
    _measure_workbook(path, limits)
    try:
        # By its name, the library would refuse a copy.
        with path.open("rb") as file:
            yield from _read_rows(openpyxl.load_workbook(file, read_only=True, data_only=True))
    except Exception as error:  # the library raises whatever its parsers raise
        raise UnreadableFile(
            f"can't be read as XLSX ({type(error).__name__}); save it again, or as CSV"
        ) from None


def _measure_workbook(path: Path, limits: Limits) -> None:
    """The library keeps all of a row, and of what is no row, in memory."""
    with zipfile.ZipFile(path) as archive:
        parts = {part.filename: part.file_size for part in archive.infolist()}
        if (
            sum(parts.values()) > limits.unpacked_bytes
            or parts.get("xl/sharedStrings.xml", 0) > MAX_SHARED_STRINGS
        ):
            raise UnreadableFile("is too large unpacked; save it as CSV")
        for name, size in parts.items():
            if size > limits.line_bytes and name.endswith(".xml"):
                with archive.open(name) as part:
                    _refuse_long_rows(part, limits)


def _refuse_long_rows(part: IO[bytes], limits: Limits) -> None:
    size, block = 0, b""
    while joined := block[-40:] + (block := part.read(1 << 16)):
        size = 0 if _ROW_OR_STRING.search(joined) else size + len(block)
        if size > limits.line_bytes:
            raise UnreadableFile(f"has a row of more than {limits.line_bytes:,} bytes; split its texts")
        if not block:
            return
        limits.on_step()


def _read_rows(book: Any) -> Iterator[Document | LineError]:
    columns: list[str] = []
    for sheet in book.worksheets:
        sheet.reset_dimensions()  # a file may state fewer rows than it has
        rows = sheet.iter_rows(values_only=True)
        header = [str(cell) if cell is not None else "" for cell in next(rows, ())[:MAX_COLUMNS]]
        if not any(header):
            continue
        columns = columns or header
        read = (_read_sheet_row(header, row) for row in rows)
        if header == columns:
            yield from (Document(number, cells) for number, cells in enumerate(read, 2) if cells)
        elif any(read):
            yield LineError(1, "E102", f"the sheet “{sheet.title}” has other columns; save it as a file")


def _read_sheet_row(header: list[str], row: tuple[Any, ...]) -> dict[str, Any]:
    if is_turn_table(header):
        return parse_turn_row(row[: len(header)], is_escaped=True) if any(row) else {}
    cells = {
        name: _read_cell(_plain(cell))
        for name, cell in zip(header, row, strict=False)
        if name and cell is not None
    }
    further = [str(cell) for cell in row[len(header) :] if cell is not None]
    return {**cells, EXTRA_CELLS: further} if further else cells


def _plain(value: Any) -> Any:
    """Dates and whatever else a library makes of a cell, as JSON has it."""
    if isinstance(value, str | int | float | bool) or value is None:
        return value
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return "" if isinstance(value, bytes) else str(value)


def read_arrow(path: Path, limits: Limits) -> Iterator[Document | LineError]:
    """The rows of a Parquet or Arrow file, as many at a time as memory certainly holds."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise UnreadableFile("needs pyarrow; install it: pip install -r requirements-parquet.txt") from None
    number = unpacked = 0
    try:
        for batch, has_long_rows in _read_batches(path, pyarrow, limits):
            for row in batch.to_pylist():
                number += 1
                cells = {key: _plain(cell) for key, cell in row.items() if cell is not None}
                if has_long_rows:
                    size = len(encode(cells))
                    unpacked += size
                    if unpacked > limits.unpacked_bytes:
                        raise UnreadableFile("is too large unpacked; split it")
                    if size > limits.line_bytes:
                        yield LineError(number, "E109", f"row is larger than {limits.line_bytes:,} bytes")
                        continue
                is_own = is_turn_table([*row])
                yield Document(
                    number,
                    parse_turn_row([*row.values()], is_escaped=False)
                    if is_own
                    else {key: _read_cell(cell) for key, cell in cells.items()},
                )
    except (pyarrow.ArrowException, OSError) as error:
        raise UnreadableFile(
            f"can't be read after row {number:,} ({type(error).__name__}); transfer it again"
        ) from None


def _read_batches(path: Path, pyarrow: Any, limits: Limits) -> Iterator[tuple[Any, bool]]:
    """Some rows, and whether one of them may be longer than a line may be."""
    with path.open("rb") as file:
        magic = file.read(6)
    if magic.startswith(b"PAR1"):
        parquet = pyarrow.parquet.ParquetFile(path)
        for number in range(parquet.num_row_groups):
            group = parquet.metadata.row_group(number)
            size = group.total_byte_size
            if size > limits.line_bytes * max(1, group.num_rows):
                raise UnreadableFile(f"has rows of more than {limits.line_bytes:,} bytes; split their texts")
            # A text that stands once in a group may be in all of its rows.
            rows = min(1000, max(1, MAX_BATCH_BYTES // max(1, size)))
            for batch in parquet.iter_batches(batch_size=rows, row_groups=[number]):
                yield batch, size > limits.line_bytes
    else:
        is_file = magic == b"ARROW1"
        reader = pyarrow.ipc.open_file(path) if is_file else pyarrow.ipc.open_stream(path)
        batches = map(reader.get_batch, range(reader.num_record_batches)) if is_file else reader
        for batch in batches:
            size = batch.nbytes
            rows = min(1000, max(1, MAX_BATCH_BYTES // max(1, size)))
            for start in range(0, batch.num_rows, rows):
                yield batch.slice(start, rows), size > limits.line_bytes
