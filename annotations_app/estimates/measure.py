"""Estimates the rates of a campaign: how many replies have each answer."""

from collections.abc import Iterator

import numpy as np

from annotations_app.domain.estimates.planning import plan_labels
from annotations_app.domain.estimates.quality import UNCOUNTED_ORDER, QualityReport, RateEstimate
from annotations_app.domain.estimates.rates import Estimate, Replies, estimate_from_people
from annotations_app.estimates.replies import (
    Items,
    average_by_reply,
    count_given_up,
    match_answer,
    read_answer_codes,
    read_items,
)
from annotations_app.models import Campaign
from datasets_app.core.errors import UserError
from datasets_app.domain.labels.criterion import Criterion, Kind, Level
from datasets_app.domain.labels.on_brand import ON_BRAND
from datasets_app.domain.wording import format_count

MIN_WIDTH, MAX_WIDTH = 0.001, 1.0


def estimate_quality(campaign: Campaign, *, width: float | None = None) -> QualityReport:
    """How many replies of ``campaign`` have each answer to each criterion that has answers to choose from.

    With ``width`` (a share, 0.001 to 1) it also says how many more labels bring each interval to that width.
    Raises UserError.
    """
    if width is not None and not MIN_WIDTH <= width <= MAX_WIDTH:
        raise UserError("The width of an interval must be from 0.1 to 100 points.")
    items = read_items(campaign)
    rates = tuple(
        rate
        for criterion in _list_criteria(campaign)
        for rate in _estimate(campaign, items, criterion, width)
    )
    notes = []
    if given_up := count_given_up(campaign):
        verb = "was" if given_up == 1 else "were"
        replies = format_count(given_up, "reply", "replies")
        notes.append(f"{replies} {verb} skipped or flagged by everybody who saw them: not in the rates.")
    return QualityReport(campaign.name, len(items.turn), len(items.turn), (), rates, tuple(notes))


def _list_criteria(campaign: Campaign) -> list[Criterion]:
    schema = campaign.schema_content
    criteria = [ON_BRAND] if schema is None else schema.criteria
    return [criterion for criterion in criteria if criterion.levels]


def _estimate(
    campaign: Campaign, items: Items, criterion: Criterion, width: float | None
) -> Iterator[RateEstimate]:
    turn, value = read_answer_codes(campaign, criterion)
    for code, level in _rated_levels(criterion):
        label = average_by_reply(items, turn, match_answer(criterion, code, value))
        # Chosen at random, each as likely as the others.
        replies = Replies(items.session, label, np.ones(len(label)), np.zeros((0, len(label))))
        people = _with_order(campaign, label, estimate_from_people(replies))
        any_time = estimate_from_people(replies, planned=max(1, len(label)))
        plan = plan_labels(people, people, len(label), width) if width is not None else None
        yield RateEstimate(
            criterion.key,
            criterion.question,
            level.name,
            people,
            _with_order(campaign, label, any_time),
            plan=plan,
        )


def _rated_levels(criterion: Criterion) -> list[tuple[int, Level]]:
    """Of yes and no only yes: the other is the rest. How often A is better tells nothing of the replies."""
    if criterion.kind == Kind.PREFERENCE:
        return []
    if criterion.kind == Kind.YES_NO:
        return [(criterion.top, criterion.levels[criterion.top])]
    return list(enumerate(criterion.levels))


def _with_order(campaign: Campaign, label: np.ndarray, estimate: Estimate) -> Estimate:  # type: ignore[type-arg]
    """Without its interval, where the labels at hand are those of the most disputed replies."""
    if campaign.order != Campaign.Order.DISPUTED or not np.isnan(label).any() or estimate.low is None:
        return estimate
    return estimate._replace(low=None, high=None, standard_error=None, note=UNCOUNTED_ORDER)
