"""Records an annotator's decision: once for each key, however often it is sent.

One decision, one transaction: see leases.py.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from annotations_app.campaigns.members import lock_member
from annotations_app.domain.evidence import read_evidence
from annotations_app.domain.submission import (
    HOLDING_STATES,
    InvalidSubmission,
    Submission,
    validate_submission,
)
from annotations_app.labeling.extra_places import open_if_different
from annotations_app.labeling.judgments import Shown, describe_decision, sync_judgment, withdraw_replaced
from annotations_app.labeling.reveal import find_codes
from annotations_app.models import (
    Annotation,
    Assignment,
    Campaign,
    CampaignItem,
    CampaignMember,
    Decision,
    LabelSchema,
)
from datasets_app.catalog.written_text import find_written
from datasets_app.core.errors import UserError
from datasets_app.domain.labels.schema import Schema

_DUPLICATE_KEY = gettext_noop(
    "This decision's key belongs to another decision. Send it again with a new key."
)
_PERSONAL_DATA = gettext_noop(
    "Your last decision wasn't saved: the note looks like personal data (%(kinds)s). Decide again, with a "
    "note without it."
)


class DecisionOutcome(NamedTuple):
    """``what``: "counted"; "known" if the key had come before; or "late": kept in the history only, because
    others fill the reply's overlap or the campaign is closed."""

    assignment: Assignment
    what: str


def decide(
    assignment_pk: int,
    user: Any,
    *,
    key: UUID | str,
    kind: str,
    label: int | None = None,
    answers: Mapping[str, Any] | None = None,
    notes: str | None = "",
    confidence: float | None = None,
    seconds: float | None = None,
    shown: str = "",
    guidelines: str | None = None,
    schema: LabelSchema | None = None,
    evidence: Mapping[str, Any] | None = None,
) -> DecisionOutcome:
    """Decide on a reply leased to ``user``, or change its decision: ``kind`` is label, skip, flag or undo.

    A decision sent again with the same ``key`` changes nothing. Under a schema, a label has ``answers`` by
    criterion, as files have them; ``evidence`` are words of the reply. ``notes`` may be the reason of a flag;
    ``shown`` and ``guidelines`` are digests, ``schema`` the version on the page. Raises UserError.
    """
    try:
        with transaction.atomic():
            member = _lock_member(assignment_pk, user)
            page = _describe_page(member.campaign, shown, guidelines, schema)
            try:
                submission = validate_submission(
                    key,
                    kind,
                    label=label,
                    answers=answers,
                    schema=page.content,
                    with_session=_asks_session(assignment_pk, page.content),
                    notes=notes,
                    confidence=confidence,
                    seconds=seconds,
                    max_seconds=60.0 * member.campaign.lease_minutes,
                )
            except InvalidSubmission as error:
                raise UserError(gettext(str(error))) from None
            if known := _find_known_decision(submission.key, assignment_pk, member):
                return known
            _check_notes(member, submission)
            submission = _add_evidence(assignment_pk, member, submission, evidence)
            return _save_decision(assignment_pk, member, submission, page)
    except IntegrityError:  # the same key at the same moment, from another annotator
        if Decision.objects.filter(key=str(key)).exists():
            raise UserError(gettext(_DUPLICATE_KEY)) from None
        raise


def _describe_page(
    campaign: Campaign, persona: str, guidelines: str | None, schema: LabelSchema | None
) -> Shown:
    """What the page showed; what it doesn't say is as it is now."""
    return Shown(
        persona, campaign.guidelines_digest if guidelines is None else guidelines, schema or campaign.schema
    )


def _asks_session(assignment_pk: int, schema: Schema | None) -> bool:
    """Whether the questions about the session are asked with this reply."""
    asks = schema is not None and schema.asks_sessions
    return asks and CampaignItem.objects.filter(assignments=assignment_pk, asks_session=True).exists()


def _lock_member(assignment_pk: int, user: Any) -> CampaignMember:
    own = {"campaign__assignments__pk": assignment_pk, "campaign__assignments__annotator": user}
    member = lock_member(user, **own)
    if member is None:
        raise UserError(gettext("This reply is not assigned to you."))
    return member


def _add_evidence(
    assignment_pk: int, member: CampaignMember, submission: Submission, said: Mapping[str, Any] | None
) -> Submission:
    """With the marked words of a label, checked against the text; without any, nothing is read."""
    if submission.kind != "label" or not said:
        return submission
    reply = Assignment.objects.filter(item__turn__dataset=member.campaign.dataset_id, pk=assignment_pk)
    text = reply.values_list("item__turn__text", flat=True).get()
    try:
        return submission._replace(evidence=read_evidence(said, text))
    except InvalidSubmission as error:
        raise UserError(gettext(str(error))) from None


def _find_known_decision(key: UUID, assignment_pk: int, member: CampaignMember) -> DecisionOutcome | None:
    decision = Decision.objects.select_related("assignment").filter(key=key).first()
    if decision is None:
        return None
    if decision.assignment_id != assignment_pk or decision.assignment.annotator_id != member.user_id:
        raise UserError(gettext(_DUPLICATE_KEY))
    return DecisionOutcome(decision.assignment, "known")


def _check_notes(member: CampaignMember, submission: Submission) -> None:
    """Refuse a note or a text with what a scrub of the dataset would replace. Most decisions have none."""
    written = {"note": submission.notes, "answers": list((submission.texts or {}).values())}
    if found := find_written(member.campaign.dataset, written):
        kinds = sorted({kind for values in found.values() for kind in values})
        raise UserError(gettext(_PERSONAL_DATA) % {"kinds": ", ".join(kinds)})


