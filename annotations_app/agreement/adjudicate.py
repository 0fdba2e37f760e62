"""Adjudication: a lead decides the label of a reply; annotators' labels stay as they are."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotations_app.criteria.disputes import IS_ASKED, list_asked, measure_disputes
from annotations_app.domain.answer_tallies import tally_answers
from annotations_app.domain.submission import InvalidSubmission, clean_notes, encode_submitted
from annotations_app.labeling.judgments import find_person
from annotations_app.models import Annotation, Campaign, Judgment
from datasets_app.catalog.written_text import check_written
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.core.queries import fetch_all, fetch_one
from datasets_app.domain.labels.on_brand import ON_BRAND
from datasets_app.domain.labels.schema import Answers, Schema
from datasets_app.domain.labels.values import describe_label, is_code, name_of, opposite
from datasets_app.domain.pii.masking import mask_values
from datasets_app.models import Dataset, Turn

DEFAULT_LIMIT = 20

_DISPUTED_SQL = """
SELECT turn_id, labels, on_brand, dispute, settled FROM (
    SELECT *, EXISTS (SELECT FROM {table} d WHERE d.turn_id = replies.turn_id AND d.persona_id = %(persona)s
                      AND d.kind = 'adjudicated' {same_schema}) AS settled
    FROM ({disputes}) replies
    WHERE dispute > 0
) disputed
WHERE (NOT settled OR %(settled)s)
"""
_DISPUTED_LABELS_SQL = _DISPUTED_SQL.format(
    table="annotations_app_annotation",
    same_schema="",
    disputes=measure_disputes(
        "j.dataset_id = %(dataset)s AND j.persona_id = %(persona)s"
        " AND (%(campaign)s::bigint IS NULL OR j.campaign_id = %(campaign)s)",
        under_schema=False,
    ),
)
# Under a schema replies are compared criterion by criterion; texts, which can't be compared, are left out.
_DISPUTED_ANSWERS_SQL = _DISPUTED_SQL.format(
    table="annotations_app_judgment",
    same_schema="AND d.schema_id = %(schema)s",
    disputes=measure_disputes(f"j.campaign_id = %(campaign)s AND {IS_ASKED}", under_schema=True),
)
_PAGE_SQL = """
{disputed} AND (%(last)s::bigint IS NULL OR (-dispute, turn_id) > (%(less)s, %(last)s))
ORDER BY -dispute, turn_id LIMIT %(limit)s
"""
_COUNT_SQL = "SELECT count(*), count(*) FILTER (WHERE settled) FROM ({disputed}) disputed"


class DisputedReply(NamedTuple):
    """A reply with labels of both kinds, or different answers to a criterion of a schema, which leave
    ``on_brand`` empty. ``dispute`` is 1,000,000 for a tie."""

    turn: int
    labels: int
    on_brand: int | None
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
    rows = fetch_all(_PAGE_SQL.format(disputed=_choose_sql(campaign)), values | {"limit": limit})
    return [DisputedReply(*row) for row in rows]


def count_disputed(dataset: Dataset, persona_id: str, *, campaign: Campaign | None = None) -> DisputeCounts:
    values = _query_parameters(dataset, persona_id, campaign, True)
    return DisputeCounts(*fetch_one(_COUNT_SQL.format(disputed=_choose_sql(campaign)), values))


def find_labels(persona_id: str, campaign: Campaign | None) -> QuerySet[Any]:
    """Labels for a persona, or decisions under the schema of a campaign that has one: from any campaign."""
    if campaign is not None and campaign.schema_id:
        return Judgment.objects.filter(schema=campaign.schema_id, persona_id=persona_id)
    return Annotation.objects.filter(persona_id=persona_id)


def adjudicate(
    turn: Turn,
    persona_id: str,
    *,
    label: int | None = None,
    answers: Mapping[str, Any] | None = None,
    reason: str,
    campaign: Campaign | None = None,
    actor: Any,
) -> Any:
    """Save the adjudicated label of a reply for a persona (an Annotation, or a Judgment under a schema); an
    earlier one is withdrawn, not erased.

    For a campaign with a schema, ``answers`` to its criteria as files have them. Raises UserError if the turn
    isn't a reply, or if most labels (of the campaign, if given) say otherwise and ``reason`` is empty, or
    holds personal data.
    """
    notes = _clean_reason(reason)
    if turn.role != Turn.Role.ASSISTANT:
        raise UserError("Only an assistant's reply can be adjudicated.")
    if campaign is not None and campaign.schema_content:
        decided = _decide_answers(turn, campaign, campaign.schema_content, answers or {}, notes)
        decided["rater"] = find_person(campaign.dataset_id, audit.actor_name(actor)[:200])
    else:
        decided = _decide_label(turn, persona_id, campaign, label, notes)
        decided["annotator"] = audit.actor_name(actor)[:200]
    check_written(
        turn.session.dataset, {"reason": notes, "answers": list((decided.get("texts") or {}).values())}
    )
    try:
        with transaction.atomic():
            return _save_adjudicated(turn, persona_id, decided, notes, campaign, actor)
    except IntegrityError:
        raise UserError("Somebody else has just adjudicated this reply; reload the page.") from None


def _decide_label(
    turn: Turn, persona_id: str, campaign: Campaign | None, label: int | None, notes: str | None
) -> dict[str, Any]:
    if label is None or not is_code(ON_BRAND, label):
        raise UserError(describe_label(ON_BRAND))
    if notes is None and _overrules_majority(turn, persona_id, label, campaign):
        most, chosen = (name_of(ON_BRAND, code) for code in (opposite(ON_BRAND, label), label))
        raise UserError(
            f"Most annotators say {most}. Explain briefly why the reply is {chosen}: others learn from it."
        )
    return {"label": label}


def _decide_answers(
    turn: Turn, campaign: Campaign, schema: Schema, answers: Mapping[str, Any], notes: str | None
) -> dict[str, Any]:
    if campaign.other_dataset_id:
        raise UserError(f"{campaign.name} compares pairs of replies, which aren't adjudicated.")
    try:
        decided = encode_submitted(schema, answers)
    except InvalidSubmission as error:
        raise UserError(str(error)) from None
    if notes is None and (overruled := find_overruled(turn, campaign, decided)):
        raise UserError(
            f"Most annotators answer otherwise: {' '.join(overruled)} Explain briefly why: others learn "
            "from it."
        )
    return {
        "codes": decided.codes,
        "texts": decided.texts or None,
        "schema": campaign.schema,
        "guidelines_digest": campaign.guidelines_digest,
    }


def _save_adjudicated(
    turn: Turn,
    persona_id: str,
    decided: dict[str, Any],
    reason: str | None,
    campaign: Campaign | None,
    actor: Any,
) -> Any:
    dataset = turn.session.dataset
    earlier = find_labels(persona_id, campaign).filter(turn=turn, kind=Annotation.Kind.ADJUDICATED)
    replaced = [row.pk for row in earlier.select_for_update(no_key=True)]
    earlier.model.objects.filter(pk__in=replaced).update(kind=Annotation.Kind.WITHDRAWN)
    adjudicated = earlier.model.objects.create(
        dataset=dataset,
        turn=turn,
        campaign=campaign,
        kind=Annotation.Kind.ADJUDICATED,
        persona_id=persona_id,
        persona_digest=campaign.persona.digest if campaign else "",
        notes=reason,
        timestamp=timezone.now().isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        **decided,
    )
    audit.record(
        "adjudicate",
        actor=actor,
        dataset_name=dataset.name,
        campaign=campaign.name if campaign else None,
        persona_id=mask_values(persona_id),
        turn=turn.pk,
        **({"label": decided["label"]} if "label" in decided else {"schema": decided["schema"].full_name}),
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


def find_overruled(turn: Any, campaign: Campaign, decided: Answers) -> list[str]:
    """The questions that most annotators of a campaign answer otherwise."""
    rows = Judgment.objects.filter(turn=turn, campaign=campaign, kind=Judgment.Kind.LABEL)
    asked = set(list_asked(campaign))
    said = (
        row.answers._replace(
            codes={key: code for key, code in row.codes.items() if f"{row.schema_id} {key}" in asked}
        )
        for row in rows
    )
    tallies = tally_answers(campaign.asked_schema, said)
    return [
        one.criterion.question
        for one in tallies
        if one.majority is not None and decided.get(one.criterion.key) != one.majority
    ]


def _query_parameters(
    dataset: Dataset, persona_id: str, campaign: Campaign | None, include_adjudicated: bool
) -> dict[str, Any]:
    return {
        "dataset": dataset.pk,
        "persona": persona_id,
        "campaign": campaign.pk if campaign else None,
        "settled": include_adjudicated,
        "schema": campaign.schema_id if campaign else None,
        "asked": list_asked(campaign) if campaign else [],
    }


def _choose_sql(campaign: Campaign | None) -> str:
    return _DISPUTED_ANSWERS_SQL if campaign is not None and campaign.schema_id else _DISPUTED_LABELS_SQL
