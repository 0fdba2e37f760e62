"""Activates retention policies, once someone has seen what they would delete."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from datasets_app.core import audit
from datasets_app.core.audit import require_second_person
from datasets_app.core.errors import UserError
from datasets_app.models import RetentionPolicy
from datasets_app.retention.dry_run import DeletionSchedule, preview_retention, rule_details
from datasets_app.retention.rules import lock_rules


def activate_retention(
    policies: Sequence[RetentionPolicy], *, expected_digest: str, actor: Any = None
) -> DeletionSchedule:
    """Activate ``policies``; ``expected_digest`` is the digest of the preview that was confirmed.

    Raises UserError if they would now delete something else, or if a policy has changed since.
    """
    require_second_person()
    with transaction.atomic():
        lock_rules()
        rows = list(RetentionPolicy.objects.filter(pk__in=[policy.pk for policy in policies]))
        schedule = preview_retention(policies)
        if len(rows) != len(policies) or schedule.digest != expected_digest:
            raise UserError(
                "The rules would delete other data than the preview showed. Check the new preview and "
                "confirm again."
            )
        for row in rows:
            if not row.active:
                _set_active(row, active=True, actor=actor, schedule=schedule)
    return schedule


def deactivate_retention(policies: Sequence[RetentionPolicy], *, actor: Any = None) -> None:
    with transaction.atomic():
        lock_rules()
        for row in RetentionPolicy.objects.filter(pk__in=[policy.pk for policy in policies], active=True):
            _set_active(row, active=False, actor=actor)


def find_policies(positions: Sequence[int]) -> list[RetentionPolicy]:
    """The policies at these positions, or all of them. Raises UserError if one doesn't exist."""
    if not positions:
        return list(RetentionPolicy.objects.all())
    rows = list(RetentionPolicy.objects.filter(position__in=positions))
    if missing := sorted(set(positions) - {row.position for row in rows}):
        raise UserError(f"There is no retention rule at position {missing[0]}.")
    return rows


def _set_active(
    row: RetentionPolicy, *, active: bool, actor: Any, schedule: DeletionSchedule | None = None
) -> None:
    row.active, row.activated_at = active, timezone.now() if active else None
    row.save(update_fields=["active", "activated_at"])
    details = rule_details(row)
    if schedule is not None:
        whens = Counter(item.when for item in schedule.deletions if item.rule["position"] == row.position)
        details |= {
            "rehearsal": schedule.digest,
            "datasets_due_now": whens["now"],
            "datasets_due_later": whens["later"],
            "datasets_held": whens["held"],
        }
    audit.record("activate_retention" if active else "deactivate_retention", actor=actor, **details)
