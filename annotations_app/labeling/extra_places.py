"""Adaptive overlap: opens a reply to one more annotator while more answers may change the result."""

from annotations_app.criteria.disputes import IS_ASKED, list_asked, measure_disputes
from annotations_app.models import Assignment, Campaign
from datasets_app.core.queries import execute

_HALF = 1_000_000
# All that were asked so far have labeled it, and there may be more of them.
_OPEN_SQL = """
UPDATE annotations_app_campaignitem i
SET open = 1, extra = i.extra + 1, returned_at = clock_timestamp()
FROM annotations_app_campaign c
WHERE c.id = i.campaign_id AND i.campaign_id = %(campaign)s AND i.turn_id = ANY(%(turns)s::bigint[])
  AND i.open = 0 AND NOT i.gold AND NOT i.calibration AND c.overlap + i.extra < c.max_overlap
  AND c.overlap + i.extra = (
      SELECT count(*) FROM annotations_app_assignment a
      WHERE a.item_id = i.id AND NOT a.repeat AND a.state = 'labelled')
"""
_DIFFERS_SQL = f"""
AND EXISTS (
    SELECT FROM ({{disputes}}) d
    WHERE d.turn_id = i.turn_id AND d.dispute = {_HALF})
"""  # constants # nosec B608
_OF_TURNS = "j.campaign_id = %(campaign)s AND j.turn_id = ANY(%(turns)s::bigint[])"
_LABELS_DIFFER_SQL = _DIFFERS_SQL.format(disputes=measure_disputes(_OF_TURNS, under_schema=False))
_ANSWERS_DIFFER_SQL = _DIFFERS_SQL.format(
    disputes=measure_disputes(f"{_OF_TURNS} AND {IS_ASKED}", under_schema=True)
)


def open_if_different(assignment: Assignment, campaign: Campaign) -> None:
    """After a decision, whose item must be locked: without an answer that most gave, one more is asked."""
    if campaign.max_overlap is not None:
        differs = _ANSWERS_DIFFER_SQL if campaign.schema_id else _LABELS_DIFFER_SQL
        values = {
            "campaign": campaign.pk,
            "turns": [assignment.item.turn_id],
            "asked": list_asked(campaign),
        }
        execute(_OPEN_SQL + differs, values)


def open_places(campaign: Campaign, turns: list[int]) -> int:
    """One more place of each of these turns that all have labeled; returns of how many. The members must be
    locked."""
    return execute(_OPEN_SQL, {"campaign": campaign.pk, "turns": turns})
