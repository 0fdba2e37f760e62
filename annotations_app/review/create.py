"""Campaigns from review tasks: one for each criterion, with its outcomes and a reason for each."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from annotations_app.campaigns.add_replies import create_with_replies
from annotations_app.campaigns.create import create_campaign
from annotations_app.criteria.schemas import save_schema
from annotations_app.domain.review import ReviewCriterion, list_criteria, make_schema
from annotations_app.domain.review_audit import choose_tasks
from annotations_app.models import Campaign
from annotations_app.models.campaign import DEFAULT_SEED
from annotations_app.review.tasks_file import read_tasks
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.traces.formats.review_tasks import TAG_PREFIX, find_key
from datasets_app.models import Dataset, Persona, Turn


class CreatedReview(NamedTuple):
    """``without`` are the criteria that get no campaign, because nothing of theirs is to be judged."""

    campaigns: list[Campaign]
    without: list[str]

    def describe_without(self) -> list[str]:
        return [
            f"No campaign for {criterion}: the machine passed all of its tasks, and none was drawn for the "
            "audit, or none of them has a reply in the dataset."
            for criterion in self.without
        ]


def create_review_campaigns(
    tasks: Path,
    dataset: Dataset,
    persona: Persona,
    annotators: Sequence[str],
    *,
    overlap: int = 1,
    audit: int | None = None,
    seed: int = DEFAULT_SEED,
    override: str = "",
    actor: Any = None,
    report_progress: ProgressCallback = ignore_progress,
) -> CreatedReview:
    """``dataset`` holds the conversations of the file, imported before: their replies have the tag of their
    criterion. Rubrics become guidelines. With ``audit``, people judge what the machine didn't pass and so
    many others of each criterion, drawn at random by ``seed``; else all. Raises UserError, and then no
    campaign is made beyond those before."""
    if audit is not None and audit < 0:
        raise UserError("The number of audited tasks can't be negative.")
    made = CreatedReview([], [])
    chosen = None if audit is None else choose_tasks((task for _, task in read_tasks(tasks)), audit, seed)
    for criterion in list_criteria(task for _, task in read_tasks(tasks)):
        if not criterion.key.isprintable():
            raise UserError("The id of a criterion has a control character, so nobody can be asked about it.")
        campaign = Campaign(
            name=f"{dataset.name[:60]}-{criterion.name[:39]}",
            dataset=dataset,
            persona=persona,
            schema=save_schema(make_schema(criterion), actor=actor).schema,
            guidelines=_write_guidelines(criterion),
            overlap=overlap,
            tag=f"{TAG_PREFIX}{criterion.key}",
        )
        who: Any = {"override": override, "actor": actor}
        if chosen is None:
            made.campaigns.append(
                create_campaign(campaign, annotators, **who, report_progress=report_progress)
            )
        elif turns := _find_turns(dataset, criterion.key, chosen.get(criterion.key, set())):
            made.campaigns.append(create_with_replies(campaign, annotators, turns, **who))
        else:
            made.without.append(criterion.key)
    return made


def _find_turns(dataset: Dataset, criterion: str, keys: set[str]) -> list[Turn]:
    tagged = Turn.objects.filter(dataset=dataset, tags__contains=[f"{TAG_PREFIX}{criterion}"])
    return [turn for turn in tagged if find_key(turn.metadata, criterion) in keys]


def _write_guidelines(criterion: ReviewCriterion) -> str:
    rubric = criterion.rubric or "The run judged this criterion by a program; it has no rubric to read."
    return f"# {criterion.key}\n\n{rubric}\n"
