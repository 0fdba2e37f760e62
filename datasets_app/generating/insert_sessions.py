"""Adds generated sessions to a dataset, from any writer."""

from collections.abc import Sequence

from datasets_app.catalog.rows.partitions import loading_partition
from datasets_app.catalog.rows.turn_writer import copy_sessions, copy_turns
from datasets_app.domain.conversations.records import SessionRecord
from datasets_app.domain.generation.writer import WrittenSession
from datasets_app.models import Dataset

DEFAULT_LICENSE = "Apache-2.0"
DEFAULT_SOURCE = "Generated for evaluation; no conversation of a real person."


def insert_sessions(dataset: Dataset, sessions: Sequence[WrittenSession], license_id: str) -> int:
    """Insert sessions and update the fields of ``dataset``, which the caller has locked and saves.

    Returns the number of turns.
    """
    records = (
        SessionRecord(each.planned.session_id, each.planned.persona_id, len(each.turns)) for each in sessions
    )
    with loading_partition(dataset.pk):
        keys = copy_sessions(dataset.pk, records)
        pairs = zip(keys, sessions, strict=True)
        turns = copy_turns(dataset.pk, ((key, turn) for key, each in pairs for turn in each.turns))
    dataset.session_count += len(keys)
    dataset.turn_count += turns
    dataset.status = Dataset.Status.RAW  # the new sessions have not been scrubbed
    dataset.source = dataset.source or DEFAULT_SOURCE
    dataset.license = dataset.license or license_id
    return turns
