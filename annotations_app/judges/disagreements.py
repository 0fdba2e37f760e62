"""Replies of which a judge says something else than most people."""

from collections.abc import Sequence

import numpy as np

from annotations_app.domain.agreement.consensus import TIE, majority_labels
from annotations_app.domain.arrays import IntArray
from annotations_app.judges.judge_rows import look_up, read_people_at_random, read_verdicts
from annotations_app.models import Campaign, Judge, JudgeRun
from annotations_app.models.querysets import find_version
from datasets_app.domain.labels.criterion import Criterion


def find_consensus(turn: IntArray, label: IntArray, categories: int) -> tuple[IntArray, IntArray, int]:
    """(turns with a majority, what it says, the number of ties)."""
    turns, place = np.unique(turn, return_inverse=True)
    counts = np.bincount(place * categories + label, minlength=len(turns) * categories)
    counts = counts.reshape(-1, categories)
    label = majority_labels(counts).astype(np.int64)
    clear = label != TIE
    return turns[clear], label[clear], int((~clear).sum())


def read_consensus(campaign: Campaign, criterion: Criterion) -> tuple[IntArray, IntArray]:
    """(turns of the random sample with a majority, what it says); of tags none: each is a question."""
    if not criterion.has_one_level:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    return find_consensus(*read_people_at_random(campaign, criterion), len(criterion.levels))[:2]


def list_wrong(campaign: Campaign, name: str, criteria: Sequence[Criterion]) -> list[int]:
    """Turns of the dataset of which the judge NAME@VERSION said something else in a campaign that asks the
    same."""
    judge = find_version(Judge.objects.all(), name) if name else None
    if judge is None:
        return []
    runs = JudgeRun.objects.filter(judge=judge, campaign__dataset=campaign.dataset_id)
    schema = campaign.schema
    runs = runs.filter(campaign__schema__name=schema.name) if schema else runs.filter(campaign__schema=None)
    wrong = []
    for run in runs.select_related("campaign", "schema").order_by("pk"):
        for criterion in criteria:
            turns, people = read_consensus(run.campaign, criterion)
            said = look_up(turns, *read_verdicts(run, criterion))
            wrong += turns[~np.isnan(said) & (said != people)].tolist()
    return wrong
