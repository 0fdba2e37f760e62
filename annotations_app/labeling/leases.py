"""Items of a campaign into the hands of annotators, and back: one statement for each step.

The order of locks, for everything that serves, decides or settles:

1. the member's row (``CampaignMember``) of whoever asks, which also makes their own requests follow one
   another. What concerns a whole campaign locks the rows of all its members, by key, and so waits for
   whoever is at it and lets nobody begin;
2. in session order, before a new session is begun, the campaign's advisory lock: whoever holds it waits
   for nothing;
3. at most one item (with its assignment) for which one waits: the one that is decided on;
4. everything else, items to be given and leases that have run out, with SKIP LOCKED.

So nobody who is waited for waits in turn for an item. One decision is one transaction: two of them in
one transaction would wait for a second item while holding the first.
"""

from datetime import datetime
from typing import Any, NamedTuple

from django.db import connection

# How many are looked at, to find one that nobody is taking at this very moment; and at a second try.
WINDOWS = (32, 2048)
RELEASED_AT_ONCE = 20

# Not pulled up into a join by the planner: an index look-up for each item that is looked at, however
# many the annotator has.
_NOT_THEIRS = """
coalesce((SELECT a.state FROM annotations_app_assignment a
          WHERE a.item_id = i.id AND a.annotator_id = %(user)s AND NOT a.repeat), 'released') = 'released'
"""
# Others who are in the middle of a session will want what is left of it.
_HELD = """
held AS MATERIALIZED (
    SELECT DISTINCT a.annotator_id, i.session_id
    FROM annotations_app_assignment a JOIN annotations_app_campaignitem i ON i.id = a.item_id
    WHERE a.campaign_id = %(campaign)s AND a.state = 'leased' AND a.leased_until > now()
      AND a.annotator_id <> %(user)s AND NOT a.repeat AND NOT i.gold
),
"""
_NOT_HELD = """
AND i.open > (
    SELECT count(*) FROM held h
    WHERE h.session_id = i.session_id AND NOT EXISTS (
        SELECT FROM annotations_app_assignment b
        WHERE b.item_id = i.id AND b.annotator_id = h.annotator_id AND NOT b.repeat AND b.state <> 'released'
    )
)
"""
# Where to look, and in which order.
_PLACES = {
    "session": ("i.session_id = %(session)s", "i.position"),
    "returned": ("i.position <= %(cursor)s AND i.returned_at > %(returned_seen)s", "i.returned_at"),
    "next": ("i.position > %(cursor)s", "i.position"),
}
_INSERT = """
INSERT INTO annotations_app_assignment
    (campaign_id, item_id, annotator_id, repeat, state, ordinal, persona_digest, served_at, leased_until)
SELECT %(campaign)s, {item}, %(user)s, {repeat}, 'leased', %(ordinal)s, %(digest)s, now(),
       now() + make_interval(mins => %(minutes)s)
{from_taken}
ON CONFLICT (item_id, annotator_id, repeat) DO UPDATE SET
    state = 'leased', ordinal = excluded.ordinal, persona_digest = excluded.persona_digest,
    served_at = excluded.served_at, leased_until = excluded.leased_until, decided_at = NULL
"""
_TAKE = """
WITH {held} looked_at AS MATERIALIZED (
    SELECT i.id, i.position FROM annotations_app_campaignitem i
    WHERE i.campaign_id = %(campaign)s AND i.open > 0 AND {place} AND {not_theirs} {not_held}
    ORDER BY {order} LIMIT %(window)s
), locked AS MATERIALIZED (
    SELECT i.id, i.position, i.session_id
    FROM looked_at w JOIN annotations_app_campaignitem i ON i.id = w.id
    WHERE i.open > 0 ORDER BY w.position LIMIT 1 FOR NO KEY UPDATE OF i SKIP LOCKED
), taken AS (
    UPDATE annotations_app_campaignitem i SET open = i.open - 1 FROM locked
    WHERE i.id = locked.id RETURNING i.id
), given AS ({insert} RETURNING id)
SELECT (SELECT count(*) FROM given), (SELECT count(*) FROM looked_at), {first},
       (SELECT position FROM locked), (SELECT session_id FROM locked)
"""
_FIRST = "(SELECT min(position) FROM looked_at)"
# What is passed over only because others are in its session stays ahead of the cursor.
_FIRST_NOT_THEIRS = f"""
(SELECT i.position FROM annotations_app_campaignitem i
 WHERE i.campaign_id = %(campaign)s AND i.open > 0 AND i.position > %(cursor)s AND {_NOT_THEIRS}
 ORDER BY i.position LIMIT 1)
"""
_TAKE_GOLD = """
WITH taken AS (
    SELECT i.id, i.position FROM annotations_app_campaignitem i
    WHERE i.campaign_id = %(campaign)s AND i.gold AND i.position > %(gold_cursor)s AND {not_theirs}
    ORDER BY i.position LIMIT 1
), given AS ({insert} RETURNING id)
SELECT (SELECT position FROM taken) FROM given
"""
_RENEW = """
UPDATE annotations_app_assignment SET
    leased_until = now() + make_interval(mins => %(minutes)s), persona_digest = %(digest)s
WHERE campaign_id = %(campaign)s AND state = 'leased' AND annotator_id = %(user)s
"""
# Gold items and repeats take nobody's place: they wait for their annotator.
_RELEASE_EXPIRED = """
WITH expired AS MATERIALIZED (
    SELECT a.id, a.item_id
    FROM annotations_app_assignment a JOIN annotations_app_campaignitem i ON i.id = a.item_id
    WHERE a.campaign_id = %(campaign)s AND a.state = 'leased' AND a.leased_until < now()
      AND NOT a.repeat AND NOT i.gold
    ORDER BY a.leased_until LIMIT %(limit)s FOR NO KEY UPDATE OF a, i SKIP LOCKED
), released AS (
    UPDATE annotations_app_assignment a SET state = 'released' FROM expired WHERE a.id = expired.id
)
UPDATE annotations_app_campaignitem i SET open = i.open + given_back.places, returned_at = clock_timestamp()
FROM (SELECT item_id, count(*) AS places FROM expired GROUP BY item_id) given_back
WHERE i.id = given_back.item_id
"""
_OTHERS_HOLD = f"""
SELECT EXISTS (
    SELECT FROM annotations_app_assignment o JOIN annotations_app_campaignitem i ON i.id = o.item_id
    WHERE o.campaign_id = %(campaign)s AND o.state = 'leased' AND o.annotator_id <> %(user)s
      AND NOT o.repeat AND NOT i.gold AND {_NOT_THEIRS}
)
"""