def _save_decision(
    assignment_pk: int, member: CampaignMember, submission: Submission, shown: Shown
) -> DecisionOutcome:
    judged = ["judgment"] if member.campaign.schema_id else []
    assignment: Assignment = (
        Assignment.objects.select_related("item", "annotation", *judged)
        .select_for_update(of=("self", "item"), no_key=True)
        .get(pk=assignment_pk)
    )
    counts = _can_count(assignment, member, submission)
    if submission.kind != "undo" and (shown.persona or assignment.decided_at is not None):
        # A decision made offline may be older than the lease's last renewal; a reply opened again is shown
        # with the current persona.
        assignment.persona_digest = shown.persona or member.campaign.persona.digest
    Decision.objects.create(
        assignment=assignment,
        persona_digest=assignment.persona_digest,
        counted=counts,
        revealed=_find_revealed(assignment, member, submission) if counts else None,
        **{name: value for name, value in submission._asdict().items() if name != "evidence"},
    )
    if counts:
        _apply_submission(assignment, member, submission, shown)
    elif assignment.state == Assignment.State.RELEASED:
        # List it among the last decisions, as one that came late.
        assignment.decided_at = timezone.now()
        assignment.save(update_fields=["decided_at"])
    return DecisionOutcome(assignment, "counted" if counts else "late")


def _find_revealed(assignment: Assignment, member: CampaignMember, submission: Submission) -> Any:
    """What a judge says, which the annotator gets to know now."""
    if submission.kind != "label":
        return None
    return find_codes(member.campaign, assignment.item.turn_id)


def _can_count(assignment: Assignment, member: CampaignMember, submission: Submission) -> bool:
    """Whether the decision stands. Raises UserError if there is nothing to undo, or no way to."""
    undo = submission.kind == "undo"
    is_over = member.campaign.status == Campaign.Status.CLOSED or not member.active
    if undo and is_over:
        raise UserError(gettext("The campaign is closed for you, so you can't undo decisions."))
    if undo and assignment.decided_at is None:
        raise UserError(gettext("Nothing to undo: this reply has no decision."))
    if is_over:
        return False
    needs_place = submission.next_state in HOLDING_STATES and assignment.state not in HOLDING_STATES
    if not needs_place or not _takes_a_place(assignment):
        return True
    if undo and not assignment.item.open:
        raise UserError(gettext("This reply was already reassigned, so you can't undo the decision."))
    return assignment.item.open > 0


def _takes_a_place(assignment: Assignment) -> bool:
    return not assignment.repeat and not assignment.item.gold


def _apply_submission(
    assignment: Assignment, member: CampaignMember, submission: Submission, shown: Shown
) -> None:
    before, now = assignment.state, timezone.now()
    if _takes_a_place(assignment):
        _update_open_places(
            assignment.item, before in HOLDING_STATES, submission.next_state in HOLDING_STATES
        )
    removed = None
    if member.campaign.schema_id is None:
        removed = _sync_annotation(assignment, member, submission, shown, now)
    else:
        sync_judgment(assignment, member, submission, shown, now)
    assignment.state = submission.next_state
    if submission.kind == "undo":
        assignment.decided_at = None
        assignment.leased_until = now + timedelta(minutes=member.campaign.lease_minutes)
    elif assignment.decided_at is None or before == Assignment.State.RELEASED:
        # A changed decision keeps its place among the last decisions.
        assignment.decided_at = now
    assignment.save(update_fields=["state", "decided_at", "leased_until", "annotation", "persona_digest"])
    if removed is not None:
        Annotation.objects.filter(pk=removed).delete()
    _update_counters(assignment, member, before)
    if submission.kind == "label" and _takes_a_place(assignment):
        if member.campaign.schema_id is not None:
            withdraw_replaced(assignment.item)
        open_if_different(assignment, member.campaign)


def _sync_annotation(
    assignment: Assignment, member: CampaignMember, submission: Submission, shown: Shown, now: datetime
) -> int | None:
    """Create, change or detach the assignment's annotation to match the decision; the caller saves the
    assignment. Returns the key of a detached annotation, to be deleted after that."""
    if submission.kind != "label":
        removed, assignment.annotation = assignment.annotation_id, None
        return removed
    values = {
        "label": submission.label,
        "annotator": member.user.get_username(),
        **describe_decision(assignment, submission, shown, now),
    }
    if assignment.annotation_id is not None:
        Annotation.objects.filter(pk=assignment.annotation_id).update(**values)
        return None
    assignment.annotation = Annotation.objects.create(
        dataset_id=member.campaign.dataset_id,
        turn_id=assignment.item.turn_id,
        campaign_id=member.campaign_id,
        kind=Annotation.Kind.REPEAT if assignment.repeat else Annotation.Kind.LABEL,
        persona_id=member.campaign.persona.persona_id,
        **values,
    )
    return None


def _update_open_places(item: CampaignItem, held_before: bool, holds_now: bool) -> None:
    if held_before == holds_now:
        return
    row = CampaignItem.objects.filter(pk=item.pk)
    if holds_now:
        row.update(open=F("open") - 1)
    else:
        row.update(open=F("open") + 1, returned_at=timezone.now())


def _update_counters(assignment: Assignment, member: CampaignMember, previous_state: str) -> None:
    """Keep the member's counters, so that no page has to count rows."""
    was, is_now = _counter_field(assignment, previous_state), _counter_field(assignment, assignment.state)
    if was == is_now:
        return
    changes = {name: F(name) + step for name, step in ((was, -1), (is_now, 1)) if name}
    CampaignMember.objects.filter(pk=member.pk).update(**changes)


def _counter_field(assignment: Assignment, state: str) -> str:
    if state == Assignment.State.LABELLED:
        return "repeated" if assignment.repeat else "gold_labelled" if assignment.item.gold else "labelled"
    return {"skipped": "skipped", "flagged": "flagged"}.get(state, "")
