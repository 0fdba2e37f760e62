"""The labels of a campaign that are a random sample: of its replies, where the most useful ones come first,
and of annotators, where more are asked if the first differ."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Exists, Min, OuterRef, QuerySet

from annotations_app.models import Assignment, Campaign
from datasets_app.domain.wording import format_count


def list_random_turns(campaign: Campaign) -> QuerySet[Any, int] | None:
    """Primary keys of turns, or None if the labels so far are a random sample as they are."""
    if campaign.order != Campaign.Order.USEFUL:
        return None
    decided = Assignment.objects.filter(
        item=OuterRef("pk"), repeat=False, state__in=["labelled", "skipped", "flagged"]
    )
    first_open = campaign.items.filter(~Exists(decided)).aggregate(draw=Min("draw"))["draw"]
    # In the random order, the replies before it. Gold replies have no number.
    drawn = campaign.items.all() if first_open is None else campaign.items.exclude(draw__gte=first_open)
    return drawn.order_by().values_list("turn", flat=True)


def counts_all_labels(campaign: Campaign) -> bool:
    return campaign.order != Campaign.Order.USEFUL and campaign.max_overlap is None


def list_random_labels(campaign: Campaign) -> tuple[int, ...] | None:
    """Primary keys of the labels that figures of agreement are measured with; None for all."""
    if counts_all_labels(campaign):
        return None
    # Of the first annotators of each reply: further ones are asked because these differ.
    labels = campaign.own_labels.filter(kind="label").exclude(assignment__extra=True)
    turns = list_random_turns(campaign)
    chosen = labels if turns is None else labels.filter(turn__in=turns)
    return tuple(chosen.values_list("pk", flat=True))


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
