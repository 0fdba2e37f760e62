"""Campaigns from review tasks: one for each criterion, with its outcomes and a reason for each."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from annotations_app.campaigns.create import create_campaign
from annotations_app.campaigns.settings import CampaignSettings
from annotations_app.criteria.schemas import save_schema
from annotations_app.domain.review import ReviewCriterion, list_criteria, make_schema
from annotations_app.models import Campaign
from annotations_app.review.tasks_file import read_tasks
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.traces.formats.review_tasks import TAG_PREFIX
from datasets_app.models import Dataset, Persona


def create_review_campaigns(
    tasks: Path,
    dataset: Dataset,
    persona: Persona,
    annotators: Sequence[str],
    *,
    overlap: int = 1,
    override: str = "",
    actor: Any = None,
    report_progress: ProgressCallback = ignore_progress,
) -> list[Campaign]:
    """``dataset`` holds the conversations of the file, imported before: their replies have the tag of their
    criterion. Rubrics become guidelines. Raises UserError, and then no campaign is made beyond those
    before."""
    campaigns = []
    for criterion in list_criteria(task for _, task in read_tasks(tasks)):
        settings = CampaignSettings(
            name=f"{dataset.name[:60]}-{criterion.name[:39]}",
            dataset=dataset,
            persona=persona,
            annotators=annotators,
            schema=save_schema(make_schema(criterion), actor=actor).schema,
            guidelines=_write_guidelines(criterion),
            overlap=overlap,
            tag=f"{TAG_PREFIX}{criterion.key}",
        )
        campaigns.append(
            create_campaign(settings, override=override, actor=actor, report_progress=report_progress)
        )
    return campaigns


def _write_guidelines(criterion: ReviewCriterion) -> str:
    rubric = criterion.rubric or "The run judged this criterion by a program; it has no rubric to read."
    return f"# {criterion.key}\n\n{rubric}\n"
