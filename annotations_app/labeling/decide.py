"""What an annotator has pressed becomes a decision: one for each key, however often it is sent.

One decision, one transaction: see storage/leases.py.
"""

from datetime import timedelta
from typing import Any, NamedTuple
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from annotations_app.domain.submission import HOLDING, NotValid, Pressed, checked
from annotations_app.labeling.keep_label import keep_label
from annotations_app.models import Annotation, Assignment, Campaign, CampaignItem, CampaignMember, Decision
from datasets_app.core.errors import Refused

_KEY_TAKEN = "This key belongs to another decision; make a new one."


class Outcome(NamedTuple):
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
) -> Outcome:
    """Decide on a reply in ``user``'s hands, or decide anew: ``kind`` is label, skip, flag or undo.

    ``key`` is made where it was pressed; sent again it changes nothing. ``notes`` is the note, or the
    reason of a flag; ``seconds`` the time on task; ``shown`` the digest of the persona that stood beside
    it, unless that is the one the lease says. Raises Refused.
    """
    try:
        with transaction.atomic():
            member = _locked_member(assignment_pk, user)
            try:
                pressed = checked(
                    key,
                    kind,
                    label=label,
                    notes=notes,
                    confidence=confidence,
                    seconds=seconds,
                    longest=60.0 * member.campaign.lease_minutes,
                )
            except NotValid as error:
                raise Refused(str(error)) from None
            known = _known(pressed.key, assignment_pk, member)
            return known or _decide(assignment_pk, member, pressed, shown)
    except IntegrityError:
        # The same key at the same moment, from another annotator.
        if Decision.objects.filter(key=str(key)).exists():
            raise Refused(_KEY_TAKEN) from None
        raise


def _locked_member(assignment_pk: int, user: Any) -> CampaignMember:
    found: CampaignMember | None = (
        CampaignMember.objects.select_related("campaign__persona", "user")
        .select_for_update(of=("self",), no_key=True)
        .filter(user=user, campaign__assignments__pk=assignment_pk, campaign__assignments__annotator=user)
        .first()
    )
    if found is None:
        raise Refused("This reply was not given to you.")
    return found


def _known(key: UUID, assignment_pk: int, member: CampaignMember) -> Outcome | None:
    decision = Decision.objects.select_related("assignment").filter(key=key).first()
    if decision is None:
        return None
    if decision.assignment_id != assignment_pk or decision.assignment.annotator_id != member.user_id:
        raise Refused(_KEY_TAKEN)
    return Outcome(decision.assignment, "known")


def _decide(assignment_pk: int, member: CampaignMember, pressed: Pressed, shown: str) -> Outcome:
    assignment: Assignment = (
        Assignment.objects.select_related("item", "annotation")
        .select_for_update(of=("self", "item"), no_key=True)
        .get(pk=assignment_pk)
    )
    counts = _has_a_place(assignment, member, pressed)
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
        _carry_out(assignment, member, pressed)
    elif assignment.state == Assignment.State.RELEASED:
        # Shown among the last decisions, as one that came late.
        assignment.decided_at = timezone.now()
        assignment.save(update_fields=["decided_at"])
    return Outcome(assignment, "counted" if counts else "late")


def _has_a_place(assignment: Assignment, member: CampaignMember, pressed: Pressed) -> bool:
    """Whether the decision can stand; Refused if there is nothing, or no way, to take back."""
    undo = pressed.kind == "undo"
    over = member.campaign.status == Campaign.Status.CLOSED or not member.active
    if undo and over:
        raise Refused("The campaign is closed for you; nothing can be taken back any more.")
    if undo and assignment.decided_at is None:
        raise Refused("There is nothing to take back: this reply is not decided.")
    if over:
        return False
    if pressed.becomes not in HOLDING or not _needs_a_place(assignment) or assignment.state in HOLDING:
        return True
    if undo and not assignment.item.open:
        raise Refused("Others have this reply by now; it can't be taken back.")
    return assignment.item.open > 0


def _needs_a_place(assignment: Assignment) -> bool:
    return not assignment.repeat and not assignment.item.gold


def _carry_out(assignment: Assignment, member: CampaignMember, pressed: Pressed) -> None:
    before, now = assignment.state, timezone.now()
    if _needs_a_place(assignment):
        _move_place(assignment.item, before in HOLDING, pressed.becomes in HOLDING)
    replaced = keep_label(assignment, member, pressed, now)
    assignment.state = pressed.becomes
    if pressed.kind == "undo":
        assignment.decided_at = None
        assignment.leased_until = now + timedelta(minutes=member.campaign.lease_minutes)
    elif assignment.decided_at is None or before == Assignment.State.RELEASED:
        # Deciding anew keeps its place among the last decisions.
        assignment.decided_at = now
    assignment.save(update_fields=["state", "decided_at", "leased_until", "annotation", "persona_digest"])
    if replaced is not None:
        Annotation.objects.filter(pk=replaced).delete()
    _count(assignment, member, before)


def _move_place(item: CampaignItem, held: bool, holds: bool) -> None:
    if held == holds:
        return
    row = CampaignItem.objects.filter(pk=item.pk)
    if holds:
        row.update(open=F("open") - 1)
    else:
        row.update(open=F("open") + 1, returned_at=timezone.now())


def _count(assignment: Assignment, member: CampaignMember, before: str) -> None:
    """What the member has done, kept beside: nobody counts rows to show it."""
    was, is_now = _counter(assignment, before), _counter(assignment, assignment.state)
    if was == is_now:
        return
    changes = {name: F(name) + step for name, step in ((was, -1), (is_now, 1)) if name}
    CampaignMember.objects.filter(pk=member.pk).update(**changes)


def _counter(assignment: Assignment, state: str) -> str:
    if state == Assignment.State.LABELLED:
        return "repeated" if assignment.repeat else "gold_labelled" if assignment.item.gold else "labelled"
    return {"skipped": "skipped", "flagged": "flagged"}.get(state, "")
