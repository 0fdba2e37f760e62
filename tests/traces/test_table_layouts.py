"""Tables that begin below a title, end with totals, or name a column twice: CSV and XLSX alike."""

import csv
import io
from pathlib import Path

import openpyxl
import pytest

from datasets_app.domain.traces.describe import list_left_out_with_lines, list_warnings
from tests.traces.reading import convert, texts, write

Rows = list[list[str]]
HEAD = ["ticket", "role", "text"]
BODY = [
    ["1", "user", "Hi, you"],
    ["1", "assistant", "Hello"],
    ["2", "user", "Bye"],
    ["2", "assistant", "So long"],
]
READ = {"1": [("user", "Hi, you"), ("assistant", "Hello")], "2": [("user", "Bye"), ("assistant", "So long")]}
TITLES = "{} above the names of the columns"
# (rows, what is said of them)
LAYOUTS: dict[str, tuple[Rows, list[str]]] = {
    "as it should be": ([HEAD, *BODY], []),
    "title": ([["Ticket export, January"], HEAD, *BODY], ["1 line above"]),  # noqa: E501
    "title and blank line": ([["Ticket export"], [], HEAD, *BODY], ["1 line above"]),  # noqa: E501
    "titles of several cells": (
        [["Report:", "Support"], ["From:", "2026-01-05"], ["", ""], HEAD, *BODY], ["2 lines above"]),
    "title as wide as the table": ([["Ticket export", "", ""], HEAD, *BODY], ["1 line above"]),  # noqa: E501
    "blank lines": ([[], [], HEAD, *BODY], []),
    "lines of empty cells": ([["", "", ""], ["", "", ""], HEAD, *BODY], []),
    "blank lines between": ([HEAD, *BODY[:2], [], ["", "", ""], *BODY[2:]], []),
    "total": ([HEAD, *BODY, ["Total", "", "4"]], ["1 row of totals"]),
    "total with its words": ([HEAD, *BODY, ["Summe: 4 Zeilen", "", ""]], ["1 row of totals"]),
    "total in the text": ([HEAD, *BODY, ["", "", "Total: 4"]], ["1 row of totals"]),
    "title and totals": ([["Export"], HEAD, *BODY, ["Gesamt", "", "4"]], ["1 row of totals", "1 line above"]),  # noqa: E501
    "a person says total": (
        [HEAD, *BODY[:3], ["2", "assistant", "So long"], ["3", "user", "Total"]], []),
    "the same name twice": (
        [[*HEAD, "note", "note"], *([*row, "a", "b"] for row in BODY)], ["1 column with the name"]),
    "the text twice": ([[*HEAD, "text"], *([*row, "other"] for row in BODY)], ["1 column with the name"]),
    "a column without a name": ([["", *HEAD], *([str(n), *row] for n, row in enumerate(BODY))], []),
    "columns that were emptied": ([[*HEAD, "", ""], *([*row, "", ""] for row in BODY)], []),
    "unknown names below a title": (
        [["Export"], ["ticket", "Von", "Inhaltstext"], *BODY], ["1 line above"]),  # noqa: E501
}  # fmt: skip
MAPPING = {"unknown names below a title": {"session_id": "ticket", "role": "Von", "text": "Inhaltstext"}}


def write_table(folder: Path, rows: Rows, kind: str) -> Path:
    if kind == "xlsx":
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append([cell or None for cell in row])
        book.save(folder / "t.xlsx")
        return folder / "t.xlsx"
    text = io.StringIO()
    csv.writer(text, delimiter=kind).writerows(rows)
    return write(folder, text.getvalue(), "t.csv")


@pytest.mark.parametrize("kind", [",", ";", "\t", "xlsx"])
@pytest.mark.parametrize("name", LAYOUTS)
def test_a_table_is_found_in_its_sheet(name: str, kind: str, tmp_path: Path) -> None:
    rows, told = LAYOUTS[name]
    found, report = convert(write_table(tmp_path, rows, kind), mapping=MAPPING.get(name, {}))
    said = {key: texts(turns) for key, turns in found.items()}
    assert said == (READ if name != "a person says total" else {**READ, "3": [("user", "Total")]})
    empty = "empty message"
    sentences = [line for line in list_left_out_with_lines(report) if empty not in line] + list_warnings(
        report
    )
    assert [sentence[: len(start)] for sentence, start in zip(sentences, told, strict=True)] == told
    assert not report.problem_total


def test_nothing_of_a_doubled_column_is_lost(tmp_path: Path) -> None:
    rows = [[*HEAD, "text", ""], *([*row, "other", "more"] for row in BODY)]
    found, _ = convert(write_table(tmp_path, rows, ","))
    assert found["1"][0].metadata == {"text (2)": "other", "column 5": "more"}
