"""What an annotator is to label now, and what is fetched ahead of it."""

from typing import Any, NamedTuple

from django.db import transaction

from annotations_app.campaigns.members import lock_member
from annotations_app.domain.assignment import PREFETCH_COUNT
from annotations_app.labeling import leases
from annotations_app.labeling.allocator import Allocator
from annotations_app.labeling.leases import LeaseRequest
from annotations_app.models import Assignment, Campaign, CampaignMember
from datasets_app.catalog import gates
from datasets_app.models import Dataset

_MESSAGES = {
    "preparing": "This campaign is being prepared; it will be here in a moment.",
    "paused": "This campaign is paused. What you have labelled is kept; it goes on when its lead says so.",
    "unscrubbed": "This campaign is paused: its conversations have yet to be checked for personal data.",
    "closed": "This campaign is closed. Thank you for your labels.",
    "removed": "You are no annotator of this campaign any more. What you have labelled is kept.",
    "nothing_now": "Nothing is free just now: others have the last replies. It may come back.",
    "finished": "That was all: there is nothing left for you to label in this campaign. Thank you.",
}


class LeaseResult(NamedTuple):
    """What is to be shown: ``state`` is "open", "paused", "closed", "nothing_now" or "finished".

    ``current`` and those ``ahead`` (fetched so that the next is there at once) come with item, turn and
    session. ``message`` says in a sentence why there is none. Whoever shows them shows the campaign's
    persona as it is now beside them: its digest is what the labels will be said to be made under.
    """

    state: str
    current: Assignment | None
    ahead: list[Assignment]
    message: str


def lease_next(campaign: Campaign, user: Any) -> LeaseResult:
    """Lease what ``user`` is to label next. Asking again gives the same until something is decided.

    Refused if they are no annotator of the campaign.
    """
    with transaction.atomic():
        member = lock_member(campaign.pk, user)
        stopped = _stop_reason(member)
        if stopped is not None:
            return stopped
        asking = LeaseRequest(
            member.campaign_id,
            member.user_id,
            member.campaign.persona.digest,
            member.campaign.lease_minutes,
        )
        held = leases.renew_leases(asking)
        leases.release_expired_leases(member.campaign_id)
        giver = Allocator(member, user.get_username(), asking)
        giver.allocate(1 + PREFETCH_COUNT - held)
        given = list(
            Assignment.objects.of(member.campaign_id, member.user_id)
            .select_reply()
            .filter(state="leased")
            .order_by("ordinal")
        )
        if given:
            return LeaseResult("open", given[0], given[1:], "")
        state = "nothing_now" if giver.is_contended or leases.is_leased_by_others(asking) else "finished"
    return LeaseResult(state, None, [], _MESSAGES[state])


def _stop_reason(member: CampaignMember) -> LeaseResult | None:
    """Why nothing is served, if so."""
    campaign = member.campaign
    if not member.active:
        return LeaseResult("closed", None, [], _MESSAGES["removed"])
    if campaign.status == Campaign.Status.CLOSED or campaign.dataset.status == Dataset.Status.EXPIRED:
        return LeaseResult("closed", None, [], _MESSAGES["closed"])
    if campaign.status != Campaign.Status.OPEN:
        return LeaseResult("paused", None, [], _MESSAGES[campaign.status])
    if not campaign.overridden and not gates.is_scrubbed(campaign.dataset):
        return LeaseResult("paused", None, [], _MESSAGES["unscrubbed"])
    return None
