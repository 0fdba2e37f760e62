"""Legal holds, which prevent all deletion in a dataset."""

from typing import Any

from django.db import transaction

from datasets_app.catalog import gates
from datasets_app.catalog.facts import lock_dataset
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.domain import wording
from datasets_app.domain.wording import MAX_REASON_CHARACTERS
from datasets_app.models import Dataset


def normalize_reason(reason: str) -> str:
    """The reason on one line, for the audit log. Raises UserError if it is empty or too long."""
    reason = wording.normalize_reason(reason)
    if not reason:
        raise UserError("Give a reason; the audit log records it.")
    if len(reason) > MAX_REASON_CHARACTERS:
        raise UserError(f"Shorten the reason to at most {MAX_REASON_CHARACTERS} characters.")
    return reason


def change_hold(dataset: Dataset, reason: str, *, held: bool, actor: Any = None) -> None:
    """Prevent all deletion in the dataset, or let retention policies apply again: if it is due by then, the
    next night deletes it. Raises UserError."""
    reason = normalize_reason(reason)
    with transaction.atomic():
        row = lock_dataset(dataset.pk)
        gates.check_can_use(row)
        if row.legal_hold == held:
            raise UserError(f"{row.name} is {'already' if held else 'not'} on legal hold.")
        row.legal_hold, row.hold_reason = held, reason if held else ""
        row.save(update_fields=["legal_hold", "hold_reason", "updated_at"])
        audit.record("hold" if held else "lift_hold", actor=actor, dataset_name=row.name, reason=reason)
    dataset.legal_hold, dataset.hold_reason = row.legal_hold, row.hold_reason
