"""Exports the decisions of a dataset under a schema: one line for each answer to a criterion."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import IO, Any, NamedTuple

from django.db.models import OuterRef, Q, QuerySet, Subquery

from annotations_app.domain.answer_files.decisions import FiledDecision
from annotations_app.domain.answer_files.formats import DEFAULT_FORMAT
from annotations_app.domain.answer_tallies import choose_answers
from annotations_app.domain.evidence import list_offsets
from annotations_app.labels.gated_export import describe_notes, export_through_gates, find_format
from annotations_app.labels.label_places import kept_place, place_of, split_hashed_ids, without_place
from annotations_app.models import Campaign, Judgment, LabelSchema, PairedReply
from datasets_app.catalog import policies
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.annotation_lines import PAIR, PAIR_SIDES, describe_label, name_chosen
from datasets_app.domain.conversations.jsonl import encode_line
from datasets_app.domain.conversations.records import Answer, LabelRecord
from datasets_app.domain.labels.rater import Rater, RaterKind
from datasets_app.domain.labels.schema import Answers, decode_answers
from datasets_app.domain.quality.text_tally import TextTally
from datasets_app.domain.wording import format_count
from datasets_app.models import Dataset

BATCH_SIZE = 2000
SELECTIONS = ("all", "majority", "adjudicated")
_RATER_FIELDS = ("rater__kind", "rater__version", "rater__prompt_digest")
_FIELDS = (
    *("turn__text", "persona_id", "turn__session__session_id", "turn__turn_index", "kept", "rater__name"),
    *("notes", "timestamp", "confidence", "extra", *_RATER_FIELDS, "kind", "codes", "texts"),
    *("schema", "evidence", "swapped", "dataset__name", "campaign__other_dataset__name"),
)
# Why a reply has no answer to a criterion in a file with one for each, by how many replies.
Undecided = Counter[str]
# Who doesn't see the other dataset of a pair doesn't get its name.
HIDDEN_SOURCE = "another dataset"


class JudgmentScope(NamedTuple):
    """Decisions under a version of a schema; with a campaign, only its own."""

    dataset: Dataset
    schema: LabelSchema
    campaign: Campaign | None = None

    @property
    def described(self) -> str:
        if self.campaign:
            return f"The campaign {self.campaign.name}"
        return f"The dataset {self.dataset.name}, under {self.schema.full_name},"

    def rows(self, kind: str = Judgment.Kind.LABEL) -> QuerySet[Judgment]:
        """Of a campaign also those under earlier versions of its schema: labels keep theirs."""
        rows = Judgment.objects.filter(dataset=self.dataset, kind=kind)
        if self.campaign is None:
            return rows.filter(schema=self.schema)
        return rows.filter(schema__name=self.schema.name, campaign=self.campaign)


class Decision(NamedTuple):
    """A decision as files have it: ``record`` has no answer yet."""

    record: LabelRecord
    answers: Answers
    schema: LabelSchema
    is_adjudicated: bool = False


class ExportedAnswers(NamedTuple):
    """Counts of decisions, of the lines with their answers, and sentences on what was left out."""

    decisions: int
    answers: int
    omissions: list[str]

    def facts(self) -> dict[str, Any]:
        """For the row of a job."""
        return {"labels": self.decisions, "notes": self.omissions}


def export_judgments(
    scope: JudgmentScope,
    *,
    out: IO[bytes],
    labels: str = "all",
    format: str = DEFAULT_FORMAT,
    override: str = "",
    actor: Any = None,
    report_progress: ProgressCallback = ignore_progress,
) -> ExportedAnswers:
    """Write every decision to ``out``, or with another of :data:`SELECTIONS` one for each reply; ordered by
    turn, through the gates of :func:`export_through_gates`. Those of excluded sessions and of the test split
    are left out. Raises UserError.
    """
    if labels not in SELECTIONS:
        raise UserError(f"Under a schema labels must be one of {', '.join(SELECTIONS)}, not {labels!r}.")
    encode = find_format(format).encode

    def write(lines: IO[bytes], tally: TextTally) -> ExportedAnswers:
        is_left_out = Q(turn__session__excluded=True) | Q(turn__session__split=policies.LOCKED_SPLIT)
        counts, undecided, notes = Counter[str](), Undecided(), Counter[str]()
        hidden = _hides_other(scope, actor)
        chosen = _select_decisions(scope, is_left_out, labels, undecided, hidden=hidden)
        for piece in encode(_file_decisions(chosen, tally, counts, report_progress), notes):
            lines.write(piece)
        report_progress(counts["labels"], counts["labels"])
        left_out = scope.rows().filter(is_left_out).count()
        omissions = _describe_omissions(left_out, undecided) + describe_notes(notes)
        return ExportedAnswers(counts["labels"], counts["answers"], omissions)

    def finish(exported: ExportedAnswers) -> None:
        if not exported.decisions:
            raise UserError(f"{scope.described} has no labels to export.")
        audit.record(
            "export_annotations",
            actor=actor,
            dataset_name=scope.dataset.name,
            **({"campaign": scope.campaign.name} if scope.campaign else {}),
            schema=scope.schema.full_name,
            **({} if labels == "all" else {"choice": labels}),
            **({} if format == DEFAULT_FORMAT else {"format": format}),
            labels=exported.decisions,
        )

    return export_through_gates(scope.dataset, out, write, finish, override=override, actor=actor)


def _file_decisions(
    decisions: Iterable[Decision], tally: TextTally, counts: Counter[str], report_progress: ProgressCallback
) -> Iterator[FiledDecision]:
    for decision in decisions:
        tally_decision(tally, decision)
        filed = file_decision(decision)
        counts.update(labels=1, answers=len(filed.lines))
        if counts["labels"] % BATCH_SIZE == 0:
            report_progress(counts["labels"], None)
        yield filed


def _describe_omissions(left_out: int, undecided: Mapping[str, int]) -> list[str]:
    counted = format_count(left_out, "label")
    omissions = [f"{counted} of excluded sessions or the locked test split: left out"] if left_out else []
    return omissions + [
        f"{format_count(count, 'reply', 'replies')} {why}: left out"
        for why, count in sorted(undecided.items())
    ]


def _hides_other(scope: JudgmentScope, actor: Any) -> bool:
    """Whether ``actor`` doesn't see all datasets that this one is compared with."""
    others = Dataset.objects.filter(compared_campaigns__dataset=scope.dataset).distinct()
    return actor is not None and others.count() > others.visible_to(actor).count()


