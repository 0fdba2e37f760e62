"""Exports the answers of a campaign under a schema: one line for each criterion of each decision."""

import tempfile
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

from django.db import transaction
from django.db.models import Q

from annotations_app.models import Campaign, Judgment
from datasets_app.catalog import gates, policies
from datasets_app.catalog.text_scans import list_exemptions
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
    """Write every decision of a campaign with a schema to ``out``, ordered by turn: with the gates of
    ``export_annotations``, all or nothing. Raises UserError.
    """
    schema, dataset = campaign.schema_content, campaign.dataset
    assert schema is not None  # callers look first  # nosec B101
    assert campaign.schema is not None  # as above  # nosec B101
    with tempfile.TemporaryFile() as spool:
        with transaction.atomic():
            overridden = gates.check_gate(policies.EXPORT, dataset, actor=actor, override=override)
            rows = Judgment.objects.filter(campaign=campaign, kind=Judgment.Kind.LABEL)
            is_left_out = Q(turn__session__excluded=True) | Q(turn__session__split=policies.LOCKED_SPLIT)
            tally, decisions, answers = TextTally(list_exemptions(dataset)), 0, 0
            ordered = rows.exclude(is_left_out).order_by("turn__session_id", "turn__turn_index", "id")
            for row in ordered.values_list(*_FIELDS).iterator(chunk_size=BATCH_SIZE):
                decisions += 1
                for line in _list_lines(row, schema, campaign.schema.full_name, tally):
                    answers += 1
                    spool.write(line)
                if decisions % BATCH_SIZE == 0:
                    report_progress(decisions, None)
            if not overridden:
                gates.check_label_export(dataset, tally.found, actor=actor, override=override)
                # As in export_annotations.py.
                gates.check_gate(policies.EXPORT, dataset, actor=actor, override=override)
            left_out = rows.filter(is_left_out).count()
            if not decisions:
                raise UserError(f"The campaign {campaign.name} has no labels to export.")
            audit.record(
                "export_annotations",
                actor=actor,
                dataset_name=dataset.name,
                campaign=campaign.name,
                schema=campaign.schema.full_name,
                labels=decisions,
            )
        report_progress(decisions, decisions)
        spool.seek(0)
        while block := spool.read(1 << 20):
            out.write(block)
    omissions = [f"{format_count(left_out, 'label')} of excluded sessions or the locked test split: left out"]
    return ExportedAnswers(decisions, answers, omissions if left_out else [])


def _list_lines(row: tuple[Any, ...], schema: Schema, schema_name: str, tally: TextTally) -> Iterator[bytes]:
    text, persona, session_id, turn_index, rater, notes, timestamp, confidence, codes, texts = row
    record = LabelRecord(
        text, 0, persona, session_id, turn_index, rater, notes, timestamp, confidence, texts or None
    )
    tally.add_label(record)
    for criterion, value in decode_answers(schema, Answers(codes, texts or {})).items():
        yield encode_answer(record._replace(extra=None), criterion, value, schema_name)
