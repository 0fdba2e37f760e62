"""The parameters of campaigns; see ``datasets_app/jobs/parameters.py``."""

from typing import ClassVar

from msgspec import UNSET, UnsetType

from datasets_app.jobs.parameters import OverridableParameters


class CampaignParameters(OverridableParameters, frozen=True):
    """``campaign`` is the primary key of a prepared campaign; the others are stored by the command."""

    campaign: int | None = None
    campaign_name: str | UnsetType = UNSET
    overlap: int | UnsetType = UNSET
    order: str | UnsetType = UNSET


class AddToCampaignParameters(OverridableParameters, frozen=True):
    """Primary keys of a campaign and of a SessionSelection."""

    campaign: int = 0
    selection: int = 0

    HIDDEN: ClassVar = frozenset({"campaign", "selection"})
