"""The file formats of the admin's tables: JSONL, CSV, XLSX and YAML.

An exported table can be imported unchanged. Spreadsheets have only empty cells for both null and empty
text, so CSV and XLSX don't tell them apart. Cells that a spreadsheet would evaluate are written as text.
"""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, time
from typing import Any

import tablib
from import_export.formats.base_formats import Format

from datasets_app.domain.conversations.jsonl import InvalidRecord, decode_object, encode_line
from datasets_app.domain.conversations.lines import Limits, UnreadableFile, read_numbered_lines
from datasets_app.domain.conversations.records import LineError
from datasets_app.domain.formulas import escape_cell, unescape_cell
from datasets_app.domain.metadata.yaml_text import YamlError, dump_yaml, load_yaml
from datasets_app.domain.untrusted_json import check_storable
from datasets_app.tables.workbooks import MAX_BYTES, MAX_COLUMNS, MAX_ROWS, TableFileError, read_sheet

MAX_CELL_CHARACTERS = 32_767
# Beyond this a spreadsheet rounds.
MAX_EXACT_NUMBER = 2**53

# Limit the whole file; a cell may be as long as a text.
csv.field_size_limit(MAX_BYTES)

# XML can't contain these; XLSX writes them as _xHHHH_, and must escape what looks like that.
_XML_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
_XML_ESCAPE = re.compile("_x([0-9A-Fa-f]{4})_")

_TOO_MANY_COLUMNS = f"More than {MAX_COLUMNS} columns. Delete those that are not imported."

Row = dict[str, Any]


