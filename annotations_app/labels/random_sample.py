"""The labels of a campaign that are a random sample: of its replies, where the most useful ones come first,
and of annotators, where more are asked if the first differ."""

from collections.abc import Sequence

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
# Of the first annotators of each reply: further ones are asked because these differ.
_LABELS_SQL = """
SELECT l.id FROM {labels} l WHERE l.campaign_id = %(campaign)s AND l.kind = 'label' AND l.turn_id IN ({turns})
AND NOT EXISTS (
    SELECT FROM annotations_app_assignment x
    WHERE x.campaign_id = %(campaign)s AND x.extra AND {of_label})
"""


def list_random_turns(campaign: Campaign) -> list[int] | None:
    """Primary keys of turns, or None if the labels so far are a random sample as they are."""
    if campaign.order != Campaign.Order.USEFUL:
        return None
    return fetch_column(_RANDOM_TURNS_SQL, {"campaign": campaign.pk})


def counts_all_labels(campaign: Campaign) -> bool:
    return campaign.order != Campaign.Order.USEFUL and campaign.max_overlap is None


def list_random_labels(campaign: Campaign) -> tuple[int, ...] | None:
    """Primary keys of the labels that figures of agreement are measured with; None for all."""
    if counts_all_labels(campaign):
        return None
    has_schema = campaign.schema_id is not None
    sql = _LABELS_SQL.format(
        labels="annotations_app_judgment" if has_schema else "annotations_app_annotation",
        turns=_RANDOM_TURNS_SQL,
        of_label="x.id = l.assignment_id" if has_schema else "x.annotation_id = l.id",
    )
    return tuple(fetch_column(sql, {"campaign": campaign.pk}))


def describe_sample(campaign: Campaign, labels: Sequence[int] | None) -> list[str]:
    """What figures of these labels leave out, for people; empty if nothing. ``labels`` are those of
    :func:`list_random_labels`."""
    if labels is None:
        return []
    others = campaign.own_labels.filter(kind="label").count() - len(labels)
    reasons = []
    if campaign.order == Campaign.Order.USEFUL:
        reasons.append("the most useful replies come first")
    if campaign.max_overlap is not None:
        reasons.append(
            f"annotators after the first {campaign.overlap} are asked where those differ or are unsure"
        )
    why = " and ".join(reasons)
    return [
        f"{why[0].upper()}{why[1:]}: {format_count(others, 'label')} of that kind aren’t counted here, "
        f"because only the other {len(labels):,} are a random sample."
    ]
