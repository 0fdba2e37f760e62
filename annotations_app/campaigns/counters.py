"""The counters of members: what assignments add to them, in one place.

`labeling/decide.py` moves them by one with each decision; whatever ends many assignments at once subtracts
them here. The rows of the members must be locked.
"""

from datasets_app.core.queries import execute

_SUBTRACT_SQL = """
UPDATE annotations_app_campaignmember m
SET labelled = m.labelled - c.labelled, gold_labelled = m.gold_labelled - c.gold_labelled,
    repeated = m.repeated - c.repeated, skipped = m.skipped - c.skipped, flagged = m.flagged - c.flagged
FROM (
    SELECT a.campaign_id, a.annotator_id,
           count(*) FILTER (WHERE a.state = 'labelled' AND NOT a.repeat AND NOT i.gold) AS labelled,
           count(*) FILTER (WHERE a.state = 'labelled' AND NOT a.repeat AND i.gold) AS gold_labelled,
           count(*) FILTER (WHERE a.state = 'labelled' AND a.repeat) AS repeated,
           count(*) FILTER (WHERE a.state = 'skipped') AS skipped,
           count(*) FILTER (WHERE a.state = 'flagged') AS flagged
    FROM annotations_app_assignment a JOIN annotations_app_campaignitem i ON i.id = a.item_id
    WHERE {condition} GROUP BY a.campaign_id, a.annotator_id
) c WHERE m.campaign_id = c.campaign_id AND m.user_id = c.annotator_id
"""

# In the order in which everything else locks them: see labeling/leases.py.
_LOCK_MEMBERS_SQL = """
SELECT id FROM annotations_app_campaignmember WHERE campaign_id IN (
    SELECT i.campaign_id FROM annotations_app_campaignitem i WHERE {condition}
) ORDER BY id FOR NO KEY UPDATE
"""
_SUBTRACT_ITEMS_SQL = """
UPDATE annotations_app_campaign m
SET item_count = m.item_count - c.items, gold_count = m.gold_count - c.gold
FROM (
    SELECT i.campaign_id, count(*) AS items, count(*) FILTER (WHERE i.gold) AS gold
    FROM annotations_app_campaignitem i WHERE {condition} GROUP BY i.campaign_id
) c WHERE m.id = c.campaign_id
"""
_ASSIGNMENTS = "(SELECT id FROM annotations_app_assignment WHERE item_id = ANY(%(items)s))"
_DELETE_ITEMS_SQL = (
    f"DELETE FROM annotations_app_decision WHERE assignment_id IN {_ASSIGNMENTS}",
    """
    DELETE FROM annotations_app_judgment j USING annotations_app_campaignitem i
    WHERE i.id = ANY(%(items)s) AND j.campaign_id = i.campaign_id AND j.turn_id = i.turn_id
    """,
    """
    DELETE FROM annotations_app_verdict v
    USING annotations_app_campaignitem i JOIN annotations_app_judgerun r ON r.campaign_id = i.campaign_id
    WHERE i.id = ANY(%(items)s) AND v.run_id = r.id AND v.turn_id = i.turn_id
    """,
    "DELETE FROM annotations_app_assignment WHERE item_id = ANY(%(items)s)",
    "DELETE FROM annotations_app_pairedreply WHERE item_id = ANY(%(items)s)",
    "DELETE FROM annotations_app_campaignitem WHERE id = ANY(%(items)s)",
)


def subtract_assignments(keys: list[int], *, condition: str = "a.id = ANY(%s)") -> None:
    """To be called before the assignments change their state, or are deleted."""
    execute(_SUBTRACT_SQL.format(condition=condition), [keys])


def subtract_sessions(keys: list[int]) -> None:
    """To be called before the items of these sessions are deleted; locks the members of their campaigns."""
    _subtract_items("i.session_id = ANY(%s)", keys)


def delete_items(keys: list[int]) -> None:
    """Delete items with everything that was decided on them, and correct the counters of their campaigns."""
    _subtract_items("i.id = ANY(%s)", keys)
    for statement in _DELETE_ITEMS_SQL:
        execute(statement, {"items": keys})


def _subtract_items(condition: str, keys: list[int]) -> None:
    execute(_LOCK_MEMBERS_SQL.format(condition=condition), [keys])
    subtract_assignments(keys, condition=condition)
    execute(_SUBTRACT_ITEMS_SQL.format(condition=condition), [keys])
