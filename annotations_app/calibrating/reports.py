"""What a calibration got wrong: the replies that its report names, queued again for their annotators."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db.models.functions import Left

from annotations_app.domain.calibration_reports import (
    CalibrationReport,
    InvalidReport,
    ReportedError,
    read_report,
)
from annotations_app.labeling.requeue_stale import requeue_replies
from annotations_app.models import Annotation, Campaign
from datasets_app.core.errors import UserError
from datasets_app.domain.labels.on_brand import ON_BRAND
from datasets_app.models import Dataset, Turn


class WrongReply(NamedTuple):
    """``turns`` of the dataset begin as the error does and have its label; several if they say the same."""

    error: ReportedError
    turns: list[Turn]


class Requeued(NamedTuple):
    """Labels withdrawn; replies in no open campaign, which nobody is asked about."""

    labels: int
    left: int


def parse_report(text: str) -> CalibrationReport:
    """Raises UserError."""
    try:
        return read_report(text)
    except InvalidReport as error:
        raise UserError(f"This report of Alignmenter can't be read: {error}.") from None


def find_wrong_replies(dataset: Dataset, persona_id: str, report: CalibrationReport) -> list[WrongReply]:
    found: defaultdict[tuple[str, int], list[Turn]] = defaultdict(list)
    labeled = Turn.objects.filter(
        dataset=dataset,
        annotations__persona_id=persona_id,
        annotations__kind__in=[Annotation.Kind.LABEL, Annotation.Kind.ADJUDICATED],
    ).select_related("session")
    for length in {len(error.start) for error in report.errors}:
        for label in ON_BRAND.codes:
            starts = [one.start for one in report.errors if (len(one.start), one.label) == (length, label)]
            turns = labeled.filter(annotations__label=label).annotate(start=Left("text", max(1, length)))
            for turn in turns.filter(start__in=starts).order_by("pk").distinct():
                found[turn.start, label].append(turn)
    return [WrongReply(error, found[error.start, error.label]) for error in report.errors]


def requeue_wrong_replies(
    dataset: Dataset, persona_id: str, turns: Sequence[int], *, actor: Any = None
) -> Requeued:
    """Ask the annotators of these turns (primary keys) again. Raises UserError."""
    campaigns = Campaign.objects.filter(
        dataset=dataset, persona__persona_id=persona_id, schema=None, status__in=["open", "paused"]
    )
    count, asked = 0, set()
    for campaign in campaigns:
        asked |= set(campaign.items.filter(turn__in=turns).values_list("turn_id", flat=True))
        count += requeue_replies(campaign, turns, actor=actor)
    return Requeued(count, len(set(turns) - asked))
