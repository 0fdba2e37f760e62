"""Columns instead of records: what pandas writes in its other orientations, and lists of rows, as records."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from datasets_app.domain.conversations.records import LineError
from datasets_app.domain.traces.conversations import LISTS, find_list
from datasets_app.domain.traces.documents import Document
from datasets_app.domain.traces.messages import are_messages
from datasets_app.domain.traces.pairs import name_pairs
from datasets_app.domain.traces.table_columns import guess_mapping
from datasets_app.domain.traces.values import as_dict, as_list

UNEVEN_COLUMNS = "has columns of different lengths, which can't be read as rows"


def spread_columns(
    items: Iterable[Document | LineError], chosen: Collection[str] = ()
) -> Iterator[Document | LineError]:
    """Each document that holds columns as its rows; a list of names heads the lists that follow it. Columns
    may have names that nobody knows, if they are ``chosen``."""
    header: list[str] = []
    for item in items:
        if isinstance(item, LineError):
            yield item
        elif type(item.value) is list and (header or _is_header(item.value)):
            if not header:
                header = item.value
            elif len(item.value) == len(header):
                yield Document(item.number, dict(zip(header, item.value, strict=True)))
            else:
                cells = f"row has {len(item.value)} cells, but the first one names {len(header)} columns"
                yield LineError(item.number, "E110", cells)
        elif type(item.value) is dict and _are_uneven(item.value):
            yield LineError(item.number, "E110", UNEVEN_COLUMNS)
        elif type(item.value) is dict and (rows := list_rows(item.value, chosen)):
            yield from (Document(item.number, row) for row in rows)
        else:
            yield item


def list_rows(value: dict[str, Any], chosen: Collection[str] = ()) -> list[dict[str, Any]]:
    """The rows of columns, in pandas's orientations list, dict, index, split and table; [] for anything
    else."""
    data = as_list(value.get("data"))
    names = as_list(value.get("columns"))
    if (
        data
        and names
        and _is_header(names)
        and all(type(row) is list and len(row) == len(names) for row in data)
    ):
        return [dict(zip(names, row, strict=True)) for row in data]
    if "fields" in as_dict(value.get("schema")) and data and all(type(row) is dict for row in data):
        return data
    columns = list(value.values())
    names_them = names_columns(value) or any(name in value for name in chosen)
    if len(columns) > 1 and names_them and not _holds_messages(value):
        are_objects = all(type(cell) is dict for column in columns for cell in as_list(column)[:1])
        are_lists = all(type(column) is list for column in columns) and not are_objects
        if are_lists and len({len(column) for column in columns}) == 1:
            return [dict(zip(value, cells, strict=True)) for cells in zip(*columns, strict=True)]
        if (
            all(type(column) is dict for column in columns)
            and len({tuple(column) for column in columns}) == 1
        ):
            return [{name: column[key] for name, column in value.items()} for key in columns[0]]
    is_index = all(key.isdigit() and type(row) is dict for key, row in value.items())
    if columns and is_index and all(row.keys() == columns[0].keys() for row in columns):
        return columns if names_columns(columns[0]) else []
    return []


def _are_uneven(value: dict[str, Any]) -> bool:
    """Whether these are columns, of which nobody knows which values belong together."""
    lengths = {len(column) if type(column) is list else -1 for column in value.values()}
    return (
        len(lengths) > 1
        and -1 not in lengths
        and (name_pairs(value) or bool(guess_mapping(value)))
        and all(type(cell) is str or cell is None for column in value.values() for cell in column[:5])
    )


def _is_header(value: Any) -> bool:
    """Whether a list is the names of the columns that follow."""
    return (
        type(value) is list
        and len(value) > 1
        and all(type(name) is str for name in value)
        and len(set(value)) == len(value)
        and names_columns(dict.fromkeys(value))
    )


def names_columns(value: dict[str, Any]) -> bool:
    return name_pairs(value) or bool(guess_mapping(value)) or any(key in value for key in LISTS[:7])


def _holds_messages(value: dict[str, Any]) -> bool:
    lists = [as_list(value.get(key)) for key in LISTS]
    return any(are_messages(found) or (found and not any(map(_may_be_cell, found))) for found in lists)


def _may_be_cell(item: Any) -> bool:
    """Whether a value can be a conversation in a column; a message is an object without messages."""
    return type(item) is not dict or find_list(item) is not None
