"""A rule acts from when someone has seen what it would delete, and said so."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.models import RetentionPolicy
from datasets_app.retention.dry_run import DeletionSchedule, preview_retention, rule_details
from datasets_app.retention.rules import lock_rules


def preview_policies(policies: Sequence[RetentionPolicy]) -> DeletionSchedule:
    """What these rules would delete, now and later, if they were active."""
    keys = [policy.pk for policy in policies]
    return preview_retention(keys, only=keys)


def activate_retention(
    policies: Sequence[RetentionPolicy], *, expected_digest: str, actor: Any = None
) -> DeletionSchedule:
    """Let ``policies`` act; ``seen`` is the digest of the rehearsal on which that was decided.

    Refused if it would no longer delete what was shown then, or if a policy has been changed since.
    """
    with transaction.atomic():
        lock_rules()
        rows = list(RetentionPolicy.objects.filter(pk__in=[policy.pk for policy in policies]))
        rehearsal = preview_policies(policies)
        if len(rows) != len(policies) or rehearsal.digest != expected_digest:
            raise UserError(
                "What would be deleted is no longer what was shown; look at the new rehearsal, then decide."
            )
        for row in rows:
            if not row.active:
                _set_active(row, active=True, actor=actor, rehearsal=rehearsal)
    return rehearsal


def deactivate_retention(policies: Sequence[RetentionPolicy], *, actor: Any = None) -> None:
    """From now on these rules delete nothing."""
    with transaction.atomic():
        lock_rules()
        for row in RetentionPolicy.objects.filter(pk__in=[policy.pk for policy in policies], active=True):
            _set_active(row, active=False, actor=actor)


def find_policies(positions: Sequence[int]) -> list[RetentionPolicy]:
    """The policies at these positions, or all if none is given; Refused for one that is not there."""
    found = RetentionPolicy.objects.order_by("position")
    if not positions:
        return list(found)
    rows = list(found.filter(position__in=positions))
    if missing := sorted(set(positions) - {row.position for row in rows}):
        raise UserError(f"There is no retention policy at position {missing[0]}.")
    return rows


def _set_active(
    row: RetentionPolicy, *, active: bool, actor: Any, rehearsal: DeletionSchedule | None = None
) -> None:
    row.active, row.activated_at = active, timezone.now() if active else None
    row.save(update_fields=["active", "activated_at"])
    seen: dict[str, Any] = {}
    if rehearsal is not None:
        mine = [going for going in rehearsal.going if going.policy.pk == row.pk]
        seen = {
            "rehearsal": rehearsal.digest,
            "datasets_due_now": sum(going.when == "now" for going in mine),
            "datasets_due_later": sum(going.when == "later" for going in mine),
            "datasets_held": sum(going.when == "held" for going in mine),
        }
    audit.record(
        "activate_retention" if active else "deactivate_retention", actor=actor, **rule_details(row), **seen
    )
