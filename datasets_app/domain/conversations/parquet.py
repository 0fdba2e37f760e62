"""Writes Parquet, the format of columns (parquet.apache.org), as far as turns need it.

Columns of texts, of numbers and of lists of texts; one gzip-compressed page per column and row group.
"""

import struct
import zlib
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any, NamedTuple

import numpy as np

MAGIC = b"PAR1"
CREATED_BY = "Alignmenter Datasets"
# Texts shrink by two thirds at half the time that the default level takes.
_GZIP_LEVEL = 4
_GZIP_WINDOW = 31

# Numbers of the specification. Kinds of values of Thrift's compact protocol:
_I32, _I64, _BINARY, _LIST, _STRUCT = 5, 6, 8, 9, 12
# Physical types, repetitions, converted types, encodings, codec:
_INT32, _DOUBLE, _BYTE_ARRAY = 1, 5, 6
_REQUIRED, _OPTIONAL, _REPEATED = 0, 1, 2
_UTF8, _LIST_OF = 0, 3
_PLAIN, _RLE = 0, 3
_GZIP = 2


class ColumnType(Enum):
    TEXT = "text"
    OPTIONAL_TEXT = "text or None"
    INTEGER = "int of 32 bits"
    OPTIONAL_NUMBER = "float or None"
    TEXT_LIST = "list of texts"


_PHYSICAL_TYPES = {ColumnType.INTEGER: _INT32, ColumnType.OPTIONAL_NUMBER: _DOUBLE}
_OPTIONAL_TYPES = (ColumnType.OPTIONAL_TEXT, ColumnType.OPTIONAL_NUMBER)


class Column(NamedTuple):
    name: str
    type: ColumnType

    @property
    def path(self) -> list[str]:
        return [self.name, "list", "element"] if self.type is ColumnType.TEXT_LIST else [self.name]

    @property
    def physical_type(self) -> int:
        return _PHYSICAL_TYPES.get(self.type, _BYTE_ARRAY)


