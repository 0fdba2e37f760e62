"""Decisions under schemas and on-brand labels alike, as lines of files have them."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from django.db.models import OuterRef, QuerySet, Subquery

from annotations_app.domain.answer_files.decisions import FiledDecision
from annotations_app.domain.evidence import list_offsets
from annotations_app.labels.label_places import kept_place, place_of, split_hashed_ids, without_place
from annotations_app.models import Judgment, LabelSchema, PairedReply
from datasets_app.domain.annotation_lines import PAIR, PAIR_SIDES, describe_label, name_chosen
from datasets_app.domain.conversations.jsonl import encode_line
from datasets_app.domain.conversations.records import Answer, LabelRecord
from datasets_app.domain.labels.on_brand import ON_BRAND_SCHEMA
from datasets_app.domain.labels.rater import Rater, RaterKind
from datasets_app.domain.labels.schema import Answers, decode_answers
from datasets_app.domain.quality.text_tally import TextTally

BATCH_SIZE = 2000
_RATER_FIELDS = ("rater__kind", "rater__version", "rater__prompt_digest")
_FIELDS = (
    *("turn__text", "persona_id", "turn__session__session_id", "turn__turn_index", "kept", "rater__name"),
    *("notes", "timestamp", "confidence", "extra", *_RATER_FIELDS, "kind", "codes", "texts"),
    *("schema", "evidence", "swapped", "dataset__name", "campaign__other_dataset__name"),
)
# Who doesn't see the other dataset of a pair doesn't get its name.
HIDDEN_SOURCE = "another dataset"


class LabelDecision(NamedTuple):
    """A decision as files have it. Under a schema ``record`` has no answer yet; without one it is a label by
    the built-in criterion."""

    record: LabelRecord
    answers: Answers = Answers({}, {})
    schema: LabelSchema | None = None
    is_adjudicated: bool = False


def read_decisions(rows: QuerySet[Judgment], *, hidden: bool = False) -> Iterator[LabelDecision]:
    """By persona, session and turn. With ``hidden``, other datasets of pairs aren't named."""
    ordered = rows.order_by("persona_id", "turn__session_id", "turn__turn_index", "id")
    schemas: dict[int, LabelSchema] = {}
    pairs = PairedReply.objects.filter(item__campaign=OuterRef("campaign"), item__turn=OuterRef("turn"))
    swapped = Subquery(pairs.values("swapped")[:1])
    said = ordered.annotate(kept=kept_place("turn", Judgment), swapped=swapped).values_list(*_FIELDS)
    for text, persona, session_id, turn_index, kept, *more in said.iterator(chunk_size=BATCH_SIZE):
        name, notes, timestamp, confidence, extra, rater, version, prompt_digest, kind, *answered = more
        codes, texts, schema, marked, *pair = answered
        place = place_of(session_id, turn_index, kept)
        model = Rater(RaterKind.MODEL, name, version, prompt_digest) if rater == RaterKind.MODEL else None
        record = LabelRecord(text, None, persona, *place, name, notes, timestamp, confidence, rater=model)
        fields = {**(extra or {}), **list_offsets(marked, text), **_name_sides(*pair, hidden=hidden)}
        record = without_place(record._replace(extra=fields or None))
        if schema not in schemas:
            schemas[schema] = LabelSchema.objects.get(pk=schema)
        is_adjudicated = kind == Judgment.Kind.ADJUDICATED
        yield LabelDecision(record, Answers(codes, texts or {}), schemas[schema], is_adjudicated)


def encode_decision(decision: LabelDecision) -> Iterator[bytes]:
    """A line for each answer."""
    return map(encode_line, file_decision(decision).lines)


def file_decision(decision: LabelDecision) -> FiledDecision:
    if decision.schema is None:
        return FiledDecision(ON_BRAND_SCHEMA, [describe_label(decision.record)])
    schema, lines = decision.schema, []
    for criterion, value in decode_answers(schema.content, decision.answers).items():
        found = schema.content.find(criterion)
        of = "session" if found and found.is_of_session else ""
        record = decision.record._replace(answer=Answer(criterion, value, schema.full_name, of))
        lines.append(describe_label(record) | name_chosen(record.extra, found, value))
    return FiledDecision(schema.content, lines)


def tally_decision(tally: TextTally, decision: LabelDecision) -> None:
    """Count personal data in what people wrote: notes, answers and other fields."""
    extra = {**split_hashed_ids(decision.record.extra)[1], **decision.answers.texts}
    if decision.schema:
        extra.pop(PAIR, None)
    tally.add_label(decision.record._replace(extra=extra or None))


def _name_sides(swapped: bool | None, own: str, other: str | None, *, hidden: bool) -> dict[str, Any]:
    """The field that says whose replies were shown as A and B."""
    if swapped is None or other is None:
        return {}
    sides = (
        [HIDDEN_SOURCE if hidden else other, own] if swapped else [own, HIDDEN_SOURCE if hidden else other]
    )
    return {PAIR: dict(zip(PAIR_SIDES, sides, strict=True))}
