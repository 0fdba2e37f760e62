"""How many of a run's answers violate a criterion, from the judged part of its review tasks."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from annotations_app.domain.review import settle
from annotations_app.domain.review_audit import ReviewEstimate, estimate_tasks
from annotations_app.models import CampaignItem
from annotations_app.review.export import read_opinions
from annotations_app.review.tasks_file import read_tasks
from datasets_app.core.errors import UserError
from datasets_app.domain.quality.text_tally import TextTally
from datasets_app.domain.traces.formats.review_tasks import TAG_PREFIX, find_key
from datasets_app.models import Dataset


class EstimatedReview(NamedTuple):
    """``repeated`` are lines with a task that the file had before, which aren't counted."""

    criteria: list[ReviewEstimate]
    repeated: int


def estimate_review(tasks: Path, dataset: Dataset) -> EstimatedReview:
    """Raises UserError."""
    outcomes = {}
    for key, opinions in read_opinions(dataset, TextTally()).items():
        settled = settle(opinions)
        people = {one.outcome for one in settled if not one.is_model}
        decided = next((one.outcome for one in settled if one.adjudicated), None)
        if outcome := decided or (people.pop() if len(people) == 1 else None):
            outcomes[key] = outcome
    keys: list[str] = []
    found = estimate_tasks(_read_once(tasks, keys), _list_included(dataset), outcomes)
    if not any(one.selected.included + one.others.included for one in found):
        raise UserError(f"No campaign of {dataset.name} asks about these tasks.")
    return EstimatedReview(found, len(keys) - len(set(keys)))


def _read_once(path: Path, keys: list[str]) -> Iterator[dict[str, Any]]:
    """A file with several annotations of a task holds it as often; ``keys`` gets those of all lines."""
    seen: set[str] = set()
    for _, task in read_tasks(path):
        keys.append(key := task["review_key"])
        if key not in seen:
            seen.add(key)
            yield task


def _list_included(dataset: Dataset) -> set[str]:
    """The keys of the tasks in a campaign."""
    items = CampaignItem.objects.filter(
        campaign__dataset=dataset, campaign__tag__startswith=TAG_PREFIX, turn__dataset=dataset
    )
    rows = items.values_list("campaign__tag", "turn__metadata")
    keys = (find_key(metadata, tag.removeprefix(TAG_PREFIX)) for tag, metadata in rows)
    return {key for key in keys if key}
