"""The labels of a campaign that are a random sample: of its replies, where the most useful ones come first,
and of annotators, where more are asked if the first differ."""

from typing import Any

from django.db.models import Exists, Min, OuterRef, QuerySet

from annotations_app.labels.versions import list_labels
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


def choose_labels(campaign: Campaign, version: int) -> tuple[list[int] | None, list[str]]:
    """(primary keys of the labels that figures of agreement are measured with, or None for all; what these
    leave out, for people): those of a ``version``, or if it is 0 a random sample. Raises UserError."""
    if version:
        return list_labels(campaign, version), []
    if counts_all_labels(campaign):
        return None, []
    every = campaign.own_labels.filter(kind="label")
    # Of the first annotators of each reply: further ones are asked because these differ.
    first = every.exclude(assignment__extra=True)
    turns = list_random_turns(campaign)
    chosen = list((first if turns is None else first.filter(turn__in=turns)).values_list("pk", flat=True))
    reasons = []
    if campaign.order == Campaign.Order.USEFUL:
        reasons.append("the most useful replies come first")
    if campaign.max_overlap is not None:
        reasons.append(
            f"annotators after the first {campaign.overlap} are asked where those differ or are unsure"
        )
    why, others = " and ".join(reasons), every.count() - len(chosen)
    return chosen, [
        f"{why[0].upper()}{why[1:]}: {format_count(others, 'label')} of that kind aren’t counted here, "
        f"because only the other {len(chosen):,} are a random sample."
    ]
