"""Leases items of a campaign to annotators and takes them back, one statement for each step.

Whatever leases, decides or requeues takes its locks in this order:

1. the row (``CampaignMember``) of the annotator who asks, so that their own requests follow one another.
   What concerns a whole campaign locks the rows of all its members, by key: it waits for those at work
   and lets nobody begin;
2. in session order, before a new session begins, the campaign's advisory lock: its holder waits for
   nothing;
3. at most one item (with its assignment) for which one waits: the one that is decided on;
4. everything else, items to lease and leases that ran out, with SKIP LOCKED.

So the holder of an item never waits for another. One decision is one transaction: two of them in one would
wait for a second item while holding the first.
"""

from datetime import datetime
from typing import NamedTuple

from datasets_app.core.queries import execute, fetch_one, fetch_value

# How many candidates to look at for one that nobody is taking at this very moment; then at a second try.
WINDOW_SIZES = (32, 2048)
MAX_RELEASED = 20

# A form the planner can't turn into a join: one index look-up for each candidate, however many assignments
# the annotator has.
_NOT_ASSIGNED_SQL = """
coalesce((SELECT a.state FROM annotations_app_assignment a
          WHERE a.item_id = i.id AND a.annotator_id = %(user)s AND NOT a.repeat), 'released') = 'released'
"""
# Sessions that others are in the middle of: the rest of them is theirs.
_HELD_SESSIONS_SQL = """
held AS MATERIALIZED (
    SELECT DISTINCT a.annotator_id, i.session_id
    FROM annotations_app_assignment a JOIN annotations_app_campaignitem i ON i.id = a.item_id
    WHERE a.campaign_id = %(campaign)s AND a.state = 'leased' AND a.leased_until > now()
      AND a.annotator_id <> %(user)s AND NOT a.repeat AND NOT i.gold
),
"""
_NOT_HELD_SQL = """
AND i.open > (
    SELECT count(*) FROM held h
    WHERE h.session_id = i.session_id AND NOT EXISTS (
        SELECT FROM annotations_app_assignment b
        WHERE b.item_id = i.id AND b.annotator_id = h.annotator_id AND NOT b.repeat AND b.state <> 'released'
    )
)
"""
# Which items to look at, and in which order.
_PLACES = {
    "session": ("i.session_id = %(session)s", "i.position"),
    "returned": ("i.position <= %(cursor)s AND i.returned_at > %(returned_seen)s", "i.returned_at"),
    "next": ("i.position > %(cursor)s", "i.position"),
}
_INSERT_SQL = """
INSERT INTO annotations_app_assignment
    (campaign_id, item_id, annotator_id, repeat, extra, state, ordinal, persona_digest, served_at,
     leased_until)
SELECT %(campaign)s, {item}, %(user)s, {repeat}, {extra}, 'leased', %(ordinal)s, %(digest)s, now(),
       now() + make_interval(mins => %(minutes)s)
{from_taken}
ON CONFLICT (item_id, annotator_id, repeat) DO UPDATE SET
    state = 'leased', extra = excluded.extra, ordinal = excluded.ordinal,
    persona_digest = excluded.persona_digest,
    served_at = excluded.served_at, leased_until = excluded.leased_until, decided_at = NULL
"""
_LEASE_ITEM_SQL = """
WITH {held} candidates AS MATERIALIZED (
    SELECT i.id, i.position FROM annotations_app_campaignitem i
    WHERE i.campaign_id = %(campaign)s AND i.open > 0 AND {place} AND {not_assigned} {not_held}
    ORDER BY {order} LIMIT %(window)s
), locked AS MATERIALIZED (
    SELECT i.id, i.position, i.session_id
    FROM candidates c JOIN annotations_app_campaignitem i ON i.id = c.id
    WHERE i.open > 0 ORDER BY c.position LIMIT 1 FOR NO KEY UPDATE OF i SKIP LOCKED
), taken AS (
    UPDATE annotations_app_campaignitem i SET open = i.open - 1 FROM locked
    WHERE i.id = locked.id RETURNING i.id, i.extra
), inserted AS ({insert} RETURNING id)
SELECT (SELECT count(*) FROM inserted), (SELECT count(*) FROM candidates), {first},
       (SELECT position FROM locked), (SELECT session_id FROM locked)
"""
# Whether as many as the overlap are at work already: a returned place is one of the first.
_IS_EXTRA_SQL = """
taken.extra > 0 AND (SELECT overlap FROM annotations_app_campaign WHERE id = %(campaign)s) <= (
    SELECT count(*) FROM annotations_app_assignment b
    WHERE b.item_id = taken.id AND NOT b.repeat AND NOT b.extra AND b.state IN ('leased', 'labelled'))
"""
_FIRST_POSITION_SQL = "(SELECT min(position) FROM candidates)"
# Items passed over only because others are in their session stay ahead of the cursor.
_FIRST_UNASSIGNED_SQL = f"""
(SELECT i.position FROM annotations_app_campaignitem i
 WHERE i.campaign_id = %(campaign)s AND i.open > 0 AND i.position > %(cursor)s AND {_NOT_ASSIGNED_SQL}
 ORDER BY i.position LIMIT 1)
"""  # constants of this module # nosec B608
_LEASE_GOLD_SQL = """
WITH taken AS (
    SELECT i.id, i.position FROM annotations_app_campaignitem i
    WHERE i.campaign_id = %(campaign)s AND i.gold AND i.position > %(gold_cursor)s AND {not_assigned}
    ORDER BY i.position LIMIT 1
), inserted AS ({insert} RETURNING id)
SELECT (SELECT position FROM taken) FROM inserted
"""
_RENEW_SQL = """
UPDATE annotations_app_assignment SET
    leased_until = now() + make_interval(mins => %(minutes)s), persona_digest = %(digest)s
WHERE campaign_id = %(campaign)s AND state = 'leased' AND annotator_id = %(user)s
"""
# Gold items and repeats take no place of anybody else: they wait for their annotator.
_RELEASE_EXPIRED_SQL = """
WITH expired AS MATERIALIZED (
    SELECT a.id, a.item_id
    FROM annotations_app_assignment a JOIN annotations_app_campaignitem i ON i.id = a.item_id
    WHERE a.campaign_id = %(campaign)s AND a.state = 'leased' AND a.leased_until < now()
      AND NOT a.repeat AND NOT i.gold
    ORDER BY a.leased_until LIMIT %(limit)s FOR NO KEY UPDATE OF a, i SKIP LOCKED
), released AS (
    UPDATE annotations_app_assignment a SET state = 'released' FROM expired WHERE a.id = expired.id
)
UPDATE annotations_app_campaignitem i SET open = i.open + returned.places, returned_at = clock_timestamp()
FROM (SELECT item_id, count(*) AS places FROM expired GROUP BY item_id) returned
WHERE i.id = returned.item_id
"""
_LEASED_BY_OTHERS_SQL = f"""
SELECT EXISTS (
    SELECT FROM annotations_app_assignment o JOIN annotations_app_campaignitem i ON i.id = o.item_id
    WHERE o.campaign_id = %(campaign)s AND o.state = 'leased' AND o.annotator_id <> %(user)s
      AND NOT o.repeat AND NOT i.gold AND {_NOT_ASSIGNED_SQL}
)
"""  # constants of this module # nosec B608


