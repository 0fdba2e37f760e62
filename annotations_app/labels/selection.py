"""Selects labels to export: all, or one per reply by majority, annotator model or adjudication.

Under a schema all decisions, or one answer per reply and criterion."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from django.db.models import Q

from annotations_app.domain.agreement.consensus import TIE, fit_consensus, majority_labels
from annotations_app.domain.answer_tallies import choose_answers
from annotations_app.domain.arrays import ByteArray, FloatArray, IntArray
from annotations_app.domain.evidence import list_offsets
from annotations_app.domain.label_table import LabelTable as Table
from annotations_app.labels.decisions import BATCH_SIZE, LabelDecision, read_decisions
from annotations_app.labels.label_counts import (
    LabelScope,
    adjudicated_turns,
    order_turns_by_session,
    read_labels,
)
from annotations_app.labels.label_places import kept_place, place_of, without_place
from annotations_app.models import Annotation, Campaign, Judgment, LabelSchema
from datasets_app.catalog import policies
from datasets_app.domain.annotation_lines import PAIR
from datasets_app.domain.conversations.records import LabelRecord
from datasets_app.domain.labels.schema import Answers
from datasets_app.models import Dataset, Turn

ANSWER_SELECTIONS = ("all", "majority", "adjudicated")
# Reasons for omissions.
OMITTED_TIES, OMITTED_DISPUTED, OMITTED_LOCKED = "ties", "disputed", "test_split"
OMITTED_EXCLUDED, OMITTED_UNPLACED, OMITTED_ALWAYS = "excluded", "unplaced", "always"
OMITTED_EARLIER = "earlier"
# Of one, and of several.
_OMISSION_REASONS = {
    OMITTED_ALWAYS: (
        "label of excluded sessions or the locked test split",
        "labels of excluded sessions or the locked test split",
    ),
    OMITTED_TIES: ("reply has as many labels of either kind", "replies have as many labels of either kind"),
    OMITTED_DISPUTED: ("disputed reply is not settled", "disputed replies are not settled"),
    OMITTED_EARLIER: (
        "earlier label by an annotator who labeled the same reply again",
        "earlier labels by annotators who labeled the same reply again",
    ),
    OMITTED_EXCLUDED: ("label is of an excluded session", "labels are of excluded sessions"),
    OMITTED_UNPLACED: ("label is of a session without a split", "labels are of sessions without a split"),
    OMITTED_LOCKED: ("label is of the locked test split", "labels are of the locked test split"),
}
# The annotator named for a unanimous label.
UNANIMOUS_ANNOTATOR = "unanimous"

_TURN_FIELDS = (
    "turn__text",
    "turn__session__session_id",
    "turn__turn_index",
    "turn__session__split",
    "turn__session__excluded",
)
_LABEL_FIELDS = ("label", "annotator", "notes", "timestamp", "confidence", "extra")


class LabelSelection(NamedTuple):
    """Labels of ``scope``, of one ``split`` if it is named; those of the test split only if
    ``include_locked``. Counts omissions, those of sessions without a split if one is named."""

    scope: LabelScope
    include_locked: bool
    left_out: Counter[str]
    split: str = ""


class _ConsensusLabels(NamedTuple):
    """One label, or TIE, for each turn of whole sessions."""

    turn: IntArray
    session: IntArray
    label: ByteArray
    confidence: FloatArray
    annotator: str
    omission: str


def _select_all(selection: LabelSelection) -> Iterator[LabelRecord]:
    rows = Annotation.objects.filter(
        dataset=selection.scope.dataset, persona_id=selection.scope.persona_id, kind=Annotation.Kind.LABEL
    )
    if selection.scope.campaign is not None:
        rows = rows.filter(campaign=selection.scope.campaign)
    in_order = rows.order_by("turn__session_id", "turn__turn_index", "id")
    said = in_order.annotate(kept=kept_place("turn")).values_list(
        *_TURN_FIELDS, "kept", "evidence", *_LABEL_FIELDS
    )
    for text, session_id, turn_index, split, excluded, kept, evidence, label, *rest in said.iterator(
        chunk_size=BATCH_SIZE
    ):
        place = place_of(session_id, turn_index, kept)
        record = without_place(LabelRecord(text, label, selection.scope.persona_id, *place, *rest))
        if evidence:
            record = record._replace(extra={**(record.extra or {}), **list_offsets(evidence, text)})
        if _is_exportable(split, excluded, selection):
            yield record


def _read_latest(selection: LabelSelection) -> Table:
    """One label of each annotator for each reply, as figures of agreement count them."""
    table = read_labels([selection.scope])
    selection.left_out[OMITTED_EARLIER] = table.replaced
    return table


def _select_majority(selection: LabelSelection) -> Iterator[LabelRecord]:
    table = _read_latest(selection)
    counts = table.counts()
    share = counts.max(axis=1, initial=0) / np.maximum(1, counts.sum(axis=1))
    return _label_records(_make_consensus(table, majority_labels(counts), share, "majority"), selection)


def _select_dawid_skene(selection: LabelSelection) -> Iterator[LabelRecord]:
    table = _read_latest(selection)
    found = fit_consensus(table)
    likeliest = found.posterior.max(axis=1, initial=0)
    return _label_records(_make_consensus(table, found.labels(), likeliest, "dawid-skene"), selection)


def _select_adjudicated(selection: LabelSelection) -> Iterator[LabelRecord]:
    """The adjudicated label, even without other labels; else the undisputed label."""
    table = _read_latest(selection)
    counts = table.counts()
    settled = adjudicated_turns(selection.scope)
    agreed = np.where(counts.min(axis=1, initial=1) == 0, counts.argmax(axis=1), TIE).astype(np.int8)
    turn = np.union1d(table.turn, settled)
    label = np.full(len(turn), TIE, np.int8)
    label[np.searchsorted(turn, table.turn)] = agreed
    order, _, session = order_turns_by_session(selection.scope.dataset, turn)
    none = np.full(len(turn), np.nan)
    decided = _ConsensusLabels(
        turn[order], session, label[order], none, UNANIMOUS_ANNOTATOR, OMITTED_DISPUTED
    )
    return _label_records(decided, selection, prefer_adjudicated=True)


# The labels, ordered by session and turn.
LABEL_SELECTORS: dict[str, Callable[[LabelSelection], Iterator[LabelRecord]]] = {
    "all": _select_all,
    "majority": _select_majority,
    "dawid-skene": _select_dawid_skene,
    "adjudicated": _select_adjudicated,
}


def _make_consensus(
    table: Table, label: ByteArray, confidence: FloatArray, annotator: str
) -> _ConsensusLabels:
    return _ConsensusLabels(table.turn, table.session, label, confidence, annotator, OMITTED_TIES)


def _label_records(
    consensus: _ConsensusLabels, selection: LabelSelection, *, prefer_adjudicated: bool = False
) -> Iterator[LabelRecord]:
    """The records of decided labels; with ``prefer_adjudicated``, adjudicated labels take precedence."""
    for start, end in _session_batches(consensus.session):
        place = {turn: start + number for number, turn in enumerate(consensus.turn[start:end].tolist())}
        found = _adjudicated_values(list(place), selection) if prefer_adjudicated else {}
        turns = Turn.objects.filter(dataset=selection.scope.dataset, pk__in=place).order_by(
            "session_id", "turn_index"
        )
        columns = ("pk", "text", "session__session_id", "turn_index", "session__split", "session__excluded")
        for turn, text, session_id, turn_index, split, excluded, kept in turns.annotate(
            kept=kept_place("pk")
        ).values_list(*columns, "kept"):
            said = found.get(turn) or _consensus_values(consensus, place[turn])
            if said is None:
                selection.left_out[consensus.omission] += 1
            elif _is_exportable(split, excluded, selection):
                label, *rest = said
                where = place_of(session_id, turn_index, kept)
                yield without_place(LabelRecord(text, label, selection.scope.persona_id, *where, *rest))


def _consensus_values(consensus: _ConsensusLabels, index: int) -> tuple[Any, ...] | None:
    label, confidence = int(consensus.label[index]), float(consensus.confidence[index])
    if label == TIE:
        return None
    return label, consensus.annotator, None, None, None if np.isnan(confidence) else confidence, None


def _adjudicated_values(turns: list[int], selection: LabelSelection) -> dict[int, tuple[Any, ...]]:
    rows = Annotation.objects.filter(
        turn__in=turns, persona_id=selection.scope.persona_id, kind=Annotation.Kind.ADJUDICATED
    )
    fields = rows.values_list("turn", "turn__text", "evidence", *_LABEL_FIELDS)
    return {
        turn: (*said, {**(extra or {}), **list_offsets(evidence, text)} or None)
        for turn, text, evidence, *said, extra in fields
    }


def _is_exportable(split: str | None, excluded: bool, selection: LabelSelection) -> bool:
    if excluded:
        selection.left_out[OMITTED_EXCLUDED] += 1
        return False
    if split == policies.LOCKED_SPLIT and not selection.include_locked:
        selection.left_out[OMITTED_LOCKED] += 1
        return False
    if selection.split and not split:
        selection.left_out[OMITTED_UNPLACED] += 1
    return not selection.split or split == selection.split


def _session_batches(session: IntArray) -> Iterator[tuple[int, int]]:
    """Batches of a few thousand turns that never split a session."""
    start = 0
    while start < len(session):
        last = session[min(start + BATCH_SIZE, len(session)) - 1]
        end = int(np.searchsorted(session, last, side="right"))
        yield start, end
        start = end


# --- under a schema ------------------------------------------------------------------------------


def select_decisions(
    dataset: Dataset,
    schema: LabelSchema,
    campaign: Campaign | None,
    labels: str,
    left_out: Counter[str],
    *,
    persona: str = "",
    actor: Any,
) -> Iterator[LabelDecision]:
    """Every decision under a version of a schema, or with another of :data:`ANSWER_SELECTIONS` one for each
    reply; ordered by turn. Those of excluded sessions and of the test split are left out."""
    rows, hidden = Judgment.objects.filter(dataset=dataset), _hides_other(dataset, actor)
    rows = rows.filter(persona_id=persona) if persona else rows
    # Of a campaign also those under earlier versions of its schema: labels keep theirs.
    rows = rows.filter(schema__name=schema.name) if campaign else rows.filter(schema=schema)
    counted = Q(kind=Judgment.Kind.LABEL, **({"campaign": campaign} if campaign else {}))
    if labels == "adjudicated":
        # Adjudicated labels are those of any campaign, of the same replies.
        replies = {"turn__in": campaign.items.values("turn")} if campaign else {}
        counted |= Q(kind=Judgment.Kind.ADJUDICATED, **replies)
    own = rows.filter(counted)
    is_left_out = Q(turn__session__excluded=True) | Q(turn__session__split=policies.LOCKED_SPLIT)
    left_out[OMITTED_ALWAYS] = own.filter(is_left_out).count()
    kept = read_decisions(own.exclude(is_left_out), hidden=hidden)
    if labels == "all":
        yield from kept
        return
    for _, group in groupby(kept, key=_find_reply):
        yield from _decide_reply(list(group), schema, labels, left_out)


def _hides_other(dataset: Dataset, actor: Any) -> bool:
    """Whether ``actor`` doesn't see all datasets that this one is compared with."""
    others = Dataset.objects.filter(compared_campaigns__dataset=dataset).distinct()
    return actor is not None and others.count() > others.visible_to(actor).count()


