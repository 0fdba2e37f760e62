"""Puts the replies of a campaign into the order "most useful first"."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from django.db import transaction

from annotations_app.campaigns.calibration import start_over
from annotations_app.campaigns.members import lock_campaign, lock_members
from annotations_app.domain.arrays import FloatArray, IntArray
from annotations_app.domain.estimates.usefulness import Draws, draw_at_random, measure_usefulness
from annotations_app.estimates.measure import find_runs, list_rated_levels
from annotations_app.estimates.replies import (
    DrawnItems,
    average_by_reply,
    match_answer,
    read_drawn_items,
    read_items,
)
from annotations_app.judges.judge_rows import read_people, read_tags, read_verdicts
from annotations_app.models import Campaign
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.core.queries import execute

_SAVE_SQL = """
UPDATE annotations_app_campaignitem i
SET position = n.position, draw = n.draw, usefulness = n.usefulness, reached = n.reached
FROM unnest(%(turn)s::bigint[], %(position)s::bigint[], %(draw)s::float8[], %(usefulness)s::float8[],
            %(reached)s::float8[]) AS n (turn, position, draw, usefulness, reached)
WHERE i.campaign_id = %(campaign)s AND i.turn_id = n.turn
"""


def order_replies(campaign: Campaign, *, actor: Any = None) -> int:
    """Ask the most useful replies next: where judges and people differ, where judges are unsure, and of rare
    tags. Returns how many nobody has been asked about yet.

    The first time, the campaign must be in random order; it can be done again as labels come in. The chance
    of each reply is recorded. Raises UserError.
    """
    with transaction.atomic():
        row = lock_campaign(campaign)
        _require_random_order(row)
        # Nobody is given a reply meanwhile.
        lock_members(row)
        items = read_drawn_items(row)
        draws = _draw_in_order(items) if row.order == Campaign.Order.RANDOM else items.draws
        usefulness = _measure(row)
        ordered = Draws(draws.draw, usefulness, draws.chances(items.is_given))
        _save(row, items, ordered)
        row.order = Campaign.Order.USEFUL
        row.save(update_fields=["order"])
        left = int((~items.is_given).sum())
        audit.record(
            "order_replies", actor=actor, dataset_name=row.dataset.name, campaign=row.name, replies=left
        )
    return left


def _require_random_order(campaign: Campaign) -> None:
    if campaign.order not in (Campaign.Order.RANDOM, Campaign.Order.USEFUL):
        raise UserError(
            f"{campaign.name} is labeled in the order “{campaign.get_order_display()}”, so its labels so far "
            "aren't a random sample. Ask for the most useful replies in a campaign in random order."
        )
    if campaign.other_dataset_id or campaign.is_calibrating:
        kind = "compares pairs of replies" if campaign.other_dataset_id else "is in its calibration round"
        raise UserError(f"{campaign.name} {kind}; the order of its replies stays as it is.")
    if not campaign.judge_runs.exists():
        raise UserError(
            f"No judge has judged {campaign.name}, so nothing tells which replies are useful. Run a judge "
            "first."
        )


def _draw_in_order(items: DrawnItems) -> Draws:
    """The place in the random order that the campaign has had is the number that was drawn."""
    draws = draw_at_random(len(items.turn))
    return draws._replace(draw=draws.draw[items.position.argsort().argsort()])


def _measure(campaign: Campaign) -> FloatArray:
    items = read_items(campaign)
    runs = find_runs(campaign, ())
    labels, verdicts = [], []
    for question in campaign.asked_schema.questions:
        criterion = question.criterion
        if not criterion.levels:
            continue
        turn, value = read_people(campaign, criterion)
        said = [read_verdicts(run, criterion, repeats=True) for run in runs]
        for code, _ in list_rated_levels(criterion):
            labels.append(average_by_reply(items, turn, match_answer(criterion, code, value)))
            verdicts.append(
                [average_by_reply(items, one, match_answer(criterion, code, two)) for one, two in said]
            )
    replies = len(items.turn)
    return measure_usefulness(
        np.array(labels).reshape(len(labels), replies),
        np.array(verdicts).reshape(len(verdicts), len(runs), replies),
        list(_find_strata(campaign, items.turn)),
    )


def _find_strata(campaign: Campaign, turns: IntArray) -> Iterator[IntArray]:
    for tagged in read_tags(campaign).values():
        yield np.flatnonzero(np.isin(turns, tagged))


def _save(campaign: Campaign, items: DrawnItems, draws: Draws) -> None:
    """The places among those of gold replies stay; whose turn it is changes."""
    position = np.empty_like(items.position)
    position[draws.order()] = np.sort(items.position)
    columns = {"turn": items.turn, "position": position, **draws._asdict()}
    execute(_SAVE_SQL, {"campaign": campaign.pk, **{name: one.tolist() for name, one in columns.items()}})
    start_over(campaign)
