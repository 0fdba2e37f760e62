"""Tables (CSV, XLSX) → rows."""

import csv
import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

from datasets_app.domain.conversations.lines import UTF8_BOM, Limits, UnreadableFile
from datasets_app.domain.conversations.records import LineError
from datasets_app.domain.traces import reasons
from datasets_app.domain.traces.documents import Document, Noting, ignore
from datasets_app.domain.traces.table_columns import ENCODINGS
from datasets_app.domain.traces.table_heads import (
    MAX_ROWS_ABOVE,
    STATED_DELIMITER,
    find_delimiter,
    find_header,
    name_columns,
)
from datasets_app.domain.traces.table_rows import EXTRA_CELLS, MISSING_CELLS
from datasets_app.domain.traces.turn_tables import (
    ANSWER_COLUMNS,
    is_label_table,
    is_turn_table,
    parse_turn_row,
    unescape_cells,
)
from datasets_app.domain.traces.values import decode_json

MAX_CELL_CHARACTERS = 16 << 20
MAX_SHARED_STRINGS = 200 << 20
MAX_COLUMNS = 2000
# In the XML of a sheet, or of the strings that its cells share.
_ROW_OR_STRING = re.compile(rb"<(?:\w+:)?(?:row|si)[\s/>]")
MAX_HEAD_LINES, HEAD_CHARACTERS = 200, 1 << 16
# Stands behind the last line, so that a quotation mark that isn't closed can be told.
_END = "\x1aend of the table\x1a"

# --- CSV ---------------------------------------------------------------------------------------


class WrongEncoding(UnreadableFile):
    """``line`` is the first that isn't UTF-8."""

    def __init__(self, line: int) -> None:
        super().__init__(
            f"is not UTF-8 in line {line:,}. Save it again as UTF-8 (in Excel: CSV UTF-8), or state the "
            f"encoding of such lines: encoding={ENCODINGS[0]}, {ENCODINGS[1]} …"
        )
        self.line = line


def read_csv(stream: IO[bytes], encoding: str = "", note: Noting = ignore) -> Iterator[Document]:
    """The rows, numbered by the lines they begin in. Those with fewer or more cells than the table has
    columns say so in a key of their own. Lines that aren't UTF-8 are read in ``encoding``; they, and what
    stands above the names of the columns, are noted."""
    csv.field_size_limit(MAX_CELL_CHARACTERS)
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")
    try:
        lines = _decode_lines(stream, encoding, note) if encoding else iter(text)
        head = list(islice(lines, MAX_HEAD_LINES))
        delimiter = find_delimiter("".join(head)[:HEAD_CHARACTERS]) or ","
        rows = csv.reader(chain(head, lines, [_END]), delimiter=delimiter)
        if head and STATED_DELIMITER.match(head[0]):
            next(rows)
        header: list[str] = []
        for line, row in _skip_titles(_number_rows(rows), note):
            if header and row:
                yield Document(line, _read_csv_row(header, row))
            header = header or _name_columns(row, line, note)
    except UnicodeDecodeError:
        stream.seek(0)
        number = next((number for number, raw in enumerate(stream, 1) if not _is_utf8(raw)), 0)
        raise WrongEncoding(number) from None
    except csv.Error as error:
        raise UnreadableFile(f"isn't valid CSV: {error}") from None


def _number_rows(rows: Any) -> Iterator[tuple[int, list[str]]]:
    """Each row with the line it begins in."""
    line = rows.line_num
    for row in rows:
        if row and row[-1].endswith(_END):
            if row != [_END]:
                raise UnreadableFile(
                    f"has a quotation mark in line {line + 1:,} or behind it that isn't closed"
                )
            return
        yield line + 1, row
        line = rows.line_num


def _skip_titles(
    rows: Iterator[tuple[int, Sequence[Any]]], note: Noting
) -> Iterator[tuple[int, Sequence[Any]]]:
    """The rows from the one that names the columns."""
    head = list(islice(rows, MAX_ROWS_ABOVE + 1))
    written = [["" if cell is None else str(cell) for cell in row] for _, row in head]
    start = find_header(written)
    for (line, _), row in zip(head[:start], written, strict=False):
        if any(cell.strip() for cell in row):
            note(reasons.ABOVE_COLUMNS, line)
    return chain(head[start:], rows)