class Asking(NamedTuple):
    """Who is to be given something, as their member's row and the campaign say; by keys."""

    campaign: int
    user: int
    digest: str
    minutes: int


class Found(NamedTuple):
    """What a look for an item came to.

    ``given``: an assignment was made. ``seen``: how many were there to be had. ``first``: the position of
    the first of them; ``position`` and ``session`` those of the one that was given.
    """

    given: bool
    seen: int
    first: int | None
    position: int | None
    session: int | None


def take(
    asking: Asking,
    place: str,
    *,
    ordinal: int,
    window: int,
    cursor: int = 0,
    returned_seen: datetime | None = None,
    session: int | None = None,
    beside_others: bool = True,
) -> Found:
    """Give the first item that is to be had in a ``place``: "session", "returned" or "next".

    Unless ``beside_others``, sessions that others are in the middle of are left to them.
    """
    where, order = _PLACES[place]
    sql = _TAKE.format(
        held="" if beside_others else _HELD,
        place=where,
        not_theirs=_NOT_THEIRS,
        not_held="" if beside_others else _NOT_HELD,
        order=order,
        insert=_INSERT.format(item="taken.id", repeat="false", from_taken="FROM taken"),
        first=_FIRST if beside_others else _FIRST_NOT_THEIRS,
    )
    values = {
        **asking._asdict(),
        "ordinal": ordinal,
        "window": window,
        "cursor": cursor,
        "returned_seen": returned_seen or "-infinity",
        "session": session,
    }
    given, seen, first, position, its_session = _row(sql, values)
    return Found(bool(given), seen, first, position, its_session)


def take_gold(asking: Asking, *, ordinal: int, gold_cursor: int) -> int | None:
    """Give the next gold item; returns its position, None if there is none left."""
    insert = _INSERT.format(item="taken.id", repeat="false", from_taken="FROM taken")
    values = {**asking._asdict(), "ordinal": ordinal, "gold_cursor": gold_cursor}
    row = _row(_TAKE_GOLD.format(not_theirs=_NOT_THEIRS, insert=insert), values)
    return None if row is None else row[0]


def give_again(asking: Asking, item: int, *, ordinal: int) -> None:
    """A hidden repeat of an item."""
    insert = _INSERT.format(item="%(item)s", repeat="true", from_taken="")
    with connection.cursor() as cursor:
        cursor.execute(insert, {**asking._asdict(), "ordinal": ordinal, "item": item})


def renew(asking: Asking) -> int:
    """Their leases run from now on again, and are of the persona as it is now; returns how many they have.

    Whoever calls this shows the persona anew with what is leased.
    """
    with connection.cursor() as cursor:
        cursor.execute(_RENEW, asking._asdict())
        count: int = cursor.rowcount
    return count


def release_expired(campaign: int, *, limit: int = RELEASED_AT_ONCE) -> int:
    """Take back some leases that have run out; returns how many items got a place back."""
    with connection.cursor() as cursor:
        cursor.execute(_RELEASE_EXPIRED, {"campaign": campaign, "limit": limit})
        count: int = cursor.rowcount
    return count


def others_hold(asking: Asking) -> bool:
    """Whether others hold items that may still come to this annotator."""
    return bool(_row(_OTHERS_HOLD, asking._asdict())[0])


def begin_session(campaign: int) -> None:
    """Until the transaction ends nobody else begins a session of the campaign."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [_ADVISORY_CLASS, campaign % 2**31])


# Tells this use of advisory locks from any other: "camp" in ASCII.
_ADVISORY_CLASS = 0x63616D70


def _row(sql: str, values: dict[str, Any]) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchone()
