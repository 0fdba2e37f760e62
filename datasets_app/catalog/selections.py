"""Sessions or turns that somebody chose from a list, by primary key, until something is done with them."""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

from django.utils import timezone

from datasets_app.core.errors import UserError
from datasets_app.models import Dataset, SessionSelection

MAX_SELECTED = 1_000_000
# Jobs that use one may wait; after that it is deleted.
KEPT_FOR = timedelta(days=7)


def save_selection(
    dataset: Dataset, keys: Iterable[int], owner: Any, *, turns: Sequence[int] | None = None
) -> SessionSelection:
    """Primary keys of sessions and, if single turns of them are selected, of those. Raises UserError if there
    are none, or too many."""
    keys, what = sorted(set(keys)), "sessions" if turns is None else "turns"
    if not keys:
        raise UserError(f"No {what} are selected. Select some, or all that match.")
    if len(keys if turns is None else turns) > MAX_SELECTED:
        raise UserError(f"More than {MAX_SELECTED:,} {what} are selected. Narrow the filter.")
    SessionSelection.objects.filter(created_at__lt=timezone.now() - KEPT_FOR).delete()
    return SessionSelection.objects.create(
        dataset=dataset, owner=owner, keys=keys, turns=None if turns is None else sorted(turns)
    )


def read_selection(dataset: Dataset, pk: int) -> tuple[tuple[int, ...], tuple[int, ...] | None]:
    """Primary keys of sessions, and of turns if only those are selected. Raises UserError if the selection
    was deleted."""
    found = SessionSelection.objects.filter(pk=pk, dataset=dataset).first()
    if found is None:
        raise UserError("What was selected is no longer known. Select it again.")
    return tuple(found.keys), None if found.turns is None else tuple(found.turns)