def _name_columns(row: Sequence[Any], line: int, note: Noting) -> list[str]:
    header = ["" if cell is None else str(cell) for cell in row]
    named = [name for name in header if name.strip()]
    for _ in range(len(named) - len(set(named))):
        note(reasons.SAME_COLUMNS, line)
    return name_columns(header)


def _decode_lines(stream: IO[bytes], encoding: str, note: Noting) -> Iterator[str]:
    for number, raw in enumerate(stream, 1):
        raw = raw.removeprefix(UTF8_BOM) if number == 1 else raw
        if _is_utf8(raw):
            yield raw.decode()
            continue
        note(reasons.OTHER_ENCODING, number)
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


def _read_csv_row(header: list[str], row: Sequence[str]) -> dict[str, Any]:
    cells = read_row(header, [cell or None for cell in row])
    if len(row) < len(header) and not is_turn_table(header):
        cells.setdefault(MISSING_CELLS, len(header) - len(row))
    elif any(row[len(header) :]):
        cells.setdefault(EXTRA_CELLS, row[len(header) :])
    return cells


def read_row(header: Sequence[str], cells: Sequence[Any], *, is_escaped: bool = True) -> dict[str, Any]:
    """The cells that hold something, by their columns. Those of answers are texts, also if they look like
    JSON."""
    cells = cells[: len(header)]
    if is_turn_table(header):
        return parse_turn_row(cells, is_escaped=is_escaped)
    cells = unescape_cells(cells) if is_escaped and is_label_table(header) else cells
    read = plain_cell if tuple(header) == ANSWER_COLUMNS else _read_cell
    return {name: read(cell) for name, cell in zip(header, cells, strict=False) if cell is not None}


def _read_cell(cell: Any) -> Any:
    decoded = decode_json(value := plain_cell(cell))
    return decoded if type(decoded) in (dict, list) else value


# --- XLSX --------------------------------------------------------------------------------------


def read_xlsx(path: Path, limits: Limits, note: Noting = ignore) -> Iterator[Document | LineError]:
    """The rows of the first sheet, and of others with the same columns; an error for each other sheet with
    rows."""
    try:
        import openpyxl
    except ImportError:
        raise UnreadableFile("needs openpyxl; install it: pip install openpyxl") from None
    _measure_workbook(path, limits)
    try:
        # By its name, the library would refuse a copy.
        with path.open("rb") as file:
            yield from _read_rows(openpyxl.load_workbook(file, read_only=True, data_only=True), note)
    except Exception as error:  # the library raises whatever its parsers raise
        raise UnreadableFile(
            f"can't be read as XLSX ({type(error).__name__}); save it again, or as CSV"
        ) from None


def _measure_workbook(path: Path, limits: Limits) -> None:
    """The library keeps all of a row, and of what isn't a row, in memory."""
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


def _read_rows(book: Any, note: Noting) -> Iterator[Document | LineError]:
    columns: list[str] = []
    for sheet in book.worksheets:
        sheet.reset_dimensions()  # a file may state fewer rows than it has
        rows = _skip_titles(enumerate(sheet.iter_rows(values_only=True), 1), note)
        line, first = next(rows, (0, ()))
        if all(cell is None for cell in first):
            continue
        header = _name_columns(_strip_end(first[:MAX_COLUMNS]), line, note)
        columns = columns or header
        read = ((number, _read_sheet_row(header, row)) for number, row in rows)
        if header == columns:
            yield from (Document(number, cells) for number, cells in read if cells)
        elif any(cells for _, cells in read):
            yield LineError(1, "E102", f"the sheet “{sheet.title}” has other columns; save it as a file")


def _strip_end(row: Sequence[Any]) -> Sequence[Any]:
    """Without empty cells behind the last one: sheets may be as wide as somebody once went."""
    last = max((place for place, cell in enumerate(row, 1) if cell is not None), default=0)
    return row[:last]


def _read_sheet_row(header: list[str], row: Sequence[Any]) -> dict[str, Any]:
    cells = read_row(header, row) if any(cell is not None for cell in row) else {}
    if further := [str(cell) for cell in row[len(header) :] if cell is not None]:
        cells[EXTRA_CELLS] = further
    return cells


def plain_cell(value: Any) -> Any:
    """Dates and whatever else a library makes of a cell, as JSON has it."""
    if isinstance(value, str | int | float | bool) or value is None:
        return value
    if isinstance(value, dict):
        return {str(key): plain_cell(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain_cell(item) for item in value]
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return "" if isinstance(value, bytes) else str(value)
