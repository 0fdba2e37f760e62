"""Adjudication: a lead decides the label of a reply; annotators' labels stay as they are."""

from typing import Any, NamedTuple

from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from annotations_app.domain.submission import InvalidSubmission, clean_notes
from annotations_app.models import Annotation, Campaign
from datasets_app.catalog.written_text import check_written
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.domain.labels.on_brand import ON_BRAND
from datasets_app.domain.labels.sql import count_code, count_minority
from datasets_app.domain.labels.values import describe_label, is_code, name_of, opposite
from datasets_app.domain.pii.masking import mask_values
from datasets_app.models import Dataset, Turn

DEFAULT_LIMIT = 20

_DISPUTED_SQL = f"""
SELECT turn_id, labels, on_brand, dispute, settled FROM (
    SELECT a.turn_id, count(*) AS labels, {count_code(ON_BRAND.top, "a.label")} AS on_brand,
           2000000 * {count_minority(ON_BRAND, "a.label")} / count(*) AS dispute,
           EXISTS (SELECT FROM annotations_app_annotation d
                   WHERE d.turn_id = a.turn_id AND d.persona_id = %(persona)s AND d.kind = 'adjudicated')
               AS settled
    FROM annotations_app_annotation a
    WHERE a.dataset_id = %(dataset)s AND a.persona_id = %(persona)s AND a.kind = 'label'
      AND (%(campaign)s::bigint IS NULL OR a.campaign_id = %(campaign)s)
    GROUP BY a.turn_id
    HAVING min(a.label) <> max(a.label)
) replies
WHERE (NOT settled OR %(settled)s)
"""
_PAGE_SQL = f"""
{_DISPUTED_SQL} AND (%(last)s::bigint IS NULL OR (-dispute, turn_id) > (%(less)s, %(last)s))
ORDER BY -dispute, turn_id LIMIT %(limit)s
"""
_COUNT_SQL = f"""
SELECT count(*), count(*) FILTER (WHERE settled) FROM ({_DISPUTED_SQL}) disputed
"""  # constants of this module # nosec B608


class DisputedReply(NamedTuple):
    """A reply with labels of both kinds. ``dispute`` is 1,000,000 for a tie."""

    turn: int
    labels: int
    on_brand: int
    dispute: int
    settled: bool


class DisputeCounts(NamedTuple):
    """How many replies are disputed, and how many of those are adjudicated."""

    disputed: int
    settled: int


def list_disputed(
    dataset: Dataset,
    persona_id: str,
    *,
    campaign: Campaign | None = None,
    after: tuple[int, int] | None = None,
    include_adjudicated: bool = False,
    limit: int = DEFAULT_LIMIT,
) -> list[DisputedReply]:
    """The most disputed replies, ties first, after the position (dispute, turn) ``after``."""
    dispute, last = after or (0, None)
    values = _query_parameters(dataset, persona_id, campaign, include_adjudicated) | {
        "last": last,
        "less": -dispute,
    }
    with connection.cursor() as cursor:
        cursor.execute(_PAGE_SQL, values | {"limit": limit})
        return [DisputedReply(*row) for row in cursor.fetchall()]


def count_disputed(dataset: Dataset, persona_id: str, *, campaign: Campaign | None = None) -> DisputeCounts:
    with connection.cursor() as cursor:
        cursor.execute(_COUNT_SQL, _query_parameters(dataset, persona_id, campaign, True))
        return DisputeCounts(*cursor.fetchone())


def adjudicate(
    turn: Turn,
    persona_id: str,
    *,
    label: int | None,
    reason: str,
    campaign: Campaign | None = None,
    actor: Any,
) -> Annotation:
    """Save the adjudicated label of a reply for a persona; an earlier one is withdrawn, not erased.

    Raises UserError if the turn is no reply, or if most labels (of the campaign, if given) say otherwise and
    ``reason`` is empty, or holds personal data.
    """
    if label is None or not is_code(ON_BRAND, label):
        raise UserError(describe_label(ON_BRAND))
    notes = _clean_reason(reason)
    if turn.role != Turn.Role.ASSISTANT:
        raise UserError("Only an assistant's reply can be adjudicated.")
    if notes is None and _overrules_majority(turn, persona_id, label, campaign):
        most, chosen = (name_of(ON_BRAND, code) for code in (opposite(ON_BRAND, label), label))
        raise UserError(
            f"Most annotators say {most}. Explain briefly why the reply is {chosen}: others learn from it."
        )
    check_written(turn.session.dataset, {"reason": notes})
    try:
        with transaction.atomic():
            return _save_adjudicated_label(turn, persona_id, label, notes, campaign, actor)
    except IntegrityError:
        raise UserError("Somebody else has just adjudicated this reply; reload the page.") from None


def _save_adjudicated_label(
    turn: Turn, persona_id: str, label: int, reason: str | None, campaign: Campaign | None, actor: Any
) -> Annotation:
    dataset = turn.session.dataset
    earlier = Annotation.objects.select_for_update(no_key=True).filter(
        turn=turn, persona_id=persona_id, kind=Annotation.Kind.ADJUDICATED
    )
    replaced = [annotation.pk for annotation in earlier]
    Annotation.objects.filter(pk__in=replaced).update(kind=Annotation.Kind.WITHDRAWN)
    adjudicated: Annotation = Annotation.objects.create(
        dataset=dataset,
        turn=turn,
        campaign=campaign,
        kind=Annotation.Kind.ADJUDICATED,
        label=label,
        persona_id=persona_id,
        persona_digest=campaign.persona.digest if campaign else "",
        annotator=audit.actor_name(actor)[:200],
        notes=reason,
        timestamp=timezone.now().isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    )
    audit.record(
        "adjudicate",
        actor=actor,
        dataset_name=dataset.name,
        campaign=campaign.name if campaign else None,
        persona_id=mask_values(persona_id),
        turn=turn.pk,
        label=label,
        annotation=adjudicated.pk,
        replaced=replaced,
    )
    return adjudicated


def _clean_reason(reason: str) -> str | None:
    try:
        return clean_notes(reason)
    except InvalidSubmission as error:
        raise UserError(str(error).replace("note", "reason")) from None


def _overrules_majority(turn: Turn, persona_id: str, label: int, campaign: Campaign | None) -> bool:
    """Whether more than half of the countable labels say something else."""
    counting = Annotation.objects.countable().filter(turn=turn, persona_id=persona_id)
    if campaign is not None:
        counting = counting.filter(campaign=campaign)
    labels = list(counting.values_list("label", flat=True))
    return 2 * labels.count(label) < len(labels)


def _query_parameters(
    dataset: Dataset, persona_id: str, campaign: Campaign | None, include_adjudicated: bool
) -> dict[str, Any]:
    return {
        "dataset": dataset.pk,
        "persona": persona_id,
        "campaign": campaign.pk if campaign else None,
        "settled": include_adjudicated,
    }
