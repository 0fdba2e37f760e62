"""Campaigns and their members; labeling/leases.py has the order in which rows are locked."""

from collections.abc import Iterable
from typing import Any

from annotations_app.models import Campaign, CampaignMember
from datasets_app.access.who_can_see import ALL, list_accounts
from datasets_app.core.errors import UserError
from datasets_app.models import Dataset


def get_campaign(name: str) -> Campaign:
    campaign: Campaign | None = Campaign.objects.select_related("persona").filter(name=name).first()
    if campaign is None:
        raise UserError(f"There is no campaign {name!r}.")
    return campaign


def list_without_access(dataset: Dataset, users: Iterable[Any]) -> list[str]:
    """The names of those among ``users`` who don't see a restricted dataset: as annotators, they read its
    replies. Empty for an open one."""
    if not dataset.restricted:
        return []
    outside = list_accounts(dataset).filter(pk__in=[user.pk for user in users]).exclude(sees=ALL)
    return list(outside.order_by("username").values_list("username", flat=True))


def lock_campaign(campaign: Campaign) -> Campaign:
    """As it is now, with what it asks of whom, until the transaction ends."""
    locked: Campaign = (
        Campaign.objects.select_related("dataset", "other_dataset", "persona", "schema")
        .select_for_update(of=("self",), no_key=True)
        .get(pk=campaign.pk)
    )
    return locked


def lock_member(user: Any, **which: Any) -> CampaignMember | None:
    """Theirs, with campaign, dataset, persona and schema as they are now, until the transaction ends."""
    members = CampaignMember.objects.select_related(
        "campaign__dataset", "campaign__persona", "campaign__schema", "user"
    )
    return members.select_for_update(of=("self",), no_key=True).filter(user=user, **which).first()


def lock_members(campaign: Campaign) -> list[CampaignMember]:
    """All of a campaign: nobody is served or decides until the transaction ends."""
    return list(
        CampaignMember.objects.filter(campaign=campaign)
        .select_related("user")
        .select_for_update(of=("self",), no_key=True)
        .order_by("pk")
    )
