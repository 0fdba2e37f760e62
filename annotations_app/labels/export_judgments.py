"""Exports the answers of a campaign under a schema: one line for each criterion of each decision."""

from collections.abc import Iterator
from typing import IO, Any, NamedTuple

from django.db.models import Q

from annotations_app.labels.gated_export import export_through_gates
from annotations_app.models import Campaign, Judgment
from datasets_app.catalog import policies
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.annotation_lines import encode_answer
from datasets_app.domain.conversations.records import LabelRecord
from datasets_app.domain.labels.schema import Answers, Schema, decode_answers
from datasets_app.domain.quality.text_tally import TextTally
from datasets_app.domain.wording import format_count

BATCH_SIZE = 2000
_FIELDS = (
    "turn__text",
    "persona_id",
    "turn__session__session_id",
    "turn__turn_index",
    "rater__name",
    "notes",
    "timestamp",
    "confidence",
    "codes",
    "texts",
)


class ExportedAnswers(NamedTuple):
    """Counts of decisions, of the lines with their answers, and sentences on what was left out."""

    decisions: int
    answers: int
    omissions: list[str]


def export_judgments(
    campaign: Campaign,
    *,
    out: IO[bytes],
    override: str = "",
    actor: Any = None,
    report_progress: ProgressCallback = ignore_progress,
) -> ExportedAnswers:
    """Write every decision of a campaign with a schema to ``out``, ordered by turn, through the gates of
    :func:`export_through_gates`. Those of excluded sessions and of the test split are left out. Raises
    UserError.
    """
    schema, dataset = campaign.schema_content, campaign.dataset
    assert schema is not None  # callers look first  # nosec B101
    assert campaign.schema is not None  # as above  # nosec B101
    schema_name = campaign.schema.full_name

    def write(lines: IO[bytes], tally: TextTally) -> ExportedAnswers:
        rows = Judgment.objects.filter(campaign=campaign, kind=Judgment.Kind.LABEL)
        is_left_out = Q(turn__session__excluded=True) | Q(turn__session__split=policies.LOCKED_SPLIT)
        decisions = answers = 0
        ordered = rows.exclude(is_left_out).order_by("turn__session_id", "turn__turn_index", "id")
        for row in ordered.values_list(*_FIELDS).iterator(chunk_size=BATCH_SIZE):
            decisions += 1
            for line in _list_lines(row, schema, schema_name, tally):
                answers += 1
                lines.write(line)
            if decisions % BATCH_SIZE == 0:
                report_progress(decisions, None)
        report_progress(decisions, decisions)
        left_out = rows.filter(is_left_out).count()
        labels = format_count(left_out, "label")
        omissions = [f"{labels} of excluded sessions or the locked test split: left out"] if left_out else []
        return ExportedAnswers(decisions, answers, omissions)

    def finish(exported: ExportedAnswers) -> None:
        if not exported.decisions:
            raise UserError(f"The campaign {campaign.name} has no labels to export.")
        audit.record(
            "export_annotations",
            actor=actor,
            dataset_name=dataset.name,
            campaign=campaign.name,
            schema=schema_name,
            labels=exported.decisions,
        )

    return export_through_gates(dataset, out, write, finish, override=override, actor=actor)


def _list_lines(row: tuple[Any, ...], schema: Schema, schema_name: str, tally: TextTally) -> Iterator[bytes]:
    text, persona, session_id, turn_index, rater, notes, timestamp, confidence, codes, texts = row
    record = LabelRecord(
        text, 0, persona, session_id, turn_index, rater, notes, timestamp, confidence, texts or None
    )
    tally.add_label(record)
    for criterion, value in decode_answers(schema, Answers(codes, texts or {})).items():
        yield encode_answer(record._replace(extra=None), criterion, value, schema_name)
