"""What an annotator labels now, and what is fetched ahead of it."""

from typing import Any, NamedTuple

from django.db import transaction
from django.utils.translation import gettext_noop as _

from annotations_app.campaigns.members import lock_member
from annotations_app.domain.assignment import PREFETCH_COUNT
from annotations_app.labeling import leases
from annotations_app.labeling.allocator import Allocator
from annotations_app.models import Assignment, Campaign, CampaignMember
from datasets_app.catalog import gates
from datasets_app.catalog.dataset_facts import DatasetFacts
from datasets_app.core.errors import UserError
from datasets_app.models import Dataset

_MESSAGES = {
    "idle": _("You have no reply at the moment."),
    "preparing": _("This campaign is being prepared and will open in a moment."),
    "paused": _("The campaign lead paused this campaign. Your labels are saved."),
    "unscrubbed": _("This campaign is paused until its conversations are checked for personal data."),
    "closed": _("This campaign is closed. Thank you for your labels."),
    "removed": _("You are no longer an annotator of this campaign. Your labels are saved."),
    "nothing_now": _("Other annotators have the remaining replies. Some may come back to you."),
    "calibrating": _("You have labeled the first round. The other replies come once it has been discussed."),
    "finished": _("There is nothing left for you to label in this campaign. Thank you."),
}
# The other reasons are states of their own.
_STATES = {"preparing": "paused", "unscrubbed": "paused", "removed": "closed", "calibrating": "nothing_now"}


class QueueState(NamedTuple):
    """What the queue of an annotator holds.

    ``state`` is "open", "idle" (nothing is leased yet), "paused", "closed", "nothing_now" or "finished";
    ``message`` explains it unless it is "open". ``leased`` are the replies in their order, with item, turn
    and session: the first is labeled now, the others are fetched so that the next one is there at once.
    ``is_raw`` says whether the dataset's text is, so that pages need not ask again.
    """

    state: str
    leased: list[Assignment]
    message: str
    is_raw: bool

    @property
    def current(self) -> Assignment | None:
        return self.leased[0] if self.leased else None


def campaign_state(member: CampaignMember) -> QueueState:
    """The queue as it is, without leasing or renewing anything.

    A lease that ran out is listed: it stays theirs until somebody else takes the reply.
    """
    facts = load_campaign_facts(member.campaign)
    if reason := stop_reason(member, facts):
        return _empty_queue(reason, facts)
    leased = _leased_replies(member)
    return QueueState("open", leased, "", facts.is_raw) if leased else _empty_queue("idle", facts)


def lease_next(campaign: Campaign, user: Any) -> QueueState:
    """Lease what ``user`` labels next; the same replies until something is decided.

    Their leases start again and carry the digest of the persona as it is now, so show that persona.
    Raises UserError if they are not an annotator of the campaign.
    """
    with transaction.atomic():
        member = lock_member(user, campaign=campaign.pk)
        if member is None:
            raise UserError("You aren't an annotator of this campaign; ask who leads it.")
        facts = load_campaign_facts(member.campaign)
        if reason := stop_reason(member, facts):
            return _empty_queue(reason, facts)
        allocator = Allocator(member, user.get_username())
        renewed = leases.renew_leases(allocator.request)
        leases.release_expired_leases(member.campaign_id)
        allocator.allocate(1 + PREFETCH_COUNT - renewed)
        if leased := _leased_replies(member):
            return QueueState("open", leased, "", facts.is_raw)
        if member.campaign.is_calibrating:
            return _empty_queue("calibrating", facts)
        others_have_some = allocator.is_contended or leases.is_leased_by_others(allocator.request)
    return _empty_queue("nothing_now" if others_have_some else "finished", facts)


def load_campaign_facts(campaign: Campaign) -> DatasetFacts:
    """The facts of the dataset whose text is read; of two, of the one with raw text."""
    facts = [gates.load_facts(dataset) for dataset in campaign.datasets]
    return max(facts, key=lambda one: (one.is_known_raw, one.is_raw))


def stop_reason(member: CampaignMember, facts: DatasetFacts) -> str:
    """Why the member gets no replies, a key of the messages; empty if they do."""
    campaign = member.campaign
    if not member.active:
        return "removed"
    if any(dataset.status == Dataset.Status.EXPIRED for dataset in campaign.datasets):
        return "closed"
    if campaign.status != Campaign.Status.OPEN:
        return str(campaign.status)
    # The replies of the campaign were searched when it was made; what was added since isn't among them.
    is_closed = not campaign.overridden and facts.is_known_raw
    return "unscrubbed" if is_closed else ""


def _leased_replies(member: CampaignMember) -> list[Assignment]:
    own = Assignment.objects.for_member(member.campaign_id, member.user_id).select_reply(member.campaign)
    return list(own.filter(state="leased").order_by("ordinal"))


def _empty_queue(reason: str, facts: DatasetFacts) -> QueueState:
    return QueueState(_STATES.get(reason, reason), [], _MESSAGES[reason], facts.is_raw)