class TableFormat(Format):  # type: ignore[misc]
    """Reads and writes tables; values keep their types as far as the format can."""

    title = ""
    extension = ""
    content_type = ""

    def __init__(self, encoding: str | None = None) -> None:
        # The admin passes one for text formats; ours choose their own.
        self.encoding = encoding

    def get_title(self) -> str:
        return self.title

    def get_extension(self) -> str:
        return self.extension

    def get_content_type(self) -> str:
        return self.content_type

    def can_import(self) -> bool:
        return True

    def can_export(self) -> bool:
        return True

    def create_dataset(self, in_stream: bytes) -> tablib.Dataset:
        """Raises TableFileError."""
        if len(in_stream) > MAX_BYTES:
            raise TableFileError(
                f"The file is larger than {MAX_BYTES >> 20} MB; use the management command instead."
            )
        return _build_table(self.rows(in_stream))

    def export_data(self, dataset: tablib.Dataset, **_: Any) -> bytes:
        """Raises TableFileError."""
        return self.encode(dataset.headers or [], (dataset[number] for number in range(len(dataset))))

    def rows(self, raw: bytes) -> Iterator[Row]:
        raise NotImplementedError

    def encode(self, headers: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
        raise NotImplementedError


class JSONL(TableFormat):
    title, extension, content_type = "jsonl", "jsonl", "application/jsonl"

    def rows(self, raw: bytes) -> Iterator[Row]:
        try:
            for item in read_numbered_lines(io.BytesIO(raw), Limits(MAX_BYTES, MAX_BYTES)):
                if isinstance(item, LineError):
                    raise TableFileError(f"Line {item.line}: {item.message}.")
                try:
                    yield decode_object(item[1])
                except InvalidRecord as error:
                    raise TableFileError(f"Line {item[0]}: {error}.") from None
        except UnreadableFile as error:
            raise TableFileError(f"The file {error}.") from None

    def encode(self, headers: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
        return b"".join(encode_line(dict(zip(headers, row, strict=True))) for row in rows)


class YAML(TableFormat):
    title, extension, content_type = "yaml", "yaml", "application/yaml"

    def rows(self, raw: bytes) -> Iterator[Row]:
        try:
            value = load_yaml(_decode_text(raw))
        except YamlError as error:
            raise TableFileError(f"The file can't be read: {error}.") from None
        for number, item in enumerate(self.items(value), 1):
            if not isinstance(item, dict) or not all(isinstance(key, str) for key in item):
                raise TableFileError(f"Item {number} is not a mapping of names to values.")
            yield item

    def items(self, value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise TableFileError("Expected a YAML list with a mapping for each row.")
        return value

    def encode(self, headers: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
        return dump_yaml([dict(zip(headers, row, strict=True)) for row in rows]).encode()


class CSV(TableFormat):
    title, extension, content_type = "csv", "csv", "text/csv; charset=utf-8"

    def rows(self, raw: bytes) -> Iterator[Row]:
        reader = csv.reader(io.StringIO(_decode_text(raw), newline=""), strict=True)
        try:
            yield from _read_rows(reader)
        except csv.Error as error:
            raise TableFileError(f"Row {reader.line_num}: not valid CSV ({error}).") from None

    def encode(self, headers: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
        buffer = io.StringIO(newline="")
        writer = csv.writer(buffer)
        writer.writerow(headers)
        writer.writerows([_format_cell(value) for value in row] for row in rows)
        return buffer.getvalue().encode()


class XLSX(TableFormat):
    title, extension = "xlsx", "xlsx"
    content_type = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

    def rows(self, raw: bytes) -> Iterator[Row]:
        try:
            yield from _read_rows([_parse_xlsx_value(value) for value in row] for row in read_sheet(raw))
        except TableFileError:
            raise
        except Exception as error:  # a damaged file can make the parser fail anywhere
            raise TableFileError(f"The file is not a readable workbook ({type(error).__name__}).") from None

    def encode(self, headers: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
        from openpyxl import Workbook

        table = [[_format_exact_number(_format_cell(value)) for value in row] for row in rows]
        _refuse_long_cells(headers, table)
        book = Workbook(write_only=True)
        sheet = book.create_sheet("Table")
        sheet.freeze_panes = "A2"
        sheet.append([_make_xlsx_cell(sheet, name) for name in headers])
        for row in table:
            sheet.append([_make_xlsx_cell(sheet, value) for value in row])
        buffer = io.BytesIO()
        book.save(buffer)
        return buffer.getvalue()


FORMATS = [JSONL, CSV, XLSX, YAML]


def _build_table(rows: Iterator[Row]) -> tablib.Dataset:
    """A table of rows that may have different keys; missing values are None."""
    collected: list[Row] = []
    headers: dict[str, None] = {}
    for number, row in enumerate(rows, 1):
        if len(collected) == MAX_ROWS:
            raise TableFileError(f"More than {MAX_ROWS:,} rows; use the management command instead.")
        try:
            check_storable(row)
        except ValueError:
            raise TableFileError(
                f"Record {number:,} has a NUL character or half of a character (a lone surrogate), which "
                "can't be stored; remove it."
            ) from None
        collected.append(row)
        headers.update(dict.fromkeys(row))
        if len(headers) > MAX_COLUMNS:
            raise TableFileError(_TOO_MANY_COLUMNS)
    table = tablib.Dataset(headers=list(headers))
    for row in collected:
        table.append([row.get(header) for header in headers])
    return table


def _read_rows(rows: Iterable[Sequence[Any]]) -> Iterator[Row]:
    """The first row names the columns. Skips empty rows and unnamed empty columns."""
    names: list[str] | None = None
    for number, row in enumerate(rows, 1):
        values = [None if value == "" else _unescape_cell(value) for value in row]
        while values and values[-1] is None:
            values.pop()
        if not values:
            continue
        if names is None:
            names = _parse_column_names(values)
            continue
        if len(values) > len(names):
            raise TableFileError(f"Row {number} has {len(values)} cells, but there are {len(names)} columns.")
        yield dict(zip(names, [*values, *[None] * (len(names) - len(values))], strict=True))


def _parse_column_names(values: list[Any]) -> list[str]:
    if len(values) > MAX_COLUMNS:
        raise TableFileError(_TOO_MANY_COLUMNS)
    names = [str(value).strip() if value is not None else "" for value in values]
    for name in names:
        if not name or names.count(name) > 1:
            raise TableFileError(
                f"There are two columns {name!r}." if name else "A column has no name in the first row."
            )
    return names


def _unescape_cell(value: Any) -> Any:
    return unescape_cell(value) if isinstance(value, str) else value


def _format_cell(value: Any) -> Any:
    """Numbers stay numbers, text is escaped from evaluation, anything else is JSON."""
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return value if abs(value) <= MAX_EXACT_NUMBER else str(value)
    if isinstance(value, str):
        return escape_cell(value)
    return escape_cell(json.dumps(value, ensure_ascii=False))


def _format_exact_number(value: Any) -> Any:
    """The writer keeps 16 digits of a number; a longer one is written as text."""
    return str(value) if isinstance(value, float) and float(f"{value:.16g}") != value else value


def _refuse_long_cells(headers: Sequence[str], table: Sequence[Sequence[Any]]) -> None:
    for number, row in enumerate(table, 2):
        for name, value in zip(headers, row, strict=True):
            if isinstance(value, str) and len(value) > MAX_CELL_CHARACTERS:
                raise TableFileError(
                    f"Row {number}, column {name}: {len(value):,} characters, but an XLSX cell holds at most "
                    f"{MAX_CELL_CHARACTERS:,}. Choose another format, which has no such limit."
                )


def _make_xlsx_cell(sheet: Any, value: Any) -> Any:
    from openpyxl.cell import WriteOnlyCell

    if not isinstance(value, str):
        return value
    cell = WriteOnlyCell(sheet)
    # Bypass type detection, which takes "#N/A" for an error and "=" for a formula.
    cell._value, cell.data_type = _escape_xml(value), "s"
    return cell


def _escape_xml(text: str) -> str:
    return _XML_UNSAFE.sub(lambda match: f"_x{ord(match[0]):04X}_", text)


def _parse_xlsx_value(value: Any) -> Any:
    if isinstance(value, str):
        return _XML_ESCAPE.sub(lambda match: chr(int(match[1], 16)), value)
    # Spreadsheets convert typed dates; our formats keep them as text.
    return value.isoformat() if isinstance(value, (date, time)) else value


def _decode_text(raw: bytes) -> str:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TableFileError(
            f"The file is not UTF-8 (byte {error.start + 1}). Save the spreadsheet as “CSV UTF-8”."
        ) from None
    if "\0" in text:
        raise TableFileError("The file has a NUL character, which can't be stored; remove it.")
    return text
