"""The parameters of imports and exports of labels; see ``datasets_app/jobs/parameters.py``."""

from msgspec import UNSET, UnsetType

from datasets_app.jobs.parameters import JobParameters, OverridableParameters


class LabelExportParameters(OverridableParameters, frozen=True):
    """``campaign`` is its name, ``labels`` the kind of selection; ``schema`` is "name@version", ``format``
    one of those of answer files."""

    campaign: str | None = None
    persona: str | None = None
    labels: str | None = None
    schema: str | UnsetType = UNSET
    format: str | UnsetType = UNSET


class LabelImportParameters(JobParameters, frozen=True):
    file: str | None = None
    persona: str | None = None
    create: bool = False
    adjudicated: bool = False
    label_map: str | UnsetType = UNSET
    question: str | UnsetType = UNSET
    schema: str | None | UnsetType = UNSET
