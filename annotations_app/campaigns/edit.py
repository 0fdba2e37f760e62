"""What of a campaign may change while people label: nothing of what was asked of them so far."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from annotations_app.campaigns import validation
from annotations_app.campaigns.members import lock_members
from annotations_app.campaigns.release_assignments import release_assignments
from annotations_app.models import Assignment, Campaign, CampaignItem, CampaignMember
from datasets_app.core import audit
from datasets_app.core.errors import UserError

EDITABLE_FIELDS = ("guidelines", "annotators", "overlap", "lease_minutes", "status")
_STATUS_TRANSITIONS = {
    "preparing": {"closed"},
    "open": {"paused", "closed"},
    "paused": {"open", "closed"},
    "closed": {"open"},
}


def edit_campaign(campaign: Campaign, *, changes: Mapping[str, Any], actor: Any) -> list[str]:
    """Carry out those of ``changes`` that change anything; returns their names.

    They are "guidelines", "annotators" (user names: all there are to be), "overlap" (it can only be
    raised), "lease_minutes" and "status" (open, paused or closed). Raises Refused; then nothing is changed.
    """
    if unknown := sorted(set(changes) - set(EDITABLE_FIELDS)):
        raise UserError(f"{', '.join(unknown)} of a campaign can't be changed.")
    with transaction.atomic():
        row = (
            Campaign.objects.select_related("dataset")
            .select_for_update(of=("self",), no_key=True)
            .get(pk=campaign.pk)
        )
        members = lock_members(row)
        done: dict[str, Any] = {}
        # First of all: who is there decides what the overlap may be.
        if "annotators" in changes or "overlap" in changes:
            done |= _change_annotators(row, members, changes)
        for name, check in (
            ("guidelines", validation.validate_guidelines),
            ("lease_minutes", _validate_lease_minutes),
        ):
            if name in changes and changes[name] != getattr(row, name):
                check(changes[name])
                setattr(row, name, changes[name])
                # Not the text itself: it may quote conversations.
                done[name] = len(changes[name]) if name == "guidelines" else changes[name]
        if changes.get("status", row.status) != row.status:
            done["status"] = [row.status, _change_status(row, changes["status"])]
        if done:
            row.save(update_fields=["guidelines", "lease_minutes", "overlap", "status", "closed_at"])
            audit.record(
                "edit_campaign",
                actor=actor,
                dataset_name=row.dataset.name,
                campaign=row.name,
                fields=list(done),
                changes=done,
            )
    return list(done)


def _validate_lease_minutes(minutes: int) -> None:
    validation.validate_lease_minutes(minutes)


def _change_status(row: Campaign, status: str) -> str:
    if status not in _STATUS_TRANSITIONS[row.status]:
        raise UserError(f"{row.name} is {row.get_status_display().lower()}; it can't be {status!r} now.")
    row.status = status
    row.closed_at = timezone.now() if status == Campaign.Status.CLOSED else None
    return status


def _change_annotators(
    row: Campaign, members: Sequence[CampaignMember], changes: Mapping[str, Any]
) -> dict[str, Any]:
    overlap = changes.get("overlap", row.overlap)
    validation.validate_overlap(overlap)
    if overlap < row.overlap:
        raise UserError(
            f"The overlap can only be raised from {row.overlap}: there may be as many labels already."
        )
    present = [member.user.get_username() for member in members if member.active]
    names = list(changes.get("annotators", present))
    users = _resolve_annotators(members, names, overlap)
    done: dict[str, Any] = {}
    added, removed = _set_members(row, members, users)
    if added or removed:
        done["annotators"] = {"added": added, "removed": removed}
    if overlap > row.overlap:
        done["overlap"] = [row.overlap, overlap]
        _raise_overlap(row, overlap)
    return done


def _resolve_annotators(members: Sequence[CampaignMember], names: Sequence[str], overlap: int) -> list[Any]:
    """Who is there already stays, whatever has become of their account."""
    standing = {member.user.get_username(): member.user for member in members if member.active}
    new = [name for name in names if name not in standing]
    users = validation.get_annotators(new, overlap=1) if new else []
    chosen = [user for name, user in standing.items() if name in set(names)] + users
    if len(chosen) < overlap:
        raise UserError(
            f"{overlap} annotators label each reply, so there must be at least as many, not {len(chosen)}."
        )
    return chosen


def _set_members(
    row: Campaign, members: Sequence[CampaignMember], users: Sequence[Any]
) -> tuple[list[str], list[str]]:
    """(user names that came, that went). Who goes keeps their labels; what they hold is given back."""
    wanted = {user.pk: user for user in users}
    known = {member.user_id: member for member in members}
    gone = [member for member in members if member.active and member.user_id not in wanted]
    back = [member for member in members if not member.active and member.user_id in wanted]
    new = [user for pk, user in wanted.items() if pk not in known]
    CampaignMember.objects.filter(pk__in=[member.pk for member in gone]).update(active=False)
    CampaignMember.objects.filter(pk__in=[member.pk for member in back]).update(
        active=True,
        # A gold item that they held when they went is given anew.
        gold_cursor=0,
    )
    CampaignMember.objects.bulk_create(CampaignMember(campaign=row, user=user) for user in new)
    if gone:
        release_assignments(
            Assignment.objects.filter(
                campaign=row, state="leased", annotator__in=[member.user_id for member in gone]
            )
        )
    names = [member.user.get_username() for member in back] + [user.get_username() for user in new]
    return names, [member.user.get_username() for member in gone]


def _raise_overlap(row: Campaign, overlap: int) -> None:
    """Every reply may go to more people; those who have passed it by look again from the beginning."""
    CampaignItem.objects.filter(campaign=row, gold=False).update(open=F("open") + (overlap - row.overlap))
    CampaignMember.objects.filter(campaign=row).update(cursor=0, returned_seen=None, session=None)
    row.overlap = overlap
