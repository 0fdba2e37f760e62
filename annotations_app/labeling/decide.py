"""What an annotator has pressed becomes a decision: one for each key, however often it is sent.

One decision, one transaction: see storage/leases.py.
"""

from datetime import timedelta
from typing import Any, NamedTuple
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from annotations_app.domain.submission import (
    HOLDING_STATES,
    InvalidSubmission,
    Submission,
    validate_submission,
)
from annotations_app.labeling.keep_label import sync_annotation
from annotations_app.models import Annotation, Assignment, Campaign, CampaignItem, CampaignMember, Decision
from datasets_app.core.errors import UserError

_DUPLICATE_KEY = "This key belongs to another decision; make a new one."


class DecisionOutcome(NamedTuple):
    """``what``: "counted"; "known", it had come before; or "late": kept in the history, but others fill the
    reply's overlap, or the campaign is closed."""

    assignment: Assignment
    what: str


def decide(
    assignment_pk: int,
    user: Any,
    *,
    key: UUID | str,
    kind: str,
    label: int | None = None,
    notes: str | None = "",
    confidence: float | None = None,
    seconds: float | None = None,
    shown: str = "",
) -> DecisionOutcome:
    """Decide on a reply in ``user``'s hands, or decide anew: ``kind`` is label, skip, flag or undo.

    ``key`` is made where it was pressed; sent again it changes nothing. ``notes`` is the note, or the
    reason of a flag; ``seconds`` the time on task; ``shown`` the digest of the persona that stood beside
    it, unless that is the one the lease says. Raises Refused.
    """
    try:
        with transaction.atomic():
            member = _lock_member(assignment_pk, user)
            try:
                pressed = validate_submission(
                    key,
                    kind,
                    label=label,
                    notes=notes,
                    confidence=confidence,
                    seconds=seconds,
                    max_seconds=60.0 * member.campaign.lease_minutes,
                )
            except InvalidSubmission as error:
                raise UserError(str(error)) from None
            known = _find_known_decision(pressed.key, assignment_pk, member)
            return known or _save_decision(assignment_pk, member, pressed, shown)
    except IntegrityError:
        # The same key at the same moment, from another annotator.
        if Decision.objects.filter(key=str(key)).exists():
            raise UserError(_DUPLICATE_KEY) from None
        raise


def _lock_member(assignment_pk: int, user: Any) -> CampaignMember:
    found: CampaignMember | None = (
        CampaignMember.objects.select_related("campaign__persona", "user")
        .select_for_update(of=("self",), no_key=True)
        .filter(user=user, campaign__assignments__pk=assignment_pk, campaign__assignments__annotator=user)
        .first()
    )
    if found is None:
        raise UserError("This reply was not given to you.")
    return found


def _find_known_decision(key: UUID, assignment_pk: int, member: CampaignMember) -> DecisionOutcome | None:
    decision = Decision.objects.select_related("assignment").filter(key=key).first()
    if decision is None:
        return None
    if decision.assignment_id != assignment_pk or decision.assignment.annotator_id != member.user_id:
        raise UserError(_DUPLICATE_KEY)
    return DecisionOutcome(decision.assignment, "known")


def _save_decision(
    assignment_pk: int, member: CampaignMember, pressed: Submission, shown: str
) -> DecisionOutcome:
    assignment: Assignment = (
        Assignment.objects.select_related("item", "annotation")
        .select_for_update(of=("self", "item"), no_key=True)
        .get(pk=assignment_pk)
    )
    counts = _can_count(assignment, member, pressed)
    if pressed.kind != "undo" and (shown or assignment.decided_at is not None):
        # Pressed while offline it may be of an earlier persona than the lease, which was renewed since;
        # opened again, it stood beside the persona as it is now.
        assignment.persona_digest = shown or member.campaign.persona.digest
    Decision.objects.create(
        assignment=assignment,
        key=pressed.key,
        kind=pressed.kind,
        label=pressed.label,
        notes=pressed.notes,
        confidence=pressed.confidence,
        seconds=pressed.seconds,
        persona_digest=assignment.persona_digest,
        counted=counts,
    )
    if counts:
        _apply_submission(assignment, member, pressed)
    elif assignment.state == Assignment.State.RELEASED:
        # Shown among the last decisions, as one that came late.
        assignment.decided_at = timezone.now()
        assignment.save(update_fields=["decided_at"])
    return DecisionOutcome(assignment, "counted" if counts else "late")


def _can_count(assignment: Assignment, member: CampaignMember, pressed: Submission) -> bool:
    """Whether the decision can stand; Refused if there is nothing, or no way, to take back."""
    undo = pressed.kind == "undo"
    over = member.campaign.status == Campaign.Status.CLOSED or not member.active
    if undo and over:
        raise UserError("The campaign is closed for you; nothing can be taken back any more.")
    if undo and assignment.decided_at is None:
        raise UserError("There is nothing to take back: this reply is not decided.")
    if over:
        return False
    if (
        pressed.next_state not in HOLDING_STATES
        or not _takes_a_place(assignment)
        or assignment.state in HOLDING_STATES
    ):
        return True
    if undo and not assignment.item.open:
        raise UserError("Others have this reply by now; it can't be taken back.")
    return assignment.item.open > 0


def _takes_a_place(assignment: Assignment) -> bool:
    return not assignment.repeat and not assignment.item.gold


def _apply_submission(assignment: Assignment, member: CampaignMember, pressed: Submission) -> None:
    before, now = assignment.state, timezone.now()
    if _takes_a_place(assignment):
        _update_open_places(assignment.item, before in HOLDING_STATES, pressed.next_state in HOLDING_STATES)
    replaced = sync_annotation(assignment, member, pressed, now)
    assignment.state = pressed.next_state
    if pressed.kind == "undo":
        assignment.decided_at = None
        assignment.leased_until = now + timedelta(minutes=member.campaign.lease_minutes)
    elif assignment.decided_at is None or before == Assignment.State.RELEASED:
        # Deciding anew keeps its place among the last decisions.
        assignment.decided_at = now
    assignment.save(update_fields=["state", "decided_at", "leased_until", "annotation", "persona_digest"])
    if replaced is not None:
        Annotation.objects.filter(pk=replaced).delete()
    _update_counters(assignment, member, before)


def _update_open_places(item: CampaignItem, held_before: bool, holds_now: bool) -> None:
    if held_before == holds_now:
        return
    row = CampaignItem.objects.filter(pk=item.pk)
    if holds_now:
        row.update(open=F("open") - 1)
    else:
        row.update(open=F("open") + 1, returned_at=timezone.now())


def _update_counters(assignment: Assignment, member: CampaignMember, previous_state: str) -> None:
    """What the member has done, kept beside: nobody counts rows to show it."""
    was, is_now = _counter_field(assignment, previous_state), _counter_field(assignment, assignment.state)
    if was == is_now:
        return
    changes = {name: F(name) + step for name, step in ((was, -1), (is_now, 1)) if name}
    CampaignMember.objects.filter(pk=member.pk).update(**changes)


def _counter_field(assignment: Assignment, state: str) -> str:
    if state == Assignment.State.LABELLED:
        return "repeated" if assignment.repeat else "gold_labelled" if assignment.item.gold else "labelled"
    return {"skipped": "skipped", "flagged": "flagged"}.get(state, "")
