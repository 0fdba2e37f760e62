"""Changes of a campaign while annotators label; what they have labeled so far stays valid."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from annotations_app.campaigns.announce import announce_assignment, announce_end, withdraw_assignment
from annotations_app.campaigns.calibration import count_round_places, start_over
from annotations_app.campaigns.members import lock_campaign, lock_members
from annotations_app.campaigns.release_assignments import release_assignments
from annotations_app.campaigns.rows import mark_sessions
from annotations_app.campaigns.settings import (
    InvalidSetting,
    get_annotators,
    require_enough_annotators,
    validate_guidelines,
    validate_lease_minutes,
    validate_overlap,
)
from annotations_app.models import Assignment, Campaign, CampaignItem, CampaignMember, LabelSchema
from datasets_app.core import audit
from datasets_app.core.errors import UserError

EDITABLE_FIELDS = ("guidelines", "annotators", "overlap", "lease_minutes", "schema", "status")
_STATUS_TRANSITIONS = {
    "preparing": {"closed"},
    "open": {"paused", "closed"},
    "paused": {"open", "closed"},
    "closed": {"open"},
}


def edit_campaign(campaign: Campaign, *, changes: Mapping[str, Any], actor: Any) -> list[str]:
    """Apply those of ``changes`` that differ from the present settings; returns their names.

    Fields: "guidelines", "annotators" (user names of all who stay or join), "overlap" (can only be raised),
    "lease_minutes", "schema" (a later version of the same) and "status" (open, paused or closed). Raises
    UserError without changing anything.
    """
    if unknown := sorted(set(changes) - set(EDITABLE_FIELDS)):
        raise UserError(f"{', '.join(unknown)} of a campaign can't be changed.")
    with transaction.atomic():
        row = lock_campaign(campaign)
        members = lock_members(row)
        done: dict[str, Any] = {}
        # Annotators first: the overlap may not exceed their number.
        if "annotators" in changes or "overlap" in changes:
            done |= _change_annotators(row, members, changes)
        for name, validate in (
            ("guidelines", validate_guidelines),
            ("lease_minutes", validate_lease_minutes),
        ):
            if name in changes and changes[name] != getattr(row, name):
                validate(changes[name])
                setattr(row, name, changes[name])
                # Not the guidelines themselves: they may quote conversations.
                done[name] = len(changes[name]) if name == "guidelines" else changes[name]
        if changes.get("schema", row.schema) != row.schema:
            done["schema"] = _change_schema(row, changes["schema"])
        if changes.get("status", row.status) != row.status:
            done["status"] = [row.status, _change_status(row, changes["status"])]
        if done:
            row.save(
                update_fields=["guidelines", "lease_minutes", "overlap", "schema", "status", "closed_at"]
            )
            if done.get("status", [""])[-1] == Campaign.Status.CLOSED:
                announce_end(row, complete=False)
            audit.record(
                "edit_campaign",
                actor=actor,
                dataset_name=row.dataset.name,
                campaign=row.name,
                fields=list(done),
                changes=done,
            )
    return list(done)


def _change_schema(row: Campaign, schema: LabelSchema | None) -> list[str]:
    """Labels keep the version they were made under."""
    known = row.schema
    if known is None or schema is None or schema.name != known.name or schema.version < known.version:
        name = known.name if known else "the built-in criterion"
        raise InvalidSetting(
            "schema", f"{row.name} asks {name}; it can only change to a later version of it."
        )
    if schema.content.asks_only_sessions and not known.content.asks_only_sessions:
        raise InvalidSetting("schema", "This version asks only of sessions; create a campaign for it.")
    row.schema = schema
    mark_sessions(row)
    return [known.full_name, schema.full_name]


def _change_status(row: Campaign, status: str) -> str:
    if status not in _STATUS_TRANSITIONS[row.status]:
        raise UserError(
            f"{row.name} is {row.get_status_display().lower()}; its status can't change to {status!r}."
        )
    row.status = status
    row.closed_at = timezone.now() if status == Campaign.Status.CLOSED else None
    return status


def _change_annotators(
    row: Campaign, members: Sequence[CampaignMember], changes: Mapping[str, Any]
) -> dict[str, Any]:
    overlap = changes.get("overlap", row.overlap)
    validate_overlap(overlap)
    if overlap < row.overlap:
        raise InvalidSetting(
            "overlap",
            f"The overlap can only be raised from {row.overlap}: replies may have as many labels already.",
        )
    present = {member.user.get_username(): member.user for member in members if member.active}
    names = list(changes.get("annotators", present))
    # Those who are members already stay, even if their account can't label any more.
    new = [name for name in names if name not in present]
    users = [user for name, user in present.items() if name in set(names)]
    users += get_annotators(new) if new else []
    if overlap > row.overlap and row.max_overlap is not None:
        raise InvalidSetting("overlap", "This campaign asks more annotators where the first differ already.")
    require_enough_annotators(overlap, len(users))
    done: dict[str, Any] = {}
    added, removed = _set_members(row, members, users)
    if added or removed:
        done["annotators"] = {"added": added, "removed": removed}
        announce_assignment(row, [user for user in users if user.get_username() in set(added)])
        if row.is_calibrating:
            count_round_places(row, len(users))
    if overlap > row.overlap:
        done["overlap"] = [row.overlap, overlap]
        _raise_overlap(row, overlap)
    return done


def _set_members(
    row: Campaign, members: Sequence[CampaignMember], users: Sequence[Any]
) -> tuple[list[str], list[str]]:
    """Make ``users`` the active members; returns the user names added and removed.

    Removed annotators keep their labels; replies leased to them are released.
    """
    keys = {user.pk for user in users}
    known = {member.user_id for member in members}
    removed = [member for member in members if member.active and member.user_id not in keys]
    returning = [member for member in members if not member.active and member.user_id in keys]
    new = [user for user in users if user.pk not in known]
    CampaignMember.objects.filter(pk__in=[member.pk for member in removed]).update(active=False)
    # Offer the gold items that were leased to them when they left once more.
    CampaignMember.objects.filter(pk__in=[member.pk for member in returning]).update(
        active=True, gold_cursor=0
    )
    CampaignMember.objects.bulk_create(CampaignMember(campaign=row, user=user) for user in new)
    if removed:
        withdraw_assignment(row, [member.user for member in removed])
        release_assignments(
            Assignment.objects.filter(
                campaign=row, state="leased", annotator__in=[member.user_id for member in removed]
            )
        )
    added = [member.user for member in returning] + new
    return [user.get_username() for user in added], [member.user.get_username() for member in removed]


def _raise_overlap(row: Campaign, overlap: int) -> None:
    """Open every reply to more annotators; those whose cursor has passed it start over."""
    if not row.is_calibrating:
        items = CampaignItem.objects.filter(campaign=row, gold=False, calibration=False)
        items.update(open=F("open") + (overlap - row.overlap))
        start_over(row)
    row.overlap = overlap
