"""The replies of a campaign with what people and judges say of them, as arrays."""

from typing import NamedTuple

import numpy as np

from annotations_app.domain.estimates.rates import FloatArray, IntArray
from annotations_app.judges.judge_rows import read_packed
from annotations_app.models import Campaign
from datasets_app.core.queries import fetch_column
from datasets_app.domain.labels.criterion import Criterion, Kind

# Packed by the server: a row for each of a hundred thousand replies takes longer than all else.
_ITEMS_SQL = """
SELECT string_agg(int8send(turn_id) || int8send(session_id), ''::bytea)
FROM annotations_app_campaignitem WHERE campaign_id = %(campaign)s AND NOT gold GROUP BY position >> 16
"""
_UNLABELED_SQL = """
SELECT count(DISTINCT a.item_id) FROM annotations_app_assignment a
JOIN annotations_app_campaignitem i ON i.id = a.item_id
WHERE a.campaign_id = %s AND a.state IN ('skipped', 'flagged') AND NOT i.gold AND NOT EXISTS (
    SELECT FROM annotations_app_assignment o WHERE o.item_id = a.item_id AND o.state = 'labelled')
"""


class Items(NamedTuple):
    """Replies in ascending order of ``turn``; the sessions are numbered from 0."""

    turn: IntArray
    session: IntArray


def read_items(campaign: Campaign) -> Items:
    """Those of a campaign without its gold replies, which weren't chosen by chance."""
    turn, session = read_packed(_ITEMS_SQL, 2, campaign=campaign.pk)
    order = turn.argsort()
    _, numbered = np.unique(session[order], return_inverse=True)
    return Items(turn[order], numbered)


def average_by_reply(items: Items, turn: IntArray, given: FloatArray) -> FloatArray:
    """What the labels of each reply say on average, NaN where it has none; labels of other replies count
    nowhere."""
    if not len(items.turn):
        return np.zeros(0)
    place = np.searchsorted(items.turn, turn).clip(max=len(items.turn) - 1)
    known = items.turn[place] == turn
    counts = np.bincount(place[known], minlength=len(items.turn))
    sums = np.bincount(place[known], given[known], len(items.turn))
    return np.divide(sums, counts, out=np.full(len(items.turn), np.nan), where=counts > 0)


def match_answer(criterion: Criterion, code: int, value: IntArray) -> FloatArray:
    """1 where a stored answer is, or of several tags contains, the level with this code."""
    given = (value >> code) & 1 if criterion.kind == Kind.TAGS else value == code
    return given.astype(np.float64)


def count_given_up(campaign: Campaign) -> int:
    """Replies that were skipped or flagged and have no label."""
    return int(fetch_column(_UNLABELED_SQL, [campaign.pk])[0])
