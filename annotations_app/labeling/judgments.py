"""The answers of a decision under a campaign's schema, stored and taken back with it."""

from datetime import datetime
from typing import Any, NamedTuple

from django.utils.translation import gettext

from annotations_app.domain.submission import Submission
from annotations_app.models import (
    Assignment,
    Campaign,
    CampaignItem,
    CampaignMember,
    Decision,
    Judgment,
    LabelSchema,
    Rater,
)
from annotations_app.models.querysets import find_version, split_version
from datasets_app.core.errors import UserError
from datasets_app.core.queries import execute
from datasets_app.domain.labels.schema import Schema, decode_answers

# As many may wait as places are free or leased for the first time; those of active annotators first.
_WITHDRAW_REPLACED_SQL = """
UPDATE annotations_app_judgment SET kind = 'withdrawn', assignment_id = NULL WHERE id IN (
    SELECT j.id FROM annotations_app_assignment a
    JOIN annotations_app_judgment j ON j.assignment_id = a.id
    JOIN annotations_app_campaignmember m ON m.campaign_id = a.campaign_id AND m.user_id = a.annotator_id
    WHERE a.item_id = %(item)s AND a.state = 'released' AND NOT a.repeat
    ORDER BY m.active DESC, j.id DESC
    OFFSET (SELECT i.open + (
        SELECT count(*) FROM annotations_app_assignment o
        LEFT JOIN annotations_app_judgment k ON k.assignment_id = o.id
        WHERE o.item_id = i.id AND o.state = 'leased' AND NOT o.repeat AND k.id IS NULL
    ) FROM annotations_app_campaignitem i WHERE i.id = %(item)s AND NOT i.gold)
)
"""


class Shown(NamedTuple):
    """What a page showed when a decision was made: digests of the persona (empty: as leased) and of the
    guidelines, and the version of the schema."""

    persona: str
    guidelines: str
    schema: LabelSchema | None

    @property
    def content(self) -> Schema | None:
        return self.schema.content if self.schema else None


def find_shown_schema(campaign: Campaign, name: str) -> LabelSchema | None:
    """The version that a page showed, if its script says so: the schema may have changed since. Raises
    UserError for any other."""
    current = campaign.schema
    if current is None or name in ("", current.full_name):
        return current
    known = LabelSchema.objects.filter(name=current.name)
    _, version = split_version(name)
    shown: LabelSchema | None = find_version(known, name) if version else None
    if shown is None:
        raise UserError(gettext("The questions of this campaign have changed. Reload the page."))
    return shown


def sync_judgment(
    assignment: Assignment,
    member: CampaignMember,
    submission: Submission,
    shown: Shown,
    now: datetime,
) -> None:
    """Create, change or delete the assignment's judgment to match the decision."""
    own = Judgment.objects.filter(assignment=assignment)
    is_changed = assignment.state == Assignment.State.LABELLED
    if not is_changed and getattr(assignment, "judgment", None) is not None:
        # What was queued again, and counted until now for the criteria that are the same.
        own.update(kind=Judgment.Kind.WITHDRAWN, assignment=None)
    if submission.kind != "label":
        if is_changed:
            own.delete()
        if submission.kind == "undo":
            _restore_staying(assignment, member)
        return
    campaign = member.campaign
    values = {
        "schema": shown.schema,
        "codes": submission.codes or {},
        "texts": submission.texts or None,
        **describe_decision(assignment, submission, shown, now),
    }
    if is_changed:
        own.update(**values)
        return
    Judgment.objects.create(
        dataset_id=campaign.dataset_id,
        turn_id=assignment.item.turn_id,
        campaign=campaign,
        assignment=assignment,
        rater=find_person(campaign.dataset_id, member.user.get_username()),
        kind=Judgment.Kind.REPEAT if assignment.repeat else Judgment.Kind.LABEL,
        persona_id=campaign.persona.persona_id,
        **values,
    )


def describe_decision(
    assignment: Assignment, submission: Submission, shown: Shown, now: datetime
) -> dict[str, Any]:
    """What labels of either kind record beside the answers."""
    return {
        "notes": submission.notes,
        "evidence": submission.evidence,
        "confidence": submission.confidence,
        "seconds": submission.seconds,
        "persona_digest": assignment.persona_digest,
        "guidelines_digest": shown.guidelines,
        "timestamp": now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    }


def _restore_staying(assignment: Assignment, member: CampaignMember) -> None:
    """The label that stayed when the reply was last queued again, and that the undone decision withdrew."""
    requeues = Decision.objects.filter(assignment=assignment, kind=Decision.Kind.REQUEUE).order_by("-id")
    codes = requeues.values_list("codes", flat=True).first()
    if codes is None:
        return
    withdrawn = Judgment.objects.filter(
        campaign=member.campaign,
        turn_id=assignment.item.turn_id,
        rater=find_person(member.campaign.dataset_id, member.user.get_username()),
        kind=Judgment.Kind.WITHDRAWN,
        codes=codes,
    )
    latest = withdrawn.order_by("-id").values("pk")[:1]
    Judgment.objects.filter(pk__in=latest).update(kind=Judgment.Kind.LABEL, assignment=assignment)


def withdraw_replaced(item: CampaignItem) -> None:
    """Labels that wait for their annotators, but whose places others have filled. The item must be locked."""
    # In a calibration round everybody has a place; labels only wait where a place was returned.
    if item.returned_at and not item.calibration:
        execute(_WITHDRAW_REPLACED_SQL, {"item": item.pk})


def list_staying_answers(assignment: Assignment, schema: Schema) -> dict[str, Any]:
    """Of a reply that was queued again: its annotator's answers to criteria that are the same, as files have
    them."""
    is_decided = assignment.state == Assignment.State.LABELLED
    judgment = None if is_decided else getattr(assignment, "judgment", None)
    if judgment is None:
        return {}
    known = set(judgment.schema.criterion_digests.values())
    staying = {criterion.key for criterion in schema.criteria if criterion.digest in known}
    answers = decode_answers(judgment.asked_schema, judgment.answers)
    return {key: value for key, value in answers.items() if key in staying}


def find_person(dataset: int, name: str) -> Rater:
    """The rater of an account in a dataset."""
    rater, _ = Rater.objects.get_or_create(
        dataset_id=dataset, kind=Rater.Kind.PERSON, name=name, version="", prompt_digest=""
    )
    return rater
