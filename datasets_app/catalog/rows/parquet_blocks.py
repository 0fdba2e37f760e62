"""Writes turns as Parquet, with one row group in memory at a time."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from datasets_app.domain.conversations.records import TurnRecord

MAX_ROWS_PER_GROUP = 10_000
# Closes a row group early if texts are long.
MAX_CHARACTERS_PER_GROUP = 16 << 20

_encode = msgspec.json.Encoder().encode


def encode_parquet(turns: Iterable[TurnRecord]) -> Iterator[tuple[int, int, bytes]]:
    """Yield ``(turns, sessions started, bytes)``; together the bytes are a Parquet file.

    ``metadata`` and ``extra`` are JSON strings, so that all files have the same columns. Without turns the
    file has no rows.
    """
    import pyarrow
    import pyarrow.parquet

    schema = _build_schema(pyarrow)
    drain = _ByteSink()
    with pyarrow.parquet.ParquetWriter(drain, schema, compression="zstd") as writer:
        for rows in _group_rows(turns):
            table = pyarrow.table([list(column) for column in zip(*rows, strict=True)], schema=schema)
            writer.write_table(table, row_group_size=MAX_ROWS_PER_GROUP)
            yield len(rows), sum(row[1] == 1 for row in rows), drain.take_bytes()
    yield 0, 0, drain.take_bytes()


def _build_schema(pyarrow: Any) -> Any:
    text = pyarrow.string()
    return pyarrow.schema(
        [
            pyarrow.field("session_id", text, nullable=False),
            pyarrow.field("turn_index", pyarrow.int32(), nullable=False),
            pyarrow.field("role", text, nullable=False),
            pyarrow.field("text", text, nullable=False),
            pyarrow.field("tags", pyarrow.list_(text), nullable=False),
            pyarrow.field("persona_id", text),
            pyarrow.field("timestamp", text),
            pyarrow.field("metadata", text),
            pyarrow.field("extra", text),
        ]
    )


class _ByteSink:
    """A write-only file whose contents are taken piece by piece."""

    closed = False

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0

    def write(self, piece: Any) -> int:
        self._pieces.append(bytes(piece))
        self._size += len(piece)
        return len(piece)

    def tell(self) -> int:
        return self._size

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass

    def writable(self) -> bool:
        return True

    def readable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False

    def take_bytes(self) -> bytes:
        whole = b"".join(self._pieces)
        self._pieces.clear()
        return whole


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
