"""The items of a campaign, created by one statement: no reply passes through Python."""

from typing import Any

from annotations_app.criteria.disputes import measure_disputes
from annotations_app.models import Campaign
from datasets_app.core.queries import execute, fetch_all, fetch_one
from datasets_app.domain.wording import format_count

# The replies of a campaign, without excluded sessions. Without a split, the locked test split is left out.
# Of a campaign that compares them, those that have a pair.
REPLIES_SQL = """
FROM datasets_app_session s JOIN datasets_app_turn t ON t.dataset_id = s.dataset_id AND t.session_id = s.id
WHERE s.dataset_id = %(dataset)s AND t.role = 'assistant' AND t.text ~ '[^[:space:]]'
  AND NOT s.excluded AND (%(tag)s = '' OR t.tags @> ARRAY[%(tag)s])
  AND CASE WHEN %(split)s = '' THEN s.split IS DISTINCT FROM 'test' ELSE s.split = %(split)s END
  AND NOT (%(last_only)s AND EXISTS (
      SELECT FROM datasets_app_turn l
      WHERE l.dataset_id = s.dataset_id AND l.session_id = s.id AND l.turn_index > t.turn_index
        AND l.role = 'assistant' AND l.text ~ '[^[:space:]]' AND (%(tag)s = '' OR l.tags @> ARRAY[%(tag)s])))
"""
_PAIRED_SQL = "AND t.id IN (SELECT turn FROM compared WHERE problem = '')"
# Sessions whose users said something else, or in another place, and the first such turn.
_QUESTIONS_SQL = """
SELECT s.session_id AS name, t.turn_index, t.role, t.text
FROM datasets_app_session s JOIN datasets_app_turn t ON t.dataset_id = s.dataset_id AND t.session_id = s.id
WHERE s.dataset_id = {dataset} AND t.role <> 'assistant'
"""
_DIFFERING_SQL = f"""
SELECT name, min(turn_index) AS first FROM
    ({_QUESTIONS_SQL.format(dataset="%(dataset)s")}) a
    FULL JOIN ({_QUESTIONS_SQL.format(dataset="%(other)s")}) b USING (name, turn_index)
WHERE a.text IS DISTINCT FROM b.text OR a.role IS DISTINCT FROM b.role GROUP BY name
"""
# Each reply with that of the other dataset, or the reason why they can't be compared.
_COMPARED_SQL = f"""
WITH compared AS MATERIALIZED (
    SELECT t.id AS turn, t.session_id AS session,
           CASE WHEN os.id IS NULL THEN 'no_session' WHEN o.id IS NULL THEN 'no_reply'
                WHEN t.turn_index > d.first THEN 'other_questions'
                WHEN o.text = t.text THEN 'equal' ELSE '' END AS problem
    FROM (SELECT t.id, t.session_id, t.turn_index, t.text, s.session_id AS name {{replies}}) t
    LEFT JOIN datasets_app_session os ON os.dataset_id = %(other)s AND os.session_id = t.name
        AND NOT os.excluded AND (%(split)s = 'test' OR os.split IS DISTINCT FROM 'test')
    LEFT JOIN datasets_app_turn o ON o.dataset_id = %(other)s AND o.session_id = os.id
        AND o.turn_index = t.turn_index AND o.role = 'assistant' AND o.text ~ '[^[:space:]]'
    LEFT JOIN ({_DIFFERING_SQL}) d ON d.name = t.name
)
"""
_COUNT_UNPAIRED_SQL = """
SELECT problem, count(*), count(DISTINCT session) FROM compared WHERE problem <> '' GROUP BY 1 ORDER BY 1
"""
# Which is shown as A is decided by a hash, as the order is.
_PAIR_ITEMS_SQL = """
INSERT INTO annotations_app_pairedreply (item_id, dataset_id, turn_id, swapped)
SELECT i.id, %(other)s, o.id, hashint8extended(t.id, %(seed)s::bigint # 2) & 1 = 1
FROM annotations_app_campaignitem i
JOIN datasets_app_turn t ON t.dataset_id = %(dataset)s AND t.id = i.turn_id
JOIN datasets_app_session s ON s.dataset_id = %(dataset)s AND s.id = t.session_id
JOIN datasets_app_session os ON os.dataset_id = %(other)s AND os.session_id = s.session_id
JOIN datasets_app_turn o ON o.dataset_id = %(other)s AND o.session_id = os.id AND o.turn_index = t.turn_index
WHERE i.campaign_id = %(campaign)s
"""
_HAS_ADJUDICATED_SQL = """
EXISTS (SELECT FROM {labels} k
        WHERE k.turn_id = t.id AND k.persona_id = %(persona)s AND k.kind = 'adjudicated'{under})
"""
_EXISTS_SQL = (
    f"SELECT EXISTS (SELECT {REPLIES_SQL}), %(gold)s AND EXISTS (SELECT {REPLIES_SQL} AND {{known}})"
)
_COUNT_SQL = f"SELECT count(*), count(*) FILTER (WHERE %(gold)s AND {{known}}) {REPLIES_SQL}"
# How divided the existing labels are.
_DISPUTES_JOIN_SQL = "LEFT JOIN ({disputes}) existing ON existing.turn_id = chosen.turn"
# Ordered by a hash of their keys: the same seed gives the same order. Turns of a session stay together.
_ORDERS = {
    "random": "hashint8extended(turn, %(seed)s), turn",
    "session": "hashint8extended(session, %(seed)s), session, turn_index",
    "disputed": "coalesce(dispute, 0) DESC, coalesce(labels, 0) DESC, hashint8extended(turn, %(seed)s), turn",
}
# Gold replies are the first to stay: a smaller campaign has its share of them.
_FILL_SQL = """
{compared}
INSERT INTO annotations_app_campaignitem (campaign_id, turn_id, session_id, position, open, gold)
SELECT %(campaign)s, turn, session, row_number() OVER (ORDER BY {order}),
       CASE WHEN gold THEN 0 ELSE %(overlap)s END, gold
FROM (
    SELECT * FROM (
        SELECT t.id AS turn, t.session_id AS session, t.turn_index,
               gold.turn IS NOT NULL AS gold
        FROM (SELECT t.id, t.session_id, t.turn_index {replies}) t
        LEFT JOIN (
            SELECT t.id AS turn {replies} AND %(gold_target)s > 0 AND {known}
            ORDER BY hashint8extended(t.id, %(seed)s::bigint # 1), t.id LIMIT %(gold_target)s
        ) gold ON gold.turn = t.id
    ) chosen
    {joined}
    {limit}
) selected
ORDER BY 4
"""
_LIMIT_SQL = "ORDER BY gold DESC, {order} LIMIT %(max_replies)s"
# Of each session one reply, that stays the one when others are added.
_MARK_SESSIONS_SQL = """
UPDATE annotations_app_campaignitem SET asks_session = true WHERE id IN (
    SELECT DISTINCT ON (i.session_id) i.id
    FROM annotations_app_campaignitem i JOIN datasets_app_turn t ON t.id = i.turn_id
    WHERE i.campaign_id = %(campaign)s AND t.dataset_id = %(dataset)s AND NOT EXISTS (
        SELECT FROM annotations_app_campaignitem o
        WHERE o.campaign_id = i.campaign_id AND o.session_id = i.session_id AND o.asks_session)
    ORDER BY i.session_id, t.turn_index DESC
)
"""
_DROP_OTHERS_SQL = """
DELETE FROM annotations_app_campaignitem WHERE campaign_id = %(campaign)s AND NOT asks_session
"""
# The plan of the queries that lease items depends on statistics, which new rows don't have yet.
ANALYZE = "ANALYZE annotations_app_campaignitem"
UNPAIRED_REASONS = {
    "no_session": "have no session with the same id in the other dataset",
    "no_reply": "have no reply at the same turn of the other session",
    "other_questions": "come after turns of users that differ",
    "equal": "are equal",
}


