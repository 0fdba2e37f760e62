"""Tables as the application exports them: of turns (CSV, Parquet) → the same turns, character by character;
of labels, whose cells are escaped as well."""

from collections.abc import Sequence
from typing import Any

from datasets_app.domain.formulas import unescape_cell
from datasets_app.domain.traces.values import decode_json

COLUMNS = ("session_id", "turn_index", "role", "text", "tags", "persona_id", "timestamp", "metadata", "extra")
LABEL_COLUMNS = ("dataset", "text", "label", "persona_id", "session_id", "turn_index", "annotator", "notes",
                 "timestamp", "confidence", "other_keys")  # fmt: skip
ANSWER_COLUMNS = ("text", "criterion", "value", "schema", "of", "persona_id", "session_id",
                  "turn_index", "annotator", "notes", "timestamp", "confidence", "rater",
                  "other_keys")  # fmt: skip


class TurnRow(dict[str, Any]):
    """A row as the object that a line of conversation JSONL would be."""


def is_turn_table(columns: Sequence[Any]) -> bool:
    return tuple(columns) == COLUMNS


def is_label_table(columns: Sequence[Any]) -> bool:
    """Cells of these are escaped. Those with answers are texts, also if they look like JSON."""
    return tuple(columns) in (LABEL_COLUMNS, ANSWER_COLUMNS)


def unescape_cells(cells: Sequence[Any]) -> list[Any]:
    return [unescape_cell(cell) if type(cell) is str else cell for cell in cells]


def parse_turn_row(cells: Sequence[Any], *, is_escaped: bool) -> TurnRow:
    """Spreadsheets know no null, so an empty cell is one, except of the text."""
    if is_escaped:
        cells = unescape_cells(cells)
    values = {name: cell for name, cell in zip(COLUMNS, cells, strict=False) if cell not in (None, "")}
    index, extra = values.get("turn_index"), decode_json(values.pop("extra", None))
    if type(index) is str and index.isdecimal():
        values["turn_index"] = int(index)
    for name in ("tags", "metadata"):
        if name in values:
            values[name] = decode_json(values[name])
    if len(cells) > COLUMNS.index("text"):
        values.setdefault("text", "")
    return TurnRow(
        {**(extra if type(extra) is dict else {} if extra is None else {"extra": extra}), **values}
    )
