"""A legal hold: while it is set, no rule and nobody deletes anything of the dataset."""

from typing import Any

from django.db import transaction

from datasets_app.catalog.require_active import require_active
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.models import Dataset

MAX_REASON_CHARACTERS = 500


def normalize_reason(reason: str) -> str:
    """A reason on one line, as the audit trail keeps it. Refused if there is none, or if it is too long."""
    reason = " ".join(reason.split())
    if not reason:
        raise UserError("Give the reason; it stands in the audit trail.")
    if len(reason) > MAX_REASON_CHARACTERS:
        raise UserError(f"Give the reason in at most {MAX_REASON_CHARACTERS} characters.")
    return reason


def set_hold(dataset: Dataset, reason: str, *, actor: Any = None) -> None:
    """Nothing of the dataset may be deleted from now on. Raises Refused."""
    _change_hold(dataset, reason, held=True, actor=actor)


def lift_hold(dataset: Dataset, reason: str, *, actor: Any = None) -> None:
    """Rules decide again: what has become due meanwhile goes in the next night. Raises Refused."""
    _change_hold(dataset, reason, held=False, actor=actor)


def refuse_held(dataset: Dataset) -> None:
    """For whatever deletes; asks the database, not the object."""
    row = Dataset.objects.filter(pk=dataset.pk, legal_hold=True)
    for name, reason in row.values_list("name", "hold_reason"):
        why = f" ({reason})" if reason else ""
        raise UserError(
            f"{name} is on legal hold{why}: nothing of it may be deleted until the hold is lifted."
        )


def _change_hold(dataset: Dataset, reason: str, *, held: bool, actor: Any) -> None:
    reason = normalize_reason(reason)
    with transaction.atomic():
        row: Dataset = Dataset.objects.select_for_update(no_key=True).get(pk=dataset.pk)
        require_active(row)
        if row.legal_hold == held:
            raise UserError(f"{row.name} is {'on legal hold already' if held else 'not on legal hold'}.")
        row.legal_hold, row.hold_reason = held, reason if held else ""
        row.save(update_fields=["legal_hold", "hold_reason", "updated_at"])
        audit.record("hold" if held else "lift_hold", actor=actor, dataset_name=row.name, reason=reason)
    dataset.legal_hold, dataset.hold_reason = row.legal_hold, row.hold_reason
