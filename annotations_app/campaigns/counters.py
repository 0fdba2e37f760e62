"""The counters of members: what assignments add to them, in one place.

`labeling/decide.py` moves them by one with each decision; whatever ends many assignments at once subtracts
them here. The rows of the members must be locked.
"""

from typing import Any

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


def subtract_assignments(keys: list[int]) -> None:
    """To be called before the assignments change their state."""
    _subtract("a.id = ANY(%s)", keys)


def subtract_sessions(keys: list[int]) -> None:
    """To be called before the assignments of these sessions are deleted."""
    _subtract("i.session_id = ANY(%s)", keys)


def _subtract(condition: str, keys: list[Any]) -> None:
    execute(_SUBTRACT_SQL.format(condition=condition), [keys])
