"""Workbooks that are small as files and huge as tables are refused before they are parsed."""

import io
import zipfile
from collections.abc import Callable
from datetime import date

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from openpyxl import Workbook

from datasets_app.tables.formats import XLSX, TableFileError
from datasets_app.tables.workbooks import MAX_MARKUP, MAX_UNPACKED_BYTES
from tests.web.conftest import SignIn

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_PARTS = {
    "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"><Override PartName="/xl/workbook.xml" '
    f'ContentType="{_TYPE}.sheet.main+xml"/><Override PartName="/xl/s.xml" '
    f'ContentType="{_TYPE}.worksheet+xml"/></Types>',
    "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets><sheet name="S" sheetId="1" '
    'r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" '
    f'Type="{_OFFICE}/worksheet" Target="s.xml"/></Relationships>',
}


def build_workbook(rows: str, dimension: str = "", **parts: bytes) -> bytes:
    """A workbook with ``rows`` as they are written in the sheet."""
    sheet = f'<worksheet xmlns="{_MAIN}">{dimension}<sheetData>{rows}</sheetData></worksheet>'
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in {**_PARTS, "xl/s.xml": sheet, **parts}.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def _row(number: int, *values: str, column: str = "A") -> str:
    cells = "".join(
        f'<c r="{chr(ord(column) + at) if len(column) == 1 else column}{number}" t="str"><v>{value}</v></c>'
        for at, value in enumerate(values)
    )
    return f'<row r="{number}">{cells}</row>'


TABLE = _row(1, "notes", "label") + _row(2, "fine", "1")
DECLARED = '<dimension ref="A1:XFD1048576"/>'


def test_a_small_workbook_that_declares_billions_of_cells_is_refused() -> None:
    raw = build_workbook(TABLE + _row(1_048_576, "x", column="XFD"), DECLARED)
    assert len(raw) < 2_000
    with pytest.raises(TableFileError, match=r"more than 20,000 rows.*Delete unused rows"):
        XLSX().create_dataset(raw)


@pytest.mark.parametrize(
    ("rows", "dimension", "complaint"),
    [
        (TABLE, '<dimension ref="A1:XFD9"/>', "more than 100 columns"),
        (TABLE, '<dimension ref="A1:B1048576"/>', "more than 20,000 rows"),
        (TABLE + _row(99_999_999_999, "x"), "", "more than 20,000 rows"),
        (TABLE + _row(3, "x", column="XFD"), "", "more than 100 columns"),
        ('<row r="1">' + "<c/>" * MAX_MARKUP + "</row>", "", "more than 2,500,000 tags"),
        ('<row r="1" ' + " ".join(f'a{at}=""' for at in range(200_000)) + "/>", "", "not plain XML"),
        ("<!-- " + ">" * (2 << 20) + " -->", "", "not plain XML"),
    ],
    ids=["wide", "long", "row number", "far cell", "cells of a row", "attributes", "comment"],
)
def test_what_would_keep_the_parser_busy_is_refused(rows: str, dimension: str, complaint: str) -> None:
    with pytest.raises(TableFileError, match=complaint):
        XLSX().create_dataset(build_workbook(rows, dimension))


def test_a_size_that_is_declared_too_small_hides_nothing() -> None:
    read = XLSX().create_dataset(build_workbook(TABLE + _row(3, "good", "0"), '<dimension ref="A1:A2"/>'))
    assert read.dict == [{"notes": "fine", "label": "1"}, {"notes": "good", "label": "0"}]


def declare_too_small() -> bytes:
    """The directory, at the end, says that the part has ten bytes."""
    long = build_workbook(TABLE, **{"xl/x.xml": b"<a/>" * 1_000_000})
    stated, place = (4_000_000).to_bytes(4, "little"), long.rindex(b"PK\1\2", 0, long.rindex(b"xl/x.xml"))
    end = place + long[place:].index(stated)
    return long[:end] + (10).to_bytes(4, "little") + long[end + 4 :]


@pytest.mark.parametrize(
    ("complaint", "build"),
    [
        (
            "unpacks to more than 128 MB",
            lambda: build_workbook(TABLE, **{"xl/x.xml": b" " * MAX_UNPACKED_BYTES}),
        ),
        (
            "more than 1,000 parts",
            lambda: build_workbook(TABLE, **{f"xl/{at}.xml": b"" for at in range(1_000)}),
        ),
        ("not an .xlsx workbook", declare_too_small),
    ],
)
def test_an_archive_that_unpacks_to_more_than_it_should_is_refused(
    complaint: str, build: Callable[[], bytes]
) -> None:
    with pytest.raises(TableFileError, match=complaint):
        XLSX().create_dataset(build())


def test_a_large_workbook_of_a_spreadsheet_program_is_read() -> None:
    book = Workbook()
    book.active.append(["text", "label", "day"])
    for number in range(5_000):
        book.active.append([f"{number} <a href='?a=b&c=d'>" + "x" * 300, number, date(2024, 1, 1)])
    buffer = io.BytesIO()
    book.save(buffer)
    read = XLSX().create_dataset(buffer.getvalue())
    assert (len(read), read[4_999][1]) == (5_000, 4_999)


def test_the_page_names_the_limit(sign_in: SignIn) -> None:
    raw = build_workbook(TABLE + _row(1_048_576, "x", column="XFD"), DECLARED)
    response = sign_in("curator").post(
        reverse("admin:datasets_app_persona_import"),
        {"import_file": SimpleUploadedFile("personas.xlsx", raw), "format": "2"},
    )
    assert response.status_code == 200
    assert "The sheet has more than 20,000 rows" in response.content.decode()
