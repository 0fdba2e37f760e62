"""The parameters of the jobs of this app; see datasets_app/jobs/parameters.py."""

from typing import ClassVar

from msgspec import UNSET, UnsetType

from datasets_app.jobs.parameters import JobParameters, OverridableParameters


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


class LabelExportParameters(OverridableParameters, frozen=True):
    """``campaign`` is its name, ``labels`` the kind of selection."""

    campaign: str | None = None
    persona: str | None = None
    labels: str | None = None


class LabelImportParameters(JobParameters, frozen=True):
    file: str | None = None
    persona: str | None = None
    create: bool = False
    adjudicated: bool = False
    label_map: str | UnsetType = UNSET
    question: str | UnsetType = UNSET
