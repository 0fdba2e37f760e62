"""Tables go out and come in unchanged in every format, and no spreadsheet evaluates a cell."""

import csv
import io
import re
import zipfile

import pytest
import tablib
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl import Workbook, load_workbook

from datasets_app.tables.formats import CSV, FORMATS, JSONL, MAX_ROWS, XLSX, YAML, TableFileError
from tests.strategies import EXAMPLES_FACTOR

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=40)
awkward = st.sampled_from(
    [
        "=1+1",
        "+1",
        "-3",
        "@x",
        "\tx",
        "\rx",
        "\n=1",
        "＝1",
        "'=1",
        " =1",
        "\ufeff=1",
        '"=1"',
        "a;=1",
        "a;'=1",
        "a\t\N{IDEOGRAPHIC SPACE}＝1",
        "- one\n- two\r\n\n'- three",
        "''",
        "'x",
        "#N/A",
        "_x000D_",
        "x005F_",
        "_x005F_x000D_",
        "a\r\nb",
        " x ",
        "\x0b",
        "\x85",
        "\N{LINE SEPARATOR}",
        "007",
        "1e5",
        "TRUE",
        "null",
        "NaN",
        "\ufeff",
        "\uffff",
        "\n",
        ",",
        '"',
        "a\nb",
    ]
)
numbers = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False).filter(
    lambda number: abs(number) < 2**53 and (number == 0 or abs(number) > 1e-290)
)
cells = st.none() | texts | awkward | numbers
columns = st.lists(
    st.sampled_from(["text", "label", "notes", "position"]), min_size=1, max_size=3, unique=True
)


@st.composite
def tables(draw, values):
    headers = draw(columns)
    rows = draw(st.lists(st.tuples(*[values] * len(headers)), min_size=1, max_size=4))
    return headers, [row for row in rows if any(cell is not None for cell in row)]


def table(headers, rows) -> tablib.Dataset:
    made = tablib.Dataset(headers=headers)
    for row in rows:
        made.append(row)
    return made


def there_and_back(format_class, headers, rows) -> list[dict]:
    read = format_class().create_dataset(format_class().export_data(table(headers, rows)))
    return [dict(zip(read.headers or [], row, strict=True)) for row in read]


def as_rows(headers, rows) -> list[dict]:
    return [dict(zip(headers, row, strict=True)) for row in rows]


@settings(max_examples=50 * EXAMPLES_FACTOR)
@given(tables(cells))
@pytest.mark.parametrize("format_class", [JSONL, YAML])
def test_jsonl_and_yaml_keep_every_value_and_its_type(format_class, given_table) -> None:
    headers, rows = given_table
    read = there_and_back(format_class, headers, rows)
    assert read == as_rows(headers, rows)
    assert [[type(value) for value in row.values()] for row in read] == [
        [type(v) for v in row] for row in rows
    ]


@settings(max_examples=50 * EXAMPLES_FACTOR)
@given(tables(st.none() | texts | awkward))
@pytest.mark.parametrize("format_class", [CSV, XLSX])
def test_spreadsheets_keep_every_text_character_by_character(format_class, given_table) -> None:
    headers, rows = given_table
    assert there_and_back(format_class, headers, rows) == as_rows(headers, rows)


@settings(max_examples=50 * EXAMPLES_FACTOR)
@given(tables(numbers.filter(lambda number: float(f"{number:.16g}") == number)))
def test_numbers_in_a_workbook_stay_numbers(given_table) -> None:
    headers, rows = given_table
    assert there_and_back(XLSX, headers, rows) == as_rows(headers, rows)


SIGNED = [
    f"{before}{sign}1+1"
    for sign in "=+-@＝"
    for before in ("", " ", "\N{NO-BREAK SPACE}", "\ufeff", '"', "\t", "\r")
]


@pytest.mark.parametrize("before", ["", "\n", "a;", 'a";"', "a\t", "a\n", "a\r\n"])
def test_no_spreadsheet_evaluates_what_people_wrote(before: str) -> None:
    """Whatever it separates by, and whether or not it heeds quotation marks."""
    for text in [before + signed for signed in SIGNED]:
        written = CSV().export_data(table(["id", "notes", "x"], [("s1", text, -3)])).decode()
        rows = list(csv.reader(io.StringIO(written, newline="")))
        assert [rows[1][1].replace("'", ""), rows[1][2]] == [text, "-3"]
        for separator in ",;\t":
            for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_NONE):
                if (separator, quoting) == (",", csv.QUOTE_NONE):
                    continue  # no program reads a file with commas that way
                read = csv.reader(io.StringIO(written, newline=""), delimiter=separator, quoting=quoting)
                signs = [cell for row in read for cell in row if re.match(r'[\s\ufeff"]*[=+@＝-]', cell)]
                assert signs in ([], ["-3"]), (text, separator)
        sheet = load_workbook(io.BytesIO(XLSX().export_data(table(["notes"], [(text,)])))).active
        assert sheet["A2"].data_type == "s"
        assert there_and_back(CSV, ["notes"], [(text,)]) == [{"notes": text}]


