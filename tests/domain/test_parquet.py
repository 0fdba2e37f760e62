"""Parquet that we write, read again by the format's own library."""

import io
from typing import Any

import pyarrow.parquet
from hypothesis import given
from hypothesis import strategies as st

from datasets_app.domain.conversations.parquet import Column, ColumnType, ParquetEncoder

COLUMNS = [
    Column("text", ColumnType.TEXT),
    Column("maybe", ColumnType.OPTIONAL_TEXT),
    Column("number", ColumnType.INTEGER),
    Column("tags", ColumnType.TEXT_LIST),
]
texts = st.text(max_size=10)
rows = st.tuples(texts, st.none() | texts, st.integers(-(2**31), 2**31 - 1), st.lists(texts, max_size=4))


def encode(groups: list[list[tuple[Any, ...]]], columns: list[Column] = COLUMNS) -> bytes:
    encoder = ParquetEncoder(columns)
    return b"".join([encoder.start(), *map(encoder.encode_rows, groups), encoder.finish()])


@given(st.lists(st.lists(rows, min_size=1, max_size=10), max_size=4))
def test_every_value_is_read_again(groups: list[list[tuple[Any, ...]]]) -> None:
    file = pyarrow.parquet.ParquetFile(io.BytesIO(encode(groups)), page_checksum_verification=True)
    assert file.num_row_groups == len(groups)
    read = [tuple(row.values()) for row in file.read().to_pylist()]
    assert read == [row for group in groups for row in group]


def test_readers_see_the_types() -> None:
    schema = pyarrow.parquet.read_schema(io.BytesIO(encode([])))
    described = {field.name: (str(field.type), field.nullable) for field in schema}
    assert described == {
        "text": ("string", False),
        "maybe": ("string", True),
        "number": ("int32", False),
        "tags": ("list<element: string not null>", False),
    }


def test_long_texts_and_many_columns() -> None:
    columns = [Column(f"column_{number}", ColumnType.TEXT) for number in range(200)]
    values = tuple(chr(0x4E00 + number) * 5000 for number in range(200))
    table = pyarrow.parquet.read_table(io.BytesIO(encode([[values, values]], columns)))
    assert [tuple(row.values()) for row in table.to_pylist()] == [values, values]
    assert all(column.nbytes > 30_000 for column in table.columns)
