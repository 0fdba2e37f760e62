"""The replies of a campaign with what people say of them, as arrays."""

from typing import NamedTuple

import numpy as np
from django.db import connection

from annotations_app.agreement.criteria import read_answers
from annotations_app.domain.estimates.rates import FloatArray, IntArray
from annotations_app.models import Campaign
from datasets_app.domain.labels.criterion import Criterion, Kind
from datasets_app.domain.labels.on_brand import ON_BRAND

# Packed by the server: a row for each of a hundred thousand replies takes longer than all else.
_ITEMS_SQL = """
SELECT string_agg(int8send(turn_id) || int8send(session_id), ''::bytea)
FROM annotations_app_campaignitem WHERE campaign_id = %s AND NOT gold GROUP BY position >> 16
"""
_ON_BRAND_SQL = """
SELECT string_agg(int8send(turn_id) || int8send(label::bigint), ''::bytea)
FROM annotations_app_annotation WHERE campaign_id = %s AND kind = 'label' GROUP BY turn_id >> 16
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
    rows = _read_packed(_ITEMS_SQL, campaign.pk)
    rows = rows[rows[:, 0].argsort()]
    _, session = np.unique(rows[:, 1], return_inverse=True)
    return Items(rows[:, 0], session)


def read_answer_codes(campaign: Campaign, criterion: Criterion) -> tuple[IntArray, IntArray]:
    """(turn, stored answer) of each label of people."""
    if criterion.key != ON_BRAND.key or campaign.schema is not None:
        answers = read_answers(campaign, criterion)
        return answers.turn, answers.value
    rows = _read_packed(_ON_BRAND_SQL, campaign.pk)
    return rows[:, 0], rows[:, 1]


def average_by_reply(items: Items, turn: IntArray, given: FloatArray) -> FloatArray:
    """What the labels of each reply say on average, NaN where it has none; labels of other replies count
    nowhere."""
    place = np.searchsorted(items.turn, turn).clip(max=max(0, len(items.turn) - 1))
    known = items.turn[place] == turn if len(items.turn) else np.zeros(len(turn), bool)
    counts = np.bincount(place[known], minlength=len(items.turn))
    sums = np.bincount(place[known], given[known], len(items.turn))
    return np.divide(sums, counts, out=np.full(len(items.turn), np.nan), where=counts > 0)


def match_answer(criterion: Criterion, code: int, value: IntArray) -> FloatArray:
    """1 where a stored answer is, or of several tags contains, the level with this code."""
    given = (value >> code) & 1 if criterion.kind == Kind.TAGS else value == code
    return given.astype(np.float64)


def count_given_up(campaign: Campaign) -> int:
    """Replies that were skipped or flagged and have no label."""
    with connection.cursor() as cursor:
        cursor.execute(_UNLABELED_SQL, [campaign.pk])
        [count] = cursor.fetchone()
    return int(count)


def _read_packed(sql: str, campaign: int) -> IntArray:
    """(rows, 2) from strings of pairs of eight-byte numbers."""
    with connection.cursor() as cursor:
        cursor.execute(sql, [campaign])
        parts = [np.frombuffer(packed, ">i8") for (packed,) in cursor.fetchall()]
    numbers = np.concatenate(parts).astype(np.int64) if parts else np.zeros(0, np.int64)
    return numbers.reshape(-1, 2)