class LeaseRequest(NamedTuple):
    """For whom to lease: keys of campaign and user, the persona's digest, and the lease in minutes."""

    campaign: int
    user: int
    digest: str
    minutes: int


class LeaseAttempt(NamedTuple):
    """The outcome of a search: how many ``candidates`` it found and the position of the ``first``; if one
    of them ``is_leased`` now, its ``position`` and ``session``."""

    is_leased: bool
    candidates: int
    first: int | None
    position: int | None
    session: int | None


def lease_item(
    request: LeaseRequest,
    place: str,
    *,
    ordinal: int,
    window: int,
    cursor: int = 0,
    returned_seen: datetime | None = None,
    session: int | None = None,
    share_sessions: bool = True,
) -> LeaseAttempt:
    """Lease the first free item of a ``place``: "session", "returned" or "next".

    Without ``share_sessions``, leaves out sessions that others are in the middle of.
    """
    where, order = _PLACES[place]
    sql = _LEASE_ITEM_SQL.format(
        held="" if share_sessions else _HELD_SESSIONS_SQL,
        place=where,
        not_assigned=_NOT_ASSIGNED_SQL,
        not_held="" if share_sessions else _NOT_HELD_SQL,
        order=order,
        insert=_INSERT_SQL.format(
            item="taken.id", repeat="false", extra=_IS_EXTRA_SQL, from_taken="FROM taken"
        ),
        first=_FIRST_POSITION_SQL if share_sessions else _FIRST_UNASSIGNED_SQL,
    )
    values = {
        **request._asdict(),
        "ordinal": ordinal,
        "window": window,
        "cursor": cursor,
        "returned_seen": returned_seen or "-infinity",
        "session": session,
    }
    leased, *facts = fetch_one(sql, values)
    return LeaseAttempt(bool(leased), *facts)


def lease_gold_item(request: LeaseRequest, *, ordinal: int, gold_cursor: int) -> int | None:
    """Lease the next gold item; returns its position, None if there is none left."""
    insert = _INSERT_SQL.format(item="taken.id", repeat="false", extra="false", from_taken="FROM taken")
    values = {**request._asdict(), "ordinal": ordinal, "gold_cursor": gold_cursor}
    row = fetch_one(_LEASE_GOLD_SQL.format(not_assigned=_NOT_ASSIGNED_SQL, insert=insert), values)
    return None if row is None else row[0]


def lease_repeat(request: LeaseRequest, item: int, *, ordinal: int) -> None:
    """Lease a hidden repeat of an item."""
    insert = _INSERT_SQL.format(item="%(item)s", repeat="true", extra="false", from_taken="")
    execute(insert, {**request._asdict(), "ordinal": ordinal, "item": item})


def renew_leases(request: LeaseRequest) -> int:
    """Start all their leases again, with the persona's current digest; returns how many they have."""
    return execute(_RENEW_SQL, request._asdict())


def release_expired_leases(campaign: int) -> None:
    """Take back some leases that ran out, and the places they took."""
    execute(_RELEASE_EXPIRED_SQL, {"campaign": campaign, "limit": MAX_RELEASED})


def is_leased_by_others(request: LeaseRequest) -> bool:
    """Whether others have items that may still come to this annotator."""
    return bool(fetch_value(_LEASED_BY_OTHERS_SQL, request._asdict()))


def lock_session_start(campaign: int) -> None:
    """Let nobody else begin a session of the campaign until the transaction ends."""
    execute("SELECT pg_advisory_xact_lock(%s, %s)", [_ADVISORY_LOCK_CLASS, campaign % 2**31])


# Tells this use of advisory locks from any other: "camp" in ASCII.
_ADVISORY_LOCK_CLASS = 0x63616D70
