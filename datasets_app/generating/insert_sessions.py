"""Adds generated sessions to a dataset, from any writer."""

from collections.abc import Sequence

from datasets_app.catalog.rows.turn_writer import add_sessions
from datasets_app.domain.generation.writer import WrittenSession
from datasets_app.models import Dataset

DEFAULT_LICENSE = "Apache-2.0"
DEFAULT_SOURCE = "Generated for evaluation; no conversation of a real person."


def insert_sessions(dataset: Dataset, sessions: Sequence[WrittenSession], license_id: str) -> int:
    """Insert sessions and update the fields of ``dataset``, which the caller has locked and saves.

    Returns the number of turns.
    """
    before = dataset.turn_count
    add_sessions(dataset, [each.turns for each in sessions])
    dataset.source = dataset.source or DEFAULT_SOURCE
    dataset.license = dataset.license or license_id
    return dataset.turn_count - before