def describe_replies(campaign: Campaign) -> dict[str, Any]:
    """Which replies it asks about, for the queries: those with a tag and of a split if given; those with a
    pair in the ``other`` dataset, or with ``last_only`` the last of each session."""
    return {
        "dataset": campaign.dataset_id,
        "persona": campaign.persona.persona_id if campaign.persona_id else "",
        "tag": campaign.tag,
        "split": campaign.split,
        "gold": campaign.gold_share > 0,
        "schema": campaign.schema_id,
        "other": campaign.other_dataset_id,
        "last_only": campaign.asked_schema.asks_only_sessions,
    }


def _has_known_label(campaign: Campaign) -> str:
    """Gold replies have an adjudicated label or, under a schema, an adjudicated decision."""
    if campaign.schema_id is None:
        return _HAS_ADJUDICATED_SQL.format(labels="annotations_app_annotation", under="")
    under = " AND k.schema_id = %(schema)s"
    return _HAS_ADJUDICATED_SQL.format(labels="annotations_app_judgment", under=under)


def replies_exist(campaign: Campaign, **changed: Any) -> tuple[bool, bool]:
    """(whether there is any such reply, whether one of them has an adjudicated label)."""
    known = _has_known_label(campaign)
    replies, is_known = fetch_one(_EXISTS_SQL.format(known=known), describe_replies(campaign) | changed)
    return replies, is_known


