"""Exports the decisions of a dataset under a schema: one line for each answer to a criterion."""

from collections.abc import Iterator
from typing import IO, Any, NamedTuple

from django.db.models import Q, QuerySet

from annotations_app.labels.gated_export import export_through_gates
from annotations_app.labels.label_places import kept_place, place_of, split_hashed_ids, without_place
from annotations_app.models import Campaign, Judgment, LabelSchema
from datasets_app.catalog import policies
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.annotation_lines import encode_label
from datasets_app.domain.conversations.records import Answer, LabelRecord
from datasets_app.domain.labels.rater import Rater, RaterKind
from datasets_app.domain.labels.schema import Answers, decode_answers
from datasets_app.domain.quality.text_tally import TextTally
from datasets_app.domain.wording import format_count
from datasets_app.models import Dataset

BATCH_SIZE = 2000
_RATER_FIELDS = ("rater__kind", "rater__version", "rater__prompt_digest")
_FIELDS = (
    *("turn__text", "persona_id", "turn__session__session_id", "turn__turn_index", "kept", "rater__name"),
    *("notes", "timestamp", "confidence", "extra", *_RATER_FIELDS, "codes", "texts"),
)


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
        rows = Judgment.objects.filter(dataset=self.dataset, schema=self.schema, kind=kind)
        return rows if self.campaign is None else rows.filter(campaign=self.campaign)


class Decision(NamedTuple):
    """A decision as files have it: ``record`` has no answer yet."""

    record: LabelRecord
    answers: Answers


class ExportedAnswers(NamedTuple):
    """Counts of decisions, of the lines with their answers, and sentences on what was left out."""

    decisions: int
    answers: int
    omissions: list[str]


def export_judgments(
    scope: JudgmentScope,
    *,
    out: IO[bytes],
    override: str = "",
    actor: Any = None,
    report_progress: ProgressCallback = ignore_progress,
) -> ExportedAnswers:
    """Write every decision to ``out``, ordered by turn, through the gates of :func:`export_through_gates`.
    Those of excluded sessions and of the test split are left out. Raises UserError.
    """

    def write(lines: IO[bytes], tally: TextTally) -> ExportedAnswers:
        is_left_out = Q(turn__session__excluded=True) | Q(turn__session__split=policies.LOCKED_SPLIT)
        decisions = answers = 0
        for decision in read_decisions(scope.rows().exclude(is_left_out)):
            tally_decision(tally, decision)
            decisions += 1
            for line in encode_decision(decision, scope.schema):
                answers += 1
                lines.write(line)
            if decisions % BATCH_SIZE == 0:
                report_progress(decisions, None)
        report_progress(decisions, decisions)
        left_out = scope.rows().filter(is_left_out).count()
        labels = format_count(left_out, "label")
        omissions = [f"{labels} of excluded sessions or the locked test split: left out"] if left_out else []
        return ExportedAnswers(decisions, answers, omissions)

    def finish(exported: ExportedAnswers) -> None:
        if not exported.decisions:
            raise UserError(f"{scope.described} has no labels to export.")
        audit.record(
            "export_annotations",
            actor=actor,
            dataset_name=scope.dataset.name,
            **({"campaign": scope.campaign.name} if scope.campaign else {}),
            schema=scope.schema.full_name,
            labels=exported.decisions,
        )

    return export_through_gates(scope.dataset, out, write, finish, override=override, actor=actor)


def read_decisions(rows: QuerySet[Judgment]) -> Iterator[Decision]:
    """By persona, session and turn."""
    ordered = rows.order_by("persona_id", "turn__session_id", "turn__turn_index", "id")
    said = ordered.annotate(kept=kept_place("turn", Judgment)).values_list(*_FIELDS)
    for text, persona, session_id, turn_index, kept, *more in said.iterator(chunk_size=BATCH_SIZE):
        name, notes, timestamp, confidence, extra, kind, version, prompt_digest, codes, texts = more
        place = place_of(session_id, turn_index, kept)
        is_model = kind == RaterKind.MODEL
        rater = Rater(RaterKind.MODEL, name, version, prompt_digest) if is_model else None
        said_by = (name, notes, timestamp, confidence, extra)
        record = without_place(LabelRecord(text, None, persona, *place, *said_by, rater=rater))
        yield Decision(record, Answers(codes, texts or {}))


def encode_decision(decision: Decision, schema: LabelSchema) -> Iterator[bytes]:
    """A line for each answer."""
    for criterion, value in decode_answers(schema.content, decision.answers).items():
        yield encode_label(decision.record._replace(answer=Answer(criterion, value, schema.full_name)))


def tally_decision(tally: TextTally, decision: Decision) -> None:
    """Count personal data in what people wrote: notes, answers and other fields."""
    extra = {**split_hashed_ids(decision.record.extra)[1], **decision.answers.texts}
    tally.add_label(decision.record._replace(extra=extra or None))
