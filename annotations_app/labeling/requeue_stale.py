"""Asks again for labels: of some replies, or made before persona, guidelines or schema last changed.

Where only criteria changed, the answers to the others stay: the label counts for them until its annotator has
answered the changed ones, or somebody else has taken the place, which withdraws it (``judgments.py``).
"""

import uuid
from collections.abc import Iterable, Sequence, Set
from typing import Any

from django.db import transaction

from annotations_app.campaigns.counters import subtract_assignments
from annotations_app.campaigns.members import lock_members
from annotations_app.campaigns.release_assignments import release_assignments
from annotations_app.models import Annotation, Assignment, Campaign, Decision, Judgment, LabelSchema
from annotations_app.models.querysets import STALE_CAUSES
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.domain.batches import batched

BATCH_SIZE = 1000


def requeue_stale(campaign: Campaign, *, causes: Sequence[str] = STALE_CAUSES, actor: Any) -> int:
    """Withdraw the labels of a campaign that are stale for one of ``causes``, except those with answers that
    stay, and queue their replies again; returns how many.

    The labels and their decisions are kept for reference. Raises UserError.
    """
    with transaction.atomic():
        row = _lock_open(campaign)
        stale = list(row.own_labels.stale(row, causes).values_list("pk", flat=True))
        return requeue_labels(row, stale, causes, staying=set(_list_staying(row, causes)), actor=actor)


def requeue_replies(campaign: Campaign, turns: Sequence[int], *, actor: Any) -> int:
    """As :func:`requeue_stale`, for the labels of these turns (primary keys)."""
    with transaction.atomic():
        row = _lock_open(campaign)
        chosen = row.own_labels.filter(kind=Annotation.Kind.LABEL, turn__in=turns)
        return requeue_labels(
            row, list(chosen.values_list("pk", flat=True)), action="requeue_replies", actor=actor
        )


def requeue_labels(
    campaign: Campaign,
    keys: Sequence[int],
    causes: Sequence[str] = (),
    *,
    action: str = "requeue_stale",
    staying: Set[int] = frozenset(),
    actor: Any,
) -> int:
    """The same of these labels; those that are ``staying`` aren't withdrawn. ``action`` and ``causes`` are
    for the audit log. Raises UserError."""
    with transaction.atomic():
        row = _lock_open(campaign)
        link = "judgment" if row.schema_id else "annotation"
        assignments = list(Assignment.objects.filter(**{f"{link}__in": keys}).select_related("item", link))
        subtract_assignments([assignment.pk for assignment in assignments])
        # Gold items are leased in order, so their annotators start over.
        gold = {assignment.annotator_id for assignment in assignments if assignment.item.gold}
        row.members.filter(user__in=gold).update(gold_cursor=0)
        for some in batched(assignments, BATCH_SIZE):
            _requeue_assignments(some, row.persona.digest, staying)
        withdrawn = [pk for pk in keys if pk not in staying]
        if keys:
            # Detached, so that the next decision makes a new one.
            detached = {"assignment": None} if row.schema_id else {}
            row.own_labels.filter(pk__in=withdrawn).update(kind=Annotation.Kind.WITHDRAWN, **detached)
            audit.record(
                action,
                actor=actor,
                dataset_name=row.dataset.name,
                campaign=row.name,
                labels=len(keys),
                **({"withdrawn": len(withdrawn)} if staying else {}),
                **({"causes": list(causes)} if causes else {}),
                persona_digest=row.persona.digest,
            )
    return len(keys)


def _lock_open(campaign: Campaign) -> Campaign:
    row = Campaign.objects.select_related("dataset", "persona", "schema").get(pk=campaign.pk)
    if row.status == Campaign.Status.CLOSED:
        raise UserError(f"{row.name} is closed, so its replies can't be queued again. Open it first.")
    lock_members(row)
    return row


def _list_staying(campaign: Campaign, causes: Sequence[str]) -> Iterable[int]:
    """Labels of which only criteria have changed, and not all of them."""
    if campaign.schema is None or "schema" not in causes:
        return []
    asked = set(campaign.schema.criterion_digests.values())
    versions = [
        version.pk
        for version in LabelSchema.objects.filter(name=campaign.schema.name)
        if not asked.isdisjoint(version.criterion_digests.values())
    ]
    stale = Judgment.objects.stale(campaign, ["schema"]).filter(schema__in=versions, assignment__isnull=False)
    if others := [cause for cause in causes if cause != "schema"]:
        stale = stale.exclude(pk__in=Judgment.objects.stale(campaign, others).values("pk"))
    return stale.values_list("pk", flat=True)


def _requeue_assignments(assignments: list[Assignment], digest: str, staying: Set[int]) -> None:
    requeued = Assignment.objects.filter(pk__in=[assignment.pk for assignment in assignments])
    Decision.objects.bulk_create(
        Decision(
            assignment=assignment,
            key=uuid.uuid4(),
            kind=Decision.Kind.REQUEUE,
            codes=assignment.judgment.codes if staying and assignment.judgment.pk in staying else None,
            persona_digest=digest,
        )
        for assignment in assignments
    )
    # A label that waits for its annotator may have no place any more.
    release_assignments(requeued.exclude(state=Assignment.State.RELEASED))
    # Detach the withdrawn label, so that the next decision makes a new one.
    requeued.update(annotation=None)
