"""The labels of a campaign that are a random sample of its replies, where the most useful ones come first."""

from annotations_app.models import Campaign
from datasets_app.core.queries import fetch_column
from datasets_app.domain.wording import format_count

# In the random order, the replies before the first that nobody has decided on. Gold replies have no number.
_RANDOM_TURNS_SQL = """
SELECT i.turn_id FROM annotations_app_campaignitem i
WHERE i.campaign_id = %(campaign)s AND NOT coalesce(i.draw >= (
    SELECT min(o.draw) FROM annotations_app_campaignitem o
    WHERE o.campaign_id = %(campaign)s AND NOT EXISTS (
        SELECT FROM annotations_app_assignment a
        WHERE a.item_id = o.id AND NOT a.repeat AND a.state IN ('labelled', 'skipped', 'flagged'))
), false)
"""
_LABELS_SQL = (
    """
SELECT l.id FROM {labels} l WHERE l.campaign_id = %(campaign)s AND l.kind = 'label'
AND l.turn_id IN ("""
    f"{_RANDOM_TURNS_SQL})"
)


def list_random_turns(campaign: Campaign) -> list[int] | None:
    """Primary keys of turns, or None if the labels so far are a random sample as they are."""
    if campaign.order != Campaign.Order.USEFUL:
        return None
    return fetch_column(_RANDOM_TURNS_SQL, {"campaign": campaign.pk})


def list_random_labels(campaign: Campaign) -> tuple[int, ...] | None:
    """Primary keys of the labels that figures of agreement are measured with; None for all."""
    if campaign.order != Campaign.Order.USEFUL:
        return None
    table = "annotations_app_judgment" if campaign.schema_id else "annotations_app_annotation"
    return tuple(fetch_column(_LABELS_SQL.format(labels=table), {"campaign": campaign.pk}))


def describe_sample(campaign: Campaign) -> list[str]:
    """What the figures leave out, for people; empty if nothing."""
    labels = list_random_labels(campaign)
    if labels is None:
        return []
    rows = campaign.judgments if campaign.schema_id else campaign.annotations
    others = rows.filter(kind="label").count() - len(labels)
    return [
        f"The most useful replies come first; {format_count(others, 'label')} of them aren’t counted here, "
        f"because only the other {len(labels):,} are a random sample."
    ]
