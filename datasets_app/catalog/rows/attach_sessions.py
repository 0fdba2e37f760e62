"""Loads the sessions of rows that refer to them, from the one partition where they are."""

from collections.abc import Sequence
from typing import Any

from datasets_app.models import Session


def attach_sessions(dataset_id: int, rows: Sequence[Any]) -> None:
    """Set ``session`` of each row, None where it refers to no session. A join by the ORM would
    look for them in the partitions of all datasets."""
    keys = {row.session_id for row in rows if row.session_id is not None}
    sessions = Session.objects.filter(dataset=dataset_id).in_bulk(keys)
    for row in rows:
        row.session = sessions.get(row.session_id)
