"""The replies of a campaign with what people and judges say of them, as arrays."""

from typing import NamedTuple

import numpy as np
from django.db.models import Count, Exists, OuterRef

from annotations_app.domain.arrays import BoolArray, FloatArray, IntArray
from annotations_app.domain.estimates.usefulness import Draws
from annotations_app.domain.label_table import match_items
from annotations_app.judges.judge_rows import read_packed
from annotations_app.models import Assignment, Campaign
from datasets_app.domain.labels.criterion import Criterion, Kind

# Packed by the server: a row for each of a hundred thousand replies takes longer than all else.
_ITEMS_SQL = """
SELECT string_agg(int8send(turn_id) || int8send(session_id), ''::bytea)
FROM annotations_app_campaignitem WHERE campaign_id = %(campaign)s AND NOT gold GROUP BY position >> 16
"""
_DRAWN_SQL = """
SELECT string_agg(int8send(i.turn_id) || int8send(i.position) || float8send(coalesce(i.draw, 0))
    || float8send(coalesce(i.usefulness, 1)) || float8send(coalesce(i.reached, 0))
    || int8send(coalesce(a.done, 0)), ''::bytea)
FROM annotations_app_campaignitem i LEFT JOIN (
    SELECT item_id, max(CASE WHEN state = 'leased' THEN 1 ELSE 2 END) AS done
    FROM annotations_app_assignment
    WHERE campaign_id = %(campaign)s AND NOT repeat AND state <> 'released' GROUP BY item_id
) a ON a.item_id = i.id
WHERE i.campaign_id = %(campaign)s AND NOT i.gold GROUP BY i.position >> 16
"""


class Items(NamedTuple):
    """Replies in ascending order of ``turn``; the sessions are numbered from 0.

    ``chance`` is how likely each was to be asked about by now; people's labels of others than those ``drawn``
    say nothing of the rest. ``beyond`` counts replies that were labeled before they were drawn.
    """

    turn: IntArray
    session: IntArray
    chance: FloatArray
    drawn: BoolArray
    beyond: int = 0


class DrawnItems(NamedTuple):
    """Replies in ascending order of ``turn``: which have a decision (``done``) or somebody at work."""

    turn: IntArray
    position: IntArray
    draws: Draws
    is_done: BoolArray
    is_given: BoolArray


def read_items(campaign: Campaign) -> Items:
    """Those of a campaign without its gold replies, which weren't chosen by chance."""
    turn, session = read_packed(_ITEMS_SQL, 2, campaign=campaign.pk)
    order = turn.argsort()
    _, numbered = np.unique(session[order], return_inverse=True)
    items = Items(turn[order], numbered, np.ones(len(turn)), np.ones(len(turn), bool))
    if campaign.order != Campaign.Order.USEFUL:
        return items
    drawn = read_drawn_items(campaign)
    chance = drawn.draws.chances(drawn.is_done)
    is_drawn = drawn.draws.draw < chance
    return items._replace(chance=chance, drawn=is_drawn, beyond=int((drawn.is_done & ~is_drawn).sum()))


def read_drawn_items(campaign: Campaign) -> DrawnItems:
    turn, position, draw, usefulness, reached, done = read_packed(_DRAWN_SQL, 6, campaign=campaign.pk)
    order = turn.argsort()
    # Eight bytes each, whole numbers or not.
    draws = Draws(*(column[order].view(np.float64) for column in (draw, usefulness, reached)))
    return DrawnItems(turn[order], position[order], draws, done[order] == 2, done[order] > 0)


def average_by_reply(items: Items, turn: IntArray, given: FloatArray) -> FloatArray:
    """What the labels of each reply say on average, NaN where it has none; labels of other replies count
    nowhere."""
    place, known = match_items(items.turn, turn)
    counts = np.bincount(place, minlength=len(items.turn))
    sums = np.bincount(place, given[known], len(items.turn))
    return np.divide(sums, counts, out=np.full(len(items.turn), np.nan), where=counts > 0)


def match_answer(criterion: Criterion, code: int, value: IntArray) -> FloatArray:
    """1 where a stored answer is, or of several tags contains, the level with this code."""
    given = (value >> code) & 1 if criterion.kind == Kind.TAGS else value == code
    return given.astype(np.float64)


def count_given_up(campaign: Campaign) -> int:
    """Replies that were skipped or flagged and have no label."""
    labeled = Assignment.objects.filter(item=OuterRef("item"), state=Assignment.State.LABELLED)
    given_up = campaign.assignments.filter(state__in=["skipped", "flagged"], item__gold=False)
    return int(given_up.filter(~Exists(labeled)).aggregate(items=Count("item", distinct=True))["items"])