def _select_decisions(
    scope: JudgmentScope, is_left_out: Q, labels: str, undecided: Undecided, *, hidden: bool
) -> Iterator[Decision]:
    rows = scope.rows()
    if labels == "all":
        yield from read_decisions(rows.exclude(is_left_out), hidden=hidden)
        return
    if labels == "adjudicated":
        # As adjudicated labels, those of any campaign.
        rows = rows | scope._replace(campaign=None).rows(Judgment.Kind.ADJUDICATED)
    for _, group in groupby(read_decisions(rows.exclude(is_left_out), hidden=hidden), key=_find_reply):
        yield from _decide_reply(list(group), scope.schema, labels, undecided)


def _find_reply(decision: Decision) -> tuple[Any, ...]:
    record = decision.record
    return record.persona_id, record.session_id, record.turn_index, record.text


def _decide_reply(
    decisions: list[Decision], schema: LabelSchema, labels: str, undecided: Undecided
) -> Iterator[Decision]:
    if adjudicated := [decision for decision in decisions if decision.is_adjudicated]:
        yield adjudicated[-1]
        return
    is_unanimous = labels == "adjudicated"
    comparable = [_keep_comparable(decision, schema) for decision in decisions]
    chosen, missing = choose_answers(schema.content, comparable, unanimous=is_unanimous)
    undecided.update(f"without an answer to {key} by {labels}" for key in missing)
    answered, kept = (
        {key for one in some for key in one.codes}
        for some in ((decision.answers for decision in decisions), comparable)
    )
    undecided.update(f"answered under another version of {key}" for key in answered - kept)
    first, name = decisions[0].record, "unanimous" if is_unanimous else labels
    record = LabelRecord(first.text, None, first.persona_id, first.session_id, first.turn_index, name)
    if sides := (first.extra or {}).get(PAIR):
        record = record._replace(extra={PAIR: sides})
    if chosen.codes:
        yield Decision(record, chosen, schema)


def _keep_comparable(decision: Decision, schema: LabelSchema) -> Answers:
    """Without answers to criteria that have changed between the versions: their codes mean something else."""
    then, now = decision.schema.criterion_digests, schema.criterion_digests
    codes = decision.answers.codes.items()
    return Answers({key: code for key, code in codes if then.get(key) == now.get(key, "")}, {})


def _name_sides(swapped: bool | None, own: str, other: str | None, *, hidden: bool) -> dict[str, Any]:
    """The field that says whose replies were shown as A and B."""
    if swapped is None or other is None:
        return {}
    sides = (
        [HIDDEN_SOURCE if hidden else other, own] if swapped else [own, HIDDEN_SOURCE if hidden else other]
    )
    return {PAIR: dict(zip(PAIR_SIDES, sides, strict=True))}


def read_decisions(rows: QuerySet[Judgment], *, hidden: bool = False) -> Iterator[Decision]:
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
        yield Decision(record, Answers(codes, texts or {}), schemas[schema], is_adjudicated)


def encode_decision(decision: Decision) -> Iterator[bytes]:
    """A line for each answer."""
    return map(encode_line, file_decision(decision).lines)


def file_decision(decision: Decision) -> FiledDecision:
    schema, lines = decision.schema, []
    for criterion, value in decode_answers(schema.content, decision.answers).items():
        found = schema.content.find(criterion)
        of = "session" if found and found.is_of_session else ""
        record = decision.record._replace(answer=Answer(criterion, value, schema.full_name, of))
        lines.append(describe_label(record) | name_chosen(record.extra, found, value))
    return FiledDecision(schema.content, lines)


def tally_decision(tally: TextTally, decision: Decision) -> None:
    """Count personal data in what people wrote: notes, answers and other fields."""
    extra = {**split_hashed_ids(decision.record.extra)[1], **decision.answers.texts}
    extra.pop(PAIR, None)
    tally.add_label(decision.record._replace(extra=extra or None))
