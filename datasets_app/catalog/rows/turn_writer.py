"""Writes sessions and turns to PostgreSQL with COPY, in the caller's transaction."""

import re
from array import array
from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any

import msgspec

from datasets_app.catalog.rows.partitions import loading_partition, table_names
from datasets_app.core.queries import fetch_column, open_copy
from datasets_app.domain.batches import batched
from datasets_app.domain.conversations.records import SessionRecord, TurnRecord
from datasets_app.models import Dataset

_COPY_SESSIONS = """
COPY {table} (id, dataset_id, session_id, persona_id, turn_count) FROM STDIN
"""
_COPY_TURNS = """
COPY {table} (dataset_id, session_id, turn_index, role, text, tags, timestamp, metadata, extra)
FROM STDIN
"""
_RESERVE_KEYS = "SELECT nextval('datasets_app_session_key') FROM generate_series(1, %s)"
_KEY_BATCH_SIZE = 5000

_encode = msgspec.json.Encoder().encode
_POSITIVE_EXPONENT = re.compile(rb"\de\+?\d")


def add_sessions(dataset: Dataset, sessions: Sequence[Sequence[TurnRecord]]) -> Sequence[int]:
    """Write whole sessions and update the fields of ``dataset``, which the caller has locked and saves.

    Returns their primary keys.
    """
    records = (SessionRecord(turns[0].session_id, turns[0].persona_id, len(turns)) for turns in sessions)
    with loading_partition(dataset.pk):
        keys = copy_sessions(dataset.pk, records)
        pairs = zip(keys, sessions, strict=True)
        turn_count = copy_turns(dataset.pk, ((key, turn) for key, turns in pairs for turn in turns))
    dataset.session_count += len(keys)
    dataset.turn_count += turn_count
    dataset.status = Dataset.Status.RAW  # the new sessions have not been scrubbed
    return keys


def copy_sessions(dataset_id: int, sessions: Iterable[SessionRecord]) -> "array[int]":
    """Write the sessions within :func:`loading_partition`; returns their primary keys in the same order."""
    keys: array[int] = array("q")
    for chunk in batched(sessions, _KEY_BATCH_SIZE):
        reserved = fetch_column(_RESERVE_KEYS, [len(chunk)])
        with open_copy(_COPY_SESSIONS.format(table=table_names(dataset_id)[0])) as copy:
            for key, session in zip(reserved, chunk, strict=True):
                copy.write_row((key, dataset_id, session.session_id, session.persona_id, session.turn_count))
        keys.extend(reserved)
    return keys


def copy_turns(dataset_id: int, turns: Iterable[tuple[int, TurnRecord]]) -> int:
    """Write turns within :func:`loading_partition`, each with the primary key of its session; returns how
    many."""
    count = 0
    with open_copy(_COPY_TURNS.format(table=table_names(dataset_id)[1])) as copy:
        write = copy.write_row
        for session_key, turn in turns:
            write((dataset_id, session_key, turn.turn_index, turn.role, *encode_contents(turn)))
            count += 1
    return count


def encode_contents(turn: TurnRecord) -> tuple[str, str, str | None, str | None, str | None]:
    """The columns text, tags, timestamp, metadata and extra."""
    return (
        turn.text,
        encode_array(tuple(turn.tags)) if turn.tags else "{}",
        turn.timestamp,
        None if turn.metadata is None else encode_jsonb(turn.metadata),
        None if turn.extra is None else encode_jsonb(turn.extra),
    )


@lru_cache(maxsize=4096)
def encode_array(items: tuple[str, ...]) -> str:
    """An array of strings in PostgreSQL's text format."""
    quoted = ('"' + item.replace("\\", "\\\\").replace('"', '\\"') + '"' for item in items)
    return "{" + ",".join(quoted) + "}"


def encode_jsonb(value: Any) -> str:
    """JSON for a jsonb column. Expands large floats such as 1e23, which jsonb would turn into integers."""
    encoded = _encode(value)
    if b"e" in encoded and _POSITIVE_EXPONENT.search(encoded):
        encoded = _encode(_expand_floats(value))
    return encoded.decode()


def _expand_floats(value: Any) -> Any:
    if type(value) is float and abs(value) >= 1e16:
        return msgspec.Raw(f"{Decimal(repr(value)):f}.0".encode())
    if type(value) is dict:
        return {key: _expand_floats(item) for key, item in value.items()}
    if type(value) is list:
        return [_expand_floats(item) for item in value]
    return value
