"""The items of a campaign, created by one statement: no reply passes through Python."""

from typing import NamedTuple

from annotations_app.criteria.disputes import measure_disputes
from datasets_app.core.queries import execute, fetch_one
from datasets_app.domain.labels.on_brand import ON_BRAND
from datasets_app.domain.labels.values import count_minority

# The replies of a campaign, without excluded sessions. Without a split, the locked test split is left out.
_REPLIES_SQL = """
FROM datasets_app_session s JOIN datasets_app_turn t ON t.dataset_id = s.dataset_id AND t.session_id = s.id
WHERE s.dataset_id = %(dataset)s AND t.role = 'assistant' AND t.text ~ '[^[:space:]]'
  AND NOT s.excluded AND (%(tag)s = '' OR t.tags @> ARRAY[%(tag)s])
  AND CASE WHEN %(split)s = '' THEN s.split IS DISTINCT FROM 'test' ELSE s.split = %(split)s END
"""
_HAS_ADJUDICATED_SQL = """
EXISTS (SELECT FROM {labels} k
        WHERE k.turn_id = t.id AND k.persona_id = %(persona)s AND k.kind = 'adjudicated'{under})
"""
_EXISTS_SQL = (
    f"SELECT EXISTS (SELECT {_REPLIES_SQL}), %(gold)s AND EXISTS (SELECT {_REPLIES_SQL} AND {{known}})"
)
_COUNT_SQL = f"SELECT count(*), count(*) FILTER (WHERE %(gold)s AND {{known}}) {_REPLIES_SQL}"
# How divided the existing labels are, from 0 (all agree) to 1 (half and half).
_DISPUTE_JOIN_SQL = f"""
LEFT JOIN (
    SELECT turn_id, 2.0 * {count_minority(ON_BRAND, "label")} / count(*) AS dispute, count(*) AS labels
    FROM annotations_app_annotation
    WHERE dataset_id = %(dataset)s AND persona_id = %(persona)s AND kind = 'label'
    GROUP BY turn_id
) existing ON existing.turn_id = chosen.turn
"""
_DISPUTED_ANSWERS = measure_disputes(
    "j.dataset_id = %(dataset)s AND j.persona_id = %(persona)s AND j.schema_id = %(schema)s"
)
_DISPUTED_ANSWERS_JOIN_SQL = f"LEFT JOIN ({_DISPUTED_ANSWERS}) existing ON existing.turn_id = chosen.turn"
# Ordered by a hash of their keys: the same seed gives the same order. Turns of a session stay together.
_ORDERS = {
    "random": ("", "hashint8extended(turn, %(seed)s), turn"),
    "session": ("", "hashint8extended(session, %(seed)s), session, turn_index"),
    "disputed": (
        _DISPUTE_JOIN_SQL,
        "coalesce(dispute, 0) DESC, coalesce(labels, 0) DESC, hashint8extended(turn, %(seed)s), turn",
    ),
}
# Gold replies are the first to stay: a smaller campaign has its share of them.
_FILL_SQL = """
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
# The plan of the queries that lease items depends on statistics, which new rows don't have yet.
_ANALYZE = "ANALYZE annotations_app_campaignitem"


class ReplyFilter(NamedTuple):
    """Replies of a dataset (primary key) for a persona (its id), with a tag and of a split if given.

    Gold ones have an adjudicated label or, under a ``schema`` (primary key), an adjudicated decision.
    """

    dataset: int
    persona: str
    tag: str
    split: str
    gold: bool
    schema: int | None = None

    @property
    def known(self) -> str:
        if self.schema is None:
            return _HAS_ADJUDICATED_SQL.format(labels="annotations_app_annotation", under="")
        under = " AND k.schema_id = %(schema)s"
        return _HAS_ADJUDICATED_SQL.format(labels="annotations_app_judgment", under=under)


def replies_exist(reply_filter: ReplyFilter) -> tuple[bool, bool]:
    """(whether there is any such reply, whether one of them has an adjudicated label)."""
    replies, known = fetch_one(_EXISTS_SQL.format(known=reply_filter.known), reply_filter._asdict())
    return replies, known


def count_replies(reply_filter: ReplyFilter) -> tuple[int, int]:
    """(replies, those of them with an adjudicated label: 0 unless the campaign has gold items)."""
    replies, known = fetch_one(_COUNT_SQL.format(known=reply_filter.known), reply_filter._asdict())
    return replies, known


def create_items(
    reply_filter: ReplyFilter,
    *,
    campaign: int,
    overlap: int,
    order: str,
    seed: int,
    gold_target: int,
    max_replies: int | None = None,
) -> int:
    """Create the items in the caller's transaction; returns how many."""
    joined, ordered = _ORDERS[order]
    if joined and reply_filter.schema is not None:
        joined = _DISPUTED_ANSWERS_JOIN_SQL
    sql = _FILL_SQL.format(
        replies=_REPLIES_SQL,
        known=reply_filter.known,
        joined=joined,
        order=ordered,
        limit=_LIMIT_SQL.format(order=ordered) if max_replies else "",
    )
    values = {
        "campaign": campaign,
        "overlap": overlap,
        "seed": seed,
        "gold_target": gold_target,
        "max_replies": max_replies,
    }
    count: int = execute(sql, reply_filter._asdict() | values)
    execute(_ANALYZE)
    return count
