"""Asks one more annotator about replies on which more answers may change the result."""

from collections.abc import Iterator

import numpy as np
from django.db import transaction

from annotations_app.agreement.criteria import build_answer_table, read_answers
from annotations_app.campaigns.members import lock_members
from annotations_app.domain.agreement.consensus import find_unsure, fit_consensus
from annotations_app.domain.label_table import LabelTable
from annotations_app.labeling.extra_places import open_places
from annotations_app.labels.label_counts import LabelScope, read_labels
from annotations_app.models import Campaign


def ask_where_unsure(campaign: Campaign) -> int:
    """Of a campaign with an overlap that adapts; returns how many replies were opened."""
    if campaign.max_overlap is None:
        return 0
    unsure: set[int] = set()
    extra = dict(campaign.items.values_list("turn_id", "extra"))
    most = campaign.max_overlap - campaign.overlap
    for table in _read_tables(campaign):
        if table.items:
            left = np.array([most - extra.get(turn, 0) for turn in table.turn.tolist()])
            found = find_unsure(table.counts(), fit_consensus(table).posterior, left)
            unsure |= set(table.turn[found].tolist())
    if not unsure:
        return 0
    with transaction.atomic():
        lock_members(campaign)
        return open_places(campaign, sorted(unsure))


def _read_tables(campaign: Campaign) -> Iterator[LabelTable]:
    if campaign.schema is None:
        yield read_labels([LabelScope(campaign.dataset_id, campaign.persona.persona_id, campaign.pk)])
        return
    for criterion in campaign.schema.content.criteria:
        if criterion.has_one_level:
            answers = read_answers(campaign, criterion)
            yield build_answer_table(campaign, answers, np.asarray(answers.value), len(criterion.levels))
