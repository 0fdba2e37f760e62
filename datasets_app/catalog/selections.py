"""Sessions that somebody chose from a list, kept by primary key until something is done with them."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.utils import timezone

from datasets_app.core.errors import UserError
from datasets_app.models import Dataset, SavedView, SessionSelection

MAX_SELECTED = 1_000_000
# Jobs that use one may wait; after that it is deleted.
KEPT_FOR = timedelta(days=7)


def save_selection(dataset: Dataset, keys: Sequence[int], owner: Any) -> SessionSelection:
    """Raises UserError if there are none, or too many."""
    if not keys:
        raise UserError("No sessions are selected. Select some, or all that match.")
    if len(keys) > MAX_SELECTED:
        raise UserError(f"More than {MAX_SELECTED:,} sessions are selected. Narrow the filter.")
    SessionSelection.objects.filter(created_at__lt=timezone.now() - KEPT_FOR).delete()
    return SessionSelection.objects.create(dataset=dataset, owner=owner, keys=sorted(keys))


def read_selection(dataset: Dataset, pk: int) -> tuple[int, ...]:
    """Primary keys of sessions. Raises UserError if the selection was deleted."""
    keys = SessionSelection.objects.filter(pk=pk, dataset=dataset).values_list("keys", flat=True).first()
    if keys is None:
        raise UserError("The selected sessions are no longer known. Select them again.")
    return tuple(keys)


def delete_views_with_text(dataset: Dataset) -> int:
    """Delete saved views that name something from a conversation, such as a searched word; returns how
    many."""
    return SavedView.objects.filter(dataset=dataset, has_text=True).delete()[0]