def test_a_number_is_a_number_cell_in_the_workbook() -> None:
    sheet = load_workbook(io.BytesIO(XLSX().export_data(table(["n", "t"], [(-3, "-3")])))).active
    assert (sheet["A2"].value, sheet["A2"].data_type) == (-3, "n")
    assert sheet["B2"].value == "'-3"


def test_a_number_with_more_digits_than_a_workbook_keeps_is_written_as_text() -> None:
    number = 0.1 + 0.2
    assert there_and_back(XLSX, ["n"], [(number,)]) == [{"n": str(number)}]


def test_a_cell_that_is_too_long_for_a_workbook_is_refused_and_not_cut() -> None:
    with pytest.raises(TableFileError, match="Row 2, column notes: 32,768 characters"):
        XLSX().export_data(table(["notes"], [("x" * 32_768,)]))
    assert there_and_back(CSV, ["notes"], [("x" * 200_000,)]) == [{"notes": "x" * 200_000}]


def test_what_a_spreadsheet_program_makes_is_read() -> None:
    book = Workbook()
    book.active.append(["label", "notes", None])
    book.active.append([1, "fine", None])
    book.active.append([None, None, None])
    book.active.append([0, None, None])
    buffer = io.BytesIO()
    book.save(buffer)
    read = XLSX().create_dataset(buffer.getvalue())
    assert list(read) == [(1, "fine"), (0, None)]
    assert list(CSV().create_dataset(b"\xef\xbb\xbflabel,notes\r\n1,fine\r\n\r\n0,\r\n")) == [
        ("1", "fine"),
        ("0", None),
    ]


def test_rows_of_jsonl_need_not_have_the_same_keys() -> None:
    read = JSONL().create_dataset(b'{"a": 1}\n\n{"b": null, "a": "x"}\n')
    assert (read.headers, list(read)) == (["a", "b"], [(1, None), ("x", None)])


@pytest.mark.parametrize(
    ("format_class", "raw", "complaint"),
    [
        (JSONL, b'{"a": 1}\n{"a":', "Line 2: "),
        (JSONL, b"[1]", "Line 1: expected a JSON object"),
        (JSONL, b"PK\x03\x04", "zip archive"),
        (CSV, b"a,b\n1,2,3\n", "Row 2 has 3 cells"),
        (CSV, b"a,a\n1,2\n", "two columns 'a'"),
        (CSV, b"a,,c\n1,2,3\n", "no name"),
        (CSV, b"x," * 100 + b"x\n", "More than 100 columns"),
        (JSONL, b"".join(b'{"a%d": 1}\n' % number for number in range(101)), "More than 100 columns"),
        (YAML, b"- a\n" * 1_000_001, "more than 1,000,000 values"),
        (CSV, b'a\n"x\n', "not valid CSV"),
        (CSV, "ä".encode("latin-1"), "not UTF-8"),
        (CSV, b"a\n\0\n", "NUL"),
        (XLSX, b"no workbook", "not an .xlsx workbook"),
        (YAML, b'- a: "x\\0"', "Record 1 has a NUL character"),
        (YAML, b"a: 1", "a YAML list"),
        (YAML, b"- a", "Item 1"),
        (YAML, b"- {1: 2}", "Item 1"),
        (YAML, b"[" * 100_000, "nested"),
        (YAML, b"- &a {x: 1}\n- *a", "aliases"),
    ],
)
def test_a_file_that_is_none_is_refused_in_words(format_class, raw: bytes, complaint: str) -> None:
    with pytest.raises(TableFileError, match=complaint):
        format_class().create_dataset(raw)


@pytest.mark.parametrize("cell", ["a_x0000_", "a_xD83D_"])
def test_cells_that_cannot_be_stored_are_refused(cell: str) -> None:
    book, buffer = Workbook(), io.BytesIO()
    for row in (["text"], ["fine"], [cell]):
        book.active.append(row)
    book.save(buffer)
    with pytest.raises(TableFileError, match="Record 2 has a NUL character or half of a character"):
        XLSX().create_dataset(buffer.getvalue())


def test_a_zip_that_is_no_workbook_and_one_that_unpacks_to_gigabytes_are_refused() -> None:
    for content, complaint in (
        (b"x", "not a readable workbook"),
        (b"\0" * (300 << 20), "unpacks to more than"),
    ):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("xl/workbook.xml", content)
        with pytest.raises(TableFileError, match=complaint):
            XLSX().create_dataset(buffer.getvalue())


def test_more_rows_than_a_page_can_show_are_sent_to_the_command() -> None:
    with pytest.raises(TableFileError, match="management command"):
        JSONL().create_dataset(b'{"a": 1}\n' * (MAX_ROWS + 1))


def test_the_four_formats_are_offered() -> None:
    assert [format_class().get_title() for format_class in FORMATS] == ["jsonl", "csv", "xlsx", "yaml"]
