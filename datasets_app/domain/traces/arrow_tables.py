"""Parquet and Arrow files → rows, of which memory holds few at a time, however often a text is repeated."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec.json import encode

from datasets_app.domain.conversations.lines import Limits, UnreadableFile
from datasets_app.domain.conversations.records import LineError
from datasets_app.domain.traces.documents import Document
from datasets_app.domain.traces.tables import plain_cell, read_row

# What the rows that are read at a time may unpack to.
MAX_BATCH_BYTES = 32 << 20
MAX_BATCH_ROWS = 1000
# Of values that are only measured, which takes no more than their references.
ROWS_MEASURED = 1 << 16
# A file that unpacks to so many times its size, and so much at least, holds nothing but repetitions.
MAX_STORED_RATIO, MIN_STORED_BYTES = 200, 256 << 20
MAX_UNPACKED_RATIO, MIN_UNPACKED_BYTES = 1000, 64 << 20
_TOO_LARGE = "is too large unpacked; split it"


def read_arrow(path: Path, limits: Limits) -> Iterator[Document | LineError]:
    """The rows of a Parquet or Arrow file, as many at a time as memory certainly holds."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.parquet
    except ImportError:
        raise UnreadableFile("needs pyarrow; install it: pip install -r requirements-parquet.txt") from None
    number = 0
    try:
        for batch, row_bytes in _read_batches(path, pyarrow, limits):
            for row in batch.to_pylist():
                number += 1
                if row_bytes > limits.line_bytes and len(encode(plain_cell(row))) > limits.line_bytes:
                    yield LineError(number, "E109", f"row is larger than {limits.line_bytes:,} bytes")
                else:
                    yield Document(number, read_row([*row], [*row.values()], is_escaped=False))
    except (pyarrow.ArrowException, OSError) as error:
        raise UnreadableFile(
            f"can't be read after row {number:,} ({type(error).__name__}); transfer it again"
        ) from None


def _read_batches(path: Path, pyarrow: Any, limits: Limits) -> Iterator[tuple[Any, int]]:
    """Some rows, and how many bytes each may have."""
    with path.open("rb") as file:
        magic = file.read(6)
    if magic.startswith(b"PAR1"):
        yield from _read_parquet(path, pyarrow, limits)
        return
    is_file = magic == b"ARROW1"
    reader = pyarrow.ipc.open_file(path) if is_file else pyarrow.ipc.open_stream(path)
    unpacked = 0
    for batch in map(reader.get_batch, range(reader.num_record_batches)) if is_file else reader:
        total, row_bytes = _measure(batch.columns, pyarrow)
        unpacked += total
        _check_unpacked(unpacked, path, limits)
        rows = _count_rows(row_bytes)
        for start in range(0, batch.num_rows, rows):
            yield batch.slice(start, rows), row_bytes


def _read_parquet(path: Path, pyarrow: Any, limits: Limits) -> Iterator[tuple[Any, int]]:
    parquet = pyarrow.parquet.ParquetFile(path)
    groups = [parquet.metadata.row_group(number) for number in range(parquet.num_row_groups)]
    stored = sum(group.total_byte_size for group in groups)
    if stored > max(MIN_STORED_BYTES, MAX_STORED_RATIO * path.stat().st_size):
        raise UnreadableFile(_TOO_LARGE)
    for group in groups:
        if group.total_byte_size > limits.line_bytes * max(1, group.num_rows):
            raise UnreadableFile(f"has rows of more than {limits.line_bytes:,} bytes; split their texts")
    columns = map(parquet.schema.column, range(len(parquet.schema)))
    texts = [column.path for column in columns if column.physical_type == "BYTE_ARRAY"]
    measured = pyarrow.parquet.ParquetFile(path, read_dictionary=texts)
    longest, unpacked = [], 0
    for number in range(len(groups)):
        row_bytes = 1
        for batch in measured.iter_batches(batch_size=ROWS_MEASURED, row_groups=[number]):
            limits.on_step()
            total, bound = _measure(batch.columns, pyarrow)
            row_bytes, unpacked = max(row_bytes, bound), unpacked + total
            _check_unpacked(unpacked, path, limits)
        longest.append(row_bytes)
    for number, row_bytes in enumerate(longest):
        for batch in parquet.iter_batches(batch_size=_count_rows(row_bytes), row_groups=[number]):
            yield batch, row_bytes


def _count_rows(row_bytes: int) -> int:
    return min(MAX_BATCH_ROWS, max(1, MAX_BATCH_BYTES // max(1, row_bytes)))


def _check_unpacked(unpacked: int, path: Path, limits: Limits) -> None:
    most = max(MIN_UNPACKED_BYTES, MAX_UNPACKED_RATIO * path.stat().st_size)
    if unpacked > min(most, limits.unpacked_bytes):
        raise UnreadableFile(_TOO_LARGE)


def _measure(arrays: list[Any], pyarrow: Any) -> tuple[int, int]:
    """(bytes of all values if each were written out, the most that one row may have)."""
    total = longest = 0
    for array in arrays:
        kind, compute = array.type, pyarrow.compute
        texts = array.dictionary if pyarrow.types.is_dictionary(kind) else array
        if pyarrow.types.is_list(kind) or pyarrow.types.is_large_list(kind):
            size, bound = _measure([array.flatten()], pyarrow)
            bound *= compute.max(compute.list_value_length(array)).as_py() or 0
        elif pyarrow.types.is_struct(kind):
            size, bound = _measure(array.flatten(), pyarrow)
        elif pyarrow.types.is_string(texts.type) or pyarrow.types.is_binary(texts.type):
            lengths = compute.binary_length(texts)
            bound = compute.max(lengths).as_py() or 0
            lengths = lengths if texts is array else lengths.take(array.indices)
            size = compute.sum(lengths).as_py() or 0
        else:
            size, bound = array.nbytes, array.nbytes // max(1, len(array)) + 16
        total, longest = total + size, longest + bound
    return total, longest
