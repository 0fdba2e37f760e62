"""Tables: a row for each answer, as its line of annotation JSONL.

Cells are texts; a value is read by the kind of its criterion. Of what a spreadsheet can't tell from nothing
(empty texts) and of keys without a column, ``other_keys`` has the JSON.
"""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from annotations_app.domain.answer_files.decisions import (
    FiledDecision,
    Line,
    Notes,
    ReadDecision,
    without_labeler,
)
from datasets_app.domain.conversations.parquet import Column, ColumnType, ParquetEncoder
from datasets_app.domain.formulas import escape_cell
from datasets_app.domain.labels.on_brand import ON_BRAND
from datasets_app.domain.traces.turn_tables import ANSWER_COLUMNS
from datasets_app.domain.traces.values import as_dict, decode_json

MAX_ROWS_PER_GROUP = 10_000
_OTHER_KEYS = ANSWER_COLUMNS[-1]
_JSON_COLUMNS = ("rater", _OTHER_KEYS)
_TYPES = {"text": ColumnType.TEXT, "turn_index": ColumnType.INTEGER, "confidence": ColumnType.OPTIONAL_NUMBER}
_COLUMNS = [Column(name, _TYPES.get(name, ColumnType.OPTIONAL_TEXT)) for name in ANSWER_COLUMNS]


def encode_csv(decisions: Iterable[FiledDecision], notes: Notes) -> Iterator[bytes]:
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow(ANSWER_COLUMNS)
    for row in _list_rows(decisions):
        writer.writerow([escape_cell(cell) if type(cell) is str else cell for cell in row])
        yield buffer.getvalue().encode()
        buffer.seek(0)
        buffer.truncate()
    yield buffer.getvalue().encode()


def encode_parquet(decisions: Iterable[FiledDecision], notes: Notes) -> Iterator[bytes]:
    encoder = ParquetEncoder(_COLUMNS)
    rows = _list_rows(decisions)
    yield encoder.start()
    while group := list(islice(rows, MAX_ROWS_PER_GROUP)):
        yield encoder.encode_rows(group)
    yield encoder.finish()


def _list_rows(decisions: Iterable[FiledDecision]) -> Iterator[list[Any]]:
    return (_write_row(line) for decision in decisions for line in decision.lines)


def _write_row(line: Line) -> list[Any]:
    line = without_labeler(line)
    if "label" in line:
        line |= {"criterion": ON_BRAND.key, "value": line.pop("label")}
    other = {key: value for key, value in line.items() if key not in ANSWER_COLUMNS or _is_blank(key, value)}
    cells = {key: value for key, value in line.items() if key not in other}
    if other:
        cells[_OTHER_KEYS] = other
    for key in ("value", *_JSON_COLUMNS):
        if key in cells and type(cells[key]) is not str:
            cells[key] = json.dumps(cells[key], ensure_ascii=False)
    return [cells.get(name) for name in ANSWER_COLUMNS]


def _is_blank(key: str, value: Any) -> bool:
    return value == "" and key != "text" or key == _OTHER_KEYS


def read(row: Any) -> Iterator[ReadDecision]:
    """A row of this application, or of a table with its columns."""
    line = {key: value for key, value in as_dict(row).items() if value not in ("", None)}
    other = as_dict(decode_json(line.pop(_OTHER_KEYS, None)))
    line |= {key: decode_json(line[key]) for key in _JSON_COLUMNS if key in line}
    if type(line.get("turn_index")) in (str, float):
        line["turn_index"] = read_number(line["turn_index"], int)
    if type(line.get("confidence")) is str:
        line["confidence"] = read_number(line["confidence"], float)
    answers = {str(line.pop("criterion")): line.pop("value", None)} if "criterion" in line else {}
    yield ReadDecision(str(line.pop("text", "")), answers, {**line, **other})


def read_number(cell: Any, kind: type) -> Any:
    """``"1"`` and 1.0 → 1, where ``kind`` is int; what isn't a number is left for the reader to refuse."""
    try:
        number = float(cell)
        return number if kind is float else int(number) if number.is_integer() else cell
    except (ValueError, OverflowError):
        return cell