def _find_reply(decision: LabelDecision) -> tuple[Any, ...]:
    record = decision.record
    return record.persona_id, record.session_id, record.turn_index, record.text


def _decide_reply(
    decisions: list[LabelDecision], schema: LabelSchema, labels: str, left_out: Counter[str]
) -> Iterator[LabelDecision]:
    """The last adjudicated decision, or what annotators say."""
    adjudicated = [decision for decision in decisions if decision.is_adjudicated][-1:]
    decisions = adjudicated or _keep_latest(decisions, left_out)
    comparable = [_keep_comparable(decision, schema) for decision in decisions]
    answered, kept = (
        {key for one in some for key in (*one.codes, *(one.texts if adjudicated else ()))}
        for some in ((decision.answers for decision in decisions), comparable)
    )
    left_out.update(f"answered under another version of {key}" for key in answered - kept)
    if adjudicated:
        chosen, record = comparable[0], adjudicated[0].record
    else:
        is_unanimous, first = labels == "adjudicated", decisions[0].record
        chosen, missing = choose_answers(schema.content, comparable, unanimous=is_unanimous)
        left_out.update(f"without an answer to {key} by {labels}" for key in missing)
        name = UNANIMOUS_ANNOTATOR if is_unanimous else labels
        record = LabelRecord(first.text, None, first.persona_id, first.session_id, first.turn_index, name)
        if sides := (first.extra or {}).get(PAIR):
            record = record._replace(extra={PAIR: sides})
    if chosen.codes or chosen.texts:
        yield LabelDecision(record, chosen, schema)


def _keep_latest(decisions: list[LabelDecision], left_out: Counter[str]) -> list[LabelDecision]:
    """The last decision of each annotator, and all without a name."""
    latest = {
        (decision.record.annotator or number, decision.record.rater): decision
        for number, decision in enumerate(decisions)
    }
    left_out[OMITTED_EARLIER] += len(decisions) - len(latest)
    return list(latest.values())


def _keep_comparable(decision: LabelDecision, schema: LabelSchema) -> Answers:
    """Without answers to criteria that have changed between the versions: their codes mean something else."""
    then, now = decision.schema.criterion_digests if decision.schema else {}, schema.criterion_digests

    def keep(answers: Mapping[str, Any]) -> dict[str, Any]:
        return {key: said for key, said in answers.items() if then.get(key) == now.get(key, "")}

    return Answers(keep(decision.answers.codes), keep(decision.answers.texts))


def describe_omissions(left_out: Mapping[str, int]) -> list[str]:
    """The numbers of labels left out, and why; under a schema also of replies without an answer."""
    return [
        f"{number:,} {_OMISSION_REASONS.get(why, (f'reply {why}', f'replies {why}'))[number != 1]}: left out"
        for why, number in sorted(left_out.items())
        if number
    ]
