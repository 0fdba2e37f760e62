"""Reads the rows of an XLSX workbook, which is a zip archive of XML.

A few kilobytes can declare billions of cells or unpack to gigabytes, so a workbook is measured before it is
parsed. The parser makes objects of every tag, and its time is quadratic in the length of one.
"""

import io
import zipfile
from collections.abc import Iterator, Sequence
from typing import Any

MAX_BYTES = 64 << 20
MAX_ROWS = 20_000
MAX_COLUMNS = 100


class TableFileError(ValueError):
    """A file can't be read or a table can't be written in this format; the message is for people."""


MAX_PARTS = 1_000
MAX_UNPACKED_BYTES = 128 << 20
# Tags and attributes of all parts. A cell of text has about ten.
MAX_MARKUP = 2_500_000
# Longer parts must be plain XML, shorter ones can't keep the parser busy.
MAX_UNCHECKED_BYTES = 1 << 20
_BLOCK_BYTES = 64 << 10
_COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# Tokens that may be of any length. Spreadsheet programs write none of them.
_LONG_TOKENS = (b"<!", b"<?", b"\0")

_SHRINK = "Remove other sheets, pictures and formats, or save the table as CSV."


def read_sheet(raw: bytes) -> Iterator[Sequence[Any]]:
    """The values of the active sheet by row. Raises TableFileError, or anything for a damaged file."""
    from openpyxl import load_workbook

    check_workbook(raw)
    sheet = load_workbook(io.BytesIO(raw), read_only=True, data_only=True).active
    _refuse_size(sheet.max_row or 0, sheet.max_column or 0)
    # The declared size may also be too small, and would hide rows and columns.
    sheet.reset_dimensions()
    for number, row in enumerate(sheet.iter_rows(values_only=True), 1):
        _refuse_size(number, len(row))
        yield row


def _refuse_size(rows: int, columns: int) -> None:
    if rows > MAX_ROWS + 1:
        raise TableFileError(
            f"The sheet has more than {MAX_ROWS:,} rows, empty ones included. Delete unused rows below the "
            "table, or use the management command instead."
        )
    if columns > MAX_COLUMNS:
        raise TableFileError(
            f"The sheet has more than {MAX_COLUMNS} columns, empty ones included. Delete unused columns to "
            "the right of the table."
        )


def check_workbook(raw: bytes) -> None:
    """Raises TableFileError if the file isn't a workbook, or one that is expensive to parse."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            parts = archive.infolist()
            _check_directory(parts)
            markup = 0
            for part in parts:
                if part.file_size > MAX_UNCHECKED_BYTES:
                    markup += _count_markup(archive, part, MAX_MARKUP - markup)
    except TableFileError:
        raise
    except Exception:  # a damaged archive can fail anywhere
        raise TableFileError("The file is not an .xlsx workbook.") from None


def _check_directory(parts: Sequence[zipfile.ZipInfo]) -> None:
    if len(parts) > MAX_PARTS:
        raise TableFileError(f"The workbook has more than {MAX_PARTS:,} parts. {_SHRINK}")
    if sum(part.file_size for part in parts) > MAX_UNPACKED_BYTES:
        raise TableFileError(f"The workbook unpacks to more than {MAX_UNPACKED_BYTES >> 20} MB. {_SHRINK}")
    for part in parts:
        # A part that is declared smaller than it is would be unpacked in full, then cut.
        understated = part.compress_size > part.file_size + (part.file_size >> 6) + 1024
        if understated or part.compress_type not in _COMPRESSIONS:
            raise TableFileError("The file is not an .xlsx workbook.")


def _count_markup(archive: zipfile.ZipFile, part: zipfile.ZipInfo, most: int) -> int:
    """The number of tags and attributes in a long part. Raises TableFileError if it is more than ``most``."""
    count, tail, in_tag = 0, b"", False
    with archive.open(part) as stream:
        head = stream.read(_BLOCK_BYTES)
        # The XML declaration.
        block = head.split(b"?>", 1)[-1] if head.startswith((b"<?xml", b"\xef\xbb\xbf<?xml")) else head
        while block:
            joined = tail + block
            if any(token in joined for token in _LONG_TOKENS) or (in_tag and b">" not in block):
                raise TableFileError(f"The workbook has a large part that is not plain XML. {_SHRINK}")
            count += block.count(b"<") + block.count(b"=")
            if count > most:
                raise TableFileError(f"The workbook has more than {MAX_MARKUP:,} tags. {_SHRINK}")
            if b"<" in block or b">" in block:
                in_tag = block.rfind(b"<") > block.rfind(b">")
            tail, block = block[-1:], stream.read(_BLOCK_BYTES)
    return count
