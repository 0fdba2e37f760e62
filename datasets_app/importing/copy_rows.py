"""Copies the sessions of a file to the dataset's partition, in the transaction of the import."""

from array import array
from collections.abc import Iterator
from itertools import chain

from datasets_app.catalog.rows.partitions import loading_partition
from datasets_app.catalog.rows.turn_writer import copy_sessions, copy_turns
from datasets_app.domain.conversations.records import LineError, SessionRecord, TurnRecord
from datasets_app.models import Dataset


def copy_rows(
    dataset: Dataset,
    sessions: Iterator[SessionRecord],
    records: Iterator[TurnRecord | LineError],
    excluded: set[str],
) -> tuple["array[int]", int]:
    """The primary keys of the added sessions, and the number of their turns."""
    first = next(sessions, None)
    if first is None:
        return array("q"), 0
    with loading_partition(dataset.pk):
        keys = copy_sessions(dataset.pk, chain([first], sessions))
        return keys, copy_turns(dataset.pk, _attach_session_keys(records, keys, excluded))


def _attach_session_keys(
    records: Iterator[TurnRecord | LineError], keys: "array[int]", left_out: set[str]
) -> Iterator[tuple[int, TurnRecord]]:
    """Each turn with the primary key of its session; sessions come in the order of ``keys``."""
    following = iter(keys)
    session_id: str | None = None
    key: int | None = None
    for record in records:
        if type(record) is not TurnRecord:
            continue
        if record.session_id != session_id:
            session_id = record.session_id
            key = None if session_id in left_out else next(following, None)
        if key is not None:
            yield key, record