def count_replies(campaign: Campaign) -> tuple[int, int]:
    """(replies, those of them with an adjudicated label: 0 unless the campaign has gold items)."""
    replies, known = fetch_one(
        _COUNT_SQL.format(known=_has_known_label(campaign)), describe_replies(campaign)
    )
    return replies, known


def count_unpaired(campaign: Campaign) -> dict[str, dict[str, int]]:
    """Replies without a pair and their sessions, by the key of :data:`UNPAIRED_REASONS`."""
    sql = _COMPARED_SQL.format(replies=REPLIES_SQL) + _COUNT_UNPAIRED_SQL
    return {
        problem: {"replies": replies, "sessions": sessions}
        for problem, replies, sessions in fetch_all(sql, describe_replies(campaign))
    }


def describe_unpaired(unpaired: dict[str, dict[str, int]] | None) -> list[str]:
    """Sentences on the replies that a campaign leaves out."""
    return [
        f"{format_count(count['replies'], 'reply', 'replies')} of "
        f"{format_count(count['sessions'], 'session')} {UNPAIRED_REASONS[problem]}: left out."
        for problem, count in (unpaired or {}).items()
    ]


def create_items(campaign: Campaign) -> int:
    """Create the items in the caller's transaction; returns how many."""
    ordered, joined = _ORDERS[campaign.order], ""
    if campaign.order == Campaign.Order.DISPUTED:
        under_schema = campaign.schema_id is not None
        which = "j.dataset_id = %(dataset)s AND j.persona_id = %(persona)s"
        which += " AND j.schema_id = %(schema)s" if under_schema else ""
        joined = _DISPUTES_JOIN_SQL.format(disputes=measure_disputes(which, under_schema=under_schema))
    is_paired = campaign.other_dataset_id is not None
    sql = _FILL_SQL.format(
        compared=_COMPARED_SQL.format(replies=REPLIES_SQL) if is_paired else "",
        replies=f"{REPLIES_SQL} {_PAIRED_SQL if is_paired else ''}",
        known=_has_known_label(campaign),
        joined=joined,
        order=ordered,
        limit=_LIMIT_SQL.format(order=ordered) if campaign.max_replies else "",
    )
    values = describe_replies(campaign) | {
        "campaign": campaign.pk,
        "overlap": 0 if campaign.is_calibrating else campaign.overlap,
        "seed": campaign.seed,
        "gold_target": campaign.gold_count,
        "max_replies": campaign.max_replies,
    }
    count: int = execute(sql, values)
    if is_paired:
        execute(_PAIR_ITEMS_SQL, values)
    execute(ANALYZE)
    return count


def start_calibration(campaign: Campaign, *, people: int) -> None:
    """Everybody's places in the first replies; the others, created with an overlap of 0, have none yet. Does
    nothing without a calibration round."""
    if replies := campaign.calibration_replies:
        first = campaign.items.filter(gold=False).order_by("position").values("pk")[:replies]
        campaign.items.filter(pk__in=first).update(calibration=True, open=people)


def mark_sessions(campaign: Campaign) -> int:
    """Let one reply of each session ask the questions about it; where nothing else is asked, drop the others,
    and return how many. Does nothing under a schema without such questions."""
    schema = campaign.asked_schema
    if not schema.asks_sessions:
        return 0
    values = {"campaign": campaign.pk, "dataset": campaign.dataset_id}
    execute(_MARK_SESSIONS_SQL, values)
    return execute(_DROP_OTHERS_SQL, values) if schema.asks_only_sessions else 0
