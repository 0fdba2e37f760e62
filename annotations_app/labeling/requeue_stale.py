"""Asks again for labels that were made before the persona, the guidelines or the schema last changed.

Where only criteria changed, the answers to the others stay: the label counts for them until its annotator has
answered the changed ones, which withdraws it (``sync_judgment``).
"""

import uuid
from collections.abc import Iterable, Sequence
from typing import Any

from django.db import transaction

from annotations_app.campaigns.counters import subtract_assignments
from annotations_app.campaigns.members import lock_members
from annotations_app.campaigns.release_assignments import release_assignments
from annotations_app.models import Annotation, Assignment, Campaign, Decision, Judgment, LabelSchema
from annotations_app.models.querysets import STALE_CAUSES
from datasets_app.core import audit
from datasets_app.core.errors import UserError

BATCH_SIZE = 1000


def requeue_stale(campaign: Campaign, *, causes: Sequence[str] = STALE_CAUSES, actor: Any) -> int:
    """Withdraw the labels of a campaign that are stale for one of ``causes``, except those with answers that
    stay, and queue their replies again; returns how many.

    The labels and their decisions are kept for reference. Raises UserError.
    """
    with transaction.atomic():
        row = Campaign.objects.select_related("dataset", "persona", "schema").get(pk=campaign.pk)
        if row.status == Campaign.Status.CLOSED:
            raise UserError(f"{row.name} is closed, so its replies can't be queued again. Open it first.")
        lock_members(row)
        labels: Any = (Judgment if row.schema_id else Annotation).objects
        link = "judgment" if row.schema_id else "annotation"
        stale = list(labels.stale(row, causes).values_list("pk", flat=True))
        staying = set(_list_staying(row, causes))
        assignments = list(
            Assignment.objects.filter(**{f"{link}__in": stale}, state="labelled").select_related("item")
        )
        subtract_assignments([assignment.pk for assignment in assignments])
        # Gold items are leased in order, so their annotators start over.
        gold = {assignment.annotator_id for assignment in assignments if assignment.item.gold}
        row.members.filter(user__in=gold).update(gold_cursor=0)
        for start in range(0, len(assignments), BATCH_SIZE):
            _requeue_assignments(assignments[start : start + BATCH_SIZE], row.persona.digest)
        withdrawn = [pk for pk in stale if pk not in staying]
        if stale:
            # Detached, so that the next decision makes a new one.
            detached = {"assignment": None} if row.schema_id else {}
            labels.filter(pk__in=withdrawn).update(kind=Annotation.Kind.WITHDRAWN, **detached)
            audit.record(
                "requeue_stale",
                actor=actor,
                dataset_name=row.dataset.name,
                campaign=row.name,
                labels=len(stale),
                **({"withdrawn": len(withdrawn)} if staying else {}),
                causes=list(causes),
                persona_digest=row.persona.digest,
            )
    return len(stale)


def _list_staying(campaign: Campaign, causes: Sequence[str]) -> Iterable[int]:
    """Labels of which only criteria have changed, and not all of them."""
    if campaign.schema is None or "schema" not in causes:
        return []
    asked = {criterion.digest for criterion in campaign.schema.content.criteria}
    versions = [
        version.pk
        for version in LabelSchema.objects.filter(name=campaign.schema.name)
        if any(criterion.digest in asked for criterion in version.content.criteria)
    ]
    stale = Judgment.objects.stale(campaign, ["schema"]).filter(schema__in=versions, assignment__isnull=False)
    if others := [cause for cause in causes if cause != "schema"]:
        stale = stale.exclude(pk__in=Judgment.objects.stale(campaign, others).values("pk"))
    return stale.values_list("pk", flat=True)


def _requeue_assignments(assignments: list[Assignment], digest: str) -> None:
    requeued = Assignment.objects.filter(pk__in=[assignment.pk for assignment in assignments])
    Decision.objects.bulk_create(
        Decision(assignment=assignment, key=uuid.uuid4(), kind=Decision.Kind.REQUEUE, persona_digest=digest)
        for assignment in assignments
    )
    release_assignments(requeued)
    # Detach the withdrawn label, so that the next decision makes a new one.
    requeued.update(annotation=None)
