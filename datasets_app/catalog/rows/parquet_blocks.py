"""Writes turns as Parquet, with one row group in memory at a time."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from datasets_app.domain.conversations.parquet import Column, ColumnType, ParquetEncoder
from datasets_app.domain.conversations.records import TurnRecord

MAX_ROWS_PER_GROUP = 10_000
# Closes a row group early if texts are long.
MAX_CHARACTERS_PER_GROUP = 16 << 20

_COLUMNS = [
    Column("session_id", ColumnType.TEXT),
    Column("turn_index", ColumnType.INTEGER),
    Column("role", ColumnType.TEXT),
    Column("text", ColumnType.TEXT),
    Column("tags", ColumnType.TEXT_LIST),
    *(Column(name, ColumnType.OPTIONAL_TEXT) for name in ("persona_id", "timestamp", "metadata", "extra")),
]
_encode = msgspec.json.Encoder().encode


def encode_parquet(turns: Iterable[TurnRecord]) -> Iterator[tuple[int, int, bytes]]:
    """Yield ``(turns, sessions started, bytes)``; together the bytes are a Parquet file.

    ``metadata`` and ``extra`` are JSON strings, so that all files have the same columns. Without turns the
    file has no rows.
    """
    encoder = ParquetEncoder(_COLUMNS)
    yield 0, 0, encoder.start()
    for rows in _group_rows(turns):
        yield len(rows), sum(row[1] == 1 for row in rows), encoder.encode_rows(rows)
    yield 0, 0, encoder.finish()


ParquetRow = tuple[str, int, str, str, list[str], str | None, str | None, str | None, str | None]


def _group_rows(turns: Iterable[TurnRecord]) -> Iterator[list[ParquetRow]]:
    rows: list[ParquetRow] = []
    characters = 0
    for turn in turns:
        row = _turn_row(turn)
        rows.append(row)
        characters += len(turn.text) + len(row[7] or "") + len(row[8] or "")
        if len(rows) >= MAX_ROWS_PER_GROUP or characters >= MAX_CHARACTERS_PER_GROUP:
            yield rows
            rows, characters = [], 0
    if rows:
        yield rows


def _turn_row(turn: TurnRecord) -> ParquetRow:
    return (
        turn.session_id,
        turn.turn_index,
        turn.role,
        turn.text,
        turn.tags,
        turn.persona_id,
        turn.timestamp,
        _encode_json(turn.metadata),
        _encode_json(turn.extra),
    )


def _encode_json(value: dict[str, Any] | None) -> str | None:
    return None if value is None else _encode(value).decode()
