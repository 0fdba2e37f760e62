"""Labels that were made under another text of the persona are asked for again."""

import uuid
from collections import Counter
from typing import Any

from django.db import transaction
from django.db.models import F

from annotations_app.campaigns.members import lock_members
from annotations_app.campaigns.release_assignments import release_assignments
from annotations_app.models import Annotation, Assignment, Campaign, CampaignMember, Decision
from datasets_app.core import audit
from datasets_app.core.errors import UserError

BATCH_SIZE = 1000


def requeue_stale(campaign: Campaign, *, actor: Any) -> int:
    """Withdraw the stale labels of a campaign and give their replies out anew; returns how many.

    The labels and all that was pressed are kept, to be looked up. Raises Refused.
    """
    with transaction.atomic():
        row = Campaign.objects.select_related("dataset", "persona").get(pk=campaign.pk)
        if row.status == Campaign.Status.CLOSED:
            raise UserError(f"{row.name} is closed; open it before replies are queued again.")
        members = lock_members(row)
        stale = list(Annotation.objects.stale(row).values_list("pk", flat=True))
        assignments = list(
            Assignment.objects.filter(annotation__in=stale, state="labelled").select_related("item")
        )
        for start in range(0, len(assignments), BATCH_SIZE):
            _requeue_assignments(assignments[start : start + BATCH_SIZE], row.persona.digest)
        _subtract_from_counters(members, assignments)
        if stale:
            Annotation.objects.filter(pk__in=stale).update(kind=Annotation.Kind.WITHDRAWN)
            audit.record(
                "requeue_stale",
                actor=actor,
                dataset_name=row.dataset.name,
                campaign=row.name,
                labels=len(stale),
                persona_digest=row.persona.digest,
            )
    return len(stale)


def _requeue_assignments(assignments: list[Assignment], digest: str) -> None:
    chosen = Assignment.objects.filter(pk__in=[assignment.pk for assignment in assignments])
    Decision.objects.bulk_create(
        Decision(assignment=assignment, key=uuid.uuid4(), kind=Decision.Kind.REQUEUE, persona_digest=digest)
        for assignment in assignments
    )
    release_assignments(chosen)
    # The label stays as it is, withdrawn; the next one is another.
    chosen.update(annotation=None)


def _subtract_from_counters(members: list[CampaignMember], assignments: list[Assignment]) -> None:
    """Who has labelled them has so many fewer; and gold items are given in order, so from the first on."""
    plain = Counter(item.annotator_id for item in assignments if not item.item.gold)
    gold = Counter(item.annotator_id for item in assignments if item.item.gold)
    for member in members:
        if member.user_id in plain or member.user_id in gold:
            changes: dict[str, Any] = {
                "labelled": F("labelled") - plain[member.user_id],
                "gold_labelled": F("gold_labelled") - gold[member.user_id],
            }
            if gold[member.user_id]:
                changes["gold_cursor"] = 0
            CampaignMember.objects.filter(pk=member.pk).update(**changes)
