"""Adds the replies of selected sessions to a campaign that is being labeled, or begins with them."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction

from annotations_app.campaigns.announce import announce_assignment
from annotations_app.campaigns.create import check_gates, prepare_campaign
from annotations_app.campaigns.members import lock_campaign
from annotations_app.campaigns.rows import ANALYZE, REPLIES_SQL, describe_replies, mark_sessions
from annotations_app.models import Campaign
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.core.queries import execute
from datasets_app.models import Turn

# They come after the items that the campaign has, in an order of their own.
_ADD_ITEMS = f"""
INSERT INTO annotations_app_campaignitem (campaign_id, turn_id, session_id, position, open, gold)
SELECT %(campaign)s, t.id, t.session_id,
       coalesce((SELECT max(position) FROM annotations_app_campaignitem WHERE campaign_id = %(campaign)s), 0)
           + row_number() OVER (
               ORDER BY hashint8extended(t.session_id, %(seed)s), t.session_id, t.turn_index),
       %(overlap)s, false
{REPLIES_SQL}
  AND s.id = ANY(%(sessions)s) AND (%(turns)s::bigint[] IS NULL OR t.id = ANY(%(turns)s))
  AND NOT EXISTS (SELECT FROM annotations_app_campaignitem i
                  WHERE i.campaign_id = %(campaign)s AND i.turn_id = t.id)
"""  # constants # nosec B608


def add_replies(
    campaign: Campaign,
    sessions: Sequence[int],
    *,
    turns: Sequence[int] | None = None,
    override: str = "",
    actor: Any = None,
) -> dict[str, int]:
    """Add the replies of these sessions (primary keys), or those among these ``turns`` of them, that the
    campaign doesn't have; returns how many.

    Raises UserError if the campaign is closed, or if the dataset is raw and there is no ``override``.
    """
    with transaction.atomic():
        row = lock_campaign(campaign)
        _require_open(row)
        check_gates(row.dataset, row.split, override=override, actor=actor)
        # Sessions were chosen, whatever their tags; mark_sessions() keeps the last reply if need be.
        values = describe_replies(row) | {
            "tag": "",
            "last_only": False,
            "campaign": row.pk,
            "sessions": list(sessions),
            "turns": None if turns is None else list(turns),
            "seed": row.seed,
            "overlap": 0 if row.is_calibrating else row.overlap,
        }
        added = execute(_ADD_ITEMS, values) - mark_sessions(row)
        execute(ANALYZE)
        if not added:
            raise UserError(f"{row.name} has all of these replies, or they are excluded or of another split.")
        row.item_count += added
        row.save(update_fields=["item_count"])
        audit.record(
            "add_to_campaign",
            actor=actor,
            dataset_name=row.dataset.name,
            campaign=row.name,
            sessions=len(sessions),
            replies=added,
        )
    return {"campaign": row.pk, "replies": added}


def create_with_replies(
    campaign: Campaign,
    annotators: Sequence[str],
    turns: Sequence[Turn],
    *,
    override: str = "",
    actor: Any = None,
) -> Campaign:
    """A new campaign for these replies alone, open. Raises UserError."""
    with transaction.atomic():
        prepare_campaign(campaign, annotators, override=override, actor=actor)
        campaign.status = Campaign.Status.OPEN
        campaign.save(update_fields=["status"])
        sessions = sorted({turn.session_id for turn in turns})
        add_replies(campaign, sessions, turns=[turn.pk for turn in turns], override=override, actor=actor)
        announce_assignment(campaign, [member.user for member in campaign.members.select_related("user")])
        campaign.refresh_from_db()
    return campaign


def _require_open(campaign: Campaign) -> None:
    """Whether replies can be added. Raises UserError."""
    if campaign.status not in {Campaign.Status.OPEN, Campaign.Status.PAUSED}:
        raise UserError(
            f"{campaign.name} is {campaign.get_status_display().lower()}. Open it to add replies, or create "
            "a new campaign."
        )
    if campaign.order == Campaign.Order.USEFUL:
        raise UserError(
            f"The replies of {campaign.name} are drawn with recorded chances. Create a new campaign for more "
            "of them."
        )
    if campaign.other_dataset_id:
        raise UserError(f"{campaign.name} compares pairs of replies. Create a new campaign for more of them.")