class ParquetEncoder:
    """Encodes a file in pieces: :meth:`start`, :meth:`encode_rows` for each row group, :meth:`finish`."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = columns
        self._offset = self._rows = 0
        self._groups: list[bytes] = []

    def start(self) -> bytes:
        self._offset = len(MAGIC)
        return MAGIC

    def encode_rows(self, rows: Sequence[Sequence[Any]]) -> bytes:
        """The bytes of one row group; ``rows`` is not empty, its values are in the order of the columns."""
        pieces, chunks, unpacked = [], [], 0
        for column, values in zip(self._columns, zip(*rows, strict=True), strict=True):
            page, count, size = _encode_page(column, values)
            chunks.append(_describe_chunk(column, self._offset, count, size, len(page)))
            pieces.append(page)
            self._offset += len(page)
            unpacked += size
        group = _struct(_items(1, _STRUCT, chunks), _number(2, unpacked, _I64), _number(3, len(rows), _I64))
        self._groups.append(group)
        self._rows += len(rows)
        return b"".join(pieces)

    def finish(self) -> bytes:
        root = _struct(_text(4, "schema"), _number(5, len(self._columns)))
        schema = [root, *(element for column in self._columns for element in _describe_column(column))]
        footer = _struct(
            _number(1, 2),
            _items(2, _STRUCT, schema),
            _number(3, self._rows, _I64),
            _items(4, _STRUCT, self._groups),
            _text(6, CREATED_BY),
        )
        return footer + struct.pack("<I", len(footer)) + MAGIC


def _describe_column(column: Column) -> list[bytes]:
    """Its schema elements: one, or three for a list."""
    text_type = (_number(6, _UTF8), _nested(10, _struct(_nested(1, _struct()))))
    if column.type is ColumnType.TEXT_LIST:
        list_type = (_number(6, _LIST_OF), _nested(10, _struct(_nested(3, _struct()))))
        return [
            _struct(_number(3, _REQUIRED), _text(4, column.name), _number(5, 1), *list_type),
            _struct(_number(3, _REPEATED), _text(4, "list"), _number(5, 1)),
            _struct(_number(1, _BYTE_ARRAY), _number(3, _REQUIRED), _text(4, "element"), *text_type),
        ]
    repetition = _OPTIONAL if column.type in _OPTIONAL_TYPES else _REQUIRED
    described = (_number(1, column.physical_type), _number(3, repetition), _text(4, column.name))
    return [_struct(*described, *(() if column.type in _PHYSICAL_TYPES else text_type))]


def _describe_chunk(column: Column, offset: int, count: int, unpacked: int, packed: int) -> bytes:
    facts = _struct(
        _number(1, column.physical_type),
        _items(2, _I32, [_zigzag(_PLAIN), _zigzag(_RLE)]),
        _items(3, _BINARY, [_binary(part) for part in column.path]),
        _number(4, _GZIP),
        _number(5, count, _I64),
        _number(6, unpacked, _I64),
        _number(7, packed, _I64),
        _number(9, offset, _I64),
    )
    return _struct(_number(2, offset, _I64), _nested(3, facts))


def _encode_page(column: Column, values: Sequence[Any]) -> tuple[bytes, int, int]:
    """The page with its header, its count of values (an empty list counts as one), its unpacked size."""
    levels, count = b"", len(values)
    if column.type in _OPTIONAL_TYPES:
        levels = _encode_levels([value is not None for value in values])
        values = [value for value in values if value is not None]
    elif column.type is ColumnType.TEXT_LIST:
        # An empty list counts as one place, in which no value is.
        continues = [place > 0 for value in values for place in range(len(value) or 1)]
        has_value = [bool(value) for value in values for _ in range(len(value) or 1)]
        levels, count = _encode_levels(continues) + _encode_levels(has_value), len(continues)
        values = [text for value in values for text in value]
    number = {ColumnType.INTEGER: "<i4", ColumnType.OPTIONAL_NUMBER: "<f8"}.get(column.type)
    data = levels + (np.array(values, dtype=number).tobytes() if number else _encode_texts(values))
    packer = zlib.compressobj(_GZIP_LEVEL, wbits=_GZIP_WINDOW)
    packed = packer.compress(data) + packer.flush()
    page = _struct(_number(1, count), _number(2, _PLAIN), _number(3, _RLE), _number(4, _RLE))
    header = _struct(_number(1, 0), _number(2, len(data)), _number(3, len(packed)), _nested(5, page))
    return header + packed, count, len(header) + len(data)


def _encode_levels(bits: Sequence[bool]) -> bytes:
    """Levels of 0 and 1 as a single bit-packed run, preceded by its size."""
    run = _varint(-(-len(bits) // 8) << 1 | 1) + np.packbits(bits, bitorder="little").tobytes()
    return struct.pack("<I", len(run)) + run


def _encode_texts(values: Iterable[str]) -> bytes:
    encoded = [value.encode() for value in values]
    return b"".join(part for text in encoded for part in (struct.pack("<I", len(text)), text))


# --- Thrift's compact protocol -------------------------------------------------------------------


class _Field(NamedTuple):
    id: int
    type: int
    value: bytes


def _struct(*fields: _Field) -> bytes:
    encoded, before = [], 0
    for field in fields:
        encoded += [bytes([field.id - before << 4 | field.type]), field.value]
        before = field.id
    return b"".join(encoded) + b"\0"


def _number(id: int, value: int, type: int = _I32) -> _Field:
    return _Field(id, type, _zigzag(value))


def _text(id: int, value: str) -> _Field:
    return _Field(id, _BINARY, _binary(value))


def _nested(id: int, value: bytes) -> _Field:
    return _Field(id, _STRUCT, value)


def _items(id: int, type: int, items: Sequence[bytes]) -> _Field:
    size = bytes([len(items) << 4 | type]) if len(items) < 15 else bytes([0xF0 | type]) + _varint(len(items))
    return _Field(id, _LIST, size + b"".join(items))


def _binary(value: str) -> bytes:
    encoded = value.encode()
    return _varint(len(encoded)) + encoded


def _zigzag(value: int) -> bytes:
    return _varint(value << 1 if value >= 0 else (-value << 1) - 1)


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
