"""How a table begins: its delimiter, and the row that names its columns, perhaps below a title."""

import csv
import io
import re
from collections.abc import Sequence

from datasets_app.domain.traces.columns import names_columns
from datasets_app.domain.traces.table_columns import COLUMNS, normalize

# The first line of a CSV as Excel takes it: "sep=;".
STATED_DELIMITER = re.compile(r"sep=([,;\t|])\s*?(?:\r\n|\r|\n)", re.IGNORECASE)
# What may stand above the names of the columns.
MAX_ROWS_ABOVE = 20
MAX_NAME_CHARACTERS = 80


def find_delimiter(head: str) -> str:
    """The delimiter of a CSV file that begins like this; empty if it isn't a table."""
    stated = STATED_DELIMITER.match(head)
    if stated:
        head = head[stated.end() :]
    if len(next((line for line in head.splitlines() if line.strip()), "")) > 20_000:
        return ""
    widths = {mark: _measure_columns(head, mark) for mark in (stated[1] if stated else ",;\t|")}
    best = max(widths, key=lambda mark: widths[mark])
    return best if any(widths[best]) else ""


def _measure_columns(head: str, delimiter: str) -> tuple[bool, int]:
    """Whether a table with this delimiter begins in the first line, and how many columns it has; none if its
    rows don't fit."""
    try:
        text = io.StringIO(head[: head.rfind("\n")] or head, newline="")
        rows = [row for row in csv.reader(text, delimiter=delimiter) if any(cell.strip() for cell in row)]
    except csv.Error:
        return False, 0
    start = find_header(rows)
    names = [name.strip() for name in rows[start]] if rows else []
    is_odd = len(set(names)) < len(names) or not all(names) or any(len(set(row)) > 2 for row in rows[:start])
    if len(names) < 2 or any(len(name) >= MAX_NAME_CHARACTERS or '{"' in name for name in names):
        return False, 0
    if is_odd and not names_columns(dict.fromkeys(names)):
        return False, 0
    fits = [len(row) == len(names) for row in rows[start + 1 : start + 20]]
    fit = sum(fits) * (1 if start else 2) >= len(fits)
    return (start == 0, len(names)) if fit else (False, 0)


def is_text_column(head: str) -> bool:
    """Whether a file that begins like this is a table of one column, which holds texts."""
    first, _, rest = head.lstrip().partition("\n")
    return bool(rest.strip()) and normalize(first) in (*COLUMNS["text"], "prompt", "conversation", "chat")


def find_header(rows: Sequence[Sequence[str]]) -> int:
    """The index of the row that names the columns: one whose names are known, else the first that isn't
    much shorter than the others."""
    filled = {
        index: sum(bool(cell.strip()) for cell in row) for index, row in enumerate(rows[: MAX_ROWS_ABOVE + 1])
    }
    for index, count in filled.items():
        if count > 1 and names_columns(dict.fromkeys(cell.strip() for cell in rows[index])):
            return index
    widest = max(filled.values(), default=0)
    return next((index for index, count in filled.items() if count and count * 2 > widest), 0)


def name_columns(header: Sequence[str]) -> list[str]:
    """A name of its own for each column: the second "text" is "text (2)", one without a name "column 3"."""
    names: list[str] = []
    for place, name in enumerate(header, 1):
        name = name if name.strip() else f"column {place}"
        number, base = 1, name
        while name in names:
            number += 1
            name = f"{base} ({number})"
        names.append(name)
    return names
